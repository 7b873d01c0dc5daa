"""Companies side by side: under which calendar year or quarter a figure stands."""

from __future__ import annotations

from dataclasses import replace

import pytest
from quelea_gateway.core.statements.comparison import CompanyFigures, ComparisonQuery, calendar_period, compare
from quelea_gateway.core.statements.statement_grid import Figure

YEAR = Figure(
    statement="income", label="Net sales", concept="revenue", value="900", unit="USD", period_start="2031-01-01",
    period_end="2031-12-31", printed="900", group="", basis="consolidated", source="table", tag="",
    passed=(), failed=(), restated=False, document_id="d", title="", uri="", published="", company="Kestrel", page=1,
    start=0, end=3,
)  # fmt: skip


@pytest.mark.parametrize(
    ("start", "end", "length", "named"),
    [
        ("2031-01-01", "2031-12-31", "annual", "2031"),
        ("2023-01-30", "2024-01-28", "annual", "2023"),
        ("2022-01-03", "2023-01-01", "annual", "2022"),
        ("2022-09-25", "2023-09-30", "annual", "2023"),
        ("2023-04-02", "2023-07-01", "quarterly", "2023 Q2"),
        ("2023-10-30", "2024-01-28", "quarterly", "2023 Q4"),
        ("", "2023-07-01", "quarterly", "2023 Q2"),
        ("", "2024-01-28", "annual", "2023"),
        ("2022-09-25", "2023-07-01", "annual", ""),
        ("2023-04-02", "2023-07-01", "annual", ""),
    ],
)
def test_a_period_stands_where_its_middle_lies(start: str, end: str, length: str, named: str) -> None:
    one = replace(YEAR, period_start=start, period_end=end)
    assert calendar_period(one, length) == named


def test_fiscal_years_that_differ_meet_and_what_is_not_stated_is_named() -> None:
    other = replace(YEAR, company="Osprey", value="70", period_start="2031-02-01", period_end="2032-01-31")
    before = replace(other, value="60", period_start="2030-02-01", period_end="2031-01-31")
    debt = replace(YEAR, concept="debt", statement="balance", period_start="", value="40")
    inside = replace(debt, period_end="2031-06-30", value="41")
    found = [
        CompanyFigures("KST", frozenset({YEAR.period_end}), {"sales": (YEAR,), "debt": (debt, inside)}),
        CompanyFigures("OSP", frozenset({other.period_end}), {"sales": (other, before), "debt": ()}),
    ]
    grid = compare(found, ComparisonQuery(("KST", "OSP"), ("sales", "debt")), 3)
    assert grid.periods == ("2031", "2030")
    values = [(one.company, one.concept, [cell.value if cell else None for cell in one.cells]) for one in grid.lines]
    assert values == [
        ("Kestrel", "revenue", ["900", None]),
        ("Osprey", "revenue", ["70", "60"]),
        ("Kestrel", "debt", ["40", None]),
    ]
    assert grid.missing == (("OSP", "debt"),)
    assert compare(found, ComparisonQuery(("KST", "OSP"), ("sales",)), 1).periods == ("2031",)


def test_the_first_of_a_period_is_shown_as_the_newest_document_comes_first() -> None:
    old = replace(YEAR, value="870", document_id="old")
    found = [CompanyFigures("KST", frozenset(), {"sales": (YEAR, old)})]
    (line,) = compare(found, ComparisonQuery(("KST",), ("sales",)), 3).lines
    assert [cell.value if cell else None for cell in line.cells] == ["900"]


def test_a_balance_of_an_older_year_end_is_of_no_other_length() -> None:
    """It is missing from the years that are shown; only a day within a year, or a quarter, is of another length."""
    old = replace(YEAR, concept="debt", statement="balance", period_start="", period_end="2028-12-31")
    ends = frozenset({YEAR.period_end, old.period_end})
    query = ComparisonQuery(("KST",), ("sales", "debt"))
    for one, otherwise in ((old, set()), (replace(old, period_end="2031-06-30"), {("KST", "debt")})):
        grid = compare([CompanyFigures("KST", ends, {"sales": (YEAR,), "debt": (one,)})], query, 1)
        assert (grid.missing, grid.otherwise) == ((("KST", "debt"),), otherwise)
