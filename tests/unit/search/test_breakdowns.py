"""Figures of a company's parts: by the head of the column, the row, and the kind of parts."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from decimal import Decimal

import pytest
from quelea_fintext.times.periods import ReportingPeriod
from quelea_search.core.model import DocumentFacts, ParsedDocument
from quelea_search.core.statements.model import Fact
from quelea_search.core.statements.read import read_statements

Parse = Callable[..., ParsedDocument]
YEAR = ReportingPeriod("FY2031", 2031, 0, "2031-12-31")
FILLER = "<p>以下各页为附注，本段文字不属于任何表格，只为说明页面内容而存在。</p>"


def page(*parts: str) -> str:
    return f"<div style='page-break-after:always'>{''.join(parts)}</div>"


def table(*rows: Sequence[str]) -> str:
    return "<table>" + "".join(f"<tr>{''.join(f'<td>{cell}</td>' for cell in row)}</tr>" for row in rows) + "</table>"


def heading(text: str) -> str:
    return f"<p style='font-weight:bold'>{text}</p>"


def read(parse_it: Parse, *parts: str, period: ReportingPeriod = YEAR, language: str = "zh") -> list[Fact]:
    html = f"<html><body>{page(*parts)}{page(heading('附注'), FILLER)}{page(heading('其他'), FILLER)}</body></html>"
    parsed = parse_it(html.encode(), "年报.htm")
    found = read_statements(parsed, DocumentFacts(language=language, period=period))
    for fact in found:
        assert parsed.pages[fact.page - 1].text[fact.start : fact.end] == fact.printed
    return [one for one in found if one.statement == "breakdown"]


def told(facts: Sequence[Fact], label: str, year: int = 2031) -> dict[str, tuple[str, str]]:
    some = [one for one in facts if one.label == label and one.period.end.year == year]
    return {one.column: (format(one.value, "f"), one.unit) for one in some}


def test_a_heading_among_the_rows_says_what_kind_of_parts_follow(parse_it: Parse) -> None:
    facts = read(
        parse_it,
        heading("（2）占公司营业收入10%以上的行业、产品或地区情况"),
        "<p>单位：万元</p>",
        table(
            ["", "营业收入", "营业成本", "毛利率", "营业收入比上年同期增减"],
            ["分行业"],
            ["渡轮运输", "1,200.50", "800.00", "33.36%", "12.10%"],
            ["分地区"],
            ["北岸", "700.00", "500.00", "28.57%", "-3.00%"],
            ["合计", "1,900.50", "1,300.00", "31.60%", "5.00%"],
        ),
    )
    assert {(one.group, one.label) for one in facts} == {("分行业", "渡轮运输"), ("分地区", "北岸")}
    assert told(facts, "渡轮运输") == {
        "营业收入": ("12005000.00", "CNY"),
        "营业成本": ("8000000.00", "CNY"),
        "毛利率": ("33.36", "percent"),
        "营业收入比上年同期增减": ("12.10", "percent"),
    }
    assert told(facts, "北岸")["营业收入比上年同期增减"] == ("-3.00", "percent")
    assert {str(one.period.start) for one in facts} == {"2031-01-01"}


def test_amounts_of_two_years_take_their_name_from_the_share_beside_them(parse_it: Parse) -> None:
    facts = read(
        parse_it,
        heading("（1）营业收入构成"),
        "<p>单位：元</p>",
        table(
            ["", "2031 年", "2030 年", "同比增减"],
            ["金额", "占营业收入比重", "金额", "占营业收入比重"],
            ["营业收入合计", "900,000.00", "100%", "800,000.00", "100%", "12.50%"],
            ["分产品"],
            ["拖船", "600,000.00", "66.67%", "500,000.00", "62.50%", "20.00%"],
        ),
    )
    assert told(facts, "拖船") == {"营业收入": ("600000.00", "CNY"), "占营业收入比重": ("66.67", "percent")}
    assert told(facts, "拖船", 2030)["营业收入"] == ("500000.00", "CNY")
    assert not told(facts, "营业收入合计")


def test_a_cell_over_several_rows_and_a_unit_in_its_own_column(parse_it: Parse) -> None:
    facts = read(
        parse_it,
        heading("（3）产销量情况"),
        table(
            ["产品分类", "项目", "单位", "2031 年", "2030 年", "同比增减"],
            ["缆绳", "销售量", "千米", "9,353", "8,692", "7.60%"],
            ["生产量", "千米", "9,384", "7,939", "18.20%"],
        ),
    )
    assert told(facts, "缆绳") == {"销售量": ("9353", "千米"), "生产量": ("9384", "千米")}
    assert told(facts, "缆绳", 2030)["生产量"] == ("7939", "千米")


def test_subsidiaries_with_figures_that_a_narrow_column_broke(parse_it: Parse) -> None:
    facts = read(
        parse_it,
        heading("七、主要控股参股公司分析"),
        "<p>主要子公司情况</p>",
        "<p>单位：元</p>",
        table(
            ["公司名称", "公司类型", "注册资本", "总资产", "营业收入", "净利润"],
            [
                "北岸船坞有限公司",
                "子公司",
                "30,000,000.0 0",
                "1,905,943,80 5.66",
                "1,278,861,76 2.53",
                "-1,177,557.0 5",
            ],
            ["南岸缆绳有限公司", "子公司", "5,000,000.00", "7,712,899.66", "16,566,791.9 9", "1,416,778.77"],
        ),
    )
    assert told(facts, "北岸船坞有限公司") == {
        "总资产": ("1905943805.66", "CNY"),
        "营业收入": ("1278861762.53", "CNY"),
        "净利润": ("-1177557.05", "CNY"),
    }
    (assets,) = [one for one in facts if one.label.startswith("南") and one.column == "总资产"]
    assert assets.period.start is None
    assert "子公司" in assets.group


def test_a_group_with_a_row_that_cannot_be_told_to_its_columns_is_left_out(parse_it: Parse) -> None:
    facts = read(
        parse_it,
        "<p>单位：元</p>",
        table(
            ["", "营业收入", "营业成本", "毛利率"],
            ["分产品"],
            ["拖船", "600,000.00", "400,000.00", "33.33%"],
            ["驳船", "10,000.00", "100.00%"],
            ["分地区"],
            ["北岸", "610,000.00", "400,000.00", "34.43%"],
        ),
    )
    assert {one.label for one in facts} == {"北岸"}


def test_no_parts_without_units_in_changes_of_equity_or_in_another_language(parse_it: Parse) -> None:
    parts = table(["", "营业收入", "毛利率"], ["分产品"], ["拖船", "600,000.00", "33.33%"])
    assert {one.column for one in read(parse_it, parts)} == {"毛利率"}
    equity = table(["项目", "实收资本", "资本公积", "未分配利润"], ["一、上年年末余额", "100.00", "200.00", "300.00"])
    assert read(parse_it, "<p>单位：元</p>", equity) == []
    assert read(parse_it, "<p>单位：元</p>", parts, language="en") == []
    assert read(parse_it, "<p>单位：元</p>", parts, period=ReportingPeriod("FY2031 Q2", 2031, 2, "2031-06-30")) == []
    half = ReportingPeriod("FY2031 H1", 2031, 0, "2031-06-30")
    assert read(parse_it, "<p>单位：元</p>", parts, period=half) == []


def test_the_parents_own_notes_are_told_apart(parse_it: Parse) -> None:
    rows = table(["产品", "营业收入", "营业成本"], ["拖船", "600.00", "400.00"])
    facts = read(parse_it, heading("十七、母公司财务报表主要项目注释"), "<p>单位：元</p>", rows)
    assert {one.basis for one in facts} == {"parent"}
    assert {one.value for one in facts} == {Decimal("600.00"), Decimal("400.00")}


def test_tables_that_follow_each_other_share_the_line_of_units(parse_it: Parse) -> None:
    first = table(["分行业", "营业收入", "毛利率"], ["渡轮", "600.00", "33.33"])
    second = table(["分地区", "营业收入", "毛利率"], ["北岸", "700.00", "28.57"])
    facts = read(parse_it, "<p>单位：万元</p>", "<p>分行业情况</p>", first, "<p>分地区情况</p>", second)
    assert [told(facts, one)["营业收入"] for one in ("渡轮", "北岸")] == [("6000000.00", "CNY"), ("7000000.00", "CNY")]


def one_table(parse_it: Parse, head: Sequence[str], *rows: Sequence[str], title: str = "分产品情况") -> list[Fact]:
    return read(parse_it, f"<p>{title}</p>", "<p>单位：元</p>", table(head, *rows))


def test_a_head_that_lacks_another_column_moves_no_figure_under_its_neighbours_name(parse_it: Parse) -> None:
    rows = (["拖船", "600.00", "400.00", "33.33%"], ["驳船", "300.00", "200.00", "33.33%"])
    assert one_table(parse_it, ["产品", "营业收入", "毛利率"], *rows) == []
    assert told(one_table(parse_it, ["营业收入", "营业成本", "毛利率"], *rows), "拖船")["营业成本"] == ("400.00", "CNY")


@pytest.mark.parametrize(("cell", "value"), [("2 15.3", None), ("12 3,456.00", None), ("1,23 4.5 0", "1234.50")])
def test_two_figures_of_one_cell_are_not_read_as_one(parse_it: Parse, cell: str, value: str | None) -> None:
    row = ["拖船", cell, "400.00", "33.33%"]
    facts = one_table(parse_it, ["产品", "营业收入", "营业成本", "毛利率"], row)
    assert told(facts, "拖船").get("营业收入", (None,))[0] == value


def test_a_table_of_another_year_and_a_plan_are_not_the_years_figures(parse_it: Parse) -> None:
    head, row = ["产品", "营业收入", "毛利率"], ["拖船", "600.00", "33.33%"]
    assert one_table(parse_it, head, row, title="2030 年度分产品情况") == []
    assert one_table(parse_it, head, row, title="2031 年度分产品情况") != []
    plan = one_table(parse_it, ["产品", "项目", "2031 年", "2032 年"], ["拖船", "营业收入", "600.00", "700.00"])
    assert {one.period.end.year for one in plan} == {2031}


def test_rows_under_a_period_are_of_that_period(parse_it: Parse) -> None:
    facts = one_table(
        parse_it,
        ["产品", "营业收入", "毛利率"],
        ["本期"],
        ["拖船", "600.00", "33.33%"],
        ["上期"],
        ["拖船", "500.00", "30.00%"],
    )
    assert told(facts, "拖船")["营业收入"] == ("600.00", "CNY")
    assert told(facts, "拖船", 2030)["营业收入"] == ("500.00", "CNY")
    assert {one.group for one in facts} == {"分产品情况 产品"}


def test_an_amount_is_no_share_and_a_share_no_amount(parse_it: Parse) -> None:
    facts = one_table(
        parse_it,
        ["产品", "营业收入", "营业收入比上年增减（万元）", "净利润比上年增减", "净利润"],
        ["拖船", "600,000.00", "12.50", "3,000.00", "66.67%"],
    )
    assert told(facts, "拖船") == {
        "营业收入": ("600000.00", "CNY"),
        "营业收入比上年增减": ("125000.00", "CNY"),
    }


def test_amounts_for_each_share_and_multiples_have_no_scale(parse_it: Parse) -> None:
    rows = table(["公司名称", "营业收入", "基本每股收益", "流动比率"], ["南岸缆绳", "600.00", "1.20", "1.75"])
    facts = read(parse_it, "<p>单位：万元</p>", rows)
    assert told(facts, "南岸缆绳") == {"营业收入": ("6000000.00", "CNY"), "流动比率": ("1.75", "times")}


def test_a_rows_own_unit_comes_before_the_tables(parse_it: Parse) -> None:
    facts = one_table(
        parse_it,
        ["产品", "项目", "单位", "2031 年", "2030 年"],
        ["拖船", "营业收入", "万元", "600", "500"],
    )
    assert told(facts, "拖船") == {"营业收入": ("6000000", "CNY")}
    own = one_table(parse_it, ["产品", "项目", "2031 年", "2030 年"], ["驳船", "营业收入（亿元）", "7", "6"])
    assert told(own, "驳船") == {"营业收入": ("700000000", "CNY")}


def test_a_row_with_an_empty_cell_is_not_of_the_part_above(parse_it: Parse) -> None:
    facts = one_table(
        parse_it,
        ["产品", "项目", "单位", "2031 年", "2030 年"],
        ["拖船", "生产量", "艘", "9", "8"],
        ["驳船", "销售量", "", "7", "6"],
        ["渡船", "销售量", "艘", "5", "4"],
    )
    assert "销售量" not in told(facts, "拖船")


def test_a_line_of_units_is_not_of_tables_far_below_or_after_another_one(parse_it: Parse) -> None:
    first = table(["分行业", "营业收入", "毛利率"], ["渡轮", "600.00", "33.33"])
    second = table(["分地区", "营业收入", "毛利率"], ["北岸", "700.00", "28.57"])
    for between in ([f"<p>渡轮于第{one}航道停靠。</p>" for one in range(9)], [table(["单位：元", "币种：人民币"])]):
        facts = read(parse_it, "<p>单位：万元</p>", first, *between, second)
        assert told(facts, "渡轮")["营业收入"] == ("6000000.00", "CNY")
        assert told(facts, "北岸").get("营业收入") in (None, ("700.00", "CNY"))


def test_a_table_of_very_many_rows_or_columns_is_left_out_in_linear_time(parse_it: Parse) -> None:
    many = [[f"拖船{at}", "600.00", "33.33%"] for at in range(150)]
    assert one_table(parse_it, ["产品", "营业收入", "毛利率"], *many) == []
    wide = ["拖船", *["600.00"] * 3000]
    assert one_table(parse_it, ["产品", "营业收入", "毛利率"], wide, ["驳船", "300.00", "20.00%"]) == []


def test_amounts_and_shares_are_of_what_the_row_of_the_sum_names(parse_it: Parse) -> None:
    facts = read(
        parse_it,
        heading("各地区分部的营业收入情况"),
        "<p>单位：人民币百万元</p>",
        table(
            ["项目", "2031 年", "2030 年"],
            ["金额", "占比（%）", "金额", "占比（%）"],
            ["北岸", "600", "60.00", "500", "55.56"],
            ["南岸", "400", "40.00", "400", "44.44"],
            ["营业收入合计", "1,000", "100.00", "900", "100.00"],
        ),
    )
    assert told(facts, "北岸") == {"营业收入": ("600000000", "CNY"), "占营业收入比重": ("60.00", "percent")}
    assert told(facts, "南岸", 2030)["营业收入"] == ("400000000", "CNY")
    assert {one.label for one in facts} == {"北岸", "南岸"}


def test_a_sum_of_what_is_no_line_names_no_column(parse_it: Parse) -> None:
    rows = (["北岸", "600", "60.00"], ["南岸", "400", "40.00"])
    head = ["项目", "金额", "占比（%）"]
    assert not one_table(parse_it, head, *rows, ["杂项合计", "1,000", "100.00"])
    assert not one_table(parse_it, head, *rows, ["营业收入合计", "1,000", ""], ["净利润合计", "100", ""])
    assert one_table(parse_it, head, *rows, ["营业收入合计", "1,000", "100.00"])


def test_what_is_counted_needs_its_unit(parse_it: Parse) -> None:
    head, row = ["产品", "产量", "销量"], ["缆绳", "9,384", "9,353"]
    assert not one_table(parse_it, head, row)
    weighed = read(parse_it, "<p>产销情况</p>", "<p>单位：吨</p>", table(head, row))
    assert [one.unit for one in weighed] == ["吨", "吨"]
    with_unit = one_table(parse_it, ["产品", "产量（千米）", "销量"], row)
    assert [(one.column, one.unit) for one in with_unit] == [("产量", "千米")]


def test_an_empty_cell_keeps_the_others_under_their_columns(parse_it: Parse) -> None:
    facts = one_table(
        parse_it,
        ["公司名称", "总资产", "营业收入", "净利润"],
        ["北岸船坞有限公司", "900.00", "600.00", "40.00"],
        ["南岸缆绳有限公司", "300.00", "200.00", "-7.00"],
        ["中洲研究院有限公司", "100.00", "", "-3.00"],
        title="主要子公司情况",
    )
    assert told(facts, "中洲研究院有限公司") == {"总资产": ("100.00", "CNY"), "净利润": ("-3.00", "CNY")}
    assert len(facts) == 8


def test_the_head_of_every_printed_page_is_no_tables_title(parse_it: Parse) -> None:
    running = "<p>北岸船务股份有限公司2031年年度报告全文</p>"
    facts = read(
        parse_it,
        running * 5,
        "<p>主要子公司情况</p>",
        running,
        "<p>单位：元</p>",
        table(["公司名称", "净利润"], ["北岸船坞有限公司", "40.00"], ["南岸缆绳有限公司", "30.00"]),
    )
    assert {one.group for one in facts} == {"主要子公司情况 公司名称"}


def test_holders_by_the_head_of_two_lines_that_stands_over_them(parse_it: Parse) -> None:
    head = (
        "<tr><td>报告期末股东总数</td><td>9,321</td><td>上一月末股东总数</td><td>9,321</td><td></td></tr>"
        "<tr><td rowspan=2>股东名称</td><td rowspan=2>持股比例</td><td rowspan=2>报告期末持股数量</td>"
        "<td colspan=2>质押或冻结情况</td></tr><tr><td>股份状态</td><td>数量</td></tr>"
    )
    rows = "".join(
        f"<tr>{''.join(f'<td>{cell}</td>' for cell in row)}</tr>"
        for row in (
            ("南岸渔业", "31.50%", "6,300,000", "质押", "40,000"),
            ("苏梅", "2.00%", "400,000", "质押", "1,000"),
            ("方石", "1.50%", "300,000", "", ""),
        )
    )
    facts = read(parse_it, "<p>单位：股</p>", f"<table>{head}{rows}</table>")
    assert told(facts, "方石") == {"持股比例": ("1.50", "percent"), "报告期末持股数量": ("300000", "股")}
    assert told(facts, "南岸渔业")["持股比例"] == ("31.50", "percent")


def test_customers_in_numbered_rows_with_the_heads_own_unit(parse_it: Parse) -> None:
    rows = table(
        ["序号", "客户名称", "销售额（元）", "占年度销售总额比例"],
        ["1", "客户甲", "400,000.00", "20.00%"],
        ["2", "客户乙", "300,000.00", "15.00%"],
    )
    facts = read(parse_it, "<p>公司前5大客户资料</p>", rows)
    assert told(facts, "客户乙") == {"销售额": ("300000.00", "CNY"), "占年度销售总额比例": ("15.00", "percent")}


def test_people_are_counted_by_the_unit_of_the_head(parse_it: Parse) -> None:
    facts = read(parse_it, table(["教育程度类别", "数量（人）"], ["硕士", "14"], ["本科", "204"]))
    assert told(facts, "硕士") == {"人数": ("14", "人")}
