"""A figure of a financial statement, and the place that prints it."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import date
from decimal import Decimal


@dataclass(frozen=True, slots=True)
class FactPeriod:
    """The time of a fact. Of an instant, only its day."""

    end: date
    start: date | None = None
    """First day of a duration; None of an instant."""


@dataclass(frozen=True, slots=True)
class Fact:
    """One figure.

    `page` and the span `start:end` (code points of the page's text) are those of the printed cell.
    """

    statement: str
    """ "balance", "income", "comprehensive_income", "cash_flow", "equity", "note" or "breakdown"."""
    label: str
    """As printed, without the cells."""
    concept: str
    """Id of `quelea_fintext.concepts`; empty where the label is none's."""
    value: Decimal
    """Exact, unscaled. In the sense of its concept: capital expenditure is positive; else with the printed sign."""
    unit: str
    """ISO 4217 code ("USD"), that code per share ("USD/share"), "shares" or "pure"."""
    period: FactPeriod
    printed: str
    """The cell."""
    page: int
    start: int
    end: int
    group: str = ""
    """The heading of the rows among which it stands: "Current assets"."""
    basis: str = "consolidated"
    """Or "parent"."""
    source: str = "table"
    """ "tag": inline XBRL says it. "table": read from the printed table."""
    tag: str = ""
    """Name in its taxonomy, with prefix, where a tag says it."""
    passed: tuple[str, ...] = ()
    """Identities that hold with it, by name."""
    failed: tuple[str, ...] = ()
    """Identities that do not. A fact with one is kept for people and not used."""
    column: str = ""
    """Of a breakdown: what its column says of the row, without its unit."""


@dataclass(frozen=True, slots=True)
class TaggedFigure:
    """A figure that a filing tags, without its place."""

    tag: str
    """ "us-gaap:Assets"."""
    value: Decimal
    """Exact, unscaled, with the sign of its concept in the taxonomy."""
    unit: str
    """ "USD", "USD/shares", "shares", "pure"."""
    period: FactPeriod
    printed: str
    is_whole: bool
    """Of the whole company: no dimension makes it a segment's, a class's or a product's."""
    is_inside: bool = False
    """Its text is that of the figure before: one number tagged for two days."""
