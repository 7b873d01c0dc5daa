"""A statement as a grid: which figures share a line."""

from __future__ import annotations

from dataclasses import replace

from quelea_gateway.core.statements.statement_grid import Figure, grid

YEAR = Figure(
    statement="income",
    label="Net sales",
    concept="revenue",
    value="900",
    unit="USD",
    period_start="2031-01-01",
    period_end="2031-12-31",
    printed="900",
    group="",
    basis="consolidated",
    source="table",
    tag="",
    passed=(),
    failed=(),
    restated=False,
    document_id="new",
    title="",
    uri="",
    published="",
    company="Kestrel",
    page=1,
    start=0,
    end=3,
)
NOTES = replace(
    YEAR, statement="balance", label="Notes payable", concept="short_term_debt", value="40", period_start=""
)


def test_lines_of_two_filings_meet_in_their_concept() -> None:
    before = replace(
        YEAR, label="Sales", value="800", period_start="2030-01-01", period_end="2030-12-31", document_id="old"
    )
    (line,) = grid([YEAR, before], "income", "annual", 3).lines
    assert (line.label, [cell.value for cell in line.cells if cell]) == ("Net sales", ["900", "800"])


def test_two_lines_of_one_concept_are_two_lines() -> None:
    paper = replace(NOTES, label="Commercial paper", value="25")
    lines = grid([YEAR, NOTES, paper], "balance", "annual", 3).lines
    assert [(line.label, line.concept, line.cells[0] and line.cells[0].value) for line in lines] == [
        ("Notes payable", "short_term_debt", "40"),
        ("Commercial paper", "short_term_debt", "25"),
    ]
