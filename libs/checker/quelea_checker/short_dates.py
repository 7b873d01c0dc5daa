"""Dates as tables abbreviate them: 30/9/2018, 12/31/18, 31.12.2018, 30-Sep-18, Dec-18, December 31,2018."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

_MONTHS = ("jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec")
_NAME = (
    r"(?:Jan(?:uary)?|Feb(?:ruary)?|Mar(?:ch)?|Apr(?:il)?|May|June?|July?|Aug(?:ust)?|Sept?(?:ember)?"
    r"|Oct(?:ober)?|Nov(?:ember)?|Dec(?:ember)?|JAN|FEB|MAR|APR|MAY|JUN|JUL|AUG|SEP|OCT|NOV|DEC)"
)
_END = r"(?![\w%]|[.,]\d|\s?[-/]\s?\d|\s+(?:million|billion|thousand|percent))"
_FORM = re.compile(
    rf"(?<![\w/.,-])(?P<a>\d{{1,2}})(?P<mark>[/.])(?P<b>\d{{1,2}})(?P=mark)(?P<y>(?:19|20)\d\d|\d\d){_END}"
    rf"|(?<![A-Za-z])(?P<m>{_NAME})\.? ?(?P<d>\d{{1,2}}) ?,(?P<y2>(?:19|20)\d\d){_END}"
    rf"|(?<![A-Za-z])(?P<m3>{_NAME})(?P<d3>\d{{1,2}}), ?(?P<y3>(?:19|20)\d\d){_END}"
    rf"|(?<![\w.,$])(?P<d4>\d{{1,2}})[- ](?P<m4>{_NAME})\.?[- ]'?(?P<y4>(?:19|20)\d\d|\d\d){_END}"
    rf"|(?<![\w])(?P<m5>{_NAME})\.?(?:-|\s?')(?P<y5>\d\d){_END}"
)
MAY_HOLD = re.compile(
    r"\d[/.]\d{1,2}[/.]\d\d|[A-Za-z]\.? ?\d{1,2} ?,\d{4}|[a-z]\d{1,2}, ?\d{4}|[A-Za-z]\.?[-' ]+\d\d\b"
)
"""A cheap look."""


@dataclass(frozen=True, slots=True)
class ShortDate:
    """text[start:end]; month and day are 0 where they are not told."""

    start: int
    end: int
    year: int
    month: int
    day: int


def short_dates(text: str) -> Iterator[ShortDate]:
    """Every such date, in order. Of 5/6/2019 only the year is told: the one may be the day or the month."""
    for match in _FORM.finditer(text):
        got = {name[0]: value for name, value in match.groupdict().items() if value}
        year = int(got["y"]) if len(got["y"]) == 4 else 2000 + int(got["y"])
        if "a" in got:
            month, day = sorted((int(got["a"]), int(got["b"])))
            if got["a"] != got["b"] and day <= 12:
                if len(got["y"]) == 4 and match["mark"] == "/":
                    yield ShortDate(*match.span(), year, 0, 0)
                continue
            if not (1 <= month <= 12 and 1 <= day <= 31) or year > 2059:
                continue
        else:
            month, day = _MONTHS.index(got["m"][:3].lower()) + 1, int(got.get("d", 0))
            if day > 31 or year > 2059:
                continue
        yield ShortDate(*match.span(), year, month, day)
