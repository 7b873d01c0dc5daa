"""Periods in questions: found, counted on from one another, written down again. The words are the languages' data."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from datetime import date
from typing import Any, Literal

from quelea_fintext.dates import find_dates, month_name, months_later, write_date
from quelea_fintext.languages import LANGUAGES, find_all, groups_of
from quelea_fintext.numerals import how_many
from quelea_fintext.times.no_such_periods import find_no_such_periods
from quelea_fintext.times.period_words import UNITS, YEAR
from quelea_fintext.times.periods import period_reader

Kind = Literal["year", "months", "half", "quarter", "month", "date", "none"]
"""none: one that no calendar has, such as the fifth quarter: it is asked for as it is written."""

_WRITTEN: dict[str, dict[str, Any]] = LANGUAGES.of("periods.written")
_ENDED = [
    (code, key, LANGUAGES.grouped_of(f"periods.phrases.{key}", code))
    for key in ("ended_before", "ended_after")
    for code in LANGUAGES.of(f"periods.phrases.{key}")
]
_SHIFTS = LANGUAGES.grouped("periods.shifts.forms")
_LATER = frozenset(LANGUAGES.words("periods.shifts.later"))


@dataclass(frozen=True, slots=True)
class NamedPeriod:
    """A period; year 0: none was said.

    Attributes:
        kind: What it is.
        year: Of the calendar, or the filer's own.
        part: The half, quarter or month, from 1; 0 for a year.
        fiscal: The text says fiscal.
        day: Of a date.
        short: Written "Q3", "H1".
        length: Of what ends on a date: "quarter", "six months".
        words: Of one that does not exist.
    """

    kind: Kind
    year: int = 0
    part: int = 0
    fiscal: bool = False
    day: date | None = None
    short: bool = False
    length: str = ""
    words: str = ""

    @property
    def order(self) -> tuple[int, int]:
        """Earlier ones first."""
        return self.year, self.part

    def moved(self, years: int = 0, quarters: int = 0, months: int = 0) -> NamedPeriod | None:
        """So much later; None where it cannot be said (the quarter before a year)."""
        if self.kind == "date" and self.day:
            day = months_later(self.day, 12 * years + 3 * quarters + months)
            return replace(self, day=day) if day else None
        if self.year == 0 or (quarters and self.kind != "quarter") or (months and self.kind != "month"):
            return None
        size = {"quarter": 4, "month": 12}.get(self.kind, 1)
        if not quarters and not months:
            return replace(self, year=self.year + years)
        index = size * (self.year + years) + self.part - 1 + quarters + months
        return replace(self, year=index // size, part=index % size + 1)

    def joined(self, other: NamedPeriod) -> NamedPeriod:
        """What another one means after this one: a quarter of this one's year, a year with this one's quarter."""
        if other.year == 0:
            return replace(other, year=self.year or (self.day.year if self.day else 0), fiscal=self.fiscal)
        if other.kind == "year" and self.kind in ("quarter", "half", "month") and self.part:
            return replace(self, year=other.year, fiscal=other.fiscal or self.fiscal)
        if other.kind == "year" and self.kind == "date" and self.day:
            return replace(self, day=months_later(self.day, 12 * (other.year - self.day.year)))
        return replace(other, fiscal=other.fiscal or self.fiscal) if other.kind != "date" else other

    def text(self, language: str) -> str:
        """ "the third quarter of fiscal 2023", "2023财年第三季度"."""
        if self.day:
            return write_date(self.day, language)
        written = _WRITTEN[language]
        year = str(written["fiscal_year" if self.fiscal else "year"].format(year=self.year)) if self.year else ""
        if self.kind == "year":
            return year
        if self.kind == "none":
            if re.search(YEAR, self.words):
                return re.sub(YEAR, str(self.year), self.words)
            return str(written["of_year"].format(part=self.words, year=year)) if year else self.words
        form = written.get(f"short_{self.kind}") if self.short else None
        part = (form or written[self.kind]).format(number=self.part, **self._names(language))
        beside = "beside_year" if form or self.kind == "month" else "of_year"
        return str(written.get(beside, written["of_year"]).format(part=part, year=year) if year else part)

    def _names(self, language: str) -> dict[str, str]:
        if self.kind == "month":
            return {"month": month_name(self.part, language)}
        written = _WRITTEN[language]
        names = written.get(f"nth_{self.kind}", written["nth"]).split()
        return {"nth": names[self.part - 1]} if self.part <= len(names) else {}

    def phrase(self, language: str) -> str:
        """The same, with what ends on a date: "the quarter ended March 31, 2023"."""
        written, text = _WRITTEN[language], self.text(language)
        return written["ended"].format(day=text, length=written["lengths"][self.length]) if self.length else text


@dataclass(frozen=True, slots=True)
class FoundPeriod:
    """A period and where the text says it, in code points."""

    start: int
    end: int
    period: NamedPeriod


def find_periods(text: str) -> list[FoundPeriod]:
    """The periods that a text names, in order, none over another."""
    found = [
        FoundPeriod(one.start, one.end, _none(one.words)) for one in find_no_such_periods(text, bare=True, seasons=True)
    ]
    found += [
        FoundPeriod(
            day.start, day.end, NamedPeriod("date", day.day.year, day=day.day, length=_length(text, day.start, day.end))
        )
        for day in find_dates(text)
        if all(day.end <= one.start or day.start >= one.end for one in found)
    ]
    for one in period_reader().read_phrases(text):
        if all(one.end <= other.start or one.start >= other.end for other in found):
            period = NamedPeriod(one.kind, one.year, one.part, one.fiscal, short=one.numbered)
            found.append(FoundPeriod(one.start, one.end, period))
    return sorted(found, key=lambda one: one.start)


def _none(words: str) -> NamedPeriod:
    year = re.search(YEAR, words)
    return NamedPeriod("none", int(year.group()) if year else 0, words=words)


def _length(text: str, start: int, end: int) -> str:
    for code, key, pattern in _ENDED:
        match = pattern.search(text[:start] if key == "ended_before" else text[end:])
        if match:
            said = groups_of(match)["length"].lower()
            return next(str(length) for length, words in _WRITTEN[code]["lengths"].items() if words == said)
    return ""


def period_of_day(day: date, kind: Kind) -> NamedPeriod:
    """The calendar's year, quarter or month that holds a day."""
    part = {"quarter": (day.month + 2) // 3, "month": day.month}.get(kind, 0)
    return NamedPeriod(kind, day.year, part)


@dataclass(frozen=True, slots=True)
class Shift:
    """A period named by its distance from another one, and where the text says it."""

    start: int
    end: int
    years: int = 0
    quarters: int = 0
    months: int = 0
    same: bool = False
    """The same period of another year: whatever it is compared with stays."""
    this: bool = False
    """Counted from the day of the question."""

    @property
    def kind(self) -> Kind:
        """The unit that it is counted in."""
        return "quarter" if self.quarters else "month" if self.months else "year"


def find_shift(text: str) -> Shift | None:
    """The first such period of a text."""
    found = find_all(_SHIFTS, text)
    return _read_shift(found[0]) if found else None


def _read_shift(match: re.Match[str]) -> Shift:
    start, end = match.span()
    said = {name: words.lower() for name, words in groups_of(match).items()}
    if "last_but_one" in said:
        return Shift(start, end, years=-2)
    if "same" in said:
        return Shift(start, end, years=-1, same=True)
    count = 0 if "this" in said else how_many(said.get("count", "1"))
    distance = count if said.get("way") in _LATER else -count
    years, quarters, months = (distance if UNITS[said["unit"]] == unit else 0 for unit in ("year", "quarter", "month"))
    return Shift(start, end, years, quarters, months, this="this" in said)
