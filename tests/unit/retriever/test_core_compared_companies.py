"""Figures of several companies: in the same period, or said to be of different ones."""

from __future__ import annotations

from dataclasses import replace
from decimal import Decimal

from quelea_fintext.times.periods import ReportingPeriod
from quelea_retriever.core.figures.statement_facts import StatedFact
from support.kestrel import ANNUAL, FACTS, QUARTERLY, fact, figure_notes, figures


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
