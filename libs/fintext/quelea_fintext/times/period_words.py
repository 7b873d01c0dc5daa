"""Words for periods, from the languages' data: the one table of everyone who reads them, and the plain way to say them.

What a reader of periods makes of these words is its own business: which filing, which column, whether there is any.
"""

from __future__ import annotations

import re
from calendar import monthrange
from collections.abc import Callable, Iterator
from dataclasses import dataclass

from quelea_fintext.dates import MONTHS
from quelea_fintext.languages import LANGUAGES, find_all, groups_of
from quelea_fintext.numerals import chinese

YEAR = r"(?:19|20)\d\d"
"""Pattern of a year that a report may be about."""
FISCAL: str = LANGUAGES.of("periods.year_before")["en"]
"""Pattern of what stands before a year and says whose it is."""
MONTH = "|".join(sorted(MONTHS, key=len, reverse=True))
"""Pattern of a month's name or short form; lower case."""
HAN_MONTH = "十[一二]?|[一二三四五六七八九]"
"""Pattern of a month's number in Chinese."""
NTH = "first|second|third|fourth"
"""Pattern of the quarter of four, in English words; `QUARTERS` knows which."""
NTH_OR_DIGIT = f"{NTH}|1st|2nd|3rd|4th"
"""The same with short forms."""
HAN_NTH = "[一二三四1-4]"
"""Pattern of the same in Chinese."""
QUARTERS: dict[str, int] = {**LANGUAGES.table("periods.ordinals"), **{str(n): n for n in range(1, 5)}}
"""Which quarter of four a word or digit means."""
MONTHS_LONG: dict[str, int] = {**LANGUAGES.table("time.months_long"), "3": 3, "6": 6, "9": 9, "12": 12}
"""The spans, in months, that reports have columns of."""
UNITS: dict[str, str] = LANGUAGES.table("time.units")
"""What periods are counted in."""
RELATIVE = {name: LANGUAGES.alternatives(f"time.relative.{name}") for name in LANGUAGES.of("time.relative")["en"]}
"""Patterns of what names a period by its distance from the day of the text."""
FLOWS = rf"\b(?:{LANGUAGES.of('time.flows')['en']})\b|{LANGUAGES.of('time.flows')['zh']}"
"""Pattern of what every report counts over a span of time, and not on a day; who asks for it asks for a period."""
ENDS = rf"(?:{LANGUAGES.alternatives('time.ends')})"
"""Pattern of words before a day or month that ends a period."""
SPANS = rf"(?:{LANGUAGES.alternatives('time.spans')}|[-–—~～])"
"""Pattern of words before a day or month that begins, ends or bounds a longer time."""
TO_DATE = -1
"""Months of a question for the year to date: the longest span that a table has."""

_MONTHS_ASKED = LANGUAGES.grouped("time.months_asked")
_TO_DATE = re.compile(RELATIVE["year to date"])
_FULL = {name[:3]: name.capitalize() for name in MONTHS if len(name) > 4 or name in ("june", "july")}
_HAN_DAY = rf"(?P<m>{HAN_MONTH})月(?P<d>[一二三]?十[一二三四五六七八九]?|[一二三四五六七八九])(?=[日号])"
_MONTHS_TOGETHER: dict[str, str] = LANGUAGES.table("periods.months_together")


def _full_month(match: re.Match[str]) -> str:
    return _FULL.get(match["m"][:3].lower(), match["m"])


def _day_in_digits(match: re.Match[str]) -> str:
    return f"{chinese(match['m'])}月{chinese(match['d'])}"


def _months_together(match: re.Match[str]) -> str:
    return _MONTHS_TOGETHER.get(f"{month_number(match['a'])}-{month_number(match['b'])}", match.group())


def _span_of_months(match: re.Match[str]) -> str:
    months = month_number(match["b"]) - month_number(match["a"]) + 1
    long = {3: "three", 6: "six", 9: "nine"}.get(months)
    return f"the {long} months ended {match['b']} {match['y']}" if long else match.group()


_RULES: tuple[tuple[re.Pattern[str], Callable[[re.Match[str]], str]], ...] = tuple(
    (re.compile(pattern, re.IGNORECASE), rule)
    for pattern, rule in (
        # Dec 2022, the Dec quarter
        (rf"\b(?P<m>{MONTH})\b\.?(?=\s{{1,3}}(?:quarter\b|{YEAR}|\d{{1,2}},?\s{{1,3}}{YEAR}))", _full_month),
        # July to September 2023, 2023年7至9月; 四月一日
        (
            rf"(?:\bfrom\s{{1,3}})?\b(?P<a>{MONTH})\s{{0,3}}(?:to|through|[-–—])\s{{0,3}}(?P<b>{MONTH})(?:\s{{1,3}}of)?,?\s{{1,3}}(?P<y>{YEAR})\b",
            _span_of_months,
        ),
        (
            rf"(?<=年)(?:的)?(?P<a>1[0-2]|[1-9]|{HAN_MONTH})月?\s{{0,3}}(?:至|到|[-–—~～])\s{{0,3}}(?P<b>1[0-2]|[1-9]|{HAN_MONTH})月份?(?!\s{{0,3}}\d)",
            _months_together,
        ),
        (_HAN_DAY, _day_in_digits),
    )
)  # fmt: skip
"""What needs a month counted, each with the grammar of its language."""
_WORDS = tuple(LANGUAGES.replacements("periods.usual"))


def month_number(word: str) -> int:
    """1 to 12 of a month's name, its short form, digits or Chinese numeral.

    Raises:
        ValueError: it is none of these; digits are given back as they are.
    """
    low = word.lower()
    if low in MONTHS:
        return MONTHS[low]
    value = int(low) if low.isdigit() else chinese(low)
    if value is None:
        raise ValueError(f"no month: {word}")
    return int(value)


_MONTH_OF_YEAR = re.compile(
    rf"\b(?P<m1>{MONTH})\.?\s{{0,8}}+,?\s{{0,8}}+(?P<quarter>quarter\s{{1,8}}(?:of\s{{1,8}})?)?(?:of\s{{1,8}})?(?P<y1>{YEAR})\b"
    rf"|(?<!\d)(?P<y2>{YEAR})\s{{0,8}}+年的?\s{{0,8}}+(?P<m2>\d{{1,2}}|{HAN_MONTH})\s{{0,8}}+月(?!\s{{0,8}}+\d)"
    rf"|(?<![\d.,/-])(?P<y3>{YEAR})-(?P<m3>0[1-9]|1[0-2])(?![\d/-])",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True)
class MonthOfYear:
    """A month and its year as a text names them; the span in code points."""

    year: int
    month: int
    start: int
    end: int
    ends_quarter: bool = False
    """It is called a quarter: the June quarter of 2023."""


def find_months(text: str) -> Iterator[MonthOfYear]:
    """Every month with its year: March 2023 · Dec. of 2022 · 2023年3月 · 2023年的十一月 · 2023-03.

    "2011-12" is none: it may well be a fiscal year.
    """
    for match in _MONTH_OF_YEAR.finditer(text):
        n = next(n for n in "123" if match[f"y{n}"])
        year, month = int(match[f"y{n}"]), month_number(match[f"m{n}"])
        if 1 <= month <= 12 and not (n == "3" and month == year % 100 + 1):
            yield MonthOfYear(year, month, *match.span(), ends_quarter=bool(match["quarter"]))


_DAY_OF_YEAR = re.compile(
    rf"\b(?P<m1>{MONTH})\.?\s{{1,3}}(?P<d1>\d{{1,2}})(?:st|nd|rd|th)?\b(?:\s{{0,3}},?\s{{1,3}}(?P<y1>{YEAR}))?"
    rf"|\b(?P<d2>\d{{1,2}})(?:st|nd|rd|th)?\s{{1,3}}(?:of\s{{1,3}})?(?P<m2>{MONTH})\b\.?(?:,?\s{{1,3}}(?P<y2>{YEAR}))?"
    rf"|(?:(?P<y3>{YEAR})\s{{0,3}}年\s{{0,3}})?(?<!\d)(?P<m3>\d{{1,2}})\s{{0,3}}月\s{{0,3}}(?P<d3>\d{{1,2}})\s{{0,3}}[日号]"
    rf"|(?<!\d)(?P<y4>{YEAR})[-/.](?P<m4>\d{{1,2}})[-/.](?P<d4>\d{{1,2}})(?!\d)"
    rf"|(?P<y5>{YEAR})\s{{0,3}}年\s{{0,3}}(?P<m5>{HAN_MONTH})月(?P<d5>[一二三四五六七八九十]{{1,3}})[日号]",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True)
class WrittenDay:
    """A day as a text writes it, whether there is one or not; year 0: it says none. The span in code points."""

    year: int
    month: int
    day: int
    start: int
    end: int

    @property
    def exists(self) -> bool | None:
        """Whether a calendar has it; None of "May 40", which is no date at all but a number beside a word."""
        if not self.year and not 1 <= self.day <= 31:
            return None
        return 1 <= self.month <= 12 and 1 <= self.day <= monthrange(self.year or 2024, self.month)[1]


def find_written_days(text: str) -> Iterator[WrittenDay]:
    """Every day, with its year or without: March 5th · 5 of March 2023 · 2月30日 · 2023-13-01 · 2023年三月五号.

    `quelea_fintext.dates.find_dates` has those of documents: complete, and such as exist.
    """
    for match in _DAY_OF_YEAR.finditer(text):
        n = next(n for n in "12345" if match[f"m{n}"])
        said = match[f"d{n}"]
        day = int(said) if said.isdigit() else int(chinese(said) or 0)
        yield WrittenDay(int(match[f"y{n}"] or 0), month_number(match[f"m{n}"]), day, *match.span())


def months_asked(text: str) -> int:
    """The span that a question names, in months, TO_DATE for the year to date; 0: none.

    Args:
        text: As `quelea_fintext.text.normalise` makes it.
    """
    found = find_all((*_MONTHS_ASKED, _TO_DATE), text)
    if not found:
        return 0
    said = groups_of(found[0])
    if "months" in said:
        return MONTHS_LONG[said["months"].lower()]
    return 6 if "half" in said else 9 if "nine" in said else TO_DATE


def normalise_periods(text: str) -> str:
    """The text with periods that are put unusually said in the usual way; any other word stays.

    3QFY23 is Q3 FY23, the opening quarter the first, 首季 第一季度, the holiday quarter the December quarter. Offsets
    change, so what is shown to people is cut from the text as they wrote it.
    """
    for pattern, rule in _RULES:
        text = pattern.sub(rule, text)
    for pattern, words in _WORDS:
        text = pattern.sub(words, text)
    return text
