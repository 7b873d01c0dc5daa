"""Periods that a question names and that do not exist (Q5 2023, February 30), or that have not begun (fiscal 2031)."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import date

from quelea_fintext.dates import parse_iso
from quelea_fintext.languages import LANGUAGES, find_all, groups_of
from quelea_fintext.numerals import chinese
from quelea_fintext.times.no_such_periods import find_no_such_periods, to_half_width
from quelea_fintext.times.period_words import (
    FLOWS,
    QUARTERS,
    find_months,
    find_written_days,
)

_FAR_YEAR = LANGUAGES.pattern("time.far_years")
"""Years of which no report can be: of three centuries ago, or hence."""
_FINANCE = re.compile(rf"{FLOWS}|{LANGUAGES.alternatives('time.finance')}", re.IGNORECASE)
"""With it Q5 is meant for a quarter; without, it may be a car or a question's number."""
_FUTURE_QUARTERS = LANGUAGES.grouped("time.future_quarters")
_FUTURE_YEARS = LANGUAGES.grouped("time.future_years")
_NEXT = re.compile(LANGUAGES.alternatives("time.next"), re.IGNORECASE)
_AHEAD = re.compile(LANGUAGES.alternatives("time.ahead"), re.IGNORECASE)
"""What lies ahead may be asked for: a forecast, or what falls due."""
_HAN_YEAR = re.compile(r"[一二][〇零一二三四五六七八九]{3}(?=年|财年)")
_HAN_DAY = re.compile(r"([一二三四五六七八九十]{1,2})月([一二三四五六七八九十]{1,3})(?=[日号])")
_ANY_YEAR = re.compile(r"(?<!\d)[1-9]\d{3}(?!\d)")


@dataclass(frozen=True)
class Unreal:
    """As the question writes them."""

    none_such: tuple[str, ...] = ()
    """They do not exist."""
    not_begun: tuple[str, ...] = ()
    """They begin after the day of the question, also by the calendar of a filer whose year begins months early."""
    out_of_reach: tuple[str, ...] = ()
    """Centuries before or after any report."""


def is_spoken_of(period: str, texts: Iterable[str]) -> bool:
    """Whether a text names the year of a period: a forecast may be asked for."""
    years = set(_ANY_YEAR.findall(period))
    said = [re.compile(rf"(?<![\d.,]){year}(?!\d|[.,]\d)") for year in years]
    return any(year.search(text) for text in texts for year in said)


def find_unreal_periods(question: str, as_of: str) -> Unreal:
    """What of the periods that the question names nothing can have been reported for.

    Args:
        question: Standing alone.
        as_of: The day of the question, YYYY-MM-DD.
    """
    if not question.isascii():
        question = _HAN_YEAR.sub(lambda match: str(chinese(match.group())), to_half_width(question))
        question = _HAN_DAY.sub(lambda match: f"{chinese(match[1])}月{chinese(match[2])}", question)
    bare = bool(_FINANCE.search(question))
    seasons = bare and bool(_ANY_YEAR.search(question))
    none = [one.words for one in find_no_such_periods(question, bare=bare, seasons=seasons)]
    today = parse_iso(as_of)
    far = [match for match in _FAR_YEAR.finditer(question) if _FINANCE.search(question)]
    reach = tuple(dict.fromkeys(_tidy(match.group()) for match in far))
    begun = [] if today is None else [_tidy(match) for match in _future(question, today)]
    return Unreal(tuple(dict.fromkeys(none)), tuple(dict.fromkeys(begun)), reach)


def _days_ahead(question: str, today: date) -> list[str]:
    """Next year, and months and days by the calendar: unless it is asked for what lies ahead."""
    if _AHEAD.search(question):
        return []
    found = [match.group() for match in _NEXT.finditer(question)]
    days = [
        (day.start, day.end, (day.year, day.month, day.day)) for day in find_written_days(question) if day.month <= 12
    ]
    days += [
        (month.start, month.end, (month.year, month.month, 1))
        for month in find_months(question)
        if not month.ends_quarter and all(month.end <= start or month.start >= end for start, end, _ in days)
    ]
    now = (today.year, today.month, today.day)
    return found + [question[start:end] for start, end, day in sorted(days) if day > now]


def _future(question: str, today: date) -> list[str]:
    """A fiscal year may begin up to eleven months before the calendar's of the same name."""
    found: list[str] = []
    for match in find_all(_FUTURE_QUARTERS, question):
        said = groups_of(match)
        index = 4 * int(said["year"]) + QUARTERS[said["quarter"].lower()] - 1
        if index - 4 > 4 * today.year + (today.month - 1) // 3:
            found.append(match.group())
    for match in find_all(_FUTURE_YEARS, question):
        year = groups_of(match)["year"]
        year = year if len(year) == 4 else f"20{year}"
        if int(year) > today.year + 1 and not any(year in one for one in found):
            found.append(match.group())
    found += _days_ahead(question, today)
    return [one for one in found if not any(one in other and one != other for other in found)]


def _tidy(text: str) -> str:
    return re.sub(r"^(?:in|for|during|of)\s+", "", " ".join(text.split()).strip(" ,"))
