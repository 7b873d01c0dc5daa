"""Figures of a reference answer, and whether a passage holds one."""

from __future__ import annotations

import re

_SOURCE = re.compile(r"\(?SOURCE\(?S?\)?:.*?(?:\)|$)", re.IGNORECASE | re.MULTILINE)
_NUMBER = re.compile(r"(?<![\w.])(?<!\d,)(\d{1,3}(?:,\d{3})+(?!,?\d)(?:\.\d+)?|\d+(?:\.\d+)?)(\s?%)?")
_PERIOD = re.compile(
    r"Q[1-4]\s*(?:FY)?\s*(?:19|20)?\d\d|(?:19|20)\d\d\s*Q[1-4]|10-[QK]|"
    r"(?:January|February|March|April|May|June|July|August|September|October|November|December)\s+\d{1,2},?(?:\s+\d{4})?",
    re.IGNORECASE,
)


def figures_of(answer: str) -> frozenset[str]:
    """The answer's figures: without years, dates and quarter names; two digits if decimal or percent, else three."""
    text = _PERIOD.sub(" ", _SOURCE.sub(" ", answer))
    found = set()
    for match in _NUMBER.finditer(text):
        number = match[1].replace(",", "").rstrip(".")
        digits = number.replace(".", "").lstrip("0")
        is_year = "," not in match[1] and "." not in number and 1950 <= int(float(number)) <= 2049
        if is_year or not digits:
            continue
        if len(digits) >= (2 if match[2] or "." in number else 3):
            found.add(number)
    return frozenset(found)


def numbers_in(text: str) -> frozenset[str]:
    """Every number of a passage, without thousands separators."""
    return frozenset(m[1].replace(",", "").rstrip(".") for m in _NUMBER.finditer(text))


def holds(text: str, figures: frozenset[str]) -> bool:
    """Whether the text has one of the figures."""
    return bool(figures & numbers_in(text))
