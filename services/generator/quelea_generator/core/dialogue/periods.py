"""Periods in questions: found, counted on from one another, written down again. English and Chinese."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from datetime import date
from typing import Literal

from quelea_fintext.dates import find_dates, months_later
from quelea_fintext.no_such_periods import no_such_periods
from quelea_fintext.numerals import how_many
from quelea_fintext.period_words import FISCAL, HAN_NTH, HAN_YEAR, NTH, NTH_OR_DIGIT, QUARTERS, UNITS, YEAR
from quelea_fintext.text import CJK

Kind = Literal["year", "nine", "half", "quarter", "month", "date", "none"]
"""none: one that no calendar has, such as the fifth quarter: it is asked for as it is written."""

_MONTHS = "January February March April May June July August September October November December".split()
_ORDINALS = NTH.split("|")
_HALVES = {"上": 1, "下": 2}
_LENGTHS = {"quarter": "季度", "three months": "三个月", "six months": "六个月", "nine months": "九个月"}
_LENGTH_BEFORE = re.compile(rf"\b(?:the\s+)?(?P<n>{'|'.join(_LENGTHS)})\s+ended\s+(?:on\s+)?$", re.IGNORECASE)
_LENGTH_AFTER = re.compile(rf"^\s*止的?(?P<n>{'|'.join(_LENGTHS.values())})")

_Y = (
    rf"(?:(?P<f{{n}}>{FISCAL})\s*'?)?"
    rf"(?P<y{{n}}>{YEAR}|(?<=FY)\d\d|(?<=FY')\d\d)(?![\d%])"
)
_Q = (
    r"(?:Q(?P<q{n}>[1-4])|(?P<w{n}>[1-4])Q"
    rf"|(?P<o{{n}}>{NTH_OR_DIGIT})[\s-]+(?:fiscal\s+)?quarter)(?!\w)"
)
_H = r"(?:H(?P<h{n}>[12])|(?P<p{n}>first|second|1st|2nd)[\s-]+half)(?!\w)"
_OF = r"[\s,]*(?:(?:of|in|for)\s+)?(?:the\s+)?"
_PART = rf"(?:{_Q}|{_H})"
_ENGLISH = re.compile(
    rf"(?:\bthe\s+)?(?<![\w.,$])(?:{_PART.replace('{n}', '1')}{_OF}{_Y.replace('{n}', '1')}"
    rf"|{_Y.replace('{n}', '2')}(?:'s)?[\s,]*(?:the\s+)?{_PART.replace('{n}', '2')}|{_PART.replace('{n}', '3')}"
    rf"|(?P<m>{'|'.join(_MONTHS)}),?\s+(?P<my>{YEAR})|{_Y.replace('{n}', '4')}(?![.,]\d))",
    re.IGNORECASE,
)
_CHINESE_PERIOD = re.compile(
    rf"(?:(?P<y>{YEAR})\s{{0,8}}+(?P<f>{HAN_YEAR}))?\s{{0,8}}+的?(?:(?P<n>前三(?:个)?季度?)|(?<![上前下后每])第?(?P<q>{HAN_NTH})(?:个)?(?:季度|季报|财季)"
    r"|Q(?P<q2>[1-4])(?!\d)|(?P<h>[上下])半年|(?<!\d)(?P<m>1[0-2]|[1-9])月份?(?!\d|\s{0,8}+\d+\s{0,8}+日))"
    rf"|(?P<y2>{YEAR})\s{{0,8}}+(?P<f2>{HAN_YEAR})"
)


@dataclass(frozen=True, slots=True)
class Period:
    """A period; year 0: none was said.

    Attributes:
        kind: What it is.
        year: Of the calendar, or the filer's own.
        part: The half, quarter or month, from 1; 0 for a year.
        fiscal: The text says fiscal.
        day: Of a date.
        short: Written "Q3", "H1".
        length: Of what ends on a date: "quarter", "six months".
        words: Of one that does not exist.
    """

    kind: Kind
    year: int = 0
    part: int = 0
    fiscal: bool = False
    day: date | None = None
    short: bool = False
    length: str = ""
    words: str = ""

    @property
    def order(self) -> tuple[int, int]:
        """Earlier ones first."""
        return self.year, self.part

    def moved(self, years: int = 0, quarters: int = 0, months: int = 0) -> Period | None:
        """So much later; None where it cannot be said (the quarter before a year)."""
        if self.kind == "date" and self.day:
            day = months_later(self.day, 12 * years + 3 * quarters + months)
            return replace(self, day=day) if day else None
        if self.year == 0 or (quarters and self.kind != "quarter") or (months and self.kind != "month"):
            return None
        size = {"quarter": 4, "month": 12}.get(self.kind, 1)
        if not quarters and not months:
            return replace(self, year=self.year + years)
        index = size * (self.year + years) + self.part - 1 + quarters + months
        return replace(self, year=index // size, part=index % size + 1)

    def joined(self, other: Period) -> Period:
        """What another one means after this one: a quarter of this one's year, a year with this one's quarter."""
        if other.year == 0:
            return replace(other, year=self.year or (self.day.year if self.day else 0), fiscal=self.fiscal)
        if other.kind == "year" and self.kind in ("quarter", "half", "month") and self.part:
            return replace(self, year=other.year, fiscal=other.fiscal or self.fiscal)
        if other.kind == "year" and self.kind == "date" and self.day:
            return replace(self, day=months_later(self.day, 12 * (other.year - self.day.year)))
        return replace(other, fiscal=other.fiscal or self.fiscal) if other.kind != "date" else other

    def text(self, language: str) -> str:
        """ "the third quarter of fiscal 2023", "2023财年第三季度"."""
        return self._chinese() if language == "zh" else self._english()

    def phrase(self, language: str) -> str:
        """The same, with what ends on a date: "the quarter ended March 31, 2023"."""
        text = self.text(language)
        if not self.length:
            return text
        return f"截至{text}止{_LENGTHS[self.length]}" if language == "zh" else f"the {self.length} ended {text}"

    def _as_written(self, year: str) -> str:
        return re.sub(YEAR, str(self.year), self.words) if re.search(YEAR, self.words) else year

    def _english(self) -> str:
        year = f"{'fiscal ' if self.fiscal else ''}{self.year}" if self.year else ""
        if self.kind == "none":
            return self._as_written(f"{self.words} of {year}" if year else self.words)
        if self.day:
            return f"{_MONTHS[self.day.month - 1]} {self.day.day}, {self.day.year}"
        if self.kind == "month":
            return f"{_MONTHS[self.part - 1]} {year}".strip()
        if self.kind in ("year", "nine"):
            return f"the first nine months of {year}" if self.kind == "nine" else year
        if self.short:
            return f"{'Q' if self.kind == 'quarter' else 'H'}{self.part} {year}".strip()
        name = f"the {_ORDINALS[self.part - 1]} {self.kind}"
        return f"{name} of {year}" if year else name

    def _chinese(self) -> str:
        if self.day:
            return f"{self.day.year}年{self.day.month}月{self.day.day}日"
        year = f"{self.year}{'财年' if self.fiscal else '年'}" if self.year else ""
        if self.kind == "none":
            return self._as_written(f"{year}{self.words}")
        if self.kind == "quarter":
            return f"{year}第{'一二三四'[self.part - 1]}季度"
        if self.kind == "nine":
            return f"{year}前三季度"
        if self.kind == "half":
            return f"{year}{'上下'[self.part - 1]}半年"
        return f"{year}{self.part}月" if self.kind == "month" else year


@dataclass(frozen=True, slots=True)
class FoundPeriod:
    """A period and where the text says it, in code points."""

    start: int
    end: int
    period: Period


def find_periods(text: str) -> list[FoundPeriod]:
    """The periods that a text names, in order, none over another."""
    found = [
        FoundPeriod(one.start, one.end, _none(one.words)) for one in no_such_periods(text, bare=True, seasons=True)
    ]
    found += [
        FoundPeriod(
            day.start, day.end, Period("date", day.day.year, day=day.day, length=_length(text, day.start, day.end))
        )
        for day in find_dates(text)
        if all(day.end <= one.start or day.start >= one.end for one in found)
    ]
    chinese = ((_CHINESE_PERIOD, _read_chinese),) if CJK.search(text) else ()
    for pattern, read in (*chinese, (_ENGLISH, _read_english)):
        for match in pattern.finditer(text):
            if match.group().strip() and all(match.end() <= one.start or match.start() >= one.end for one in found):
                found.append(FoundPeriod(match.start(), match.end(), read(match)))
    return sorted(found, key=lambda one: one.start)


def _none(words: str) -> Period:
    year = re.search(YEAR, words)
    return Period("none", int(year.group()) if year else 0, words=words)


def _length(text: str, start: int, end: int) -> str:
    if before := _LENGTH_BEFORE.search(text[:start]):
        return before["n"].lower()
    after = _LENGTH_AFTER.search(text[end:])
    return next(english for english, chinese in _LENGTHS.items() if chinese == after["n"]) if after else ""


def _read_english(match: re.Match[str]) -> Period:
    said = {name: value for name, value in match.groupdict().items() if value}

    def first(*names: str) -> str:
        return next((said[f"{name}{n}"] for name in names for n in "1234" if f"{name}{n}" in said), "")

    digits = first("y") or said.get("my", "")
    year = int(digits) + (2000 if len(digits) == 2 else 0) if digits else 0
    fiscal = first("f").lower().startswith("f") or "fiscal" in match.group().lower()
    if "m" in said:
        return Period("month", year, 1 + [m.lower() for m in _MONTHS].index(said["m"].lower()))
    if quarter := first("q", "w", "o"):
        return Period("quarter", year, _part(quarter), fiscal, short=quarter.isdigit())
    if half := first("h", "p"):
        return Period("half", year, _part(half), fiscal, short=half.isdigit())
    return Period("year", year, fiscal=fiscal)


def _read_chinese(match: re.Match[str]) -> Period:
    year = int(match["y"] or match["y2"] or 0)
    fiscal = "财" in (match["f"] or match["f2"] or "")
    if match["n"]:
        return Period("nine", year, fiscal=fiscal)
    if quarter := match["q"] or match["q2"]:
        return Period("quarter", year, _part(quarter), fiscal)
    if match["h"]:
        return Period("half", year, _HALVES[match["h"]], fiscal)
    if match["m"]:
        return Period("month", year, int(match["m"]), fiscal)
    return Period("year", year, fiscal=fiscal)


def _part(word: str) -> int:
    return QUARTERS[word.lower()]


def period_of_day(day: date, kind: Kind) -> Period:
    """The calendar's year, quarter or month that holds a day."""
    part = {"quarter": (day.month + 2) // 3, "month": day.month}.get(kind, 0)
    return Period(kind, day.year, part)


_SHIFT = re.compile(
    r"(?:\bthe\s{1,8})?\b(?P<back2>year\s{1,8}before\s{1,8}last)\b"
    r"|(?:\b(?:in|for|of|from)\s{1,8})?(?:\bthe\s{1,8})?\bsame\s{1,8}(?:quarter|period|time|month)\s{1,8}(?:of\s{1,8}|in\s{1,8})?(?:the\s{1,8}|a\s{1,8})?"
    r"(?P<same>last|previous|prior|preceding)?\s{0,8}+year(?:\s{1,8}(?:before|earlier|ago))?\b"
    r"|(?:\bthe\s{1,8})?\b(?P<u1>year|quarter|month)\s{1,8}(?P<d1>before|earlier|prior|ago|after|later)\b(?:\s{1,8}that\b)?"
    r"|(?:\bthe\s{1,8})?\b(?P<d2>previous|prior|preceding|last|next|following)\s{1,8}(?:fiscal\s{1,8})?(?P<u2>year|quarter|month)\b"
    r"|\b(?P<n>\d{1,2}|a|one|two|three|four|five)\s{1,8}(?P<u3>year|quarter|month)s?\s{1,8}(?P<d3>before|earlier|prior|ago|after|later)\b"
    r"|(?P<zsame>(?:去年|上年|上一年|前一年)(?:度)?同(?:一)?(?:期|季度))|(?P<zback2>前年)"
    r"|(?P<zn>\d{1,2}|[一两二三四五])(?P<zu3>年|个季度|个月)(?P<zd3>前|后)"
    r"|(?P<zu>上一?个?年度?|上一?个?季度?|上一?个?月|去年|上年度?|前一年度?|前一个?季度|前一个?月)"
    r"|(?P<znext>下一?个?年度?|下一?个?季度?|下一?个?月|次年|明年|后一年|后一个?季度|第二年)"
    r"|\b(?P<this>this\s{1,8}(?P<u4>year|quarter|month))\b|(?P<zthis>今年|本年度?|本季度|这个?季度|本月|这个?月)",
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
