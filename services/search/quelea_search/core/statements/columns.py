"""What the columns of a statement stand for: the days on which they end, and how long they are."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import date, timedelta
from functools import cache, cached_property
from typing import TypeVar

from quelea_fintext.dates import MONTHS, find_dates, months_later, parse_iso
from quelea_fintext.languages import LANGUAGES
from quelea_fintext.times.periods import ReportingPeriod

_YEAR = re.compile(r"(?<![\d.,$])((?:19|20)\d\d)(?![\d,.]\d|\d)")
_MONTH_DAY = re.compile(
    rf"(?<![A-Za-z])({'|'.join(sorted(MONTHS, key=len, reverse=True))})\.?\s{{0,4}}(\d{{1,2}})(?!\d)", re.IGNORECASE
)
_GLUED = re.compile(r"(?<=[a-z])(?=[A-Z])|(?<=[a-z,])(?=\d)")
_NONE, _DAY, _WEEK = timedelta(0), timedelta(days=1), timedelta(days=7)
T = TypeVar("T")
_GROUP = re.compile(r"\(\?P<(\w+)>")
_LABEL = 90
_YEARS = range(1900, 2200)
"""In which periods end."""
_LONGEST = 400
"""Characters of a cell or line that may say what columns stand for."""
_MOST_COLUMNS = 60
"""Cells of a row, at most, that belong to a statement."""
_FIGURE = re.compile(r"\d[,.]\d|\d{5}|[$€£¥]")


@dataclass(frozen=True, slots=True)
class Column:
    """A column of a statement."""

    end: date
    start: date | None = None
    """Its first day; None of an instant."""


class Calendar:
    """The days on which a filer's periods end.

    Args:
        period: Of the document.
        text: All of it. A year in weeks does not end on the same day each time: the days are looked for here.
    """

    def __init__(self, period: ReportingPeriod, text: str) -> None:
        self.end = _day(period.end_date)
        """Last day of the document's period."""
        self.is_annual = not (period.fiscal_quarter or period.quarters_to_come)
        """Whether the document is of a whole year, as far as it is known."""
        self._year = period.fiscal_year
        self._text = text

    @cached_property
    def _days(self) -> Counter[date]:
        return Counter(found.day for found in find_dates(self._text))

    @cached_property
    def _counts_weeks(self) -> bool:
        """Whether it speaks of years or quarters in weeks: else the day after a month's end is a period's first."""
        return re.search(LANGUAGES.alternatives("statements.columns.weeks"), self._text, re.IGNORECASE) is not None

    def year_end(self, year: int) -> date | None:
        """The day on which a year of the filer ends, by its own count."""
        if self.end is None:
            return None
        back = (self._year or self.end.year) - year
        return self.end if not back else self._months_from(self.end, -12 * back)

    def first_day(self, end: date, months: int) -> date | None:
        """The first day of a period that ends on a day."""
        before = self._months_from(end, -months)
        return before + _DAY if before else None

    def _months_from(self, end: date, months: int) -> date | None:
        """So many months from a period's end: whole weeks away where the filing names such a day."""
        guess = months_later(end, months)
        if guess is None:
            return None
        around = (guess + step * _DAY for step in range(-_WEEK.days, _WEEK.days + 1))
        near = [day for day in around if day in self._days and (day - end) % _WEEK == _NONE]
        best = max(near, key=lambda day: self._days[day], default=None)
        if (end + _DAY).day == 1:  # with a month's end, as far as the filing does not say otherwise
            if best is None or self._days[best] <= self._days[guess]:
                return guess
            return guess if best == guess + _DAY and not self._counts_weeks else best
        return best or end + round((guess - end) / _WEEK) * _WEEK


def _day(text: str) -> date | None:
    day = parse_iso(text)
    return day if day and day.year in _YEARS else None


@cache
def spans() -> re.Pattern[str]:
    """Words that name a span of time: "Three Months Ended"."""
    patterns = [one for some in LANGUAGES.of("statements.columns.spans").values() for one in some]
    numbered = [_GROUP.sub(rf"(?P<\1_{i}>", one) for i, one in enumerate(patterns)]
    return re.compile("|".join(numbered), re.IGNORECASE)


@cache
def _relative() -> tuple[re.Pattern[str], re.Pattern[str]]:
    return (
        re.compile(LANGUAGES.alternatives("statements.columns.current")),
        re.compile(LANGUAGES.alternatives("statements.columns.prior")),
    )


@dataclass(frozen=True, slots=True)
class _Named:
    """A day, or a part of one whose rest stands in another cell."""

    place: int
    """Of the cell in its row."""
    month_day: tuple[int, int] | None = None
    year: int | None = None


@dataclass(slots=True)
class _Found:
    """What one row of a head says, in order."""

    months: list[int]
    dates: list[date]
    month_days: list[tuple[int, int]]
    years: list[int]
    relative: list[int]
    """0 for this period, 1 for the one before."""
    named: list[_Named]
    """Every date, and every part of one, in the order in which they stand."""


def _read(cells: Iterable[str]) -> _Found:
    found = _Found([], [], [], [], [], [])
    numbers = LANGUAGES.table("statements.columns.numbers")
    current, prior = _relative()
    for place, cell in enumerate(cells):
        if len(cell) > _LONGEST:
            continue
        text = _GLUED.sub(" ", cell)
        for match in spans().finditer(text):
            groups: dict[str, str] = {
                name.rpartition("_")[0]: said for name, said in match.groupdict().items() if said is not None
            }
            if "months" in groups:
                found.months.append(int(numbers.get(groups["months"].lower(), groups["months"])))
            elif "weeks" in groups:
                found.months.append(round(int(numbers.get(groups["weeks"].lower(), groups["weeks"])) / 52 * 12))
            else:
                found.months.append(3 if "quarter" in groups else 6 if "half" in groups else 12)
        dates = list(find_dates(text))
        found.dates += [one.day for one in dates]
        found.named += [_Named(place, (one.day.month, one.day.day), one.day.year) for one in dates]
        for one in reversed(dates):
            text = text[: one.start] + " " * (one.end - one.start) + text[one.end :]
        for match in _MONTH_DAY.finditer(text):
            if 1 <= int(match[2]) <= 31:
                found.month_days.append((MONTHS[match[1].lower()], int(match[2])))
                found.named.append(_Named(place, found.month_days[-1]))
                text = text[: match.start()] + " " * len(match[0]) + text[match.end() :]
        years = [int(year) for year in _YEAR.findall(text)]
        found.years += years
        found.named += [_Named(place, None, year) for year in years]
        if not dates:
            said_now, said_before = current.search(text), prior.search(text)
            if said_before and not (said_now and said_now.start() < said_before.start()):
                found.relative.append(1)
            elif said_now:
                found.relative.append(0)
    return found


def is_head(cells: Sequence[str]) -> bool:
    """Whether a row only names columns: years, days, spans of time; its first cell may say anything short."""
    if len(cells[0]) > _LABEL or len(cells) > _MOST_COLUMNS:
        return False
    named = [_names_column(cell) for cell in cells]
    return any(named) and all(named[1:]) and not _FIGURE.search(_YEAR.sub("", "" if named[0] else cells[0]))


def has_other_columns(cells: Sequence[str]) -> bool:
    """Whether a head names columns that are no periods, among those that are: a change, an adjustment, a segment."""
    if len(cells) > _MOST_COLUMNS:
        return True
    named = [bool(cell.strip()) and _names_column(cell) for cell in cells]
    return sum(named) > 1 and not all(named[named.index(True) :])


def _names_column(cell: str) -> bool:
    if len(cell) > _LONGEST:
        return False
    found = _read([cell])
    rest = _YEAR.sub("", cell)
    if found.dates or found.month_days:
        return len(cell) <= _LABEL
    return bool(found.months or found.years or found.relative) and not _FIGURE.search(rest)


def columns(
    heads: Sequence[Sequence[str]], above: Sequence[str], count: int, *, instant: bool, calendar: Calendar
) -> list[Column] | None:
    """The columns of a table.

    Args:
        heads: Rows of cells above its figures.
        above: Lines over those, which may say the period too.
        count: How many columns of figures there are.
        instant: They are days, not spans of time.
        calendar: Of the filer.

    Returns:
        As many as `count`, or None where the head does not say what each one is.
    """
    rows = [_read(cells) for cells in heads]
    every = [*(_read([line]) for line in above), *rows]
    ends = _ends(rows, count, calendar) or _ends(every, count, calendar)
    if ends is None:
        return None
    if instant:
        return [Column(end) for end in ends]
    months = _spread([one.months for one in rows], count) or _spread([one.months for one in every], count)
    if months is None:
        if not calendar.is_annual:
            return None
        months = [12] * count
    return [Column(end, calendar.first_day(end, length)) for end, length in zip(ends, months, strict=True)]


def _ends(found: Sequence[_Found], count: int, calendar: Calendar) -> list[date] | None:
    broken = _completed(found, count)
    if broken is not None:
        return broken
    whole = _spread([one.dates for one in found], count)
    years = _spread([one.years for one in found], count)
    days = _spread([one.month_days for one in found], count)
    if whole is not None and (years is None or len({*whole}) == count):
        return whole
    if years is not None:
        if days is not None:
            try:
                return [date(year, *_in_year(year, day)) for year, day in zip(years, days, strict=True)]
            except ValueError:
                return None
        ends = [calendar.year_end(year) for year in years]
        return [end for end in ends if end is not None] if all(ends) else None
    relative = _spread([one.relative for one in found], count)
    if relative is not None and calendar.end is not None:
        before = months_later(calendar.end, -12)
        return [before if one and before else calendar.end for one in relative]
    return None


def _completed(found: Sequence[_Found], count: int) -> list[date] | None:
    """Days of which some have their year, or their month, in another cell; None where the head is of another kind.

    "December 31, 2022 · December 25," over "2021"; "2024 · Year ended December 31, 2023 · 2022".
    """
    named = [one for row in found for one in sorted(row.named, key=lambda one: one.place)]
    whole = [one for one in named if one.month_day and one.year]
    days = [one for one in named if not one.year]
    years = [one for one in named if not one.month_day]
    if not whole or len(whole) + len(years) != count:
        return None
    try:
        if len(days) == len(years):
            following = (one.year for one in years)
            return [date(one.year or next(following) or 0, *one.month_day) for one in named if one.month_day]
        every = {one.month_day for one in whole}
        if not days and len(every) == 1:
            (day,) = every
            return [date(one.year, *_in_year(one.year, day)) for one in named if one.year and day]
    except ValueError:
        return None
    return None


def _in_year(year: int, day: tuple[int, int]) -> tuple[int, int]:
    if day == (2, 29) or day == (2, 28):
        last = date(year, 3, 1) - timedelta(days=1)
        return last.month, last.day
    return day


def _spread(rows: Sequence[list[T]], count: int) -> list[T] | None:
    """The row that says one thing of every column, or one of every equal group of columns, the finest first."""
    fitting = [row for row in rows if row and count % len(row) == 0]
    if not fitting:
        flat = [one for row in rows for one in row]
        fitting = [flat] if flat and count % len(flat) == 0 else []
    if not fitting:
        return None
    row = max(fitting, key=len)
    return [one for one in row for _ in range(count // len(row))]
