"""Scales that a writer left out: "4,630 barrels" of a row in thousands is 4,630 thousand barrels.

What a figure of the sentence is, and in which unit a row's figures are, is read as the checker reads it.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from decimal import Decimal

from quelea_checker.reading.amounts import parse
from quelea_checker.reading.sentences import plain
from quelea_checker.reading.units import find_counted, find_statements, read_stated_unit
from quelea_fintext.quantities import SCALES

_WORD = re.compile(r"(?<![/A-Za-z])(?<!per )(?<!per one )(?<!per 1 )(?:thousand|million|billion)s?\b", re.IGNORECASE)
"""What a price is of is no scale: "dollars per thousand cubic feet"."""
_SPELLED = {Decimal(1000): " thousand", Decimal(10) ** 6: " million", Decimal(10) ** 9: " billion"}
_BEHIND = re.compile(r"[A-Za-z]{1,12}|[\u4e00-\u9fff]|[’']?000\b")
_REACH, _TOKENS = 24, 3
_MAY_COUNT = re.compile(r"\d{1,2}|(?:19|20)\d\d")
"""Without a sign of money it may be a count of something else, or a year."""
_NUMBER = re.compile(r"\d[\d,]*(?:\.\d+)?")


@dataclass(frozen=True, slots=True)
class ScaledRow:
    """Figures that stand together, and the unit that is printed over them; "" of a sentence, or where none is."""

    figures: tuple[str, ...]
    unit: str


def mend_scales(sentence: str, rows: Sequence[ScaledRow]) -> str:
    """The sentence with the scale of each figure that is copied from a row in one, where it says none.

    A figure that also stands where there is no scale, or under another one, stays: which was meant is not known.
    """
    if any(find_statements(sentence)):
        return sentence
    pieces, at = [], 0
    for figure in parse(sentence):
        number = _NUMBER.search(sentence, figure.start, figure.end)
        if figure.kind != "number" or figure.scale is not None or number is None:
            continue
        counted = find_counted(sentence, figure.end)
        scales = {_scale_of(row.unit, counted) for row in rows if number[0] in row.figures}
        scale = next(iter(scales)) if len(scales) == 1 else ""
        if (
            not scale
            or (not figure.currency and _MAY_COUNT.fullmatch(number[0]))
            or _says_scale(sentence, number.end())
        ):
            continue
        pieces += [sentence[at : number.end()], scale]
        at = number.end()
    return "".join((*pieces, sentence[at:]))


def _says_scale(sentence: str, end: int) -> bool:
    """One of the words right behind is a scale: "4,630 (thousand)", "4,630 USD thousand"."""
    behind = _BEHIND.findall(sentence[end : end + _REACH])[:_TOKENS]
    return any(word.lower() in SCALES for word in behind)


def _scale_of(unit: str, counted: str | None) -> str:
    """As written behind a figure; empty where there is none, or where it is one of money and others are counted."""
    scales, currency = read_stated_unit(plain(unit))
    if counted and currency:
        return ""
    size = scales[0] if scales else Decimal(0)
    if size <= 1 and not scales and (word := _WORD.search(unit)):
        size = Decimal(SCALES[word[0].lower().rstrip("s")])
    if size <= 1:
        return ""
    han = (word for word, value in SCALES.items() if value == size and not word.isascii() and word in unit)
    return max(han, key=len, default="") or _SPELLED.get(size, "")
