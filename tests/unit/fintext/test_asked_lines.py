"""Which lines of statements a question names, and what else it asks for."""

from __future__ import annotations

import pytest
from quelea_fintext.asked_lines import name_key, read_asked_lines


def lines(question: str, *companies: str) -> list[str]:
    asked = read_asked_lines(question, companies=companies)
    return [] if asked.others else [line.id for line in asked.lines]


@pytest.mark.parametrize(
    ("question", "expected"),
    [
        ("What was Kestrel's capex in 2031?", ["capital_expenditure"]),
        ("How much did Kestrel spend on research and development in fiscal 2031?", ["research_and_development"]),
        ("How much cash did Kestrel generate from operations in 2031?", ["operating_cash_flow"]),
        ("How much cash did Kestrel pay out in dividends?", ["dividends_paid"]),
        ("What was Kestrel's top line for the year ended June 30, 2031?", ["revenue"]),
        ("Kestrel's bottom line and R&D expense, 2031", ["net_income", "research_and_development"]),
        ("What was the diluted EPS of Kestrel in Q3 2031?", ["eps_diluted"]),
        ("What were Kestrel's total assets and total liabilities as of March 31, 2031?",
         ["total_assets", "total_liabilities"]),
        ("What was Kestrel's gross margin in 2031?", ["gross_margin"]),
        ("Kestrel's net debt / EBITDA in 2031?", ["net_debt_to_ebitda"]),
        ("Kestrel 2031年归母净利润是多少？", ["net_income"]),
        ("Kestrel 2031年末资产负债率和毛利率分别为多少？", ["liabilities_to_assets", "gross_margin"]),
        ("Kestrel 2031年经营活动产生的现金流量净额", ["operating_cash_flow"]),
        ("在保留两位小数的情况下，请计算出Kestrel 2031年的流动负债比率", ["current_liabilities_share"]),
        ("请提供2031年Kestrel在建工程的详细数据。", ["construction_in_progress"]),
        ("Kestrel 2031年的毛利率保留四位小数是多少？", ["gross_margin"]),
        ("Kestrel 2031年的净利润，单位为元。", ["net_income_total"]),
    ],
)  # fmt: skip
def test_lines_by_the_words_people_use(question: str, expected: list[str]) -> None:
    assert lines(question, "Kestrel") == expected


@pytest.mark.parametrize(
    "question",
    [
        "What was Kestrel's ferry revenue in 2031?",
        "What was Kestrel's revenue in Europe in 2031?",
        "Why did Kestrel's revenue fall in 2031?",
        "Which segment had the highest revenue?",
        "What will Kestrel's revenue be in 2031?",
        "How does Kestrel recognise revenue from long-term contracts?",
        "Kestrel 2031年轮渡业务收入是多少？",
        "Kestrel 2031年营业收入下降的原因是什么？",
        "Kestrel 2031年的存货比率是多少？",
        "Kestrel 2031年的毛利率和存货比率分别是多少？",
        "Kestrel 2031年的单位成本是多少？",
    ],
)
def test_what_asks_for_more_than_a_line_is_left_to_passages(question: str) -> None:
    asked = read_asked_lines(question, companies=("Kestrel",))
    assert asked.others


@pytest.mark.parametrize(
    ("question", "relation"),
    [
        ("How much did Kestrel's revenue change from 2030 to 2031?", "change"),
        ("By what percentage did Kestrel's net income grow in 2031 compared with the previous year?", "change"),
        ("What was the CAGR of Kestrel's revenue from 2028 to 2031?", "compound"),
        ("Kestrel 2031年营业收入同比增长多少？", "change"),
        ("What was the net change in cash in 2031?", ""),
        ("What was the margin of Kestrel's operating profit for the year ended June 30, 2031?", ""),
    ],
)
def test_change_is_asked_for_outside_of_names(question: str, relation: str) -> None:
    assert read_asked_lines(question, companies=("Kestrel",)).relation == relation


@pytest.mark.parametrize(
    "question",
    [
        "What percentage of revenue was R&D expense in 2031?",
        "What was R&D expense as a percentage of revenue in 2031?",
        "How did R&D expense compare to revenue in 2031?",
        "2031年研发费用占营业收入的比例是多少？",
    ],
)
def test_a_share_names_the_part_first(question: str) -> None:
    asked = read_asked_lines(question)
    assert asked.relation == "share"
    assert [line.id for line in asked.lines] == ["research_and_development", "revenue"]


def test_conventions_are_read_and_are_no_lines() -> None:
    asked = read_asked_lines("What were days sales outstanding by average receivables and 360 days in 2031?")
    assert ([line.id for line in asked.lines], asked.balances, asked.year) == (
        ["days_sales_outstanding"],
        "average",
        360,
    )
    assert not asked.others
    assert read_asked_lines("What was the average revenue in 2030 and 2031?").others


def test_printed_labels_are_names_too_and_the_longest_name_counts() -> None:
    labels = {name_key("Ferry fuel and net sales levy"): "levy"}
    asked = read_asked_lines("What was the ferry fuel and net sales levy in 2031?", labels=labels)
    assert [(line.kind, line.id) for line in asked.lines] == [("label", "levy")]
    assert not asked.others


def test_a_short_company_name_leaves_other_words_whole() -> None:
    assert lines("How much did GE's inventories change?", "GE") == ["inventories"]


def test_a_year_that_nobody_read_is_more_than_a_line_and_a_company() -> None:
    assert read_asked_lines("What were net sales in the year 3000?").others == ("3000",)
    assert read_asked_lines("3000年的营业收入是多少？").others == ("3000",)
    assert not read_asked_lines("What were net sales in 2030?").others


def test_which_of_several_companies_is_ahead_asks_for_the_line_of_each() -> None:
    both = ("Kestrel", "Merlin")
    assert lines("Who had the higher gross margin in 2031, Kestrel or Merlin?", *both) == ["gross_margin"]
    assert read_asked_lines("Which made more revenue in 2031, Kestrel or Merlin?", companies=both).relation == ""
    assert lines("红隼和灰背隼2031年哪家营业收入更高？", "红隼", "灰背隼") == ["revenue"]


@pytest.mark.parametrize("question", ["红隼2031年毛利率为什么下降？", "红隼2031年毛利率下降的原因"])
def test_a_reason_is_no_figure_in_chinese_either(question: str) -> None:
    assert lines(question, "红隼") == []
