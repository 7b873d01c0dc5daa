"""A month by itself: the filing whose period holds it comes nearest, and without one it is missing."""

from __future__ import annotations

import pytest
from quelea_retriever.core.question.periods import Ask, find_asks
from quelea_retriever.core.question.reading import read_query
from support.filings import CATALOGUE, TODAY


@pytest.mark.parametrize(
    ("question", "year", "month"),
    [
        ("What was Zebra's revenue in May 2023?", 2023, 5),
        ("Zebra net income for the month of Nov. 2022", 2022, 11),
        ("Zebra sales 2022-12", 2022, 12),
        ("How did Zebra's sales do in that May 2023?", 2023, 5),
        ("Zebra2022年5月的营收", 2022, 5),
        ("Zebra2022年十二月份的净利润", 2022, 12),
    ],
)
def test_a_month_is_read_where_something_is_counted_by_it(question: str, year: int, month: int) -> None:
    assert find_asks(question) == [Ask("month", year=year, month=month, alone=True)]


@pytest.mark.parametrize(
    "question",
    [
        "What did Zebra acquire in May 2014?",
        "Zebra revenue from January 2023 to March 2023",
        "Zebra2023年1月至3月的收入",
        "Zebra2023年3月以来的收入",
        "Interest costs of notes due May 2025",
        "Zebra net sales 2011-12",
        "Zebra revenue for the quarter ended June 2023",
        "Zebra revenue in the June 2023 quarter",
    ],
)
def test_events_spans_and_ends_of_quarters_are_no_months_alone(question: str) -> None:
    assert not any(ask.alone for ask in find_asks(question))


def test_the_quarter_that_holds_the_month_is_searched() -> None:
    month = read_query("What was Zebra's revenue in August 2023?", CATALOGUE, TODAY)
    quarter = read_query("What was Zebra's revenue in Q3 2023?", CATALOGUE, TODAY)
    assert month.groups == quarter.groups
    assert not month.period_missing
    assert read_query("Zebra2023年8月的营收", CATALOGUE, TODAY).groups == quarter.groups


@pytest.mark.parametrize("question", ["What was Zebra's revenue in December 2009?", "Zebra2009年12月的营收是多少？"])
def test_a_month_that_no_filing_holds_is_missing(question: str) -> None:
    reading = read_query(question, CATALOGUE, TODAY)
    assert reading.period_missing
    assert reading.periods == ("2009-12",)
    assert "2009-12" in reading.fallback
