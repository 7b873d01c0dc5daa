"""A quarter that a sentence names twice, by its last day and by its fiscal name, against what the headers call it."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import pairwise

from quelea_checker import fiscal
from quelea_checker.model import Figure, Period
from quelea_checker.normal import plain
from quelea_checker.periods import find_periods

_SAME = re.compile(
    r"\s*(?:[,，(（]|即|也就是|是|为)\s*(?:(?:that|which) (?:is|was)|i\.e\.,?|or|namely|即|也就是|是)?\s*(?:the |its )?"
    r"(?:company's |[A-Z][\w.&-]*'s |公司)?(?:fiscal )?\s*"
    r"|\s*(?:is|was|closed|ended|completed|concluded) (?:the |its )?(?:company's |[A-Z][\w.&-]*'s )?(?:fiscal )?",
)
"""Between a day and the name of the quarter that it ends."""
_ENDED = re.compile(
    r"\s*[,，(（]?\s*(?:(?:that|which) |the (?:quarter|period|three months) (?:that |which )?)?"
    r"(?:ended|ends|ending|closed|结束于|截至|截止)(?: on)?\s*",
    re.IGNORECASE,
)
"""Between the name and the day."""
_OF_YEAR = re.compile(r" (?:of|in) (?:the )?(?:company's |[A-Z][\w.&-]*(?: [A-Z][\w.&-]*)?'s? )?$")
_CALENDAR = re.compile(r"\bcalendar\b|日历年|自然年", re.IGNORECASE)


def broken(sentence: str, times: Sequence[Figure], headers: Sequence[str]) -> Iterator[int]:
    """Starts of the names that are not the fiscal quarter or year of the day they stand beside.

    Args:
        times: The times of the sentence.
        headers: Of the passages: "FY2023 Q3 · quarter ended October 30, 2022" tells how fiscal years count.
    """
    if len(times) < 2 or _CALENDAR.search(sentence):
        return
    named = list(_whole(sentence, times))
    for (one, span), (other, next_span) in pairwise(named):
        gap = sentence[span[1] : next_span[0]]
        if one.day and other.fiscal and not other.day and _SAME.fullmatch(gap):
            day, label, start = one, other, next_span[0]
        elif other.day and one.fiscal and not one.day and _is_ended(sentence, gap, other):
            day, label, start = other, one, span[0]
        else:
            continue
        if label.year and day.year and _speaks_against(day, label, headers):
            yield from (f.start for f in times if start <= f.start < start + _length(label))


def _is_ended(sentence: str, gap: str, day: Period) -> bool:
    return bool(_ENDED.fullmatch(gap)) or (day.months == 3 and bool(_SAME.fullmatch(gap)))


def _length(period: Period) -> int:
    return period.end - period.start


def _whole(sentence: str, times: Sequence[Figure]) -> Iterator[tuple[Period, tuple[int, int]]]:
    """The times, "the third quarter of NVIDIA's fiscal year 2022" as one."""
    skip = False
    for at, figure in enumerate(times):
        if figure.period is None or skip:
            skip = False
            continue
        own, span = figure.period, (figure.start, figure.end)
        behind = times[at + 1] if at + 1 < len(times) else None
        if (
            behind is not None
            and behind.period is not None
            and own.quarter
            and not own.year
            and behind.period.year
            and not behind.period.month
            and not behind.period.quarter
            and _OF_YEAR.fullmatch(sentence[figure.end : behind.start])
        ):
            skip, span = True, (figure.start, behind.end)
            own = replace(own, year=behind.period.year, explicit=behind.period.fiscal)
        yield replace(own, start=span[0], end=span[1]), span


def _speaks_against(day: Period, label: Period, headers: Sequence[str]) -> bool:
    """Some header tells what the day's quarter is called, and none calls it so."""
    verdicts = set()
    for header in dict.fromkeys(headers):
        found = find_periods(plain(header))
        own = [p for p in found if p.fiscal and p.year and p.quarter and not p.month]
        ends = [p for p in found if p.year and p.month and p.day]
        if not own or not ends:
            continue
        told = fiscal.read(found)
        if (ends[0].year, ends[0].month, ends[0].day) == (day.year, day.month, day.day):
            year, quarter = own[0].year, own[0].quarter
        elif told.month and _ends_quarter(day, told.month):
            year, quarter = _of_day(day, told)
        else:
            continue
        verdicts.add(label.year == year and label.quarter in {0, quarter})
    return verdicts == {False}


def _month(day: Period) -> tuple[int, int]:
    if 0 < day.day <= 7:
        return (day.year - 1, 12) if day.month == 1 else (day.year, day.month - 1)
    return day.year, day.month


def _ends_quarter(day: Period, last: int) -> bool:
    _, month = _month(day)
    return (last - month) % 3 == 0


def _of_day(day: Period, told: fiscal.Fiscal) -> tuple[int, int]:
    """(fiscal year, quarter) of a day that ends one."""
    year, month = _month(day)
    before = (told.month - month) % 12
    return year + (month > told.month) + told.shift, 4 - before // 3
