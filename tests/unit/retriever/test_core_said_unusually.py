"""Periods that a question puts unusually find the same filings as in the usual words."""

from __future__ import annotations

from datetime import date

import pytest
from quelea_retriever.core.question.reading import read_query
from support.filings import CATALOGUE

NOVEMBER = date(2023, 11, 10)


@pytest.mark.parametrize(
    ("question", "ends"),
    [
        ("Zebra revenue in the quarter ended July 1", ["2023-07-01"]),
        ("Zebra截至7月1日止三个月的营收", ["2023-07-01"]),
        ("Zebra revenue over the last six months", ["2023-07-01", "2023-09-30"]),
        ("Zebra过去六个月的营收", ["2023-07-01", "2023-09-30"]),
        ("Zebra net income 3Q FY23", ["2023-09-30"]),
        ("Zebra's revenue in the opening quarter of 2023", ["2023-04-01"]),
        ("Zebra2023年首季的营收", ["2023-04-01"]),
        ("Zebra's revenue for the three months to the end of September 2023", ["2023-09-30"]),
        ("Zebra's revenue in the 2023 September quarter", ["2023-09-30"]),
        ("Zebra2023年9月季度的营收", ["2023-09-30"]),
        ("Zebra2023年9月底结束的季度营收", ["2023-09-30"]),
        ("Zebra2023年前九个月的营收", ["2023-09-30"]),
    ],
)
def test_it_finds_its_filings(question: str, ends: list[str]) -> None:
    reading = read_query(question, CATALOGUE, NOVEMBER)
    found = {document.removeprefix("ZBRA ") for document in reading.document_ids}
    assert sorted(found) == ends


def test_a_day_without_a_year_is_of_the_newest_period_that_was_over() -> None:
    reading = read_query("Zebra revenue in the quarter ended October 1", CATALOGUE, date(2023, 8, 1))
    assert reading.document_ids == ("ZBRA 2022-10-01",)
