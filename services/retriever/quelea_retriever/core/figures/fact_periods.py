"""From the periods that a question names to days on which stated periods end, by each name that a period may have."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import date, timedelta
from functools import cached_property

from quelea_fintext.dates import parse_iso
from quelea_fintext.languages import LANGUAGES
from quelea_fintext.numerals import how_many
from quelea_fintext.times.periods import period_reader

from quelea_retriever.core.figures.statement_facts import StatedFact
from quelea_retriever.core.model import DocumentFacts
from quelea_retriever.core.question.filings import NEAR, covering, newest_first, period_name
from quelea_retriever.core.question.periods import Ask

YEAR = timedelta(days=365.25)
_DRIFT = timedelta(days=30)
"""Years of 52 or 53 weeks end some days before or after their anniversary; and where the newest filing is a quarter's,
its year's end is reckoned by quarters of three months, though the last one may have 16 weeks."""
_QUARTER_NEAR = timedelta(days=24)
"""A quarter of 12 weeks or of 16 ends so far from three months' end."""
_QUARTER = timedelta(days=91.3)
_MONTHS = re.compile(r"\b(three|six|nine|twelve|3|6|9|12)[\s-]{1,3}months?\b", re.IGNORECASE)
_WHOLE = LANGUAGES.pattern("time.annual_figures")
_QUARTERLY = LANGUAGES.pattern("time.quarterly_figures")
_TO_DATE = LANGUAGES.pattern("time.figures_to_date")
LONGEST = -1
"""Months of a year to date."""


@dataclass(frozen=True, slots=True)
class Target:
    """A period that may be meant."""

    end: date
    months: int
    """0: of whatever length is stated, a quarter first; LONGEST: the longest."""
    asked_year: int = 0
    is_span: bool = False
    """The question says how long it is, and when it ends: it is no day."""


def said_months(question: str) -> int:
    """How long the periods are that a question speaks of; 0: it does not say."""
    parts = {period.part for period in period_reader().read(question) if period.kind == "months"}
    if len(parts) == 1:
        return parts.pop()
    if any(period.kind == "half" for period in period_reader().read(question)):
        return 6
    if match := _MONTHS.search(question):
        return how_many(match[1])
    if _TO_DATE.search(question):
        return LONGEST
    if _QUARTERLY.search(question):
        return 3
    return 12 if _WHOLE.search(question) else 0


def _is_trailing(one: StatedFact) -> bool:
    """Twelve months in the report of a quarter: they end with it, and no fiscal year does."""
    return one.fact.months in (12, 13) and one.document.period.fiscal_quarter in (1, 2, 3)


class CompanyCalendar:
    """The ends of a company's periods, as its facts and filings have them.

    Args:
        filings: Of the company.
        facts: Of these.
    """

    def __init__(self, filings: Sequence[DocumentFacts], facts: Iterable[StatedFact]) -> None:
        self.filings = newest_first(one for one in filings if one.period.end_date)
        self._spans = {(one.fact.period_end, one.fact.months) for one in facts if not _is_trailing(one)}

    @cached_property
    def _anchor(self) -> tuple[date, int] | None:
        """The end of a fiscal year, and the filer's name of it."""
        for one in self.filings:
            end, period = parse_iso(one.period.end_date), one.period
            if end and period.fiscal_year:
                return end + period.quarters_to_come * _QUARTER, period.fiscal_year
        return None

    def year_of(self, end: date) -> int:
        """The filer's fiscal year that ends about then; 0 where its names are not known."""
        if self._anchor is None:
            return 0
        anchor, year = self._anchor
        return year + round((end - anchor) / YEAR)

    def year_with(self, day: date) -> int:
        """The filer's fiscal year in which a day lies; 0 where its names are not known."""
        if self._anchor is None:
            return 0
        anchor, year = self._anchor
        return year + math.ceil((day - anchor - _DRIFT) / YEAR)

    @cached_property
    def year_ends(self) -> tuple[date, ...]:
        """Last days of fiscal years, newest first: of stated years and annual reports, and of balances on their
        anniversaries."""
        stated = {day for text, months in self._spans if months in (12, 13) and (day := parse_iso(text))}
        periods = [one.period for one in self.filings if one.period.fiscal_year]
        annual = [one for one in periods if not (one.fiscal_quarter or one.quarters_to_come)]
        stated |= {day for period in annual if (day := parse_iso(period.end_date))}
        near = [*stated, *([self._anchor[0]] if self._anchor else [])]
        closes = {
            day
            for text, months in self._spans
            if not months and (day := parse_iso(text)) and _is_anniversary(day, near)
        }
        return tuple(sorted(stated | closes, reverse=True))

    def ends(self, months: int) -> tuple[date, ...]:
        """Last days of stated periods of this length, and of balances."""
        found = {day for text, long in self._spans if long in (months, 0) and (day := parse_iso(text))}
        return tuple(sorted(found, reverse=True))

    def quarters_to(self, year_end: date) -> list[date | None]:
        """The ends of the four quarters of a year, oldest first; None of one that nothing is stated of.

        The last one ends with the year, also where only the year is stated: it is what the others leave of it.
        """
        found: list[date | None] = []
        for back in (3, 2, 1, 0):
            day = year_end - back * _QUARTER
            near = [end for end in self.ends(3) if abs(end - day) <= _QUARTER_NEAR]
            found.append(min(near, key=lambda end: abs(end - day), default=None if back else year_end))
        return found

    def newest(self, *, annual: bool) -> list[Target]:
        """The period of the newest filing; of the newest annual one."""
        filings = [one for one in self.filings if not (annual and one.period.fiscal_quarter)]
        for one in filings[:1]:
            if end := parse_iso(one.period.end_date):
                return [Target(end, 3 if one.period.fiscal_quarter else 12)]
        return [Target(end, 12) for end in self.year_ends[:1]]

    def targets(self, ask: Ask, months: int, *, annual: bool) -> list[Target]:
        """What the ask may mean, the likeliest first: the filer's name of a period comes before its reader's.

        Args:
            ask: A period that the question names.
            months: What `said_months` says.
            annual: The question asks for a whole year's report.
        """
        if ask.kind == "month" and ask.alone:
            return []
        if ask.end is not None or ask.kind == "month":
            return self._ending(ask, months)
        if ask.kind == "year":
            return [Target(end, 12 if months in (0, 12, LONGEST) else months, ask.year) for end in self._years(ask)]
        return [Target(end, months or 3, ask.year) for end in self._quarters(ask, annual=annual)]

    def _ending(self, ask: Ask, months: int) -> list[Target]:
        known = {day for text, _ in self._spans if (day := parse_iso(text))}
        if ask.end is not None:
            fitting = [day for day in known if abs(day - ask.end) <= NEAR]
            fitting.sort(key=lambda day: abs(day - ask.end) if ask.end else NEAR)
        else:
            fitting = [day for day in known if (ask.year, ask.month) in ((day.year, day.month), _month_of(day - NEAR))]
        return [Target(day, months or (12 if day in self.year_ends else 0), is_span=bool(months)) for day in fitting]

    def _years(self, ask: Ask) -> list[date]:
        of_filer = [] if ask.calendar else [end for end in self.year_ends if self.year_of(end) == ask.year]
        of_reader = [end for end in self.year_ends if end.year == ask.year]
        middle = [end for end in self.year_ends if (end - YEAR / 2).year == ask.year] if ask.calendar else []
        return middle or of_filer or of_reader

    def _quarters(self, ask: Ask, *, annual: bool) -> list[date]:
        found = [parse_iso(one.period.end_date) for one in covering(ask, self.filings, annual=annual)]
        if not ask.year:
            return [end for end in found if end]
        ends = self.ends(3)
        for one in self.filings:  # a quarter of another year, by the name of the same quarter's filing
            year, quarter = period_name(one, ask)
            end = parse_iso(one.period.end_date)
            if end and year and quarter == ask.quarter:
                found += [day for day in ends if abs(day - (end - (year - ask.year) * YEAR)) <= NEAR]
        for year_end in self._years(Ask("year", ask.year, fiscal=ask.fiscal, calendar=ask.calendar)):
            day = year_end - (4 - ask.quarter) * _QUARTER
            found += [end for end in ends if abs(end - day) <= _QUARTER_NEAR]
        last = date(ask.year, 3 * ask.quarter, 28)
        found += [end for end in ends if abs(end - last) <= _QUARTER_NEAR]
        return list(dict.fromkeys(end for end in found if end))


def _is_anniversary(day: date, of: Iterable[date]) -> bool:
    return any(abs((day - one) - round((day - one) / YEAR) * YEAR) <= NEAR for one in of)


def _month_of(day: date) -> tuple[int, int]:
    return day.year, day.month
