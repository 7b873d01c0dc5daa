"""Periods that a text names, in every language of `languages`: the one reader of quarters, halves, years and days."""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from datetime import date
from functools import cache
from typing import Literal

from quelea_fintext.dates import find_dates
from quelea_fintext.languages import LANGUAGES, Languages, groups_of
from quelea_fintext.times.period_words import YEAR, find_months, month_number, normalise_periods

Kind = Literal["year", "half", "quarter", "months", "month", "date"]


@dataclass(frozen=True, slots=True)
class Period:
    """A period as a text names it.

    Two are equal when they are the same time, wherever they stand.
    """

    kind: Kind
    """ "months" are those from the beginning of the year: its first nine."""
    year: int = 0
    """As said, the calendar's or the filer's own; 0: the text says none."""
    part: int = 0
    """Which half, quarter or month, from 1; how many of "months"; 0 of a year."""
    day: date | None = None
    """Of a date."""
    fiscal: bool = False
    """The text says "fiscal"."""
    calendar: bool = False
    """The text says "calendar"."""
    certain: bool = field(default=True, compare=False)
    """False of a year that may well not be a period (a figure, the year of a law or a bond), its month's too."""
    numbered: bool = field(default=False, compare=False)
    """The quarter or half is said with a digit: Q3, H1."""
    ends_quarter: bool = field(default=False, compare=False)
    """A month that is called a quarter: the June quarter of 2023."""
    start: int = field(default=0, compare=False)
    """First code point of what names it: of a quarter without its year."""
    end: int = field(default=0, compare=False)


@dataclass(frozen=True, slots=True)
class ReportingPeriod:
    """The period of a filing, with its names, which may disagree. Empty or 0 where unknown."""

    label: str = ""
    """As shown: "FY2023 Q3", "FY2023"."""
    fiscal_year: int = 0
    """The filer's own."""
    fiscal_quarter: int = 0
    """1 to 4; 0 for a whole year or where unknown."""
    end_date: str = ""
    """Its last day, YYYY-MM-DD."""
    file_label: str = ""
    """What the file's name or the uploader calls it: "2023 Q3"."""

    def __bool__(self) -> bool:
        return bool(self.fiscal_year or self.end_date or self.label or self.file_label)

    @property
    def quarters_to_come(self) -> int:
        """How many quarters of its year follow its last day: 2 after a first half ("FY2023 H1")."""
        return 4 - self.fiscal_quarter if self.fiscal_quarter else 2 if self.label.endswith(" H1") else 0


NO_PERIOD = ReportingPeriod()
"""Of a document that is of no period, or of an unknown one."""


_PART_KINDS: tuple[Kind, ...] = ("months", "quarter", "half", "month")
_REACH = 80
"""Code points beside a year in which the words stand that say what it is."""


class PeriodReader:
    """Reads the periods that texts name.

    Args:
        languages: In which they may be named.
    """

    def __init__(self, languages: Languages = LANGUAGES) -> None:
        parts = [one for some in languages.of("periods.parts").values() for one in some]
        self._kinds: list[tuple[Kind, int]] = [(one["kind"], one.get("number", 0)) for one in parts]
        numbered = [f"(?P<p{i}>{one['pattern'].replace('(?P<n>', f'(?P<n{i}>')})" for i, one in enumerate(parts)]
        self._parts = re.compile("|".join(numbered), re.IGNORECASE)
        self._ordinals: dict[str, int] = languages.table("periods.ordinals")
        self._fiscal, self._calendar = languages.words("periods.fiscal"), languages.words("periods.calendar")
        before, after = languages.alternatives("periods.year_before"), languages.alternatives("periods.year_after")
        self._years = re.compile(
            rf"(?P<pre>(?:{before})[\s']*)(?P<y>{YEAR}|\d\d)(?![\d%])"
            rf"|(?<![\d.,\-$£€¥/])(?P<y2>{YEAR})(?![\d%]|[.,]\d|-\d\d\b(?!\d))(?P<post>\s*(?:{after}))?"
            r"|(?<=[QqHh][1-4])[\s'-]*(?P<y3>(?:20)?\d\d)(?![\d%])"
            r"|(?<=[1-4][QqHh])[\s'-]*(?:FY)?(?P<y4>(?:20)?\d\d)(?![\d%])"
            rf"|{languages.alternatives('periods.short_years').replace('(?P<n>', '(?P<y5>')}",
            re.IGNORECASE,
        )

        codes = languages.of("periods.phrases")
        self._phrases = {code: languages.grouped_of("periods.phrases.forms", code) for code in codes}
        self._languages = languages
        self._said_year = re.compile(rf"{YEAR}\s*(?:{after})")

        self._sure_before = languages.pattern("periods.sure_before", r"(?:<>|^)\s*$")
        self._sure_after = languages.pattern("periods.sure_after", r"^\s*(?:<>|\?|$|,|-)")
        self._none_before, self._none_after = (
            languages.pattern("periods.none_before", "<>$"),
            languages.pattern("periods.none_after", r"^\s*<>"),
        )
        self._year_then_part = re.compile(
            r"[\s\-,'的]*" + "".join(f"(?:{one})?" for one in languages.of("periods.year_then_part").values())
        )
        self._part_then_year = languages.pattern("periods.part_then_year", r"(?:<>|[\s,/&'\-–])*")
        self.mention = re.compile(
            rf"(?:{self._parts.pattern})|(?:{self._years.pattern})|{languages.alternatives('periods.mentions')}",
            re.IGNORECASE,
        )
        """Words that only name a period."""

    def read(self, text: str) -> list[Period]:
        """Every period that the text names, in order; a part of a year with the year that belongs to it.

        Args:
            text: As `normalise_periods` makes it; spans are in code points of it.
        """
        found = [Period("date", one.day.year, day=one.day, start=one.start, end=one.end) for one in find_dates(text)]
        taken = bytearray(len(text))
        for one in found:
            taken[one.start : one.end] = b"\1" * (one.end - one.start)
        for month in find_months(text):
            if not any(taken[month.start : month.end]):
                one = Period("month", month.year, month.month, start=month.start, end=month.end)
                sure = self._said_year.search(text, month.start, month.end) is not None
                found.append(replace(one, ends_quarter=month.ends_quarter, certain=sure))
                taken[one.start : one.end] = b"\1" * (one.end - one.start)
        days = any(one.kind == "date" for one in found)
        years = [match for match in self._years.finditer(text) if not any(taken[slice(*match.span())])]
        parts = [match for match in self._parts.finditer(text) if not any(taken[slice(*match.span())])]
        used: set[int] = set()
        for part in parts:
            year = self._year_of(text, part, years)
            if year is not None:
                used.add(year.start())
            elif days:
                continue  # "three and nine months ended July 1, 2023": the date says it
            found.append(self._part(text, part, year))
        found += [self._year(text, year) for year in years if year.start() not in used]
        return sorted((one for one in found if one.year != -1), key=lambda one: one.start)

    def read_phrases(self, text: str) -> list[Period]:
        """Periods with the words that name each whole ("the third quarter of fiscal 2023"), none over another.

        For whoever puts another period in the place of one: what is not beside a period is no part of it.
        """
        matches = [
            match
            for code, phrases in self._phrases.items()
            if self._languages.is_written_in(code, text)
            for match in phrases.finditer(text)
            if match.group().strip()
        ]
        found: list[Period] = []
        for match in sorted(matches, key=lambda one: one.start() - one.end()):  # the language that reads most of it
            if all(match.end() <= one.start or match.start() >= one.end for one in found):
                found.append(self._phrase(match))
        return sorted(found, key=lambda one: one.start)

    def _phrase(self, match: re.Match[str]) -> Period:
        said = groups_of(match)
        year = int(said.get("year", 0))
        year += 2000 if 0 < year < 100 else 0
        kind: Kind = next((kind for kind in _PART_KINDS if kind in said), "year")
        part = said.get(kind, "").lower() if kind != "year" else ""
        number = 9 if kind == "months" else month_number(part) if kind == "month" else self._ordinal(part)
        numbered = kind in ("quarter", "half") and part.isdigit()
        return Period(
            kind, year, number, None, "fiscal" in said, numbered=numbered, start=match.start(), end=match.end()
        )

    def _ordinal(self, said: str) -> int:
        return int(said) if said.isdigit() else self._ordinals.get(said, 0)

    def _year_of(self, text: str, part: re.Match[str], years: Sequence[re.Match[str]]) -> re.Match[str] | None:
        """The year that belongs to a part: right before it, else the next one after it, else the last one before it."""
        before = years[: bisect_right(years, part.start(), key=re.Match.end)][-1:]
        after = years[bisect_left(years, part.end(), key=re.Match.start) :][:1]
        if before and self._year_then_part.fullmatch(text[before[-1].end() : part.start()]):
            return before[-1]
        between = text[part.end() : after[0].start()] if after else ""
        if after and len(between) <= 60 and self._part_then_year.fullmatch(self._parts.sub("", between)):
            return after[0]
        if before and not re.search(r"[?？。]", text[before[-1].end() : part.start()]):
            return before[-1]
        return None

    def _whose(self, match: re.Match[str] | None) -> tuple[bool, bool]:
        """(fiscal, calendar) as said with a year."""
        said = ((match["pre"] or "") + (match["post"] or "")).lower() if match else ""
        return any(word in said for word in self._fiscal), any(word in said for word in self._calendar)

    def _part(self, text: str, match: re.Match[str], year: re.Match[str] | None) -> Period:
        fiscal, calendar = self._whose(year)
        around = text[max(0, match.start() - 10) : match.end() + 12].lower()
        fiscal = fiscal or "fiscal" in around or any(word in match.group().lower() for word in self._fiscal)
        at = next(i for i in range(len(self._kinds)) if match[f"p{i}"] is not None)
        kind, number = self._kinds[at]
        if not number:
            number = self._ordinal(match[f"n{at}"].lower())
        return Period(
            kind, _full(year) if year else 0, number, None, fiscal, calendar, start=match.start(), end=match.end()
        )

    def _year(self, text: str, match: re.Match[str]) -> Period:
        before, after = text[max(0, match.start() - _REACH) : match.start()], text[match.end() : match.end() + _REACH]
        fiscal, calendar = self._whose(match)
        named = fiscal or calendar
        if not named and (self._none_before.search(before) or self._none_after.search(after)):
            return Period("year", -1)
        if match["y5"]:
            return Period("year", -1)  # "23年" alone: as likely a number of years
        sure = named or match["post"] or (self._sure_before.search(before) and self._sure_after.search(after))
        return Period("year", _full(match), 0, None, fiscal, calendar, bool(sure), start=match.start(), end=match.end())


def _full(match: re.Match[str]) -> int:
    digits = next(match[name] for name in ("y", "y2", "y3", "y4", "y5") if match[name])
    return int(digits) if len(digits) == 4 else 2000 + int(digits)


@cache
def period_reader() -> PeriodReader:
    """The one for Quelea's own languages."""
    return PeriodReader()


def find_periods(text: str) -> Iterator[Period]:
    """Every period that a text names, in order: Q3 FY2023 · 2023年第三季度 · the first nine months of 2023."""
    yield from period_reader().read(normalise_periods(text))
