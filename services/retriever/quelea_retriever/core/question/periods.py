"""What a question asks for in the periods that it names; matching them to filings is `reading`'s."""

from __future__ import annotations

import re
from dataclasses import dataclass, field, replace
from datetime import date
from typing import Literal

from quelea_fintext.dates import write_date
from quelea_fintext.languages import LANGUAGES
from quelea_fintext.times.period_words import ENDS, FLOWS, SPANS, normalise_periods
from quelea_fintext.times.periods import Period, period_reader

Kind = Literal["quarter", "year", "date", "month"]


@dataclass(frozen=True, slots=True)
class Ask:
    """One period that a question names."""

    kind: Kind
    year: int = 0
    """0: no year was said."""
    quarter: int = 0
    month: int = 0
    end: date | None = None
    fiscal: bool = False
    """The question says "fiscal"."""
    calendar: bool = False
    """The question says "calendar"."""
    weak: bool = False
    """A year that may well not be the period asked about: used when it fits, forgotten when it does not."""
    newest: bool = False
    """Of the filings that fit only the newest: a year to date."""
    half: bool = False
    """A half of the year, by the quarter that ends it: in whose filing its figures are."""
    said: str = field(default="", compare=False)
    """The words, where the question names it relative to its day."""
    start: int = field(default=0, compare=False)
    """Where the question names it."""
    alone: bool = False
    """A month by itself, for what a report counts by the quarter: whatever holds the month comes nearest."""

    @property
    def label(self) -> str:
        """ "FY2023 Q3", "2023 Q3", "2023", "July 1, 2023"."""
        if self.end is not None:
            return write_date(self.end, "en")
        if self.kind == "month":
            return f"{self.year}-{self.month:02d}"
        parts = [
            f"{'FY' if self.fiscal else ''}{self.year}" if self.year else "",
            f"Q{self.quarter}" if self.quarter else "",
        ]
        return " ".join(part for part in parts if part)


COUNTED = LANGUAGES.pattern("time.counted", rf"{FLOWS}|<>")
"""What is counted over a span of time, as against what happened on some day of it."""
OF_MARKETS = LANGUAGES.pattern("time.of_markets")
"""What is counted of a whole market: news and research have it, and no filing."""
_RANGE_BEFORE = re.compile(rf"{SPANS}\s*$", re.IGNORECASE)
_RANGE_AFTER = LANGUAGES.pattern("time.range_after", r"^\s*+<>")
_ENDED = LANGUAGES.pattern("time.ended", rf"(?:{ENDS}|<>)[\s:]*$")
_TO = LANGUAGES.pattern("time.to", r"<>|\d\s*[-–—~]\s*$")
_QUARTER_AFTER = LANGUAGES.pattern("time.quarter_after")


def find_asks(query: str) -> list[Ask]:
    """Every period that the question names, in order, each once."""
    query = normalise_periods(query)
    asks = [_ask(query, period) for period in period_reader().read(query)]
    asks = list(dict.fromkeys(_with_years_between(query, asks)))
    for kind in ("date", "year"):  # "July 1, 2023 and June 25, 2022": what holds for one holds for the other
        if any(ask.kind == kind and not ask.weak for ask in asks):
            asks = [replace(ask, weak=False) if ask.kind == kind else ask for ask in asks]
    if any(not ask.weak for ask in asks):
        asks = [ask for ask in asks if not ask.weak]
    return asks


def _ask(query: str, period: Period) -> Ask:
    """What a question asks for in a period that it names; its year, perhaps, of a month that bounds a longer time."""
    before, after = query[: period.start], query[period.end :]
    ends = bool(period.ends_quarter or _ENDED.search(before) or _QUARTER_AFTER.search(after))
    if period.kind == "date":
        return Ask("date", year=period.year, end=period.day, weak=not ends, start=period.start)
    if period.kind == "month":
        if not ends and (_RANGE_BEFORE.search(before) or _RANGE_AFTER.search(after) or not COUNTED.search(query)):
            return Ask("year", period.year, weak=not period.certain, start=period.start)
        return Ask("month", year=period.year, month=period.part, alone=not ends)
    if period.kind == "year":
        return Ask(
            "year",
            period.year,
            fiscal=period.fiscal,
            calendar=period.calendar,
            weak=not period.certain,
            start=period.start,
        )
    # The quarter that ends a half, or the first months of a year: in whose filing their figures are.
    quarter = {"half": 2 * period.part, "months": period.part // 3}.get(period.kind, period.part)
    return Ask(
        "quarter",
        period.year,
        quarter,
        fiscal=period.fiscal,
        calendar=period.calendar,
        half=period.kind == "half",
        start=period.start,
    )


def _with_years_between(query: str, asks: list[Ask]) -> list[Ask]:
    """ "2019 to 2021", "2019年至2021年": the years between are asked too."""
    years = [ask for ask in asks if ask.kind == "year"]
    if len(years) != 2 or not 1 < years[1].year - years[0].year <= 10:
        return asks
    if not _TO.search(query[years[0].start : years[1].start]):
        return asks
    first, last = years
    middle = [Ask("year", year, fiscal=first.fiscal, weak=first.weak) for year in range(first.year + 1, last.year)]
    at = asks.index(first) + 1
    return [*asks[:at], *middle, *asks[at:]]
