"""Figures of printed statements, and of tagged ones: value, scale, sign, period, place."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from datetime import date
from decimal import Decimal

import pytest
from quelea_fintext.times.periods import ReportingPeriod
from quelea_search.core.model import DocumentFacts, ParsedDocument
from quelea_search.core.statements.model import Fact
from quelea_search.core.statements.printed_tables import statement_title
from quelea_search.core.statements.read import read_statements

Parse = Callable[..., ParsedDocument]
FILLER = "<p>Notes follow on the next pages, and the words of this paragraph are no statement.</p>"


def table(rows: Sequence[Sequence[str]]) -> str:
    return "<table>" + "".join(f"<tr>{''.join(f'<td>{cell}</td>' for cell in row)}</tr>" for row in rows) + "</table>"


def page(title: str, *parts: str) -> str:
    return f"<div style='page-break-after:always'><p style='font-weight:bold'>{title}</p>{''.join(parts)}</div>"


def read(parse_it: Parse, *pages: str, period: ReportingPeriod, language: str = "en") -> list[Fact]:
    html = f"<html><body>{''.join(pages)}{page('Notes', FILLER)}{page('More', FILLER)}</body></html>"
    parsed = parse_it(html.encode(), "filing.htm")
    found = read_statements(parsed, DocumentFacts(language=language, period=period))
    for fact in found:
        assert parsed.pages[fact.page - 1].text[fact.start : fact.end] == fact.printed
    return found


def value_of(facts: Sequence[Fact], label: str, end: str, start: str = "") -> Decimal:
    (found,) = [
        fact
        for fact in facts
        if fact.label == label
        and fact.period.end == date.fromisoformat(end)
        and (not start or fact.period.start == date.fromisoformat(start))
    ]
    return found.value


QUARTER = ReportingPeriod("FY2031 Q3", 2031, 3, "2031-09-30")
YEAR = ReportingPeriod("FY2031", 2031, 0, "2031-12-31")


def test_two_spans_over_four_columns_with_shares_and_amounts_per_share(parse_it: Parse) -> None:
    facts = read(
        parse_it,
        page(
            "Condensed Consolidated Statements of Operations (Unaudited)",
            "<p>(in thousands, except per share amounts)</p>",
            table([
                ["", "Three Months Ended September 30,", "Nine Months Ended September 30,"],
                ["", "2031", "2030", "2031", "2030"],
                ["Net revenues", "$ 9,150", "$ 8,020", "$ 27,100", "$ 24,300"],
                ["Cost of revenues", "(4,100)", "(3,900)", "(12,400)", "(11,800)"],
                ["Net loss", "$ (312)", "$ (290)", "$ (1,004)", "$ (877)"],
                ["Net loss per share, diluted", "$ (0.31)", "$ (0.29)", "$ (1.00)", "$ (0.88)"],
                ["Shares used in computing net loss per share", "1,006", "1,000", "1,004", "997"],
            ]),
        ),
        period=QUARTER,
    )  # fmt: skip
    assert value_of(facts, "Net revenues", "2031-09-30", "2031-07-01") == 9_150_000
    assert value_of(facts, "Net revenues", "2030-09-30", "2030-01-01") == 24_300_000
    assert value_of(facts, "Net loss", "2031-09-30", "2031-01-01") == -1_004_000
    loss = next(fact for fact in facts if fact.label.startswith("Net loss per share"))
    assert (loss.value, loss.unit) == (Decimal("-0.31"), "USD/share")
    shares = next(fact for fact in facts if fact.label.startswith("Shares used"))
    assert (shares.value, shares.unit) == (1_006_000, "shares")
    assert {fact.concept for fact in facts if fact.label == "Net revenues"} == {"revenue"}


def test_the_first_day_of_a_year_is_not_the_last_of_the_year_before_however_often_it_is_named(parse_it: Parse) -> None:
    adopted = "<p>The standard was adopted on January 1, 2031. What was stated on January 1, 2031 was adjusted.</p>"
    facts = read(
        parse_it,
        page("New standards", adopted * 3),
        page(
            "CONSOLIDATED STATEMENTS OF INCOME",
            table([["in millions", "2031", "2030"], ["Net sales", "500", "480"], ["Cost of sales", "300", "290"],
                   ["Gross profit", "200", "190"], ["Net income", "40", "39"]]),
        ),
        period=ReportingPeriod("FY2031", 2031, 0, "2031-12-31"),
    )  # fmt: skip
    spans = {(str(fact.period.start), str(fact.period.end)) for fact in facts}
    assert spans == {("2031-01-01", "2031-12-31"), ("2030-01-01", "2030-12-31")}


def test_years_in_weeks_take_their_last_days_from_the_filing(parse_it: Parse) -> None:
    facts = read(
        parse_it,
        page("Days", "<p>Fiscal 2030 (52 weeks) ended on February 1, 2031, fiscal 2029 on February 2, 2030.</p>"),
        page(
            "CONSOLIDATED STATEMENTS OF EARNINGS",
            table([
                ["in millions", "Fiscal 2031", "Fiscal 2030", "Fiscal 2029"],
                ["Net sales", "500", "480", "470"],
                ["Cost of sales", "300", "290", "280"],
                ["Gross profit", "200", "190", "190"],
                ["Net earnings", "40", "39", "38"],
            ]),
        ),
        period=ReportingPeriod("FY2031", 2031, 0, "2032-01-31"),
    )  # fmt: skip
    ends = [fact.period.end.isoformat() for fact in facts if fact.label == "Net sales"]
    assert ends == ["2032-01-31", "2031-02-01", "2030-02-02"]
    assert next(fact for fact in facts if fact.label == "Net sales").period.start == date(2031, 2, 2)
    assert all("gross profit = revenue - cost" in fact.passed for fact in facts if fact.concept == "gross_profit")


def test_a_sum_that_does_not_hold_is_marked(parse_it: Parse) -> None:
    rows = [
        ["", "2031", "2030"],
        ["Current assets", "", ""],
        ["Cash and cash equivalents", "$ 10", "$ 9"],
        ["Total assets", "100", "90"],
        ["Total liabilities", "60", "50"],
        ["Total liabilities and equity", "100", "95"],
    ]
    facts = read(parse_it, page("Consolidated Balance Sheets", "<p>(in millions)</p>", table(rows)), period=YEAR)
    totals = {(fact.period.end.year, bool(fact.failed)) for fact in facts if fact.concept == "total_assets"}
    assert totals == {(2031, False), (2030, True)}
    assert all(fact.period.start is None for fact in facts)
    assert next(fact for fact in facts if fact.concept == "cash_and_equivalents").group == "Current assets"


def test_payments_are_positive_and_balances_are_days(parse_it: Parse) -> None:
    facts = read(
        parse_it,
        page(
            "CONSOLIDATED STATEMENTS OF CASH FLOWS",
            "<p>(Millions of dollars)</p>",
            table([
                ["For the years ended December 31,", "2031", "2030"],
                ["Net cash provided by operating activities", "90", "80"],
                ["Capital expenditures", "(30)", "(20)"],
                ["Net cash used in investing activities", "(30)", "(20)"],
                ["Net cash used in financing activities", "(50)", "(55)"],
                ["Net change in cash and cash equivalents", "10", "5"],
                ["Cash and cash equivalents at beginning of year", "15", "10"],
                ["Cash and cash equivalents at end of year", "25", "15"],
            ]),
        ),
        period=YEAR,
    )  # fmt: skip
    assert value_of(facts, "Capital expenditures", "2031-12-31") == 30_000_000
    assert value_of(facts, "Net cash used in financing activities", "2030-12-31") == -55_000_000
    opening = [fact for fact in facts if "beginning" in fact.label]
    assert [fact.period.end.isoformat() for fact in opening] == ["2030-12-31", "2029-12-31"]
    assert all(fact.period.start is None for fact in opening)


def test_a_chinese_statement_goes_on_over_a_page(parse_it: Parse) -> None:
    facts = read(
        parse_it,
        page(
            "合并利润表",
            "<p>单位：元 币种：人民币</p>",
            table([
                ["项目", "附注", "2031年度", "2030年度"],
                ["一、营业总收入", "七、61", "1,500.25", "1,200.00"],
                ["其中：营业收入", "", "1,500.25", "1,200.00"],
                ["减：营业成本", "", "700.00", "600.00"],
                ["四、利润总额（亏损总额以“－”号填列）", "", "200.00", "150.00"],
            ]),
        ),
        page(
            "某公司 年度报告",
            table([
                ["减：所得税费用", "", "50.00", "40.00"],
                ["五、净利润（净亏损以“－”号填列）", "", "150.00", "110.00"],
            ]),
        ),
        page(
            "母公司利润表",
            "<p>单位：元</p>",
            table([
                ["项目", "2031年度", "2030年度"],
                ["一、营业收入", "10.00", "20.00"],
                ["减：营业成本", "1.00", "2.00"],
                ["管理费用", "1.00", "2.00"],
                ["研发费用", "1.00", "2.00"],
            ]),
        ),
        period=YEAR,
        language="zh",
    )  # fmt: skip
    of = {(fact.basis, fact.concept, fact.period.end.year): fact for fact in facts}
    assert of["consolidated", "revenue", 2031].value == Decimal("1500.25")
    assert of["consolidated", "net_income_total", 2031].passed == ("net income = before tax - tax",)
    assert of["parent", "revenue", 2030].value == 20
    assert {fact.unit for fact in facts} == {"CNY"}


def test_rows_with_fewer_figures_than_columns_are_told_by_their_place_or_left_out(parse_it: Parse) -> None:
    rows = [
        ["December 31,", "2031", "2030"],
        ["Cash and cash equivalents", "10", "9"],
        ["Goodwill", "", "7"],
        ["Land", "7"],  # a row that is too short may have lost either
        ["Inventories", "4", "3"],
        ["Total assets", "21", "12"],
        ["Accounts payable", "4", "3"],
    ]
    facts = read(parse_it, page("CONSOLIDATED BALANCE SHEET", table(rows)), period=YEAR)
    assert [(fact.period.end.year, fact.value) for fact in facts if fact.label == "Goodwill"] == [(2030, 7)]
    assert "Land" not in {fact.label for fact in facts}
    assert len(facts) == 9


def test_a_cell_that_spans_rows_or_columns_keeps_its_place(parse_it: Parse) -> None:
    head = "<tr><td rowspan='2'>December 31,</td><td colspan='4'>(in millions)</td></tr>"
    head += "<tr><td colspan='2'>2031</td><td colspan='2'>2030</td></tr>"
    rows = [
        ("Cash and cash equivalents", "$", "10", "$", "9"),
        ("Goodwill", "", "", "", "7"),
        ("Inventories", "", "4", "", "3"),
        ("Total assets", "$", "14", "$", "19"),
        ("Accounts payable", "", "4", "", "3"),
    ]
    body = "".join(f"<tr>{''.join(f'<td>{cell}</td>' for cell in row)}</tr>" for row in rows)
    facts = read(parse_it, page("CONSOLIDATED BALANCE SHEET", f"<table>{head}{body}</table>"), period=YEAR)
    told = {(fact.label, fact.period.end.year): fact.value for fact in facts}
    assert told["Goodwill", 2030] == 7_000_000
    assert ("Goodwill", 2031) not in told
    assert told["Total assets", 2031] == 14_000_000


def test_a_cell_that_spans_rows_goes_no_further_for_a_row_too_wide_to_place(parse_it: Parse) -> None:
    rows = "<tr><td rowspan='3'>Total</td><td>14</td><td>19</td></tr><tr><td colspan='500'>of which</td></tr>"
    rows += "<tr><td>7</td><td>9</td></tr><tr><td>Goodwill</td><td>4</td><td>3</td></tr>"
    head = "<tr><td>December 31,</td><td>2031</td><td>2030</td></tr>"
    parsed = parse_it(page("CONSOLIDATED BALANCE SHEET", f"<table>{head}{rows}</table>").encode(), "a.html")
    placed = [line.extents for line in parsed.pages[0].lines if line.extents]
    assert placed[-1] == ((0, 0.5), (1, 1.5), (2, 2.5))


def test_a_column_of_changes_makes_no_facts(parse_it: Parse) -> None:
    rows = [
        ["(in millions)", "2031", "2030", "Change"],
        ["Net sales", "10", "9", "1"],
        ["Cost of sales", "7", "6", "1"],
        ["Gross profit", "3", "3", "0"],
        ["Net income", "2", "1", "1"],
    ]
    assert read(parse_it, page("Consolidated Statements of Income", table(rows)), period=YEAR) == []


@pytest.mark.parametrize(
    ("line", "kind"),
    [
        ("CONSOLIDATED BALANCE SHEETS (continued)", "balance"),
        ("Kestrel Group plc Consolidated Statements of Comprehensive Income (Loss)", "comprehensive_income"),
        ("CASH FLOWS STATEMENTS", "cash_flow"),
        ("合并资产负债表2031 年 12 月 31 日", "balance"),
        ("Balance Sheet Components", ""),
        ("recognised in the consolidated statements of income", ""),
        ("利润表及现金流量表相关科目变动分析表", ""),
    ],
)
def test_titles(line: str, kind: str) -> None:
    assert statement_title(line) == kind


CONTEXT = """<ix:header><ix:resources>
<xbrli:context id="y1"><xbrli:period><xbrli:startDate>2031-01-01</xbrli:startDate>
<xbrli:endDate>2031-12-31</xbrli:endDate></xbrli:period></xbrli:context>
<xbrli:context id="y0"><xbrli:period><xbrli:startDate>2030-01-01</xbrli:startDate>
<xbrli:endDate>2030-12-31</xbrli:endDate></xbrli:period></xbrli:context>
<xbrli:context id="part"><xbrli:entity><xbrli:segment><xbrldi:explicitMember>a</xbrldi:explicitMember>
</xbrli:segment></xbrli:entity><xbrli:period><xbrli:startDate>2031-01-01</xbrli:startDate>
<xbrli:endDate>2031-12-31</xbrli:endDate></xbrli:period></xbrli:context>
<xbrli:unit id="usd"><xbrli:measure>iso4217:USD</xbrli:measure></xbrli:unit></ix:resources></ix:header>"""


def tag(name: str, context: str, text: str, sign: str = "") -> str:
    return (
        f'<ix:nonFraction name="{name}" contextRef="{context}" unitRef="usd" scale="6" format="ixt:num-dot-decimal"'
        f"{sign}>{text}</ix:nonFraction>"
    )


def test_tags_win_over_what_was_read(parse_it: Parse) -> None:
    product = tag("us-gaap:Revenues", "part", "4,211")
    rows = [
        ["For the years ended December 31,", "2031", "2030"],
        ["Widgets", product, "3,977"],
        ["Whole turnover", tag("us-gaap:Revenues", "y1", "9,876"), tag("us-gaap:Revenues", "y0", "8,765")],
        ["Cost of sales", tag("us-gaap:CostOfRevenue", "y1", "5,432"), tag("us-gaap:CostOfRevenue", "y0", "5,001")],
        [
            "Net result",
            f"({tag('us-gaap:NetIncomeLoss', 'y1', '1,234', ' sign=&quot;-&quot;')})".replace("&quot;", '"'),
            tag("us-gaap:NetIncomeLoss", "y0", "1,111"),
        ],
    ]
    prose = f"<p>Advertising was {tag('us-gaap:AdvertisingExpense', 'y1', '3,141')} million.</p>"
    facts = read(
        parse_it,
        page("Overview", CONTEXT, "<p>Turnover was 9,876 million, costs 5,432 million.</p>"),
        page("CONSOLIDATED STATEMENTS OF INCOME", "<p>(in millions)</p>", table(rows)),
        page("Note 4", prose),
        period=YEAR,
    )
    assert {fact.concept for fact in facts if fact.label == "Whole turnover"} == {"revenue"}
    widgets = [fact for fact in facts if fact.label == "Widgets" and fact.period.end.year == 2031]
    assert [(fact.concept, fact.value) for fact in widgets] == [("", 4_211_000_000)]
    assert value_of(facts, "Net result", "2031-12-31") == -1_234_000_000
    (note,) = [fact for fact in facts if fact.statement == "note"]
    assert (note.tag, note.value, note.page) == ("us-gaap:AdvertisingExpense", 3_141_000_000, 3)
