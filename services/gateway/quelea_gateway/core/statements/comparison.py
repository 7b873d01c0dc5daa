"""Figures of several companies side by side, where their fiscal years differ.

A period stands under the calendar year or quarter in which its middle lies, as in the frames of the SEC's XBRL API
(data.sec.gov/api/xbrl/frames): a year to January 28, 2024 is 2023, and a year of 52 weeks that ends on January 1 is the
one before. A balance sheet's day stands under the year or quarter of its company that ends with it; days that end none
are left out.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import date, timedelta

from quelea_fintext.dates import parse_iso

from quelea_gateway.core.statements.statement_grid import DEFAULT_YEARS, MONTHS, Figure

MOST_COMPANIES = 20
MOST_CONCEPTS = 20
MOST_LINES = 100
"""Companies × concepts: each is looked up."""
_QUARTER_DAYS, _YEAR_DAYS = 91, 365


@dataclass(frozen=True, slots=True)
class ComparisonQuery:
    """What is to stand side by side."""

    companies: tuple[str, ...]
    """Names, other names or tickers, as documents have them."""
    concepts: tuple[str, ...]
    """Names of concepts, or words for them."""
    period: str = "annual"
    """Empty: years, or quarters where no year is stored."""
    years: int = DEFAULT_YEARS
    basis: str = "consolidated"
    as_of: str = ""
    """YYYY-MM-DD: only what had come out by then."""


@dataclass(frozen=True, slots=True)
class CompanyFigures:
    """What one company states: of each concept that was asked for, the newest document first."""

    company: str
    ends: frozenset[str]
    """Last days of its years or quarters."""
    figures: Mapping[str, Sequence[Figure]]


@dataclass(frozen=True, slots=True)
class ComparisonLine:
    """One cell for each period, None where no stored document states it."""

    company: str
    concept: str
    label: str
    unit: str
    cells: tuple[Figure | None, ...]


@dataclass(frozen=True, slots=True)
class Comparison:
    """Companies side by side, the newest period first; `missing` names companies and concepts without any figure."""

    period: str
    periods: tuple[str, ...]
    lines: tuple[ComparisonLine, ...]
    missing: tuple[tuple[str, str], ...]
    otherwise: frozenset[tuple[str, str]] = frozenset()
    """Those of the missing that are stated for periods of the other length."""

    @property
    def other(self) -> str:
        """The other length: of annual quarterly."""
        return _other_than(self.period)


def calendar_period(figure: Figure, length: str) -> str:
    """The year, or year and quarter, under which a figure stands; empty where its period has no such length."""
    last = parse_iso(figure.period_end)
    if last is None or figure.months not in (0, MONTHS[length]):
        return ""
    first = parse_iso(figure.period_start) if figure.months else None
    days = (last - first).days if first else _YEAR_DAYS if length == "annual" else _QUARTER_DAYS
    return _named(last - timedelta(days=days // 2), length)


def _named(day: date, length: str) -> str:
    return str(day.year) if length == "annual" else f"{day.year} Q{(day.month + 2) // 3}"


def compare(found: Sequence[CompanyFigures], query: ComparisonQuery, most: int) -> Comparison:
    """The grid.

    Args:
        found: Of each company.
        query: What was asked for; its order is that of the lines.
        most: How many periods.
    """
    cells: dict[tuple[str, str], dict[str, Figure]] = {}
    for group in found:
        for concept, figures in group.figures.items():
            held = cells.setdefault((group.company, concept), {})
            for one in figures:
                name = calendar_period(one, query.period)
                if name and (one.months or one.period_end in group.ends):
                    held.setdefault(name, one)
    periods = tuple(sorted({name for held in cells.values() for name in held}, reverse=True)[:most])
    lines, missing = [], []
    for concept in query.concepts:
        for company in query.companies:
            shown = tuple(cells[(company, concept)].get(name) for name in periods)
            first = next((one for one in shown if one), None)
            if first is None:
                missing.append((company, concept))
                continue
            lines.append(ComparisonLine(first.company, first.concept or concept, first.label, first.unit, shown))
    other = MONTHS[_other_than(query.period)]
    otherwise = frozenset(
        (group.company, concept)
        for group in found
        for concept, figures in group.figures.items()
        if any(one.months == other or (not one.months and one.period_end not in group.ends) for one in figures)
    )
    return Comparison(query.period, periods, tuple(lines), tuple(missing), otherwise.intersection(missing))


def _other_than(period: str) -> str:
    return next(one for one in MONTHS if one != period)
