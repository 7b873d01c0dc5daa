"""Dates as documents and questions write them, in English and Chinese."""

from __future__ import annotations

import contextlib
import re
from calendar import monthrange
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import date

from babel import Locale
from babel.dates import format_date

from quelea_fintext.languages import LANGUAGES
from quelea_fintext.text import lower

MONTHS = LANGUAGES.months()
"""Names and short forms of the months, lower case, to their numbers."""
_MONTH = "|".join(sorted(MONTHS, key=len, reverse=True))
_DATE = re.compile(
    rf"(?<![a-z])(?P<m1>{_MONTH})\.?\s{{1,8}}(?P<d1>\d{{1,2}})(?:st|nd|rd|th)?\s{{0,8}},?\s{{1,8}}(?P<y1>(?:19|20)\d\d)"
    rf"|(?P<d2>\d{{1,2}})(?:st|nd|rd|th)?\s{{1,8}}(?P<m2>{_MONTH})\.?,?\s{{1,8}}(?P<y2>(?:19|20)\d\d)"
    r"|(?P<y3>(?:19|20)\d\d)\s{0,8}+年\s{0,8}+(?P<m3>\d{1,2})\s{0,8}+月\s{0,8}+(?P<d3>\d{1,2})\s{0,8}+日"
    r"|(?<!\d)(?P<y4>(?:19|20)\d\d)[-/.](?P<m4>\d{1,2})[-/.](?P<d4>\d{1,2})(?!\d)"
)
"""Of text in lower case."""


@dataclass(frozen=True)
class FoundDate:
    """A date in a text, with the span (code points) that says it."""

    day: date
    start: int
    end: int


def find_dates(text: str) -> Iterator[FoundDate]:
    """Every complete date: July 1, 2023 · 1 July 2023 · 2023年7月1日 · 2023-07-01 · 2023/7/1."""
    for match in _DATE.finditer(lower(text)):
        for n in "1234":
            if match[f"y{n}"]:
                month = match[f"m{n}"]
                number = MONTHS[month] if month[0].isalpha() else int(month)
                with contextlib.suppress(ValueError):  # February 30: not a date, so not found
                    yield FoundDate(date(int(match[f"y{n}"]), number, int(match[f"d{n}"])), *match.span())
                break


def write_date(day: date, language: str) -> str:
    """ "July 1, 2023", "2023年7月1日"."""
    return str(format_date(day, "long", locale=language))


def month_name(month: int, language: str) -> str:
    """ "March", "三月"; the month from 1."""
    return str(Locale.parse(language).months["format"]["wide"][month])


def parse_iso(text: str) -> date | None:
    """YYYY-MM-DD, or None for anything else."""
    try:
        day = date.fromisoformat(text)
    except ValueError:
        return None
    return day if len(text) == 10 and text[7] == "-" else None  # it takes 20240203 and 2024-W05-6 as well


def months_later(day: date, months: int) -> date | None:
    """The day so many months later; the last of a month stays the last. None beyond what a date can be."""
    index = day.year * 12 + day.month - 1 + months
    year, month = index // 12, index % 12 + 1
    if not date.min.year <= year <= date.max.year:
        return None
    longest = monthrange(year, month)[1]
    is_last = day.day == monthrange(day.year, day.month)[1]
    return date(year, month, longest if is_last else min(day.day, longest))
