"""Scales that a writer left out: "4,630 barrels" of a row in thousands is 4,630 thousand barrels."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

_WORD = re.compile(r"\b(thousand|million|billion)s?\b", re.IGNORECASE)
_HAN = re.compile(r"(千|万|百万|千万|亿|十亿)(?=[\u3400-\u9fff]|$)")
_FIGURE = re.compile(r"(?<![\d.,])\d[\d,]*(?:\.\d+)?(?![\d%％]|\.\d|,\d|\s*(?:%|％|percent))")
_SAID = re.compile(r"\s*(?:thousand|million|billion|trillion|hundred|bn\b|mn\b|[KMB]\b)", re.IGNORECASE)
_SAID_HAN = re.compile(r"\s*[百千万亿]")
_SAID_ANYWHERE = re.compile(r"\bin (?:thousands|millions|billions)\b", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class ScaledRow:
    """Figures that stand together, and the unit that is printed over them; "" of a sentence, or where none is."""

    figures: tuple[str, ...]
    unit: str


def mend_scales(sentence: str, rows: Sequence[ScaledRow]) -> str:
    """The sentence with the scale of each figure that is copied from a row in one, where it says none.

    A figure that also stands where there is no scale, or under another one, stays: which was meant is not known.
    """
    if _SAID_ANYWHERE.search(sentence):
        return sentence

    def mend(match: re.Match[str]) -> str:
        found = {row.unit for row in rows if match.group() in row.figures}
        scales = {_scale_of(unit) for unit in found}
        scale = next(iter(scales)) if len(scales) == 1 else ""
        rest = sentence[match.end() :]
        if not scale or _SAID.match(rest) or _SAID_HAN.match(rest):
            return match.group()
        return f"{match.group()} {scale}" if scale.isascii() else f"{match.group()}{scale}"

    return _FIGURE.sub(mend, sentence)


def _scale_of(unit: str) -> str:
    word = _WORD.search(unit)
    if word:
        return word[1].lower()
    han = _HAN.search(unit)
    return han[1] if han else ""
