"""The table of the four quarters in an annual report."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import pytest
from quelea_fintext.times.periods import ReportingPeriod
from quelea_search.core.model import DocumentFacts, ParsedDocument
from quelea_search.core.statements.model import Fact
from quelea_search.core.statements.quarters import QUARTERS_ADD_UP
from quelea_search.core.statements.read import read_statements

Parse = Callable[..., ParsedDocument]
YEAR = ReportingPeriod("FY2031", 2031, 0, "2031-12-31")
SECOND_QUARTER = ReportingPeriod("2031-Q2", 2031, 2, "2031-06-30")
HEAD = ("", "第一季度", "第二季度", "第三季度", "第四季度")
LONG_HEAD = ("第一季度（1-3月份）", "第二季度（4-6月份）", "第三季度（7-9月份）", "第四季度（10-12月份）")


def table(*rows: Sequence[str]) -> str:
    return "<table>" + "".join(f"<tr>{''.join(f'<td>{cell}</td>' for cell in row)}</tr>" for row in rows) + "</table>"


def read(parse_it: Parse, *parts: str, period: ReportingPeriod = YEAR) -> list[Fact]:
    parsed = parse_it(
        f"<html><body>{''.join(parts)}<p>上述财务指标与已披露的一致。</p></body></html>".encode(), "年报.htm"
    )
    found = read_statements(parsed, DocumentFacts(language="zh", period=period))
    for fact in found:
        assert parsed.pages[fact.page - 1].text[fact.start : fact.end] == fact.printed
    return found


def income(revenue: str) -> str:
    return "<p>合并利润表</p><p>单位：万元</p>" + table(
        ("项目", "2031 年度", "2030 年度"),
        ("一、营业收入", revenue, "90.00"),
        ("减：营业成本", "60.00", "50.00"),
        ("二、营业利润", "30.00", "28.00"),
        ("三、利润总额", "30.00", "28.00"),
        ("减：所得税费用", "6.00", "5.00"),
        ("四、净利润", "24.00", "23.00"),
    )


@pytest.mark.parametrize("head", [HEAD, LONG_HEAD])
def test_each_column_is_a_quarter_of_the_year(parse_it: Parse, head: Sequence[str]) -> None:
    quarters = table(
        head,
        ("营业收入", "20.00", "25.00", "15.00", "40.00"),
        ("经营活动产生的现金流量净额", "-3.00", "4.00", "（1.00）", "2.50"),
        ("渡轮航次", "1", "2", "3", "4"),
    )
    found = read(parse_it, "<p>分季度主要财务指标</p><p>单位：万元</p>", quarters, income("100.00"))
    of_quarters = [one for one in found if one.period.start and (one.period.end - one.period.start).days < 100]
    assert [
        (one.statement, one.concept, str(one.period.start), str(one.period.end), int(one.value)) for one in of_quarters
    ] == [
        ("income", "revenue", "2031-01-01", "2031-03-31", 200_000),
        ("income", "revenue", "2031-04-01", "2031-06-30", 250_000),
        ("income", "revenue", "2031-07-01", "2031-09-30", 150_000),
        ("income", "revenue", "2031-10-01", "2031-12-31", 400_000),
        ("cash_flow", "operating_cash_flow", "2031-01-01", "2031-03-31", -30_000),
        ("cash_flow", "operating_cash_flow", "2031-04-01", "2031-06-30", 40_000),
        ("cash_flow", "operating_cash_flow", "2031-07-01", "2031-09-30", -10_000),
        ("cash_flow", "operating_cash_flow", "2031-10-01", "2031-12-31", 25_000),
    ]
    assert all(one.passed == (QUARTERS_ADD_UP,) for one in of_quarters[:4])
    assert not any(one.passed or one.failed for one in of_quarters[4:])


def test_a_label_may_begin_on_the_line_above(parse_it: Parse) -> None:
    quarters = table(
        HEAD, ("营业收入", "20", "25", "15", "40"), ("归属于上市公司股",), ("东的净利润", "1", "2", "3", "4")
    )
    found = read(parse_it, "<p>单位：万元</p>", quarters)
    assert [(one.label, one.concept) for one in found[4:]] == [("归属于上市公司股东的净利润", "net_income")] * 4


def test_quarters_that_do_not_add_up_are_kept_and_marked(parse_it: Parse) -> None:
    quarters = table(HEAD, ("营业收入", "20.00", "25.00", "15.00", "41.00"))
    found = read(parse_it, "<p>单位：万元</p>", quarters, income("100.00"))
    assert [one.failed for one in found if one.label == "营业收入"] == [(QUARTERS_ADD_UP,)] * 4


def test_the_quarters_of_a_report_of_half_a_year_are_not_read(parse_it: Parse) -> None:
    quarters = table(HEAD, ("营业收入", "20.00", "25.00", "15.00", "40.00"))
    assert read(parse_it, "<p>单位：万元</p>", quarters, period=SECOND_QUARTER) == []


REVENUE = ("营业收入", "20.00", "25.00", "15.00", "40.00")


def of_quarters(found: Sequence[Fact]) -> list[Fact]:
    return [one for one in found if one.period.start and (one.period.end - one.period.start).days < 100]


def test_quarters_without_a_unit_are_kept_only_where_they_add_up(parse_it: Parse) -> None:
    assert of_quarters(read(parse_it, "<p>分季度主要财务指标</p>", table(HEAD, REVENUE))) == []
    assert of_quarters(read(parse_it, "<p>分季度主要财务指标</p>", table(HEAD, REVENUE), income("100.00"))) == []
    yuan = ("营业收入", "200,000", "250,000", "150,000", "400,000")
    found = of_quarters(read(parse_it, "<p>分季度主要财务指标</p>", table(HEAD, yuan), income("100.00")))
    assert [int(one.value) for one in found] == [200_000, 250_000, 150_000, 400_000]


def test_the_nearest_line_of_units_counts(parse_it: Parse) -> None:
    found = read(parse_it, "<p>单位：万元</p>", "<p>分季度主要财务指标</p>", "<p>单位：元</p>", table(HEAD, REVENUE))
    assert [int(one.value) for one in of_quarters(found)] == [20, 25, 15, 40]


def test_quarters_of_another_year_are_not_this_years(parse_it: Parse) -> None:
    before = "<p>2030 年分季度主要财务指标</p><p>单位：万元</p>" + table(HEAD, ("营业收入", "1", "2", "3", "4"))
    found = of_quarters(read(parse_it, before, "<p>2031 年</p><p>单位：万元</p>", table(HEAD, REVENUE)))
    assert [int(one.value) for one in found] == [200_000, 250_000, 150_000, 400_000]


def test_quarters_end_with_the_fiscal_year(parse_it: Parse) -> None:
    june = ReportingPeriod("FY2031", 2031, 0, "2031-06-30")
    calendar = read(parse_it, "<p>单位：万元</p>", table(LONG_HEAD, REVENUE), period=june)
    assert of_quarters(calendar) == []  # July to June is no four of them
    own = ("第一季度（7-9月）", "第二季度（10-12月）", "第三季度（1-3月）", "第四季度（4-6月）")
    found = of_quarters(read(parse_it, "<p>单位：万元</p>", table(own, REVENUE), period=june))
    assert [str(one.period.end) for one in found] == ["2030-09-30", "2030-12-31", "2031-03-31", "2031-06-30"]


@pytest.mark.parametrize("label", ["基本每股收益", "营业收入"])
def test_amounts_for_each_share_and_rates_are_left_out(parse_it: Parse, label: str) -> None:
    row = (label, *(f"{value}{'%' if label == '营业收入' else ''}" for value in ("0.10", "0.20", "0.10", "0.30")))
    assert read(parse_it, "<p>单位：万元</p>", table(HEAD, row)) == []
