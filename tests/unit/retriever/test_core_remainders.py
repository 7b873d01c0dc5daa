"""A quarter that is not stated: what is left of a year without its first nine months."""

from __future__ import annotations

from dataclasses import replace
from decimal import Decimal

import pytest
from quelea_fintext.times.periods import ReportingPeriod
from quelea_retriever.core.figures.statement_facts import StatedFact
from quelea_retriever.core.model import DocumentFacts
from support.kestrel import ANNUAL, FACTS, QUARTERLY, fact, figures, to_date, values


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
