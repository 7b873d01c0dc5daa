"""What is asked of a source, and what it has: companies and the documents that they filed."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import date
from enum import StrEnum

from quelea_kit.errors import InvalidInput, NotFound, Unavailable
from quelea_kit.reach import DEFAULT_COLLECTION

MOST_YEARS = 20
"""Years back that one fetch may reach."""


class Source(StrEnum):
    """Who keeps filings."""

    EDGAR = "edgar"
    CNINFO = "cninfo"


PLACES = {Source.EDGAR: "EDGAR", Source.CNINFO: "cninfo"}
"""As people write them."""


@dataclass(frozen=True, slots=True)
class Call:
    """One HTTP call to a source."""

    url: str
    form: tuple[tuple[str, str], ...] = ()
    """Fields of a POST; empty: a GET."""


@dataclass(frozen=True, slots=True)
class Company:
    """A company as its source knows it."""

    source: Source
    id: str
    """EDGAR: the CIK, ten digits. cninfo: code and organisation, "600519,gssh0600519"."""
    ticker: str
    name: str


@dataclass(frozen=True, slots=True)
class Filing:
    """One document that a company filed."""

    source: Source
    accession: str
    """EDGAR's accession number ("0001065280-25-000044"), cninfo's announcement id."""
    url: str
    """Of the document's bytes."""
    form: str
    """As the source calls it: "10-K", "EX-99.1", "年报"."""
    title: str
    filed: date
    period_end: str = ""
    """YYYY-MM-DD; of an event report the day of the event; empty where the source does not say."""

    @property
    def filing_id(self) -> str:
        """The accession number with its source: "edgar:0001065280-25-000044". The documents of one filing share it."""
        return f"{self.source}:{self.accession}"

    @property
    def filename(self) -> str:
        """The last part of its address."""
        return self.url.rsplit("/", 1)[-1]


@dataclass(frozen=True, slots=True)
class Span:
    """Days on which a filing may have been filed, both included."""

    first: date
    last: date

    def has(self, day: date) -> bool:
        """Whether a day lies in it."""
        return self.first <= day <= self.last


@dataclass(frozen=True, slots=True)
class Wanted:
    """What a fetch asks for."""

    company: str
    """Ticker, name, 简称, stock code or CIK, as typed."""
    source: Source
    forms: tuple[str, ...]
    years: int
    bundle_ids: tuple[str, ...] = field(default=())
    """Recordings to replay instead of asking the source."""
    collection: str = DEFAULT_COLLECTION
    """Into which the filings go."""


class UnexpectedReply(Unavailable):
    """A source answered with something that is not in the shape that it documents."""

    reason = "UNEXPECTED_REPLY"


class NothingFiled(NotFound):
    """A company is known, and has filed nothing of what was asked for.

    Args:
        message: What was looked for.
        company: Whose.
        span: When.
    """

    reason = "NOTHING_FILED"

    def __init__(self, message: str, company: Company, span: Span) -> None:
        super().__init__(message, details={"from": span.first.isoformat(), "to": span.last.isoformat()})
        self.company = company


def years_back(day: date, years: int) -> Span:
    """The days from the same day some years ago to this one."""
    try:
        first = day.replace(year=day.year - years)
    except ValueError:  # 29 February
        first = day.replace(year=day.year - years, day=28)
    return Span(first, day)


def check_years(years: int, default: int) -> int:
    """The years that are asked for; 0 is the default. Raises InvalidInput."""
    if years > MOST_YEARS:
        raise InvalidInput(f"years must be from 1 to {MOST_YEARS}, got {years}.", details={"field": "years"})
    return years or default


def no_such_company(asked: str, wanted: Wanted, near: Sequence[Company]) -> NotFound:
    """The error of a company that a source does not know, or a recording of it, with those whose names are near."""
    place = PLACES[wanted.source]
    shown = ", ".join(f"{one.ticker} ({one.name})" for one in near)
    hint = f" Did you mean {shown}?" if shown else " Try its ticker, its full name, or on EDGAR its CIK."
    if wanted.bundle_ids:
        place = f"The recording of {place}"
        hint = f" It has {shown}." if shown else " It answers for the companies that it was made of alone."
    details = {"suggestions": ", ".join(one.ticker for one in near)} if near else None
    return NotFound(f"{place} has no company {asked[:80]!r}.{hint}", details=details)
