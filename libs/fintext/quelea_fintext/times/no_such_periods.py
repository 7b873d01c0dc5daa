"""Periods that no calendar has, as a text writes them: Q5 2023, 第二点五季度, the 54th week, 13月, February 30.

A year has four quarters, two halves, twelve months, at most 53 weeks and 366 days, whatever the filer's calendar;
a half has two quarters, a quarter three months; and no time begins after it ends. What a text numbers beyond that is
read here; what is said of it is the reader's business.

Patterns are here and not in the languages' data, for what counts is grammar: English says "the nth quarter" and
Chinese 第n季度, and what may stand around each decides in code whether it is meant.
"""

from __future__ import annotations

import re
from calendar import monthrange
from collections.abc import Iterator
from dataclasses import dataclass
from decimal import Decimal

from quelea_fintext.languages import LANGUAGES
from quelea_fintext.numerals import CARDINAL_WORD, HAN_NUMERAL, ORDINAL_WORD, ROMAN_NUMERAL, number
from quelea_fintext.times.backward_spans import find_backward_spans
from quelea_fintext.times.period_words import FISCAL, HAN_NTH, NTH, YEAR, find_written_days

_YEAR_HAS = {"quarter": 4, "half": 2, "month": 12, "week": 53, "day": 366}
_QUARTER_HAS = {"month": 3, "week": 14, "day": 99}
_HALF_HAS = {"quarter": 2, "month": 6, "week": 27, "day": 189}
_HAN_UNITS = {"半年": "half", "月": "month", "周": "week", "星期": "week", "天": "day", "日": "day"}
_YEAR = (
    rf"(?:(?:{FISCAL})\s{{0,3}}(?:{YEAR}|'?\d\d)|'\d\d|{YEAR}"
    r"|(?:fiscal|financial)\s{1,3}year)"
)
_TIES = r"[\s,/-]{0,3}"
_CALENDARS = r"(?:(?:fiscal|calendar|financial)\s{1,3})?"
_LETTERED = re.compile(
    rf"(?P<before>(?<![\w']){_YEAR}{_TIES}|(?<!\d)(?:{YEAR}|\d\d)\s{{0,3}}(?:财年|年度?)?\s{{0,3}}的?\s{{0,3}}(?=[QH]))?"
    rf"(?:(?<![A-Za-z])(?<![A-Za-z]-)[FC]?(?:(?P<q>Q)[.\s]?(?P<n>\d{{1,2}}(?:\.\d+)?|{HAN_NUMERAL})|(?P<h>H)(?P<m>\d))(?![A-Za-z0-9_-]|\.\d)"
    rf"|(?<![\w-])(?:(?!10Q)(?P<n2>\d{{1,2}})(?P<q2>Q)|(?P<m2>\d)(?P<h2>H))(?=\W|FY|{YEAR}|\d\d(?!\d)))"
    rf"(?P<after>{_TIES}(?:of\s{{1,3}})?(?:the\s{{1,3}})?(?:{_YEAR}(?!\w)|(?<=[QH])\d\d(?!\w)))?",
    re.IGNORECASE,
)
"""Q5 2023, 5Q23, 2023年Q6, FQ5; 10Q is a form."""
_A_PRODUCT = re.compile(r"\s{0,3}(?:model|series|suv|\d|[a-z]-)", re.IGNORECASE)
_ENGLISH = re.compile(
    rf"(?P<before>(?<![\w']){_YEAR}(?:'s)?[\s,/-]+(?:the\s{{1,3}})?)?"
    rf"(?:(?<!\w)(?P<o>{ORDINAL_WORD})[\s-]+{_CALENDARS}(?P<u>quarter|half|month|week|day)\b"
    rf"|\b(?P<u2>quarter|half|month|week|day)\s{{1,3}}(?:number\s{{1,3}}|no\.?\s{{0,3}}|#)?(?P<c>\d{{1,3}}(?:\.\d+)?|{CARDINAL_WORD}|{ROMAN_NUMERAL})(?![\w-]|\.\d))"
    rf"(?P<after>[\s,/-]*(?:of\s{{1,3}}|in\s{{1,3}})?(?:the\s{{1,3}})?{_YEAR}\b)?",
    re.IGNORECASE,
)
_PART_AFTER = re.compile(
    rf"\s{{1,3}}(?:of|in)\s{{1,3}}(?:the\s{{1,3}})?(?:(?P<quarter>Q[1-4]\b|(?:{NTH})\s{{1,3}}{_CALENDARS}quarter\b)"
    rf"|H[12]\b|(?:first|second)\s{{1,3}}half\b)",
    re.IGNORECASE,
)
_PART_BEFORE = re.compile(rf"(?:(?P<quarter>第?{HAN_NTH}季度?|Q[1-4])|[上下]半年|H[12])度?$", re.IGNORECASE)
_COUNTED_FROM = re.compile(
    r"\s{1,3}(?:in\s{1,3}a\s{1,3}row|running|straight|consecutive|since|after|when|that|of\s{1,3}(?!(?:the\s{1,3})?(?:fiscal|calendar|FY|'?\d)))",
    re.IGNORECASE,
)
"""It counts quarters from some day on: the fifth quarter in a row."""
_PAY = LANGUAGES.pattern("time.pay", r"(?:['’]s)?\s{0,3}<>")
"""The 13th month's is paid where that is the custom."""
_CHINESE = re.compile(
    rf"(?P<year>(?<!\d)(?:{YEAR}|\d\d)\s{{0,3}}(?:年度?|财年|财政年度)|财年|财政年度)?\s{{0,3}}的?\s{{0,3}}"
    rf"(?:(?P<nth>第\s{{0,3}}|前)|(?<![\d.点十第]))"
    rf"(?P<n>{HAN_NUMERAL}|\d{{1,3}}(?:\.\d+)?|{ROMAN_NUMERAL})\s{{0,3}}(?P<count>[个個])?\s{{0,3}}(?:(?:财政|会计)(?=季度))?"
    r"(?P<unit>季度|财季|季报|季(?!节)|半年|月|周(?!年)|星期|天|日)"
)
_LONGER = re.compile(
    rf"\b(?:(?P<first>first)\s{{1,3}})?(?P<n>{CARDINAL_WORD}|\d{{1,3}})\s{{1,3}}(?:(?P<u>quarter|month|week|day)s|(?P<h>halves))"
    rf"\s{{1,3}}(?:of|in)\s{{1,3}}{_YEAR}\b",
    re.IGNORECASE,
)
_SLASHED = re.compile(rf"(?<![\d/])(?P<a>\d{{1,2}})/(?P<b>\d{{1,2}})/(?P<y>{YEAR})(?!\d)")
_NARROW = {code: code - 0xFEE0 for code in range(0xFF01, 0xFF5F)} | {0x3000: 0x20}


@dataclass(frozen=True, slots=True)
class NoSuch:
    """As the text writes it, with its year where that stands beside it; the span in code points."""

    words: str
    start: int
    end: int


def to_half_width(text: str) -> str:
    """The text with full-width letters and digits as ordinary ones, one for one, so that places stay."""
    return text if text.isascii() else text.translate(_NARROW)


def find_no_such_periods(text: str, *, bare: bool = False, seasons: bool = False) -> list[NoSuch]:
    """Every part of a year and every day that the text names and that does not exist, in order.

    Args:
        text: Of a question.
        bare: "Q5" and "13月" by themselves are meant for periods: the text is of figures.
        seasons: So is "第五季", which may be a programme's.
    """
    found: list[NoSuch] = []
    plain = to_half_width(text)
    spans = [
        *_lettered(plain, bare=bare),
        *_english(plain, bare=bare),
        *_chinese(plain, bare=bare, seasons=seasons),
        *(match.span() for match in _SLASHED.finditer(plain) if not _is_day(match)),
        *((day.start, day.end) for day in find_written_days(plain) if day.exists is False),
        *find_backward_spans(plain),
    ]
    for start, end in sorted(spans, key=lambda span: (span[0], -span[1])):
        if all(end <= one.start or start >= one.end for one in found):
            words = re.sub(r"^的\s*|\s+(?=\s)", "", text[start:end].strip(" ,\n\t"))
            found.append(NoSuch(" ".join(words.split()), start, end))
    return found


def _beyond(said: str, most: int) -> bool:
    value = number(said)
    return value is not None and (value != value.to_integral_value() or not 1 <= value <= Decimal(most))


def _lettered(text: str, *, bare: bool) -> Iterator[tuple[int, int]]:
    for match in _LETTERED.finditer(text):
        most = _YEAR_HAS["quarter" if match["q"] or match["q2"] else "half"]
        alone = not (match["before"] or match["after"])
        if alone and (not bare or match["q2"] or match["h2"] or _A_PRODUCT.match(text, match.end())):
            continue
        if _beyond(match["n"] or match["m"] or match["n2"] or match["m2"], most):
            yield match.span()


def _english(text: str, *, bare: bool) -> Iterator[tuple[int, int]]:
    for match in _ENGLISH.finditer(text):
        unit = (match["u"] or match["u2"]).lower()
        part = None if match["after"] else _PART_AFTER.match(text, match.end())
        has = _YEAR_HAS if part is None else _QUARTER_HAS if part["quarter"] else _HALF_HAS
        if not _beyond(match["o"] or match["c"], has.get(unit, 1)):
            continue
        # A month, week or half by itself may be counted from anywhere; so may a quarter that is given a number.
        alone = unit == "quarter" and bool(match["o"] or bare) and not _COUNTED_FROM.match(text, match.end())
        if (match["before"] or match["after"] or part or alone) and not _PAY.match(text, match.end()):
            yield match.start(), part.end() if part else match.end()
    for match in _LONGER.finditer(text):
        unit = "half" if match["h"] else match["u"].lower()
        if (match["first"] or unit == "quarter") and _beyond(match["n"], _YEAR_HAS[unit]):
            yield match.span()


def _chinese(text: str, *, bare: bool, seasons: bool) -> Iterator[tuple[int, int]]:
    if text.isascii():
        return
    for match in _CHINESE.finditer(text):
        unit, nth, year = match["unit"], match["nth"] or "", bool(match["year"])
        kind = _HAN_UNITS.get(unit, "quarter")
        part = None if year or nth == "前" else _PART_BEFORE.search(text, 0, match.start())
        has = _YEAR_HAS if part is None else _QUARTER_HAS if part["quarter"] else _HALF_HAS
        if not _beyond(match["n"], has.get(kind, 1)) or _PAY.match(text, match.end()):
            continue
        if nth.startswith("第") and part:
            yield part.start(), match.end()
        elif kind == "quarter" and nth.startswith("第") and not year:
            named = unit in ("季度", "财季") or seasons
            around = re.search(r"连续的?\s{0,3}$", text[: match.start()]) or text.startswith("连续", match.end())
            if named and not around:
                yield match.span()
        elif (year and nth) or (not match["count"] and _says_itself(kind, unit, year=year, bare=bare and not nth)):
            yield match.span()


def _says_itself(kind: str, unit: str, *, year: bool, bare: bool) -> bool:
    """2023年五季度, and 13月 where it is meant for a period: not 54周, which may be a length of time."""
    return (year and kind in ("quarter", "half", "month")) or (bare and unit == "月")


def _is_day(match: re.Match[str]) -> bool:
    """Month and day in either order."""
    year, a, b = (int(match[name]) for name in "yab")
    return any(1 <= m <= 12 and 1 <= d <= monthrange(year, m)[1] for m, d in ((a, b), (b, a)))
