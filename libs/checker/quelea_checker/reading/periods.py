"""Times in a text: years, quarters, halves, months and days, in English and Chinese."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from functools import lru_cache

from quelea_fintext.dates import MONTHS, find_dates
from quelea_fintext.numerals import chinese
from quelea_fintext.text import lower
from quelea_fintext.times.period_words import (
    HAN_MONTH,
    MONTHS_LONG,
    NTH_OR_DIGIT,
    QUARTERS,
    YEAR,
    month_number,
)

from quelea_checker.model import Period

_NAMES = tuple(name.capitalize() for name in sorted(MONTHS, key=len, reverse=True))
_MONTH = rf"(?:{'|'.join(_NAMES)})\.?"
LENGTH = r"(?:three|six|nine|twelve|12|[369])"
_FY = r"(?:fiscal(?:[ -]years?)?|FYE?|F[. ]?Y[. ]?|F(?=20\d\d)|CY(?=\s?'?\d)|财年|calendar(?: year)?)"

FORMS: tuple[tuple[str, re.Pattern[str]], ...] = tuple(
    (name, re.compile(pattern, re.IGNORECASE))
    for name, pattern in (
        (
            "month_days",
            rf"(?<![A-Za-z])(?P<m>(?-i:{_MONTH}))\s{{1,8}}(?P<d>\d{{1,2}})(?:st|nd|rd|th)?"
            r"(?![\d%]|\.\d|,\d{3}|\s?(?:percent|million|billion))",
        ),
        ("month_days", rf"(?<![\d.,$])(?P<d>\d{{1,2}})(?:st|nd|rd|th)? (?P<m>(?-i:{_MONTH}))(?![A-Za-z])"),
        (
            "zh_span",
            rf"截至?(?:(?P<y>{YEAR})年)?(?P<m>\d{{1,2}})月(?:(?P<d>\d{{1,2}})日|[底末]|份)?[止的]的?"
            r"(?P<n>三|六|九|十二|3|6|9|12)个月(?:期间)?"
            rf"(?:[ ;]{{0,3}}(?P<y2>{YEAR})年?(?![\d.,%]))?",
        ),
        (
            "zh_span",
            rf"截至?(?:(?P<y>{YEAR})年)?(?P<m>\d{{1,2}})月(?P<d>\d{{1,2}})日止年度"
            rf"(?:[ ;]{{0,3}}(?P<y2>{YEAR})年?(?![\d.,%]))?",
        ),
        ("zh_month_days", r"(?<!年)(?<!\d)(?P<m>\d{1,2})月(?P<d>\d{1,2})日"),
        (
            "month_span",
            rf"(?<![A-Za-z])(?:(?P<n>{LENGTH})[- ]months|(?P<quarter>quarter)|(?P<whole>year)) "
            rf"(?:to|through|until|ended|ending)(?: in)? (?P<m>(?-i:{_MONTH})),? (?P<y>{YEAR})(?!\d)",
        ),
        (
            "month_span",
            rf"(?<![A-Za-z])(?:(?<!between )(?P<first>(?-i:{_MONTH}))(?: to | through |\s?[-–]\s?)"
            rf"|(?<=between )(?P<first2>(?-i:{_MONTH})) and )(?P<m>(?-i:{_MONTH})),? (?:of )?(?P<y>{YEAR})(?!\d)",
        ),
        ("month", rf"(?<![A-Za-z])(?P<m>{_MONTH})(?:,?\s{{1,8}}(?:of )?|\s?-\s?)(?P<y>{YEAR})(?!\d)"),
        (
            "quarter",
            r"(?<![A-Za-z\d])(?:Q(?P<q>[1-4])|(?P<q2>[1-4])Q"
            rf"|(?P<o>{NTH_OR_DIGIT})[- ](?:fiscal )?quarters?)\s{{0,8}}+[,'/-]?\s{{0,8}}+(?:of |in "
            rf"|for )?(?:the )?(?P<f>{_FY})?\s{{0,8}}+'?(?P<y>{YEAR}|\d\d)(?![\d%]|,\d|\.\d)",
        ),
        (
            "quarter",
            rf"(?<![A-Za-z\d])(?P<f>{_FY})?\s{{0,8}}+(?P<y>{YEAR}"
            r"|(?<=FY)\d\d)\s{0,8}+(?:年)?[, /-]*(?:Q(?P<q>[1-4])|(?P<q2>[1-4])Q)(?![A-Za-z\d])",
        ),
        (
            "quarter",
            rf"(?<![A-Za-z\d])(?:the )?(?P<f>{_FY})\s{{0,8}}+(?P<y>{YEAR})(?:'s)?,?\s{{1,8}}"
            rf"(?P<o>{NTH_OR_DIGIT})[- ](?:fiscal )?quarters?",
        ),
        ("quarter", rf"(?P<y>{YEAR})(?P<f>财)?年度?(?:的)?第?(?P<z>[一二三四1-4])季度?"),
        (
            "half",
            r"(?<![A-Za-z\d])(?:H(?P<h>[12])|(?P<h2>[12])H|(?P<o>first|second) half)\s{0,8}+(?:of "
            rf"|in )?(?:the )?(?P<f>{_FY})?\s{{0,8}}+'?(?P<y>{YEAR}|\d\d)(?!\d|%)",
        ),
        ("half", rf"(?<!\d)(?P<y>{YEAR})(?P<f>财)?年度?(?P<zh>上半年|下半年|半年度?|中期)"),
        ("first_months", rf"\bfirst (?P<n>{LENGTH}) months of (?:the )?(?P<f>{_FY})?\s{{0,8}}+(?P<y>{YEAR})"),
        (
            "zh_months",
            rf"(?<!\d)(?P<y>{YEAR})年(?P<m>\d{{1,2}}|{HAN_MONTH})月?份?[-~–—至到](?P<n>\d{{1,2}}|{HAN_MONTH})月份?"
            rf"|(?<!\d)(?P<y2>{YEAR})年前(?P<n2>三)季度",
        ),
        ("zh_month", rf"(?<!\d)(?P<y>{YEAR})年(?P<m>\d{{1,2}})月末?"),
        ("years", rf"(?<![\d.,$€£¥])(?P<f>{_FY})?\s{{0,8}}+(?P<y0>{YEAR})\s?/\s?(?P<y>{YEAR}|\d\d)(?![\d%/]|\.\d)"),
        ("fiscal", r"(?<![A-Za-z\d])(?:FYE?|CY|fiscal(?: year)?(?= '))\s?'?(?P<y>\d\d)(?!\d|%)"),
        ("fiscal", rf"(?<![A-Za-z\d]){_FY}[ -]*'?(?P<y>{YEAR})(?![\d%]|\.\d)"),
        ("fiscal", rf"(?<!\d)(?P<y>{YEAR})财年"),
        ("zh_year", rf"(?<![\d.,])(?P<y>{YEAR})\s?年(?P<whole>度|全年)?"),
        ("zh_words", r"(?P<w>[一二][〇零一二三四五六七八九]{3})年(?:第?(?P<z>[一二三四])季度|(?P<zh>上半年|下半年))?"),
        ("whole_year", rf"\b(?:full[- ]year|year ended|year ending|years ended)\s{{1,8}}(?P<y>{YEAR})(?!\d)"),
        (
            "year",
            rf"(?<![\d.,$€£¥#A-Za-z_-])(?P<y>{YEAR})(?![\d%_]|(?![AEFPR]\b)[A-Za-z]|,\d|\.\d|\s?(?:%|percent|million"
            r"|billion|thousand|[十百千]|万|亿|元|美元|港元|欧元|英镑|日元|股|家|人|名|basis|bps)"
            r"|-(?:year|day|month))",
        ),
        ("year", rf"(?<=\d\d\d\d[-–~])(?P<y>{YEAR})(?![\d%A-Za-z_]|,\d|\.\d)"),
        ("year_to", rf"(?<=(?P<y0>{YEAR}))[-–](?P<y>\d\d)(?![\d%A-Za-z–-]|[.,/]\d|年)"),
        ("bare_first", r"前(?P<n>[二两三])个?季度?|\bfirst (?P<n2>two|three) quarters\b"),
        (
            "bare_quarter",
            r"(?<![A-Za-z\d])(?:Q(?P<q>[1-4])(?![A-Za-z\d])"
            rf"|(?P<o>{NTH_OR_DIGIT})[- ](?:fiscal )?quarters?)|第?(?P<z>[一二三四1-4])季度",
        ),
        ("bare_half", r"\b(?P<o>first|second) half\b|(?P<zh>上半年|下半年)"),
        ("bare_months", rf"\b(?P<n>{LENGTH})[- ]months? (?:periods? )?(?:ended|ending)\b"),
    )
)


ANY = re.compile(
    rf"{YEAR}|q[1-4]|[1-4]q|[12]h\d|fy|cy\d|\d[/.]\d{{1,2}}[/.]\d\d|[a-z]{{3}}\.?(?:-|\s?')\d\d\b"
    r"|quarter|half|季|半年|month|月"
    rf"|[一二][〇零一二三四五六七八九]{{3}}|{_MONTH.lower()}\s+\d|\d {_MONTH.lower()}"
)
"""A cheap look at a text in lower case."""
_NAMED_MONTH = re.compile(rf"(?<![a-z]){_MONTH.lower()}(?![a-z])")
NUMERIC_DATE = re.compile(rf"{YEAR}[-/.]\d")
_QUARTERS = re.compile("q[1-4]|[1-4]q|quarter|季")
_HALVES = re.compile("h[12]|[12]h|half|半|中期")
_YEARS = re.compile(YEAR)


def find_candidate_forms(text: str, low: str, *, monthly: bool) -> set[str]:
    """The forms that a text may hold, by a cheap look: most texts have few of them."""
    found = {"zh_span"} if "日止" in text or "个月" in text else set()
    if monthly:
        found |= {"month_days", "month_span", "month"}
    if "日" in text:
        found.add("zh_month_days")
    if "年" in text:
        found |= {"zh_months", "zh_year", "zh_words"}
    if "月" in text:
        found.add("zh_month")
    if "month" in low:
        found |= {"first_months", "bare_months"}
    if "year" in low:
        found.add("whole_year")
    if "first" in low or "前" in text:
        found.add("bare_first")
    if any(word in low for word in ("fiscal", "fy", "f.y", "f y", "财", "calendar", "cy", "f20")):
        found.add("fiscal")
    if _QUARTERS.search(low):
        found |= {"quarter", "bare_quarter"}
    if _HALVES.search(low):
        found |= {"half", "bare_half"}
    if _YEARS.search(text):
        found |= {"year", "years", "year_to"} if "/" in text else {"year", "year_to"}
    return found


_NAME = rf"(?:{'|'.join((*_NAMES, *(name.upper() for name in _NAMES if len(name) == 3)))})"
_END = r"(?![\w%]|[.,]\d|\s?[-/]\s?\d|\s+(?:million|billion|thousand|percent))"
_FORM = re.compile(
    rf"(?<![\w/.,-])(?P<a>\d{{1,2}})(?P<mark>[/.])(?P<b>\d{{1,2}})(?P=mark)(?P<y>{YEAR}|\d\d){_END}"
    rf"|(?<![A-Za-z])(?P<m>{_NAME})\.? ?(?P<d>\d{{1,2}}) ?,(?P<y2>{YEAR}){_END}"
    rf"|(?<![A-Za-z])(?P<m3>{_NAME})(?P<d3>\d{{1,2}}), ?(?P<y3>{YEAR}){_END}"
    rf"|(?<![\w.,$])(?P<d4>\d{{1,2}})[- ](?P<m4>{_NAME})\.?[- ]'?(?P<y4>{YEAR}|\d\d){_END}"
    rf"|(?<![\w])(?P<m5>{_NAME})\.?(?:-|\s?')(?P<y5>\d\d){_END}"
)
MAY_HOLD = re.compile(
    r"\d[/.]\d{1,2}[/.]\d\d|[A-Za-z]\.? ?\d{1,2} ?,\d{4}|[a-z]\d{1,2}, ?\d{4}|[A-Za-z]\.?(?:-|\s?')\d\d\b"
    r"|\d[- ][A-Z][A-Za-z]{2,8}\.?[- ]'?\d\d"
)
"""A cheap look."""


@dataclass(frozen=True, slots=True)
class ShortDate:
    """text[start:end]; month and day are 0 where they are not told."""

    start: int
    end: int
    year: int
    month: int
    day: int


def short_dates(text: str) -> Iterator[ShortDate]:
    """Every such date, in order. Of 5/6/2019 only the year is told: the one may be the day or the month."""
    for match in _FORM.finditer(text):
        got = {name[0]: value for name, value in match.groupdict().items() if value}
        year = int(got["y"]) if len(got["y"]) == 4 else 2000 + int(got["y"])
        if "a" in got:
            month, day = sorted((int(got["a"]), int(got["b"])))
            if got["a"] != got["b"] and day <= 12:
                if len(got["y"]) == 4 and match["mark"] == "/":
                    yield ShortDate(*match.span(), year, 0, 0)
                continue
            if not (1 <= month <= 12 and 1 <= day <= 31) or year > 2059:
                continue
        else:
            month, day = MONTHS[got["m"].lower()], int(got.get("d", 0))
            if day > 31 or year > 2059:
                continue
        yield ShortDate(*match.span(), year, month, day)


_SPAN_BEFORE = re.compile(
    rf"(?:(?P<n>{LENGTH})[- ]months?(?:[- ]periods?)?|(?P<year>(?:fiscal |calendar )?years?)"
    r"|(?P<quarter>(?:fiscal )?quarters?"
    rf"(?:ly periods?)?)|(?P<half>half[- ]years?))(?: periods?)?,? (?:then )?(?:ended|ending)(?: on)?\s*(?:as of )?$",
    re.IGNORECASE,
)
_AND = re.compile(r"\s*(?:,|,? and|,? or|、|和|及|与)\s*", re.IGNORECASE)
_TO = re.compile(r"\s*(?:-|–|—|~|to|through|and|至|到)\s*(?:fiscal )?", re.IGNORECASE)
_MORE_YEARS = re.compile(rf"\s*(?:,? and|,|&|or|和|及|、)\s*(?P<y>{YEAR})(?![\d%]|,\d|\.\d|年)", re.IGNORECASE)

_DOCUMENT = re.compile(
    r"(?:'s)?[\s,]{0,2}(?:quarterly |annual |earnings )?(?:Form )?(?:10-[KQ]|report|filing|release"
    r"|document|年报|季报|半年报|报告)",
    re.IGNORECASE,
)


def names_document(text: str, period: Period) -> bool:
    """The time is a document's, "the 2023 annual report", and says nothing of when a figure is from."""
    return bool(_DOCUMENT.match(text, period.end))


def find_periods(text: str) -> list[Period]:
    """Every time that the text names, in order. The text has been through plain(), or has ordinary digits."""
    return list(_find_cached(text))


class _Found:
    """The periods of a text: what is read first has its place."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.periods: list[Period] = []
        self._taken = bytearray(len(text))

    def take(self, period: Period) -> None:
        """Unless a part of it is taken."""
        if not any(self._taken[period.start : period.end]):
            self._taken[period.start : period.end] = b"\1" * (period.end - period.start)
            self.periods.append(period)

    def take_more(self, first: Period) -> None:
        """ "December 31, 2019 and 2018": the second year has the first one's day."""
        at = first.end
        while match := _MORE_YEARS.match(self.text, at):
            self.take(replace(first, start=match.start("y"), end=match.end(), year=int(match["y"])))
            at = match.end()


@lru_cache(maxsize=16384)
def _find_cached(text: str) -> tuple[Period, ...]:
    low = lower(text)
    if not ANY.search(low):
        return ()
    found = _Found(text)
    monthly = _NAMED_MONTH.search(low) is not None
    forms = find_candidate_forms(text, low, monthly=monthly)
    if "zh_span" in forms:  # 截至2025年6月30日止六个月: a day and a length of time
        for match in (m for name, form in FORMS if name == "zh_span" for m in form.finditer(text)):
            found.take(_zh_span(match))
    _take_dates(found, monthly=monthly)
    for name, form in FORMS:
        if name == "year":
            for period in list(found.periods):
                if period.fiscal and not period.month:
                    found.take_more(period)
        if name in forms and name != "zh_span":
            _take_form(found, name, form)
    found.periods.sort(key=lambda period: period.start)
    every = found.periods
    for at in range(1, len(every)):  # "fiscal years 2017-2019"
        one, other = every[at - 1], every[at]
        if one.fiscal and not one.quarter and _is_year(other) and _TO.fullmatch(text[one.end : other.start]):
            every[at] = replace(other, fiscal=True)
    return tuple(every)


def _take_dates(found: _Found, *, monthly: bool) -> None:
    """Days, with the lengths of time that end then."""
    text = found.text
    for whole in _find_dates(text, monthly=monthly):
        before = _SPAN_BEFORE.search(text[max(0, whole.start - 45) : whole.start])
        if before:
            start = max(0, whole.start - 45) + before.start()
            whole = replace(whole, start=start, months=_read_length(before))  # noqa: PLW2901  # the same date, its length known
        elif found.periods and _AND.fullmatch(text[found.periods[-1].end : whole.start]):
            whole = replace(whole, months=found.periods[-1].months)  # noqa: PLW2901  # "the three months ended July 1, 2023 and June 25, 2022"
        found.take(whole)
        found.take_more(whole)


def _take_form(found: _Found, name: str, form: re.Pattern[str]) -> None:
    for match in form.finditer(found.text):
        period = _READERS[name](_Said(match))
        if period is not None:
            found.take(period)
            if name in {"month", "quarter"}:
                found.take_more(period)


def _find_dates(text: str, *, monthly: bool) -> list[Period]:
    """Days, as prose and as tables write them."""
    found = []
    if monthly or "年" in text or NUMERIC_DATE.search(text):
        found = [Period(d.start, d.end, d.day.year, month=d.day.month, day=d.day.day) for d in find_dates(text)]
    if MAY_HOLD.search(text):
        short = [Period(d.start, d.end, d.year, month=d.month, day=d.day) for d in short_dates(text)]
        found += [p for p in short if not any(p.start < o.end and o.start < p.end for o in found)]
        found.sort(key=lambda period: period.start)
    return found


def _zh_span(match: re.Match[str]) -> Period:
    got = match.groupdict()
    said = got.get("n") or "12"
    months = int(said) if said.isdigit() else int(chinese(said) or 0)
    return Period(
        *match.span(), int(got["y"] or got["y2"] or 0), month=int(got["m"]), day=int(got.get("d") or 0), months=months
    )


def _is_year(period: Period) -> bool:
    return bool(period.year) and not (period.quarter or period.half or period.month or period.months)


def _read_length(match: re.Match[str]) -> int:
    if match["n"]:
        return MONTHS_LONG[match["n"].lower()]
    return 12 if match["year"] else 3 if match["quarter"] else 6


def _year(text: str) -> int:
    return int(text) if len(text) == 4 else 2000 + int(text)


def _month(said: str) -> int:
    """The number of a month; of digits whatever they say, which need be no month."""
    return month_number(said.rstrip("."))


def _read_month_span(start: int, end: int, year: int, first: int, last: int) -> Period | None:
    """From one month of a year to another; one that begins with the year is named by its length alone."""
    if not 1 <= first < last <= 12:
        return None
    return Period(start, end, year, month=0 if first == 1 else last, months=last - first + 1)


class _Said:
    """What a form's match says."""

    def __init__(self, match: re.Match[str]) -> None:
        self.start, self.end = match.span()
        self.got = {key: value for key, value in match.groupdict().items() if value}
        self.year = _year(self.got["y"]) if "y" in self.got else 0
        self.start_of_year = match.start("y") if "y" in self.got else self.start

    def number(self, key: str) -> int:
        """The number of a group; 0 of none."""
        return int(self.got.get(key, 0))

    @property
    def is_fiscal(self) -> bool:
        """The year is called fiscal."""
        return "f" in self.got and not self.got["f"].lower().startswith(("calendar", "cy"))

    @property
    def quarter(self) -> int:
        """From 1; 0 of none."""
        named = QUARTERS.get(self.got.get("o", "").lower(), 0) or QUARTERS.get(self.got.get("z", ""), 0)
        return self.number("q") or self.number("q2") or named

    @property
    def half(self) -> int:
        """1 or 2."""
        if "zh" in self.got:
            return 2 if self.got["zh"] == "下半年" else 1
        return self.number("h") or self.number("h2") or (1 if self.got.get("o", "").lower() == "first" else 2)


def _read_quarter(said: _Said) -> Period:
    return Period(said.start, said.end, said.year, quarter=said.quarter, months=3, fiscal=True, explicit=said.is_fiscal)


def _read_half(said: _Said) -> Period:
    return Period(said.start, said.end, said.year, half=said.half, months=6, fiscal=said.is_fiscal)


def _read_month(said: _Said) -> Period | None:
    month = _month(said.got["m"])
    return Period(said.start, said.end, said.year, month=month) if 1 <= month <= 12 else None


def _read_day(said: _Said) -> Period | None:
    month = _month(said.got["m"])
    return Period(said.start, said.end, month=month, day=int(said.got["d"])) if 1 <= month <= 12 else None


def _read_first_quarters(said: _Said) -> Period:
    three = said.got.get("n") == "三" or said.got.get("n2", "").lower() == "three"
    return Period(said.start, said.end, months=9 if three else 6)


def _read_months(said: _Said) -> Period:
    return Period(said.start, said.end, said.year, months=MONTHS_LONG[said.got["n"].lower()], fiscal=said.is_fiscal)


def _read_zh_months(said: _Said) -> Period | None:
    if "y2" in said.got:
        return Period(said.start, said.end, int(said.got["y2"]), months=9)
    return _read_month_span(said.start, said.end, said.year, _month(said.got["m"]), _month(said.got["n"]))


def _read_span(said: _Said) -> Period | None:
    last, got = _month(said.got["m"]), said.got
    if "first" in got or "first2" in got:
        return _read_month_span(said.start, said.end, said.year, _month(got.get("first") or got["first2"]), last)
    long = MONTHS_LONG[got["n"].lower()] if "n" in got else 3 if "quarter" in got else 12
    return Period(said.start, said.end, said.year, month=last, months=long)


def _read_two_years(said: _Said) -> Period | None:
    """2018/19 is the second."""
    follows = said.year == int(said.got["y0"]) + 1
    return Period(said.start, said.end, said.year, fiscal=True) if follows else None


def _read_end_of_range(said: _Said) -> Period | None:
    """ "2020-24" is a range."""
    first = int(said.got["y0"])
    last = first // 100 * 100 + int(said.got["y"])
    return Period(said.start_of_year, said.end, last) if first < last <= first + 12 else None


def _read_zh_words(said: _Said) -> Period | None:
    year = int(chinese(said.got["w"]) or 0)
    half = said.half if "zh" in said.got else 0
    months = 3 if said.quarter else 6 if half else 0
    return Period(said.start, said.end, year, said.quarter, half, months=months) if 1900 <= year <= 2099 else None


def _read_whole_year(said: _Said) -> Period:
    return Period(said.start, said.end, said.year, months=12)


def _read_zh_year(said: _Said) -> Period:
    return Period(said.start, said.end, said.year, months=12 if said.got.get("whole") == "全年" else 0)


def _read_year(said: _Said) -> Period:
    return Period(said.start, said.end, said.year, fiscal=said.is_fiscal)


def _read_fiscal_year(said: _Said) -> Period:
    return Period(said.start, said.end, said.year, fiscal=True)


_READERS: dict[str, Callable[[_Said], Period | None]] = {
    "quarter": _read_quarter, "bare_quarter": _read_quarter, "half": _read_half, "bare_half": _read_half,
    "month": _read_month, "zh_month": _read_month, "month_days": _read_day, "zh_month_days": _read_day,
    "bare_first": _read_first_quarters, "first_months": _read_months, "bare_months": _read_months,
    "zh_months": _read_zh_months, "month_span": _read_span, "years": _read_two_years,
    "year_to": _read_end_of_range, "zh_words": _read_zh_words, "zh_year": _read_zh_year,
    "whole_year": _read_whole_year, "year": _read_year, "fiscal": _read_fiscal_year,
}  # fmt: skip
"""By form."""
