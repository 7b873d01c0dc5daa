"""Cells of tables that say more than a number: "£2,340m, reduced by £477m", "$155.4 million (13.3% of net sales)"."""

from __future__ import annotations

import re

_LONGEST = 90
"""Code points of a cell that may be a figure with a remark; what is longer is prose."""
_NUMBER = r"(?:US\$|HK\$|RMB ?|[$€£¥₹])?\s?\d[\d,]*(?:\.\d+)?"
_SCALE = r"(?:thousand|million|billion|trillion|per ?cent|(?:m|b|t)n|[kmbp]|x|[万亿]+[元股户人]?)\b|[%倍]|[万亿]+元?|元"
_AMOUNT = rf"{_NUMBER}\s?(?:{_SCALE})?"
_REMARKED = re.compile(
    rf"(?:(?:about|approximately|around|some|nearly|over|up|down|约)\s*)?(?P<amount>{_AMOUNT})"
    rf"(?P<to>\s?(?:to|-|–|至|到)\s?{_AMOUNT})?"
    r"(?P<remark>\s*\(.+\)|\s*[,，;；]\s*(?=.*[A-Za-z\u3400-\u9fff]{2}).+|\s(?:of|on)\s.+)?\s*",
    re.IGNORECASE,
)
_TELLING = re.compile(r"[$€£¥₹%.倍元万亿]|[A-Za-z]")


def is_figure(part: str) -> bool:
    """A cell's one amount, or range, with or without a remark behind it: no date, no number of a note."""
    match = _REMARKED.fullmatch(part) if len(part) <= _LONGEST else None
    return match is not None and bool(_TELLING.search(match["amount"]))


def first(text: str) -> str:
    """A cell without the remark behind its first amount: what goes up or down there is not the amount."""
    match = _REMARKED.fullmatch(text)
    return text[: match.start("remark")] if match and match["remark"] else text


def is_more(text: str) -> bool:
    """It may have a second figure: a range, or a remark."""
    match = _REMARKED.fullmatch(text) if len(text) <= _LONGEST else None
    return match is not None and bool(match["to"] or match["remark"])
