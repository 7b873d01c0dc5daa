"""Times that run backwards: from Q4 2023 to Q1 2023, 从2023年6月到2023年3月."""

from __future__ import annotations

import re
from collections.abc import Iterator

from quelea_fintext.languages import LANGUAGES
from quelea_fintext.times.period_words import (
    FISCAL,
    HAN_MONTH,
    HAN_NTH,
    MONTH,
    NTH_OR_DIGIT,
    QUARTERS,
    YEAR,
    month_number,
)

_POINT = (
    rf"(?:(?:the\s{{1,3}})?(?:Q(?P<q{{n}}>[1-4])|(?P<o{{n}}>{NTH_OR_DIGIT})\s{{1,3}}(?:fiscal\s{{1,3}})?quarter|H(?P<h{{n}}>[12])"
    rf"|(?P<m{{n}}>{MONTH})\.?)(?:\s{{1,3}}\d{{1,2}})?[\s,]{{1,3}}(?:of\s{{1,3}})?)?(?:(?:{FISCAL})\s{{0,3}})?(?P<y{{n}}>{YEAR})(?!\d)"
    rf"(?:\s{{0,3}}Q(?P<p{{n}}>[1-4])|\s{{0,3}}(?:财年|年度?)\s{{0,3}}(?:第?(?P<z{{n}}>{HAN_NTH})季度|Q(?P<k{{n}}>[1-4])|(?P<s{{n}}>[上下])半年"
    rf"|(?P<t{{n}}>1[0-2]|[1-9]|{HAN_MONTH})月份?)?)?"
)
_SPAN = re.compile(
    rf"(?:\b(?:from|between)\s{{1,3}}|[从自由])\s{{0,3}}{_POINT.replace('{n}', '1')}\s{{0,3}}"
    rf"(?:\b(?:to|through|until|till|and)\b|[至到])\s{{0,3}}{_POINT.replace('{n}', '2')}",
    re.IGNORECASE,
)
_COMPARES = re.compile(LANGUAGES.alternatives("time.compares"), re.IGNORECASE)
"""Two times that are compared may be named in either order."""


def find_backward_spans(text: str) -> Iterator[tuple[int, int]]:
    """Where the text asks for something over a time whose end lies before its beginning; in code points."""
    if _COMPARES.search(text):
        return
    for match in _SPAN.finditer(text):
        (year, first), (last_year, last) = _point(match, "1"), _point(match, "2")
        if year > last_year or (year == last_year and first and last and first > last):
            yield match.span()


def _point(match: re.Match[str], n: str) -> tuple[int, int]:
    """Year, and the month that it begins with; 0 where only the year is said."""
    said = {name[0]: value for name, value in match.groupdict().items() if value and name.endswith(n)}
    month = 0
    for name, value in said.items():
        if name in "qopzk":
            month = 3 * QUARTERS[value.lower()] - 2
        elif name in "hs":
            month = 1 if value in ("1", "上") else 7
        elif name in "mt":
            month = month_number(value)
    return int(said["y"]), month
