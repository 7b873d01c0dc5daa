"""Scales that a writer left out: "4,630 barrels" of a row in thousands is 4,630 thousand barrels."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

_WORD = re.compile(r"\b(thousand|million|billion)s?\b", re.IGNORECASE)
_HAN = re.compile(
    r"(?<![/／每百千十])(百万|千万|十亿|千|万|亿)"
    r"(?=人民币|[美欧日港]?元|港币|千瓦|立方|平方|[股吨人户件台辆份桶只个片颗套箱升米]|[\s)）]|$)"
)
_FOR_EACH = re.compile(r"(?:\bper\b|/)\s*(?:one |1 )?(?:thousand|million|billion)s?\b", re.IGNORECASE)
"""What a price is of is no scale: "dollars per thousand cubic feet"."""
_NO_AMOUNT = (
    r"%|％|per ?cent|percentage|basis points|bps\b|points?\b|pts?\b|pp\b|times\b|[倍年月日号天季页]|个百分点|个月"
)
_FIGURE = re.compile(
    r"(?<![\d.,\[/#])(?:(?<![A-Za-z])|(?<=[A-Z]{3}))(?P<money>(?<=[$€£¥￥])\s?)?"
    rf"(?P<figure>\d+(?:,\d{{3}})*(?:\.\d+)?)(?![\d%％]|[.,]\d|-?[A-Za-z]|\s*(?:{_NO_AMOUNT}))",
    re.IGNORECASE,
)
_MAY_COUNT = re.compile(r"\d{1,2}|(?:19|20)\d\d")
"""Without a sign of money it may be a year, a day, or a count of something else."""
_SAID = re.compile(
    r"\s{0,3}[(（]?\s{0,3}(?:in )?(?:(?:[A-Z]{3}|US dollars|dollars)\s{0,3})?\$?\s{0,3}"
    r"(?:(?:thousand|million|billion|trillion|hundred)|(?:bn|mn|[KMB])\b|['’]?000\b)",
    re.IGNORECASE,
)
_SAID_HAN = re.compile(r"\s{0,3}[(（]?\s{0,3}(?:单位[:：]?\s{0,3})?(?:人民币|[A-Z]{3}\s{0,3})?[十百千万亿]")
_SAID_ANYWHERE = re.compile(
    r"(?:\bin|US\$|\$|\bUSD) ?(?:thousands|millions|billions)\b|(?:单位[:：]?\s*(?:人民币)?|以)[十百千万亿]",
    re.IGNORECASE,
)


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
        figure = match["figure"]
        scales = {_scale_of(row.unit) for row in rows if figure in row.figures}
        scale = next(iter(scales)) if len(scales) == 1 else ""
        if not scale or (match["money"] is None and _MAY_COUNT.fullmatch(figure)):
            return match.group()
        if _SAID.match(sentence, match.end()) or _SAID_HAN.match(sentence, match.end()):
            return match.group()
        return f"{match.group()} {scale}" if scale.isascii() else f"{match.group()}{scale}"

    return _FIGURE.sub(mend, sentence)


def _scale_of(unit: str) -> str:
    unit = _FOR_EACH.sub(" ", unit)
    word = _WORD.search(unit)
    if word:
        return word[1].lower()
    han = _HAN.search(unit)
    return han[1] if han else ""
