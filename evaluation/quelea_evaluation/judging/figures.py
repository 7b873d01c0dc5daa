"""Figures of a reference answer, and whether a passage holds one: as written, or allowing for scale and rounding."""

from __future__ import annotations

import re
from decimal import ROUND_HALF_UP, Decimal

_SOURCE = re.compile(r"\(?SOURCE\(?S?\)?:.*?(?:\)|$)", re.IGNORECASE | re.MULTILINE)
_NUMBER = re.compile(r"(?<![\w.])(?<!\d,)(\d{1,3}(?:,\d{3})+(?!,?\d)(?:\.\d+)?|\d+(?:\.\d+)?)(\s?%)?")
_PERIOD = re.compile(
    r"Q[1-4]\s{0,8}+(?:FY)?\s{0,8}+(?:19|20)?\d\d|(?:19|20)\d\d\s{0,8}+Q[1-4]|10-[QK]|"
    r"(?:January|February|March|April|May|June|July|August|September|October|November|December)\s{1,8}\d{1,2},?(?:\s{1,8}\d{4})?",
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


_UNITS = {"thousand": 10**3, "million": 10**6, "billion": 10**9, "trillion": 10**12}
_AMOUNT = re.compile(r"(?<![\w.,])(\d[\d,]*(?:\.\d+)?)\s*(thousand|million|billion|trillion)\b", re.IGNORECASE)
_LEAST_DIGITS = 3  # "1.7 billion" would match one number in fifty by luck


def amounts_of(answer: str) -> frozenset[tuple[str, int]]:
    """Amounts with a scale word, as (number, unit): ("14.51", 10**9) for "$14.51 billion"; three digits and more."""
    found = set()
    for match in _AMOUNT.finditer(_SOURCE.sub(" ", answer)):
        number = match[1].replace(",", "")
        if len(number.replace(".", "").strip("0")) >= _LEAST_DIGITS:
            found.add((number, _UNITS[match[2].lower()]))
    return frozenset(found)


def holds_rounded(text: str, figures: frozenset[str], amounts: frozenset[tuple[str, int]]) -> bool:
    """holds(), or a number that is one of the amounts at another scale: 14,514 in millions for 14.51 billion."""
    if holds(text, figures):
        return True
    numbers = [Decimal(n) for n in numbers_in(text) if len(n.replace(".", "").strip("0")) >= _LEAST_DIGITS]
    for number, unit in amounts:
        wanted = Decimal(number)
        step = Decimal(1).scaleb(wanted.as_tuple().exponent)  # type: ignore[arg-type]  # finite, so an int
        for value in numbers:
            for scale in (10**3, 10**6, 10**9):
                if scale <= unit and (value * scale / unit).quantize(step, ROUND_HALF_UP) == wanted:
                    return True
    return False
