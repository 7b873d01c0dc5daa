"""A company's statement as people read it: lines down, periods across, each cell with the place that prints it."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Literal, get_args

from quelea_fintext.concepts import label_key
from quelea_fintext.facts import Fact

Length = Literal["annual", "quarterly"]
MONTHS: dict[str, int] = {"annual": 12, "quarterly": 3}
STATEMENTS = ("income", "balance", "cash_flow", "comprehensive_income")
"""The primary ones."""
Shown = Literal["income", "balance", "cash_flow", "comprehensive_income", "breakdown"]
"""What can be shown years × lines: of a breakdown a line is what a column says of a part of the company."""
SHOWN: tuple[Shown, ...] = get_args(Shown)
BASES = ("consolidated", "parent")
DEFAULT_YEARS = 3
MOST_YEARS = 20


@dataclass(slots=True)
class Company:
    """A company that stored documents are about."""

    name: str
    ticker: str = ""
    documents: int = 0
    newest_period: str = ""
    """Last day of the newest period that a document covers."""


@dataclass(frozen=True, slots=True)
class StatementQuery:
    """Which statement is wanted."""

    company: str
    """Name, other name or ticker, as documents have it."""
    statement: str = "income"
    period: str = "annual"
    """Empty: years, or quarters where no year is stored."""
    years: int = DEFAULT_YEARS
    basis: str = "consolidated"
    doubtful: bool = False
    """With figures that break an identity, and what older documents state otherwise."""
    as_of: str = ""
    """YYYY-MM-DD: only what had come out by then."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Figure(Fact):
    """A fact with the document and page that print it."""

    document_id: str
    title: str
    uri: str
    published: str
    company: str
    page: int
    restated: bool
    """A later document of the company states this concept and period with another value."""


@dataclass(frozen=True, slots=True)
class GridLine:
    """A line of a statement: one cell for each period, None where no stored document states it."""

    label: str
    concept: str
    group: str
    unit: str
    cells: tuple[Figure | None, ...]
    earlier: tuple[tuple[Figure, ...], ...] = ()
    """For each period what older documents state otherwise."""
    column: str = ""
    """Of a breakdown: what its column says of the part that the label names."""

    @property
    def name(self) -> str:
        """Label and column, as one line of text."""
        return " · ".join(filter(None, (self.label, self.column)))


@dataclass(frozen=True, slots=True)
class StatementGrid:
    """Periods, newest first, and lines as the newest filing prints them; lines of older filings follow."""

    periods: tuple[str, ...] = ()
    """The last day of each."""
    lines: tuple[GridLine, ...] = ()


@dataclass(frozen=True, slots=True)
class Statement:
    """A company's statement."""

    company: str
    name: str
    basis: str
    grid: StatementGrid


@dataclass(slots=True)
class _Line:
    first: Figure
    cells: dict[str, Figure] = field(default_factory=dict)
    earlier: dict[str, list[Figure]] = field(default_factory=dict)

    def add(self, one: Figure) -> None:
        """The first of a period is its cell."""
        if self.cells.setdefault(one.period_end, one) is not one and one.restated:
            self.earlier.setdefault(one.period_end, []).append(one)


def period_ends(figures: Iterable[Figure], length: str) -> list[str]:
    """The last days of a company's years or quarters, newest first: of durations, since a balance sheet's day tells
    no length."""
    return sorted({one.period_end for one in figures if one.months == MONTHS[length]}, reverse=True)


def _several_lines(figures: Iterable[Figure]) -> set[tuple[str, str]]:
    """Documents and concepts of which they print several lines: two kinds of short-term debt."""
    labels: dict[tuple[str, str, str], set[str]] = {}
    for one in figures:
        if one.concept and not one.restated:
            labels.setdefault((one.document_id, one.concept, one.period_end), set()).add(label_key(one.label))
    return {(document, concept) for (document, concept, _), some in labels.items() if len(some) > 1}


def grid(figures: Sequence[Figure], statement: str, length: str, most: int) -> StatementGrid:
    """A statement over the newest periods.

    Args:
        figures: Of one company and basis, all statements, in the order of the newest filing first.
        most: How many periods.
    """
    ends = period_ends(figures, length)[:most]
    shown = [
        one
        for one in figures
        if one.statement == statement and one.period_end in ends and one.months in (0, MONTHS[length])
    ]
    twice = _several_lines(shown)
    lines: dict[str, _Line] = {}
    newest_values = sorted(shown, key=lambda one: one.restated)
    for one in sorted(newest_values, key=lambda one: one.period_end, reverse=True):
        concept = "" if (one.document_id, one.concept) in twice else one.concept
        name = f"{concept or label_key(one.label)} {one.column} {one.unit}"
        if not concept and one.group:
            name = f"{label_key(one.group)} {name}"
        lines.setdefault(name, _Line(one)).add(one)
    present = [end for end in ends if any(end in line.cells for line in lines.values())]
    return StatementGrid(
        tuple(present),
        tuple(
            GridLine(
                line.first.label,
                line.first.concept,
                line.first.group,
                line.first.unit,
                tuple(line.cells.get(end) for end in present),
                tuple(tuple(line.earlier.get(end, ())) for end in present),
                line.first.column,
            )
            for line in lines.values()
        ),
    )
