"""Figures that questions ask for: of which company and period, by which name of it, and from which facts."""

from __future__ import annotations

from dataclasses import replace
from decimal import Decimal

import pytest
from quelea_fintext.notices import write_notes
from quelea_fintext.times.periods import ReportingPeriod
from quelea_retriever.core.figures.asked_figures import find_figures
from quelea_retriever.core.figures.common_period import missing_periods
from quelea_retriever.core.figures.figure_search import plan_figures
from quelea_retriever.core.model import DocumentFacts
from quelea_retriever.core.question.catalogue import Catalogue
from quelea_retriever.core.question.reading import read_query
from support.kestrel import ANNUAL, FACTS, QUARTERLY, TODAY, fact, figures, values


@pytest.mark.parametrize(
    ("question", "expected"),
    [
        ("What was Kestrel's revenue in fiscal 2030?", ["1200"]),
        ("What was Kestrel's top line for the year ended January 31, 2030?", ["1000"]),
        ("What were Kestrel's inventories as of January 31, 2030?", ["190"]),
        ("What was Kestrel's revenue in the second quarter of fiscal 2031?", ["330"]),
        ("What was Kestrel's revenue in the second quarter of fiscal 2030?", ["300"]),
        ("What was Kestrel's revenue for the six months ended July 31, 2031?", ["640"]),
        ("What was Kestrel's revenue?", ["330"]),
        ("What was Kestrel's operating cash flow in Q2 of fiscal 2031?", ["90"]),
        ("What was Kestrel's revenue in fiscal 2029 and fiscal 2030?", ["1000", "1200"]),
        ("What were Kestrel's deposits of ferrymen as of January 31, 2031?", ["7"]),
        ("What was Kestrel's inventory turnover in fiscal 2030?", ["4"]),
        ("What was Kestrel's gross margin in fiscal 2030, in percent?", ["33.33333333333333333333333333"]),
        ("Kestrel 2030财年营业收入是多少？", ["1200"]),
    ],
)
def test_lines_in_the_periods_that_are_named(question: str, expected: list[str]) -> None:
    assert values(question) == expected


@pytest.mark.parametrize(
    "question",
    [
        "What was Kestrel's revenue in fiscal 2025?",
        "What was Kestrel's revenue from ferries in fiscal 2030?",
        "What was Kestrel's goodwill in fiscal 2030?",
        "What was Kestrel's revenue and goodwill in fiscal 2030?",
        "What was Merlin's revenue in fiscal 2030?",
        "What was Kestrel's revenue in July 2031?",
        "How did Kestrel's revenue from ferries develop over time?",
        "How did Kestrel's revenue develop from fiscal 2027 to fiscal 2030?",
        "How did Kestrel's goodwill develop?",
    ],
)
def test_nothing_rather_than_a_part_or_another_figure(question: str) -> None:
    assert figures(question) == []


LONGER = [
    *FACTS,
    fact("Net sales", "revenue", "900", "2029-01-31", 12),
    fact("Net sales", "revenue", "800", "2027-01-31", 12),  # that of 2028 is not stated
    fact("Net earnings", "net_income", "-30", "2029-01-31", 12),
]


@pytest.mark.parametrize(
    ("question", "expected"),
    [
        ("How did Kestrel's revenue develop over time?", ["900", "1000", "1200", "300"]),
        ("How did Kestrel's revenue develop from fiscal 2028 to fiscal 2030?", ["900", "1000", "1200", "300"]),
        ("How has Kestrel's revenue changed over the last two years?", ["1000", "1200", "200"]),
        ("What was Kestrel's net income in each of the last 3 fiscal years?", ["-30", "-20", "60", "90"]),
        ("Kestrel近三年营业收入", ["900", "1000", "1200", "300"]),
        ("Kestrel营业收入的走势如何？", ["900", "1000", "1200", "300"]),
        ("Kestrel's net margin over the past two years", ["-2", "5", "7"]),
        ("How did Kestrel's quarterly revenue do over the last two quarters?", []),
    ],
)
def test_a_line_over_several_periods_and_its_change(question: str, expected: list[str]) -> None:
    found = figures(question, LONGER)
    assert [f"{one.value.normalize():f}" for one in found] == expected
    assert [one.metric for one in found[-1:]] == ["change"] * bool(expected)


def test_a_chinese_name_that_no_dictionary_has_beside_another_word() -> None:
    catalogue = Catalogue.build([replace(ANNUAL, company="Netflix")])
    plan = plan_figures("奈飞近三年营业收入", read_query("奈飞近三年营业收入", catalogue, TODAY), catalogue, TODAY)
    assert plan
    assert plan.mentions == ("奈飞",)


def test_fewer_periods_than_asked_for_are_said() -> None:
    catalogue = Catalogue.build([ANNUAL])
    for years, said in ((2, ""), (4, "statements of Kestrel have 2 of 4 periods")):
        question = f"Kestrel's net income over the last {years} years"
        plan = plan_figures(question, read_query(question, catalogue, TODAY), catalogue, TODAY)
        assert plan
        found = find_figures(plan, [one for one in FACTS if one.document is ANNUAL])
        assert write_notes(missing_periods(plan, found), "en") == said


def test_a_year_by_the_filers_name_and_by_its_readers() -> None:
    (filer,) = figures("What was Kestrel's revenue in 2030?")
    assert (filer.period_end, filer.fiscal_year, filer.asked_year) == ("2031-01-31", 2030, 2030)
    (reader,) = figures("What was Kestrel's revenue in FY2031?")
    assert (reader.value, reader.fiscal_year, reader.asked_year) == (1200, 2030, 2031)


def test_changes_and_their_rates() -> None:
    (grown,) = figures("How much did Kestrel's revenue grow in fiscal 2030?")
    assert (grown.value, grown.growth, grown.later, grown.earlier) == (200, 20, 1200, 1000)
    assert [one.fact.value for one in grown.operands] == ["1200", "1000"]
    (turned,) = figures("How much did Kestrel's net income change from fiscal 2029 to fiscal 2030?")
    assert (turned.value, turned.growth) == (80, None)  # from a loss there is no rate
    (margin,) = figures("By how much did Kestrel's gross margin change in fiscal 2030?")
    assert (margin.unit, margin.of, round(margin.value, 2)) == ("points", "gross_margin", Decimal("3.33"))
    assert (margin.formula, margin.formula_before) == ("({0} − {1}) / {0}", "({2} − {3}) / {2}")
    (quarter,) = figures("How much did Kestrel's revenue change in the second quarter of fiscal 2031?")
    assert quarter.value == 30


def test_a_share_and_a_rate_over_years() -> None:
    (share,) = figures("What percentage of revenue was Kestrel's net income in fiscal 2030?")
    assert (share.metric, share.value, share.formula) == ("share", 5, "{0} / {1}")
    (rate,) = figures("What was the compound annual growth rate of Kestrel's revenue from fiscal 2029 to fiscal 2030?")
    assert (rate.metric, rate.value, rate.growth) == ("compound_growth", 20, 1)


def test_figures_that_failed_or_were_restated_are_not_used() -> None:
    failed = [replace(one, fact=replace(one.fact, failed=("x",))) for one in FACTS[:1]]
    assert values("What was Kestrel's revenue in fiscal 2030?", [*failed, *FACTS[1:]]) == []
    newer = fact("Net sales", "revenue", "1190", "2031-01-31", 12, QUARTERLY)
    assert values("What was Kestrel's revenue in fiscal 2030?", [*FACTS, newer]) == ["1190"]


def test_the_parents_own_figures_only_where_they_are_asked_for() -> None:
    chinese = replace(ANNUAL, language="zh")
    both = [
        fact("营业收入", "revenue", value, "2031-01-31", 12, chinese, basis=basis)
        for value, basis in (("900", "consolidated"), ("500", "parent"))
    ]
    assert values("Kestrel 2030财年营业收入是多少？", both) == ["900"]
    assert values("Kestrel 2030财年母公司营业收入是多少？", both) == ["500"]


def test_rows_of_one_label_are_told_apart_by_their_heading() -> None:
    rows = [
        fact("Products sold", "", value, "2031-01-31", 12, group=group)
        for value, group in (("70", "Revenue"), ("30", "Cost of revenue"))
    ]
    assert values("What were Kestrel's products sold in fiscal 2030?", rows) == []


def test_a_filing_is_found_by_the_year_in_which_its_own_ends() -> None:
    catalogue = Catalogue.build([ANNUAL])
    by_readers = read_query("What does Kestrel's FY2031 annual report say of ferries?", catalogue, TODAY)
    assert (by_readers.groups, by_readers.period_missing) == ((("a",),), False)
    assert by_readers.fallback == "FY2031 taken as the year that ended in it: FY2030 (year ended January 31, 2031)"
    by_filer = read_query("What does Kestrel's FY2030 annual report say of ferries?", catalogue, TODAY)
    assert (by_filer.groups, by_filer.fallback) == ((("a",),), "")


def test_a_quarter_has_its_fiscal_year_and_twelve_months_across_two_have_none() -> None:
    trailing = fact("Net sales", "revenue", "1230", "2031-07-31", 12, QUARTERLY)
    (found,) = figures("What was Kestrel's revenue in the second quarter of fiscal 2031?", [*FACTS, trailing])
    assert (found.value, found.fiscal_year) == (Decimal(330), 2031)
    assert values("What was Kestrel's revenue in fiscal 2030?", [*FACTS, trailing]) == ["1200"]


def test_a_last_quarter_of_sixteen_weeks_does_not_move_the_years() -> None:
    year = replace(ANNUAL, period=ReportingPeriod("FY2030", 2030, 0, "2030-09-01"), published="2030-10-10")
    quarter = replace(QUARTERLY, period=ReportingPeriod("FY2031 Q3", 2031, 3, "2031-05-11"), published="2031-06-05")
    stated = [
        fact("Net sales", "revenue", "1200", "2030-09-01", 12, year),
        fact("Net sales", "revenue", "1000", "2029-09-02", 12, year),
        fact("Net sales", "revenue", "300", "2031-05-11", 3, quarter),
    ]
    for asked, value, named in (
        ("fiscal 2030", 1200, 2030),
        ("fiscal 2029", 1000, 2029),
        ("the third quarter of fiscal 2031", 300, 2031),
    ):
        (found,) = figures(f"What was Kestrel's revenue in {asked}?", stated)
        assert (found.value, found.fiscal_year) == (value, named)


HALF = DocumentFacts(
    "h", company="Kestrel", document_type="half-year report", published="2031-08-20",
    period=ReportingPeriod("FY2031 H1", 2031, 0, "2031-06-30"),
)  # fmt: skip
FULL = replace(ANNUAL, document_type="annual report", period=ReportingPeriod("FY2030", 2030, 0, "2030-12-31"))


@pytest.mark.parametrize(
    ("question", "expected"),
    [
        ("Kestrel 2030年的营业收入是多少？", ["1200"]),
        ("Kestrel 2031年的存货是多少？", []),
        ("Kestrel 2030年的存货是多少？", ["210"]),
    ],
)
def test_a_half_year_report_ends_no_year(question: str, expected: list[str]) -> None:
    stated = [
        fact("营业收入", "revenue", "1200", "2030-12-31", 12, FULL),
        fact("存货", "inventories", "210", "2030-12-31", 0, FULL),
        fact("营业收入", "revenue", "640", "2031-06-30", 6, HALF),
        fact("存货", "inventories", "250", "2031-06-30", 0, HALF),
        fact("存货", "inventories", "230", "2030-06-30", 0, HALF),
    ]
    assert values(question, stated) == expected


@pytest.mark.parametrize(
    ("question", "expected"),
    [
        ("Why did Kestrel's revenue fall in fiscal 2030?", ["200"]),
        ("Why did Kestrel's revenue rise in fiscal 2030?", []),
        ("Why did Kestrel's revenue from ferries fall in fiscal 2030?", []),
        ("Kestrel 2030财年营业收入为什么大幅下降？", ["200"]),
        ("Kestrel 2030财年营业收入下降的主要原因是什么？", ["200"]),
        ("Kestrel 2030财年营业收入为什么增长？", []),
        ("Kestrel 2030财年轮渡收入为什么下降？", []),
        ("Kestrel 2030财年营业收入同比下降的原因是什么？", ["200"]),
        ("Kestrel 2030财年营业收入增长率为什么下降？", []),  # of the rate, not of the line
        ("Kestrel 2030财年营业收入增速下降的原因是什么？", []),
        ("Why did Kestrel's revenue growth decrease in fiscal 2030?", []),
        ("Why did Kestrel's revenue fall in the second quarter of fiscal 2031?", []),  # since the first, perhaps
        ("Why did Kestrel's inventories fall as of July 31, 2031?", []),
        ("Why did Kestrel's inventories fall in fiscal 2030?", ["20"]),
        ("Kestrel 2030财年净利润为什么下降？", []),  # of a loss before, nobody knows which way is meant
    ],
)
def test_why_a_line_fell_that_rose_is_answered_by_its_change(question: str, expected: list[str]) -> None:
    assert values(question) == expected


def test_a_loss_that_rose_is_no_income_that_fell() -> None:
    stated = [
        fact("Net earnings", "net_income", "60", "2031-01-31", 12),
        fact("Net earnings", "net_income", "80", "2030-01-31", 12),
    ]
    assert values("Why did Kestrel's net income increase in fiscal 2030?", stated) == ["-20"]
    assert values("Why did Kestrel's net loss increase in fiscal 2030?", stated) == []


def test_a_line_that_has_no_series_leaves_the_others_out() -> None:
    assert values("Kestrel's revenue and inventories over the last three years", LONGER) != []
    assert values("Kestrel's revenue and deposits of ferrymen over the last three years", LONGER) == []
