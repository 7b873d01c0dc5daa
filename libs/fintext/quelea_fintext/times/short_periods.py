"""Periods that no report counts by: a month, week or day by itself, a season, a month of the moon.

A filing that covers a month reports the quarter or the year that holds it, so its figures are no answer to a question
about the month.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from datetime import date, timedelta

from quelea_fintext.dates import find_dates, parse_iso
from quelea_fintext.languages import LANGUAGES, find_all, groups_of
from quelea_fintext.times.period_words import (
    ENDS,
    FLOWS,
    RELATIVE,
    SPANS,
    MonthOfYear,
    find_months,
    normalise_periods,
)

_FLOW = re.compile(rf"{FLOWS}|{LANGUAGES.alternatives('time.spent')}", re.IGNORECASE)
"""What is counted over a span of time. Cash and debt are of a day."""
_ENDS = re.compile(rf"(?:{ENDS}|{SPANS})(?:\s+the)?[\s:：]*$", re.IGNORECASE)
_GOES_ON = LANGUAGES.pattern("time.no_month_alone", "^<>")
"""It is the end of a period, or of a span of several months."""
_AFTER_A_DAY = re.compile(r"\d(?:[a-z]{2})? $", re.IGNORECASE)
_NEAR_TODAY = re.compile(
    rf"(?P<day>{RELATIVE['yesterday']})|(?P<last>{RELATIVE['last month']})"
    rf"|(?:{RELATIVE['this month']})(?!{LANGUAGES.alternatives('time.month_end')})",
    re.IGNORECASE,
)
_WEEKS = LANGUAGES.grouped("time.weeks")
_NAMED_ALONE = re.compile(LANGUAGES.alternatives("time.no_report"), re.IGNORECASE)
"""Kinds of periods that reports do not have; no dates are made of them."""
_VAGUE = LANGUAGES.pattern("time.vague")
_WHOLE_YEAR = re.compile(LANGUAGES.alternatives("time.whole_year"), re.IGNORECASE)
_PART_OF_YEAR = re.compile(LANGUAGES.alternatives("time.part_of_year"), re.IGNORECASE)


@dataclass(frozen=True)
class ShortPeriod:
    """As the question writes it; its days where they are known."""

    words: str
    first: date | None = None
    last: date | None = None

    @property
    def is_vague(self) -> bool:
        """ "Late 2022": whatever is of the year may be meant."""
        return bool(_VAGUE.search(self.words))

    @property
    def is_month(self) -> bool:
        """From the first day of a month on, and not one day."""
        return self.first is not None and self.first.day == 1 and self.first != self.last


def find_short_periods(question: str, as_of: str) -> tuple[ShortPeriod, ...]:
    """Those that a question asks a figure for, as of its day (YYYY-MM-DD); empty where it asks for no such figure."""
    if not _FLOW.search(question):
        return ()
    found = _found(question, as_of)
    if all(one.first is None for one in found):
        return found
    plain = normalise_periods(question)
    if plain == question:
        return found
    # "the quarter that ended in October 2022" asks for no month; what it is called stays as the question writes it.
    days = {(one.first, one.last) for one in _found(plain, as_of)}
    return tuple(one for one in found if one.first is None or (one.first, one.last) in days)


def _found(question: str, as_of: str) -> tuple[ShortPeriod, ...]:
    found = [ShortPeriod(" ".join(match.group().split())) for match in _NAMED_ALONE.finditer(question)]
    today = parse_iso(as_of)
    if not found:
        found += _months(question, today)
        found += [one for match in find_all(_WEEKS, question) if (one := _week(match, today))]
        found += [
            ShortPeriod(question[day.start : day.end], day.day, day.day)
            for day in find_dates(question)
            if not _ENDS.search(question[: day.start]) and not _GOES_ON.search(question[day.end :])
        ]
    return tuple(dict.fromkeys(found))


def _months(question: str, today: date | None) -> list[ShortPeriod]:
    """Months and days that the question names by themselves or from its own day, in order."""
    if today is None:
        return []
    found = [
        (month.start, _month_of(question[month.start : month.end], date(month.year, month.month, 1)))
        for month in find_months(question)
        if not month.ends_quarter and _is_alone(question, month)
    ]
    for match in _NEAR_TODAY.finditer(question):
        first = today.replace(day=1)
        before = today - timedelta(days=1) if match["day"] else first - timedelta(days=1)
        if match["day"]:
            found.append((match.start(), ShortPeriod(match.group(), before, before)))
        else:
            found.append((match.start(), _month_of(match.group(), before.replace(day=1) if match["last"] else first)))
    return [one for _, one in sorted(found, key=lambda item: item[0])]


def _is_alone(question: str, month: MonthOfYear) -> bool:
    before, after = question[: month.start], question[month.end :]
    return not (_AFTER_A_DAY.search(before) or _ENDS.search(before) or _GOES_ON.search(after))


def _month_of(words: str, first: date) -> ShortPeriod:
    return ShortPeriod(words, first, (first + timedelta(days=31)).replace(day=1) - timedelta(days=1))


def _week(match: re.Match[str], today: date | None) -> ShortPeriod | None:
    said = groups_of(match)
    if "last" in said:
        monday = today - timedelta(days=today.weekday() + 7) if today else None
        return ShortPeriod(match.group(), monday, monday + timedelta(days=6)) if monday else None
    week, year = int(said["week"]), int(said["year"])
    if not 1 <= week <= 53:
        return None
    first = date(year, 1, 1) + timedelta(days=7 * (week - 1))
    return ShortPeriod(match.group(), first, first + timedelta(days=6))


def asks_whole_year(question: str) -> bool:
    """Whether a question asks for a figure of a whole year: it names one, and no part of it."""
    return bool(_FLOW.search(question) and _WHOLE_YEAR.search(question)) and not _PART_OF_YEAR.search(question)
