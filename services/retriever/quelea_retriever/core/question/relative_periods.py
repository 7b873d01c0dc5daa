"""Periods that a question names relative to its own day, as the periods they are: last quarter, 去年, year to date.

Quarters and fiscal years are counted by the company's own calendar where its filings show one, else by the calendar.
`relative_spans` has them as days of the calendar, for whether the stored documents reach that far.

What is only compared with ("than last year", 去年同期) names no period of its own, and neither does what leans on a
period that the question names outright.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from datetime import date, timedelta
from typing import Literal

from quelea_fintext.dates import months_later, parse_iso
from quelea_fintext.languages import LANGUAGES, find_all, groups_of
from quelea_fintext.numerals import how_many
from quelea_fintext.times.period_words import MONTHS_LONG, RELATIVE, UNITS, month_number, normalise_periods

from quelea_retriever.core.model import DocumentFacts
from quelea_retriever.core.question.periods import COUNTED, OF_MARKETS, Ask, find_asks

Unit = Literal["quarter", "year", "fiscal year", "to date", "months", "month", "day"]

_DAYS = {"day": 1, "week": 7, "month": 30}

_SPANS = LANGUAGES.grouped("time.days")
_BEFORE = frozenset(LANGUAGES.words("time.before"))
_YESTERDAY = LANGUAGES.pattern("time.relative.yesterday")
SAME_PERIOD = LANGUAGES.pattern("time.same_period")
"""Compares with an earlier period, or names the last quarter's like of the year before."""

_NOT_AFTER = {"last quarter": r"(?!\s+of\b)"}
"""The last quarter of a year is its fourth."""
_KINDS: dict[str, tuple[Unit, int]] = {
    "year to date": ("to date", 0),
    "quarter before last": ("quarter", 2),
    "last quarter": ("quarter", 1),
    "last fiscal year": ("fiscal year", 1),
    "last month": ("month", 1),
    "this month": ("month", 0),
    "year before last": ("year", 2),
    "last year": ("year", 1),
    "this year": ("year", 0),
}
"""What is counted back, and how many, of what the kit's table calls so."""
_COUNTED_BACK = LANGUAGES.grouped("time.counted_back")
_NAMED = {re.compile(f"(?:{RELATIVE[name]}){_NOT_AFTER.get(name, '')}", re.IGNORECASE): name for name in _KINDS}
_INSIDE = LANGUAGES.pattern("time.inside", r"<>\s*$")
_COMPARED = LANGUAGES.pattern("time.compared_before", r"<>\s*$")
_COMPARED_AFTER = LANGUAGES.pattern("time.compared_after", r"^\s*<>")
_CHANGE = LANGUAGES.pattern("time.change")
_APART = timedelta(days=45)
"""Ends of quarters lie further apart than this; two that are closer are the same quarter's in different years."""
_SAME_DAY = timedelta(days=3)
"""A filer's quarter may end on another day of the week each year."""


@dataclass(frozen=True, slots=True)
class Relative:
    """One period that a question names relative to its day.

    Attributes:
        words: As said.
        unit: What is counted back.
        back: How many of them; 0 is the one that runs.
        day: Month and day of a period's end, where the year is not said.
    """

    words: str
    unit: Unit
    back: int
    day: tuple[int, int] = (0, 0)


@dataclass(frozen=True, slots=True)
class Periods:
    """Every period that a question asks for: those named outright, and those relative to its day."""

    named: tuple[Ask, ...]
    relative: tuple[Relative, ...]
    as_of: date
    counted: bool = False
    """What is asked for is counted over a span of time: sales, not cash."""
    of_markets: bool = False
    """What is asked for is no matter of filings."""

    @classmethod
    def read(cls, text: str, as_of: date) -> Periods:
        """Of a question asked on that day."""
        counted, of_markets = bool(COUNTED.search(text)), bool(OF_MARKETS.search(text))
        return cls(tuple(find_asks(text)), tuple(find_relatives(text)), as_of, counted, of_markets)

    def of(self, filings: Sequence[DocumentFacts] = ()) -> tuple[Ask, ...]:
        """By the calendar of the company whose filings these are; without any by the calendar's."""
        return resolve(self.named, self.relative, self.as_of, filings)

    def without(self, text: str) -> str:
        """The text without the words of relative periods."""
        for one in self.relative:
            text = text.replace(one.words, " ")
        return text


def find_relatives(text: str) -> list[Relative]:
    """Every relative period that the question names, in order, each once."""
    text = normalise_periods(text)
    same = SAME_PERIOD.search(text)
    plain = SAME_PERIOD.sub(lambda match: " " * len(match.group()), text)
    found = []
    for match in find_all((*_COUNTED_BACK, *_NAMED), plain):
        name, before = _NAMED.get(match.re, ""), plain[: match.start()]
        quarters = name in ("last quarter", "quarter before last") or {"span", "half"}.intersection(groups_of(match))
        if _COMPARED.search(_INSIDE.sub("", before) if quarters else before):
            continue
        if not _COMPARED_AFTER.search(plain[match.end() :]):
            found += _relatives(match)
    if same and not found and _is_asked_for(text, same):
        found.append(Relative(same.group(), "quarter", 5))  # the last quarter's, four before it
    return list(dict.fromkeys(one for one in found if one.back < 100))


def _is_asked_for(text: str, same: re.Match[str]) -> bool:
    """The same period of last year, not as what another one is compared with."""
    before = re.sub(r"\b(?:in|for|during|of)\s+(?:the\s*)?$|\bthe\s*$", "", text[: same.start()])
    return not (
        "end" in same.group().lower()
        or _COMPARED.search(before)
        or _COMPARED_AFTER.search(text[same.end() :])
        or _CHANGE.search(text)
    )


def _relatives(match: re.Match[str]) -> list[Relative]:
    words = re.sub(r"^the\s+", "", match.group(), flags=re.IGNORECASE)
    if match.re in _NAMED:
        return [Relative(words, *_KINDS[_NAMED[match.re]])]
    said = {name: value.lower() for name, value in groups_of(match).items()}
    if "span" in said or "half" in said:  # six months are the last two quarters
        months = MONTHS_LONG[said.get("span", "6")]
        return [Relative(words, "quarter", back) for back in range(1, months // 3 + 1)]
    if "day" in said:
        return [Relative(words, "day", 0, (month_number(said["month"]), int(said["day"])))]
    if "years" in said:
        return [Relative(words, "year", how_many(said["years"]))]
    return [Relative(words, "months" if UNITS[said["unit"]] == "month" else "quarter", how_many(said["count"]))]


def resolve(
    asks: Sequence[Ask], relatives: Sequence[Relative], as_of: date, filings: Sequence[DocumentFacts] = ()
) -> tuple[Ask, ...]:
    """What the question asks for, with its relative periods as what they are on its day.

    Args:
        asks: The periods that it names outright. One with a year settles what is meant, and they are returned as they
            are. To one without ("the third quarter", of last year) belongs the year that is named relatively.
        relatives: Those that it names relative to its day.
        as_of: The day of the question.
        filings: Of one company, whose calendar counts; none: the calendar's quarters and years.
    """
    if not relatives or any((ask.year or ask.end) and not ask.weak for ask in asks):
        return tuple(asks)
    quarters = [ask for ask in asks if ask.kind == "quarter" and not ask.year]
    years = [one for one in relatives if one.unit == "year"]
    if quarters and not years:
        return tuple(asks)
    if quarters:
        said = [(replace(ask, year=as_of.year - one.back), one) for one in years for ask in quarters]
    else:
        said = [(ask, one) for one in relatives if (ask := _ask(one, as_of, filings)) is not None]
    found = [replace(ask, said=one.words) for ask, one in said if ask.year >= 1]
    return tuple(dict.fromkeys(found)) or tuple(asks)


def _ask(one: Relative, as_of: date, filings: Sequence[DocumentFacts]) -> Ask | None:
    if one.unit == "year":
        return Ask("year", as_of.year - one.back, calendar=True)
    if one.unit == "to date":
        return Ask("year", as_of.year, calendar=True, newest=True)
    if one.unit == "day":
        return _period_ending_on(one.day, as_of, filings)
    if one.unit == "fiscal year":
        return _fiscal_year(as_of, filings) or Ask("year", as_of.year - one.back, calendar=True)
    if one.unit == "month" and (not _ends(filings) or _is_published_in(filings, months_later(as_of, -one.back))):
        return None  # news have days, no quarters; and what came out in the month is what is known of it
    months = one.back if one.unit in ("months", "month") else 0
    day = months_later(as_of, -months)
    if day is None:
        return None
    ends = _quarter_ends(day, filings, one.back)
    if one.unit in ("months", "month"):  # the quarter that holds the day
        return _quarter_ended(next((end for end in ends if end >= day), None), filings)
    past = [end for end in ends if end <= day]
    return _quarter_ended(past[-one.back] if 0 < one.back <= len(past) else None, filings)


def _period_ending_on(day: tuple[int, int], as_of: date, filings: Sequence[DocumentFacts]) -> Ask | None:
    """The newest period that was over by then and ended on that day of its year."""
    known = _ends(filings) or [as_of.replace(year=as_of.year - back, day=1) for back in (0, 1)]
    found = []
    for end in known:
        with suppress(ValueError):  # February 29 of other years; June 31
            named = end.replace(month=day[0], day=day[1])
            last = end if filings else named
            if last <= as_of and abs(last - named) <= _SAME_DAY:
                found.append(last)
    return Ask("date", max(found).year, end=max(found)) if found else None


def _quarter_ended(end: date | None, filings: Sequence[DocumentFacts]) -> Ask | None:
    if end is None:
        return None
    if _ends(filings):
        return Ask("date", end.year, end=end)
    return Ask("quarter", end.year, (end.month + 2) // 3, calendar=True)


def _is_published_in(filings: Sequence[DocumentFacts], day: date | None) -> bool:
    """Whether one of them came out in the month of a day."""
    return day is not None and any(filing.published.startswith(f"{day:%Y-%m}") for filing in filings)


def _ends(filings: Sequence[DocumentFacts]) -> list[date]:
    return [end for filing in filings if (end := parse_iso(filing.period.end_date))]


def _quarter_ends(day: date, filings: Sequence[DocumentFacts], back: int) -> list[date]:
    """Last days of quarters around the day, oldest first: as filed, else as in other years, else three months on."""
    known = sorted(_ends(filings), reverse=True) or [date(2000, 12, 31)]
    first, last = months_later(day, -3 * (back + 3)) or date.min, months_later(day, 9) or date.max
    found: list[date] = []
    for months in (0, 12, 3):
        for end in known:
            for ends in [end] if not months else _every(end, months, first, last):
                if first <= ends <= last and all(abs(ends - other) > _APART for other in found):
                    found.append(ends)
    return sorted(found)


def _every(end: date, months: int, first: date, last: date) -> list[date]:
    """The day in every so many months between first and last."""
    low = (first.year - end.year) * 12 // months - 1
    high = (last.year - end.year + 1) * 12 // months + 1
    shifted = (months_later(end, months * turn) for turn in range(low, high + 1))
    return [day for day in shifted if day is not None]


def _fiscal_year(as_of: date, filings: Sequence[DocumentFacts]) -> Ask | None:
    """The last fiscal year that was over on the day, by the filer's own count."""
    found = []
    for filing in filings:
        period = filing.period
        end = parse_iso(period.end_date)
        over = end and months_later(end, 3 * (4 - period.fiscal_quarter) if period.fiscal_quarter else 0)
        if over and period.fiscal_year:
            years = as_of.year - over.year
            same = months_later(over, 12 * years)
            ahead = years if same and same <= as_of else years - 1
            found.append((abs(ahead), period.fiscal_year + ahead))
    return Ask("year", min(found)[1], fiscal=True) if found else None


def relative_spans(text: str, as_of: date) -> list[tuple[date, date]]:
    """(first day, last day) of each span that the text names, in order; `as_of` is the day of the question."""
    found = []
    for match in find_all(_SPANS, SAME_PERIOD.sub(" ", text)):
        with suppress(OverflowError):  # before the first day that a date can be
            found.append(_span(match, as_of))
    return found


def _span(match: re.Match[str], as_of: date) -> tuple[date, date]:
    said = {name: value.lower() for name, value in groups_of(match).items()}
    if "day" in said:
        day = as_of - timedelta(days=1) if _YESTERDAY.fullmatch(said["day"]) else as_of
        return day, day
    unit = UNITS[said["unit"]]
    if "count" in said:
        return as_of - timedelta(days=how_many(said["count"]) * _DAYS[unit]), as_of
    return _calendar(unit, as_of, said["which"] in _BEFORE)


def _calendar(unit: str, as_of: date, before: bool) -> tuple[date, date]:
    """The week, month, quarter or year that holds the day, up to that day; or, `before`, the whole one before it."""
    if unit == "week":
        first = as_of - timedelta(days=as_of.weekday())
    elif unit == "month":
        first = as_of.replace(day=1)
    elif unit == "quarter":
        first = date(as_of.year, (as_of.month - 1) // 3 * 3 + 1, 1)
    else:
        first = date(as_of.year, 1, 1)
    if not before:
        return first, as_of
    last = first - timedelta(days=1)
    return _calendar(unit, last, before=False)[0], last
