"""Periods that no calendar has, as a text writes them: Q5 2023, 第二点五季度, the 54th week, 13月, February 30.

A year has four quarters, two halves, twelve months and at most 53 weeks, whatever the filer's calendar. What a text
numbers beyond that is read here; what is said of it is the reader's business.
"""

from __future__ import annotations

import re
from calendar import monthrange
from dataclasses import dataclass
from decimal import Decimal

from quelea_kit.numerals import CARDINAL_WORD, HAN_NUMERAL, ORDINAL_WORD, number
from quelea_kit.period_words import FISCAL, YEAR, written_days

_MOST = {"quarter": 4, "half": 2, "month": 12, "week": 53, "季": 4, "半年": 2, "月": 12, "周": 53, "星期": 53}
_YEAR = (
    rf"(?:(?:{FISCAL})\s{{0,3}}(?:{YEAR}|'?\d\d)|'\d\d|{YEAR}"
    r"|(?:fiscal|financial)\s{1,3}year)"
)
_BAD = r"(?:0|[5-9]|[1-9]\d)"
_LETTERED = re.compile(
    rf"(?<![\w-])(?:Q{_BAD}|{_BAD}Q|H(?:0|[3-9])|[03-9]H)[\s,/-]*(?:of\s{{1,3}})?(?:the\s{{1,3}})?{_YEAR}\b"
    rf"|(?<![\w-])(?:{_BAD}Q|[03-9]H)\d\d\b"
    rf"|(?<![\w']){_YEAR}[\s,/-]*(?:Q{_BAD}|H(?:0|[3-9]))(?!\w)"
    rf"|(?<!\d){YEAR}\s{{0,3}}(?:年|财年|年度)?\s{{0,3}}的?\s{{0,3}}(?:Q{_BAD}(?!\d)|H(?:0|[3-9])(?!\d))"
    rf"|(?<!\w)(?:Q\d\.\d+|{_YEAR}\s{{1,3}}Q\d\.\d+)",
    re.IGNORECASE,
)
_BARE = re.compile(rf"(?<![\w-])(?:Q{_BAD}|H(?:0|[3-9]))(?![\w-]|\s{{0,3}}(?:model|series|suv|\d))", re.IGNORECASE)
_CARS = re.compile(r"\b(?:Audi|Infiniti|Volvo)\b|奥迪|英菲尼迪", re.IGNORECASE)
"""Their models are called Q5."""
_ENGLISH = re.compile(
    rf"(?P<before>(?<![\w']){_YEAR}(?:'s)?[\s,/-]+(?:the\s{{1,3}})?)?"
    rf"(?:(?<!\w)(?P<o>{ORDINAL_WORD})[\s-]+(?:(?:fiscal|calendar)\s{{1,3}})?(?P<u>quarter|half|month|week)\b"
    rf"|\b(?P<u2>quarter|half|month|week)\s{{1,3}}(?:number\s{{1,3}}|no\.?\s{{0,3}})?(?P<c>\d{{1,3}}(?:\.\d+)?|{CARDINAL_WORD})(?![\w-]|\.\d))"
    rf"(?P<after>[\s,/-]*(?:of\s{{1,3}}|in\s{{1,3}})?(?:the\s{{1,3}})?{_YEAR}\b)?",
    re.IGNORECASE,
)
_COUNTED_FROM = re.compile(
    r"\s{1,3}(?:in\s{1,3}a\s{1,3}row|running|straight|consecutive|since|after|when|that|of\s{1,3}(?!(?:the\s{1,3})?(?:fiscal|calendar|FY|'?\d)))",
    re.IGNORECASE,
)
"""It counts quarters from some day on: the fifth quarter in a row."""
_CHINESE = re.compile(
    rf"(?P<year>(?<!\d)(?:{YEAR}|\d\d)\s{{0,3}}(?:年度?|财年|财政年度)|财年|财政年度)?\s{{0,3}}的?\s{{0,3}}(?:(?P<nth>第\s{{0,3}})|(?<![\d.点十第]))"
    rf"(?P<n>{HAN_NUMERAL}|\d{{1,3}}(?:\.\d+)?)\s{{0,3}}(?P<count>个)?\s{{0,3}}"
    r"(?P<unit>季度|财季|季报|季(?!节)|半年|月|周(?!年)|星期)"
)
_LONGER = re.compile(
    rf"\b(?:five|six|seven|eight|nine|ten|[5-9])\s{{1,3}}quarters\s{{1,3}}(?:of|in)\s{{1,3}}{_YEAR}\b", re.IGNORECASE
)
_SLASHED = re.compile(rf"(?<![\d/])(?P<a>\d{{1,2}})/(?P<b>\d{{1,2}})/(?P<y>{YEAR})(?!\d)")


@dataclass(frozen=True, slots=True)
class NoSuch:
    """As the text writes it, with its year where that stands beside it; the span in code points."""

    words: str
    start: int
    end: int


def no_such_periods(text: str, *, bare: bool = False, seasons: bool = False) -> list[NoSuch]:
    """Every part of a year and every day that the text names and that does not exist, in order.

    Args:
        text: Of a question.
        bare: "Q5" and "13月" by themselves are meant for periods: the text is of figures.
        seasons: So is "第五季", which may be a programme's.
    """
    found: dict[tuple[int, int], NoSuch] = {}
    cars = _CARS.search(text) is not None
    parts = [] if cars else [*_LETTERED.finditer(text), *_LONGER.finditer(text)]
    parts += [match for match in _ENGLISH.finditer(text) if _is_none_in_english(text, match)]
    parts += [
        match for match in _CHINESE.finditer(text) if _is_none_in_chinese(text, match, bare=bare, seasons=seasons)
    ]
    parts += [match for match in _SLASHED.finditer(text) if not _is_day(match)]
    if bare and not cars:
        parts += [*_BARE.finditer(text)]
    spans = [match.span() for match in parts]
    spans += [(day.start, day.end) for day in written_days(text) if day.exists is False]
    for start, end in sorted(spans, key=lambda span: (span[0], -span[1])):
        if all(end <= first or start >= last for first, last in found):
            words = re.sub(r"^的\s*|\s+(?=\s)", "", text[start:end].strip(" ,\n\t"))
            found[start, end] = NoSuch(" ".join(words.split()), start, end)
    return list(found.values())


def _beyond(said: str, unit: str) -> bool:
    value = number(said)
    return value is not None and (value != value.to_integral_value() or not 1 <= value <= Decimal(_MOST[unit]))


def _is_none_in_english(text: str, match: re.Match[str]) -> bool:
    unit = (match["u"] or match["u2"]).lower()
    if not _beyond(match["o"] or match["c"], unit):
        return False
    if match["before"] or match["after"]:
        return True
    # A month, week or half by itself may be counted from anywhere; so may a quarter that is given a number.
    return unit == "quarter" and bool(match["o"]) and not _COUNTED_FROM.match(text, match.end())


def _is_none_in_chinese(text: str, match: re.Match[str], *, bare: bool, seasons: bool) -> bool:
    unit, nth, year = match["unit"], bool(match["nth"]), bool(match["year"])
    kind = "季" if "季" in unit else unit
    if not _beyond(match["n"], kind):
        return False
    if kind == "季":
        if nth and not year:
            named = unit in ("季度", "财季") or seasons
            return named and not re.search(r"连续的?\s{0,3}$", text[: match.start()])
        return year
    if not year and not (bare and kind == "月" and not match["count"] and not nth):
        return False
    return nth or (kind == "月" and not match["count"])


def _is_day(match: re.Match[str]) -> bool:
    """Month and day in either order."""
    year, a, b = (int(match[name]) for name in "yab")
    return any(1 <= m <= 12 and 1 <= d <= monthrange(year, m)[1] for m, d in ((a, b), (b, a)))
