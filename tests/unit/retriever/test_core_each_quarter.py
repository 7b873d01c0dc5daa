"""A line in each quarter of a year."""

from __future__ import annotations

from dataclasses import replace
from datetime import date, timedelta

import pytest
from quelea_retriever.core.figures.statement_facts import StatedFact
from support.kestrel import FACTS, fact, figures, to_date, values


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
