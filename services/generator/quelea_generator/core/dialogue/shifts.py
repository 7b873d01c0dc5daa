"""Periods named by their distance from another one: the year before, 上一季度, two quarters earlier."""

from __future__ import annotations

import re
from dataclasses import dataclass

from quelea_fintext.numerals import how_many
from quelea_fintext.period_words import UNITS

from quelea_generator.core.dialogue.periods import Kind

_SHIFT = re.compile(
    r"(?:\bthe\s+)?\b(?P<back2>year\s+before\s+last)\b"
    r"|(?:\b(?:in|for|of|from)\s+)?(?:\bthe\s+)?\bsame\s+(?:quarter|period|time|month)\s+(?:of\s+|in\s+)?(?:the\s+|a\s+)?"
    r"(?P<same>last|previous|prior|preceding)?\s*year(?:\s+(?:before|earlier|ago))?\b"
    r"|(?:\bthe\s+)?\b(?P<u1>year|quarter|month)\s+(?P<d1>before|earlier|prior|ago|after|later)\b(?:\s+that\b)?"
    r"|(?:\bthe\s+)?\b(?P<d2>previous|prior|preceding|last|next|following)\s+(?:fiscal\s+)?(?P<u2>year|quarter|month)\b"
    r"|\b(?P<n>\d{1,2}|a|one|two|three|four|five)\s+(?P<u3>year|quarter|month)s?\s+(?P<d3>before|earlier|prior|ago|after|later)\b"
    r"|(?P<zsame>(?:去年|上年|上一年|前一年)(?:度)?同(?:一)?(?:期|季度))|(?P<zback2>前年)"
    r"|(?P<zn>\d{1,2}|[一两二三四五])(?P<zu3>年|个季度|个月)(?P<zd3>前|后)"
    r"|(?P<zu>上一?个?年度?|上一?个?季度?|上一?个?月|去年|上年度?|前一年度?|前一个?季度|前一个?月)"
    r"|(?P<znext>下一?个?年度?|下一?个?季度?|下一?个?月|次年|明年|后一年|后一个?季度|第二年)"
    r"|\b(?P<this>this\s+(?P<u4>year|quarter|month))\b|(?P<zthis>今年|本年度?|本季度|这个?季度|本月|这个?月)",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True)
class Shift:
    """A period named by its distance from another one, and where the text says it."""

    start: int
    end: int
    years: int = 0
    quarters: int = 0
    months: int = 0
    same: bool = False
    """The same period of another year: whatever it is compared with stays."""
    this: bool = False
    """Counted from the day of the question."""

    @property
    def kind(self) -> Kind:
        """The unit that it is counted in."""
        return "quarter" if self.quarters else "month" if self.months else "year"


def find_shift(text: str) -> Shift | None:
    """The first such period of a text."""
    match = _SHIFT.search(text)
    return _read_shift(match) if match else None


def _read_shift(match: re.Match[str]) -> Shift:
    start, end = match.span()
    said = match.group().lower()
    if match["back2"] or match["zback2"]:
        return Shift(start, end, years=-2)
    if "same" in said or match["zsame"]:
        return Shift(start, end, years=-1, same=True)
    named = (match["u1"] or match["u2"] or match["u3"] or match["u4"] or match["zu3"] or "").lower()
    unit = UNITS.get(named, "")
    if not unit:
        unit = "quarter" if "季" in said else "month" if "月" in said else "year"
    if match["this"] or match["zthis"]:
        sign, count = 0, 0
    else:
        later = {"after", "later", "next", "following", "后"}
        word = (match["d1"] or match["d2"] or match["d3"] or match["zd3"] or "").lower()
        sign = 1 if word in later or match["znext"] else -1
        count = how_many(match["n"] or match["zn"] or "1")
    return Shift(
        start,
        end,
        years=sign * count if unit == "year" else 0,
        quarters=sign * count if unit == "quarter" else 0,
        months=sign * count if unit == "month" else 0,
        this=bool(match["this"] or match["zthis"]),
    )
