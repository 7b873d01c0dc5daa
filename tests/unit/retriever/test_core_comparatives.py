"""A period without a filing of its own, which a later filing shows beside its own."""

from __future__ import annotations

from datetime import date

import pytest
from quelea_retriever.core.question.catalogue import Catalogue
from quelea_retriever.core.question.reading import read_query
from quelea_retriever.core.search_terms import abbreviations_in
from support.filings import TODAY, filing

QUARTER = filing("Merlin", "MRLN", "FY2023 Q2", "2023-07-01")
YEAR = filing("Kestrel", "KSTL", "FY2019", "2019-12-31", form="annual report")
AHEAD = filing("Osprey", "OSPR", "FY2024 Q2", "2023-07-30")
BASE = Catalogue.build([QUARTER, YEAR, AHEAD])


@pytest.mark.parametrize(
    ("question", "document"),
    [
        ("What was Merlin's revenue in Q2 2022?", QUARTER.id),
        ("Merlin net income for the quarter ended July 2, 2022", QUARTER.id),
        ("Merlin2022年第二季度营收", QUARTER.id),
        ("Kestrel revenue in fiscal 2018", YEAR.id),
        ("Kestrel2017年净利润是多少？", YEAR.id),
        ("Osprey's revenue in the second quarter of fiscal 2023", AHEAD.id),
    ],
)
def test_the_later_filing_is_searched(question: str, document: str) -> None:
    reading = read_query(question, BASE, TODAY)
    assert reading.groups == ((document,),)
    assert not reading.period_missing
    assert "shows it for comparison" in reading.fallback


@pytest.mark.parametrize(
    "question",
    [
        "What was Merlin's revenue in Q1 2022?",  # the filing of another quarter has no column of it
        "What was Merlin's revenue in Q2 2021?",  # two years before: quarterly statements do not go back so far
        "Merlin's cash as of July 2, 2022",  # a balance sheet is compared with the year's end
        "What was Merlin's revenue in 2022?",  # a whole year is in no quarter's filing
        "Osprey's revenue in Q2 2023",  # by the calendar its own, by the filer's count the year before: not sure
        "Kestrel revenue in fiscal 2016",
        "What was Merlin's revenue in Q2 2024?",
    ],
)
def test_what_no_filing_shows_is_missing(question: str) -> None:
    assert read_query(question, BASE, TODAY).period_missing


def test_nothing_that_came_out_later_shows_it() -> None:
    reading = read_query("What was Merlin's revenue in Q2 2022?", Catalogue.build([QUARTER]), date(2023, 5, 1))
    assert "shows it for comparison" not in reading.fallback


def test_of_several_companies_the_latest_quarters_are_one_each() -> None:
    own = [QUARTER, filing("Merlin", "MRLN", "FY2023 Q1", "2023-04-01"), AHEAD]
    reading = read_query("Compare Merlin and Osprey in their latest reported quarters", Catalogue.build(own), TODAY)
    assert reading.groups == ((QUARTER.id,), (AHEAD.id,))


def test_terms_of_finance_are_no_names_of_segments() -> None:
    assert abbreviations_in("What was BSAI revenue under GAAP, and EPS in USD?") == ("BSAI",)
