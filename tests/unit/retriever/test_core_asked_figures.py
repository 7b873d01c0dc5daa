"""Figures that questions ask for: of which company and period, by which name of it, and from which facts."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from datetime import date, timedelta
from decimal import Decimal

import pytest
from quelea_fintext.facts import Fact
from quelea_fintext.notices import write_notes
from quelea_fintext.times.periods import ReportingPeriod
from quelea_retriever.core.figures.asked_figures import find_figures
from quelea_retriever.core.figures.common_period import missing_periods
from quelea_retriever.core.figures.figure_search import AskedFigure, plan_figures
from quelea_retriever.core.figures.statement_facts import StatedFact
from quelea_retriever.core.model import DocumentFacts
from quelea_retriever.core.question.catalogue import Catalogue
from quelea_retriever.core.question.reading import read_query

TODAY = date(2032, 6, 1)
ANNUAL = DocumentFacts(
    "a", company="Kestrel", document_type="10-K", period=ReportingPeriod("FY2030", 2030, 0, "2031-01-31"),
    published="2031-03-20",
)  # fmt: skip
QUARTERLY = DocumentFacts(
    "q", company="Kestrel", document_type="10-Q", period=ReportingPeriod("FY2031 Q2", 2031, 2, "2031-07-31"),
    published="2031-09-01",
)  # fmt: skip


def fact(
    label: str, concept: str, value: str, end: str, months: int = 0, document: DocumentFacts = ANNUAL, **more: str
) -> StatedFact:
    start = ""
    if months:
        last = date.fromisoformat(end)
        start = (last - timedelta(days=round(months * 30.44) - 1)).isoformat()
    statement = more.pop("statement", "income" if months else "balance")
    one = Fact(statement, label, concept, value, more.pop("unit", "USD"), start, end, value, 0, 1, **more)
    return StatedFact(one, document, f"{document.id}-1", 1, 1)


FACTS = [
    fact("Net sales", "revenue", "1200", "2031-01-31", 12),
    fact("Net sales", "revenue", "1000", "2030-01-31", 12),
    fact("Cost of sales", "cost_of_revenue", "800", "2031-01-31", 12),
    fact("Cost of sales", "cost_of_revenue", "700", "2030-01-31", 12),
    fact("Net earnings", "net_income", "60", "2031-01-31", 12),
    fact("Net earnings", "net_income", "-20", "2030-01-31", 12),
    fact("Merchandise", "inventories", "210", "2031-01-31"),
    fact("Merchandise", "inventories", "190", "2030-01-31"),
    fact("Deposits of ferrymen", "", "7", "2031-01-31"),
    fact("Net sales", "revenue", "330", "2031-07-31", 3, QUARTERLY),
    fact("Net sales", "revenue", "640", "2031-07-31", 6, QUARTERLY),
    fact("Net sales", "revenue", "300", "2030-07-31", 3, QUARTERLY),
    fact("Merchandise", "inventories", "250", "2031-07-31", 0, QUARTERLY),
    fact("Cash from operations", "operating_cash_flow", "90", "2031-07-31", 6, QUARTERLY, statement="cash_flow"),
]


def figures(question: str, stated: Sequence[StatedFact] = FACTS) -> list[AskedFigure]:
    documents = list({one.document.id: one.document for one in stated}.values())
    catalogue = Catalogue.build(documents)
    plan = plan_figures(question, read_query(question, catalogue, TODAY), catalogue, TODAY)
    return find_figures(plan, stated) if plan else []


def figure_notes(question: str, stated: Sequence[StatedFact]) -> str:
    catalogue = Catalogue.build(list({one.document.id: one.document for one in stated}.values()))
    plan = plan_figures(question, read_query(question, catalogue, TODAY), catalogue, TODAY)
    assert plan is not None
    found = find_figures(plan, stated)
    assert found
    return write_notes(missing_periods(plan, found), "en")


def values(question: str, stated: Sequence[StatedFact] = FACTS) -> list[str]:
    return [f"{one.value.normalize():f}" for one in figures(question, stated)]


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


NINE_MONTHS = replace(
    QUARTERLY, id="n", period=ReportingPeriod("FY2030 Q3", 2030, 3, "2030-10-31"), published="2030-12-01"
)


def to_date(label: str, concept: str, value: str, **more: str) -> StatedFact:
    """Of the first nine months of the year that ended on January 31, 2031."""
    one = fact(label, concept, value, "2030-10-31", 9, NINE_MONTHS, **more)
    return replace(one, fact=replace(one.fact, period_start="2030-02-01"))


def test_a_fourth_quarter_is_the_year_less_its_first_nine_months() -> None:
    year = [replace(one, fact=replace(one.fact, period_start="2030-02-01")) for one in FACTS[:1]]
    stated = [*year, *FACTS[1:], to_date("Net sales", "revenue", "850")]
    (last,) = figures("What was Kestrel's revenue in the fourth quarter of fiscal 2030?", stated)
    assert (last.metric, last.value, last.formula) == ("remainder", 350, "{0} − {1}")
    assert [one.fact.value for one in last.operands] == ["1200", "850"]
    assert (last.period_start, last.period_end) == ("2030-11-01", "2031-01-31")
    shown = [*stated, fact("Net sales", "revenue", "351", "2031-01-31", 3)]
    (printed,) = figures("What was Kestrel's revenue in the fourth quarter of fiscal 2030?", shown)
    assert (printed.metric, printed.value) == ("", 351)  # what is printed comes first


def test_a_quarters_cash_flow_is_what_the_year_to_date_has_more() -> None:
    flow = "operating_cash_flow"
    half = fact("Cash from operations", flow, "90", "2031-07-31", 6, QUARTERLY, statement="cash_flow")
    first = fact("Cash from operations", flow, "40", "2031-04-30", 3, QUARTERLY, statement="cash_flow")
    same_start = [replace(one, fact=replace(one.fact, period_start="2031-02-01")) for one in (half, first)]
    question = "What was Kestrel's operating cash flow in the second quarter of fiscal 2031?"
    (found,) = figures(question, [*FACTS[:-1], *same_start])
    assert (found.metric, found.value, found.period_start) == ("remainder", 50, "2031-05-01")


@pytest.mark.parametrize(
    "more",
    [
        {"unit": "USD/share"},  # earnings per share do not add up over time
        {"value": "850", "start": "2030-05-01"},  # of another year's beginning
    ],
)
def test_what_does_not_add_up_over_time_has_no_remainder(more: dict[str, str]) -> None:
    unit = more.get("unit", "USD")
    concept = "revenue" if unit == "USD" else "eps_diluted"
    label = "Net sales" if unit == "USD" else "Diluted earnings per share"
    year = fact(label, concept, "1200", "2031-01-31", 12, unit=unit)
    part = to_date(label, concept, "850", unit=unit)
    if "start" in more:
        part = replace(part, fact=replace(part.fact, period_start=more["start"]))
    asked = "revenue" if unit == "USD" else "diluted EPS"
    assert figures(f"What was Kestrel's {asked} in the fourth quarter of fiscal 2030?", [year, part]) == []


def whole_year(label: str, concept: str, value: str, document: DocumentFacts = ANNUAL, **more: str) -> StatedFact:
    """Of the year that ended on January 31, 2031."""
    one = fact(label, concept, value, "2031-01-31", 12, document, **more)
    return replace(one, fact=replace(one.fact, period_start="2030-02-01"))


def test_a_remainder_is_of_one_line_and_not_with_what_answers_instead_of_it() -> None:
    year = whole_year("Net earnings attributable to Kestrel", "net_income", "60")
    part = to_date("Net earnings with those of minorities", "net_income_total", "50")
    asked = "What was Kestrel's net income in the fourth quarter of fiscal 2030?"
    assert figures(asked, [year, part]) == []
    elsewhere = to_date("Net earnings attributable to Kestrel", "net_income", "45", statement="note")
    assert figures(asked, [year, elsewhere]) == []


def test_a_balance_at_a_quarters_end_is_not_answered_with_its_change() -> None:
    balance = fact("Vendor receivables", "", "210", "2031-01-31")
    changes = [
        whole_year("Vendor receivables", "", "-30", statement="cash_flow"),
        to_date("Vendor receivables", "", "-45", statement="cash_flow"),
    ]
    (found,) = figures(
        "What were Kestrel's vendor receivables in the fourth quarter of fiscal 2030?", [*FACTS, balance, *changes]
    )
    assert (found.metric, found.value) == ("", 210)


def test_a_restated_year_has_no_remainder_over_months_that_were_not_restated() -> None:
    later = replace(ANNUAL, id="b", period=ReportingPeriod("FY2031", 2031, 0, "2032-01-31"), published="2032-03-20")
    asked = "What was Kestrel's revenue in the fourth quarter of fiscal 2030?"
    stated = [whole_year("Net sales", "revenue", "1200"), to_date("Net sales", "revenue", "850")]
    assert values(asked, stated) == ["350"]
    anew = whole_year("Net sales", "revenue", "1180", document=later)
    assert values(asked, [*stated, anew]) == []
    part = to_date("Net sales", "revenue", "840")
    assert values(asked, [*stated, anew, replace(part, document=replace(later, id="m"))]) == ["340"]


@pytest.mark.parametrize(
    ("label", "concept", "asked"),
    [
        ("Cash and cash equivalents at end of period", "cash_at_end", ""),
        ("Cash and restricted cash, ending balances", "", ""),
        ("Weighted average borrowings", "", ""),
        ("期末现金及现金等价物余额", "cash_at_end", "Kestrel 2030财年第四季度的期末现金及现金等价物余额是多少？"),
    ],
)
def test_what_is_of_a_day_or_an_average_has_no_remainder(label: str, concept: str, asked: str) -> None:
    asked = asked or f"What was Kestrel's {label.lower()} in the fourth quarter of fiscal 2030?"
    year, part = (line(label, concept, "60", statement="cash_flow") for line in (whole_year, to_date))
    assert not any(one.metric for one in figures(asked, [year, part]))


def test_a_fourth_quarters_margin_is_made_of_what_is_left_of_both_lines() -> None:
    stated = [
        whole_year("Net sales", "revenue", "1200"),
        to_date("Net sales", "revenue", "800"),
        whole_year("Net earnings", "net_income", "60"),
        to_date("Net earnings", "net_income", "20"),
    ]
    (margin,) = figures("What was Kestrel's net margin in the fourth quarter of fiscal 2030?", stated)
    assert (margin.metric, margin.value, margin.formula) == ("net_margin", 10, "({0} − {1}) / ({2} − {3})")
    assert [one.fact.value for one in margin.operands] == ["60", "20", "1200", "800"]
    assert (margin.period_start, margin.period_end) == ("2030-11-01", "2031-01-31")
    assert values("What was Kestrel's net margin in the fourth quarter of fiscal 2030?", stated[:-1]) == []
    shown = [
        fact(*line, "2031-01-31", 3) for line in (("Net sales", "revenue", "400"), ("Net earnings", "net_income", "44"))
    ]
    (printed,) = figures("What was Kestrel's net margin in the fourth quarter of fiscal 2030?", [*stated, *shown])
    assert (printed.value, printed.formula) == (11, "{0} / {1}")  # what is printed comes first


def test_a_quarters_metric_of_balances_keeps_its_balances() -> None:
    stated = [
        whole_year("Net sales", "revenue", "1200"),
        to_date("Net sales", "revenue", "800"),
        fact("Trade receivables", "receivables", "200", "2031-01-31"),
    ]
    (days,) = figures("What were Kestrel's days sales outstanding in the fourth quarter of fiscal 2030?", stated)
    assert (days.formula, [one.fact.value for one in days.operands]) == (
        "{0} / ({1} − {2}) × 91",
        ["200", "1200", "800"],
    )


def test_a_quarters_ratio_is_not_made_without_a_line_of_which_only_the_year_is_stated() -> None:
    asked = "What was Kestrel's period expense ratio in the fourth quarter of fiscal 2030?"
    lines = [
        ("Selling", "selling_expense", "100", "60"),
        ("Administration", "administrative_expense", "80", "60"),
        ("Finance", "finance_cost", "20", "10"),
        ("Net sales", "revenue", "1200", "800"),
    ]
    stated = [
        one
        for label, concept, year, part in lines
        for one in (whole_year(label, concept, year), to_date(label, concept, part))
    ]
    (ratio,) = figures(asked, stated)
    assert (ratio.value, ratio.absent) == (Decimal("17.5"), ("research_and_development",))
    assert values(asked, [*stated, whole_year("Research", "research_and_development", "90")]) == []


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


def test_what_is_asked_of_two_companies_is_answered_of_the_one_that_is_stored() -> None:
    for question in (
        "What were the net sales of Tesla and Kestrel in fiscal 2030?",
        "Compare Kestrel's and Tesla's net sales in fiscal 2030",
        "特斯拉与Kestrel 2030财年的营业收入哪个高？",
    ):
        assert [(one.company, one.value) for one in figures(question)] == [("Kestrel", Decimal(1200))]
    assert figures("What were Kestrel's net sales to Tesla in fiscal 2030?") == []


def test_companies_whose_newest_filings_are_of_other_years_are_compared_in_the_same_year() -> None:
    merlin = replace(ANNUAL, id="m", company="Merlin", period=ReportingPeriod("FY2029", 2029, 0, "2030-01-31"))
    stated = [
        *(one for one in FACTS if one.document is ANNUAL),
        fact("Net sales", "revenue", "5000", "2030-01-31", 12, merlin),
        fact("Merchandise", "inventories", "70", "2030-01-31", 0, merlin),
    ]

    def asked(question: str) -> list[tuple[str, str, str]]:
        return [(one.company, f"{one.value:f}", one.period_end) for one in figures(question, stated)]

    assert asked("Compare the net sales of Kestrel and Merlin") == [
        ("Kestrel", "1000", "2030-01-31"),
        ("Merlin", "5000", "2030-01-31"),
    ]
    assert asked("Which has the higher inventories, Kestrel or Merlin?") == [
        ("Kestrel", "190", "2030-01-31"),
        ("Merlin", "70", "2030-01-31"),
    ]
    assert [end for *_, end in asked("The latest net sales of Kestrel and Merlin")] == ["2031-01-31", "2030-01-31"]
    older = replace(merlin, period=ReportingPeriod("FY2027", 2027, 0, "2028-01-31"))
    stated[-2:] = [fact("Net sales", "revenue", "900", "2028-01-31", 12, older)]  # Kestrel's is not stored
    assert [end for *_, end in asked("Compare the net sales of Kestrel and Merlin")] == ["2031-01-31", "2028-01-31"]


def test_figures_of_companies_that_have_no_period_in_common_are_said_to_be_of_different_ones() -> None:
    """One company has years, the other a quarter."""
    merlin = replace(QUARTERLY, id="m", company="Merlin")
    years = [one for one in FACTS if one.document is ANNUAL]
    quarter = fact("Net sales", "revenue", "90", "2031-07-31", 3, merlin)
    year = fact("Net sales", "revenue", "800", "2031-01-31", 12, replace(ANNUAL, id="n", company="Merlin"))

    def notes(question: str, *others: StatedFact) -> str:
        return figure_notes(question, [*years, *others])

    question = "Compare the net sales of Kestrel and Merlin"
    assert "the figures of Kestrel, Merlin are of different periods" in notes(question, quarter)
    assert notes(question, year) == ""
    assert notes("Compare the net sales of Kestrel and Merlin in fiscal 2030", quarter, year) == ""


def test_lines_of_different_lengths_in_every_company_are_no_different_periods() -> None:
    """A quarter's sales beside the cash flows of its half year, in both reports alike."""
    merlin = replace(QUARTERLY, id="m", company="Merlin")
    own = [one for one in FACTS if one.document is QUARTERLY]
    stated = [*own, *(replace(one, document=merlin) for one in own)]
    question = "Compare the net sales and the cash from operations of Kestrel and Merlin"
    assert len(figures(question, stated)) == 4
    assert figure_notes(question, stated) == ""


def test_the_latest_of_each_is_not_said_to_have_no_period_in_common() -> None:
    """Kestrel states the year of Merlin's as well: it was not asked for."""
    merlin = replace(ANNUAL, id="m", company="Merlin", period=ReportingPeriod("FY2029", 2029, 0, "2030-01-31"))
    stated = [
        *(one for one in FACTS if one.document is ANNUAL),
        fact("Net sales", "revenue", "5000", "2030-01-31", 12, merlin),
    ]
    said = figure_notes("The latest net sales of Kestrel and Merlin", stated)
    assert said == "the figures of Kestrel, Merlin are of different periods and cannot be compared as they are"


def quarters_of(year_end: str, *values: str) -> list[StatedFact]:
    last = date.fromisoformat(year_end)
    ends = [last - timedelta(days=round(91.3 * back)) for back in (3, 2, 1, 0)]
    return [fact("Net sales", "revenue", it, str(end), 3) for it, end in zip(values, ends, strict=True) if it]


QUARTERS = [*FACTS[:6], *quarters_of("2031-01-31", "270", "290", "310", "330")]


@pytest.mark.parametrize(
    ("question", "expected"),
    [
        ("What was Kestrel's revenue in each quarter of fiscal 2030?", ["270", "290", "310", "330", "60"]),
        ("Kestrel's revenue for fiscal 2030 by quarter", ["270", "290", "310", "330", "60"]),
        ("Kestrel 2030财年各季度营业收入", ["270", "290", "310", "330", "60"]),
        ("What was Kestrel's net income in each quarter of fiscal 2030?", []),  # the year's is no answer
        ("What share of revenue was cost of sales in each quarter of fiscal 2030?", []),
        ("What were Kestrel's revenue and net income in each quarter of fiscal 2030?", []),
        ("What was Kestrel's revenue in each quarter of fiscal 2030 and 2029?", []),  # of 2029 none is stated
    ],
)
def test_each_quarter_of_a_year_or_none(question: str, expected: list[str]) -> None:
    assert values(question, QUARTERS) == expected


def test_each_quarter_of_two_years_and_of_one_that_lacks_one() -> None:
    both = [*QUARTERS, *quarters_of("2030-01-31", "230", "240", "250", "280")]
    question = "What was Kestrel's revenue in each quarter of fiscal 2029 and 2030?"
    assert values(question, both) == ["230", "240", "250", "280", "270", "290", "310", "330", "100"]
    gap = [*FACTS[:6], *quarters_of("2031-01-31", "270", "", "310", "330")]
    assert values("What was Kestrel's revenue in each quarter of fiscal 2030?", gap) == []


def test_the_last_of_a_years_quarters_may_be_what_is_left_of_it() -> None:
    year = [replace(one, fact=replace(one.fact, period_start="2030-02-01")) for one in FACTS[:1]]
    stated = [*year, *quarters_of("2031-01-31", "270", "290", "310", ""), to_date("Net sales", "revenue", "870")]
    found = figures("What was Kestrel's revenue in each quarter of fiscal 2030?", stated)
    assert [(f"{one.value:f}", one.metric) for one in found[:4]] == [
        ("270", ""), ("290", ""), ("310", ""), ("330", "remainder")
    ]  # fmt: skip


def test_a_line_that_has_no_series_leaves_the_others_out() -> None:
    assert values("Kestrel's revenue and inventories over the last three years", LONGER) != []
    assert values("Kestrel's revenue and deposits of ferrymen over the last three years", LONGER) == []


def test_the_quarters_of_a_year_whose_own_figure_is_not_stated() -> None:
    alone = quarters_of("2031-01-31", "270", "290", "310", "330")
    assert values("Kestrel 2030财年各季度营业收入", alone) == ["270", "290", "310", "330", "60"]
    assert values("Kestrel 2030财年第二季度营业收入是多少？", alone) == ["290"]
    assert values("Kestrel 2030财年营业收入是多少？", alone) == []


@pytest.mark.parametrize("said", ["by quarter end", "by quarter-end", "by year end"])
def test_by_the_end_of_a_period_is_not_in_each_one(said: str) -> None:
    more = fact("Merchandise", "inventories", "230", "2030-10-31")
    assert values(f"What were Kestrel's inventories {said}?", [*FACTS, more]) == ["250"]
    assert len(values("Kestrel's revenue by quarter in fiscal 2030", QUARTERS)) == 5


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
