"""Dates and fiscal periods of a text, in English and Chinese."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace
from functools import lru_cache
from itertools import pairwise

from quelea_kit.dates import find_dates

from quelea_gateway.core.checking.counts import is_count
from quelea_gateway.core.checking.model import Period
from quelea_gateway.core.checking.numerals import chinese

_MONTHS = ("jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec")
_MONTH = (
    r"(?:Jan(?:uary)?|Feb(?:ruary)?|Mar(?:ch)?|Apr(?:il)?|May|June?|July?|Aug(?:ust)?|Sept?(?:ember)?"
    r"|Oct(?:ober)?|Nov(?:ember)?|Dec(?:ember)?)\.?"
)
_Y = r"(?:19|20)\d\d"
_ORDINALS = {"first": 1, "second": 2, "third": 3, "fourth": 4, "1st": 1, "2nd": 2, "3rd": 3, "4th": 4}
_ORDINAL = r"(?:first|second|third|fourth|1st|2nd|3rd|4th)"
_ZH_ORDINALS = {"一": 1, "二": 2, "三": 3, "四": 4, "1": 1, "2": 2, "3": 3, "4": 4}
_LENGTHS = {"three": 3, "six": 6, "nine": 9, "twelve": 12, "3": 3, "6": 6, "9": 9, "12": 12}
_LENGTH = r"(?:three|six|nine|twelve|12|[369])"
_FY = r"(?:fiscal(?:[ -]years?)?|FY|F[. ]?Y[. ]?|财年|calendar(?: year)?)"

_SPAN_BEFORE = re.compile(
    rf"(?:(?P<n>{_LENGTH})[- ]months?(?:[- ]periods?)?|(?P<year>(?:fiscal |calendar )?years?)"
    r"|(?P<quarter>(?:fiscal )?quarters?"
    rf"(?:ly periods?)?)|(?P<half>half[- ]years?))(?: periods?)?,? (?:then )?(?:ended|ending)(?: on)?\s*(?:as of )?$",
    re.IGNORECASE,
)
_AND = re.compile(r"\s*(?:,|,? and|,? or|、|和|及|与)\s*", re.IGNORECASE)
_TO = re.compile(r"\s*(?:-|–|—|~|to|through|and|至|到)\s*(?:fiscal )?", re.IGNORECASE)
_MORE_YEARS = re.compile(rf"\s*(?:,? and|,|&|or|和|及|、)\s*(?P<y>{_Y})(?![\d%]|,\d|\.\d|年)", re.IGNORECASE)
_FORMS: tuple[tuple[str, re.Pattern[str]], ...] = tuple(
    (name, re.compile(pattern, re.IGNORECASE))
    for name, pattern in (
        (
            "month_days",
            rf"(?<![A-Za-z])(?P<m>(?-i:{_MONTH}))\s+(?P<d>\d{{1,2}})(?:st|nd|rd|th)?"
            r"(?![\d%]|\.\d|,\d{3}|\s?(?:percent|million|billion))",
        ),
        ("month_days", rf"(?<![\d.,$])(?P<d>\d{{1,2}})(?:st|nd|rd|th)? (?P<m>(?-i:{_MONTH}))(?![A-Za-z])"),
        (
            "zh_span",
            rf"截至?(?:(?P<y>{_Y})年)?(?P<m>\d{{1,2}})月(?P<d>\d{{1,2}})日止(?P<n>三|六|九|十二|3|6|9|12)个月(?:期间)?"
            rf"(?:[ ;]{{0,3}}(?P<y2>{_Y})年?(?![\d.,%]))?",
        ),
        (
            "zh_span",
            rf"截至?(?:(?P<y>{_Y})年)?(?P<m>\d{{1,2}})月(?P<d>\d{{1,2}})日止年度"
            rf"(?:[ ;]{{0,3}}(?P<y2>{_Y})年?(?![\d.,%]))?",
        ),
        ("zh_month_days", r"(?<!年)(?<!\d)(?P<m>\d{1,2})月(?P<d>\d{1,2})日"),
        ("month", rf"(?<![A-Za-z])(?P<m>{_MONTH})(?:,?\s+(?:of )?|\s?-\s?)(?P<y>{_Y})(?!\d)"),
        (
            "quarter",
            r"(?<![A-Za-z\d])(?:Q(?P<q>[1-4])|(?P<q2>[1-4])Q"
            rf"|(?P<o>{_ORDINAL})[- ](?:fiscal )?quarters?)\s*[,'/-]?\s*(?:of |in "
            rf"|for )?(?:the )?(?P<f>{_FY})?\s*'?(?P<y>{_Y}|\d\d)(?![\d%]|,\d|\.\d)",
        ),
        (
            "quarter",
            rf"(?<![A-Za-z\d])(?P<f>{_FY})?\s*(?P<y>{_Y}"
            r"|(?<=FY)\d\d)\s*(?:年)?[, /-]*(?:Q(?P<q>[1-4])|(?P<q2>[1-4])Q)(?![A-Za-z\d])",
        ),
        (
            "quarter",
            rf"(?<![A-Za-z\d])(?:the )?(?P<f>{_FY})\s*(?P<y>{_Y})(?:'s)?,?\s+"
            rf"(?P<o>{_ORDINAL})[- ](?:fiscal )?quarters?",
        ),
        ("quarter", rf"(?P<y>{_Y})(?P<f>财)?年度?(?:的)?第?(?P<z>[一二三四1-4])季度?"),
        (
            "half",
            r"(?<![A-Za-z\d])(?:H(?P<h>[12])|(?P<h2>[12])H|(?P<o>first|second) half)\s*(?:of "
            rf"|in )?(?:the )?(?P<f>{_FY})?\s*'?(?P<y>{_Y}|\d\d)(?!\d|%)",
        ),
        ("half", rf"(?<!\d)(?P<y>{_Y})(?P<f>财)?年度?(?P<zh>上半年|下半年|半年度?|中期)"),
        ("first_months", rf"\bfirst (?P<n>{_LENGTH}) months of (?:the )?(?P<f>{_FY})?\s*(?P<y>{_Y})"),
        (
            "zh_months",
            rf"(?<!\d)(?P<y>{_Y})年(?:1|一)[-~至到](?P<n>[369]|12|十二|三|六|九)月"
            rf"|(?<!\d)(?P<y2>{_Y})年前(?P<n2>三)季度",
        ),
        ("zh_month", rf"(?<!\d)(?P<y>{_Y})年(?P<m>\d{{1,2}})月末?"),
        ("years", rf"(?<![\d.,$€£¥])(?P<f>{_FY})?\s*(?P<y0>{_Y})\s?/\s?(?P<y>{_Y}|\d\d)(?![\d%/]|\.\d)"),
        ("fiscal", r"(?<![A-Za-z\d])FY\s?'?(?P<y>\d\d)(?!\d|%)"),
        ("fiscal", rf"(?<![A-Za-z\d]){_FY}[ -]*'?(?P<y>{_Y})(?![\d%]|\.\d)"),
        ("fiscal", rf"(?<!\d)(?P<y>{_Y})财年"),
        ("zh_year", rf"(?<![\d.,])(?P<y>{_Y})\s?年(?P<whole>度|全年)?"),
        ("zh_words", r"(?P<w>[一二][〇零一二三四五六七八九]{3})年(?:第?(?P<z>[一二三四])季度|(?P<zh>上半年|下半年))?"),
        ("whole_year", rf"\b(?:full[- ]year|year ended|year ending|years ended)\s+(?P<y>{_Y})(?!\d)"),
        (
            "year",
            rf"(?<![\d.,$€£¥#A-Za-z_-])(?P<y>{_Y})(?![\d%A-Za-z_]|,\d|\.\d|\s?(?:%|percent|million"
            r"|billion|thousand|[十百千]|万|亿|元|美元|港元|欧元|英镑|日元|股|家|人|名|basis|bps)"
            r"|-(?:year|day|month))",
        ),
        ("year", rf"(?<=\d\d\d\d[-–~])(?P<y>{_Y})(?![\d%A-Za-z_]|,\d|\.\d)"),
        ("bare_first", r"前(?P<n>[二两三])个?季度?|\bfirst (?P<n2>two|three) quarters\b"),
        (
            "bare_quarter",
            r"(?<![A-Za-z\d])(?:Q(?P<q>[1-4])(?![A-Za-z\d])"
            rf"|(?P<o>{_ORDINAL})[- ](?:fiscal )?quarters?)|第?(?P<z>[一二三四1-4])季度",
        ),
        ("bare_half", r"\b(?P<o>first|second) half\b|(?P<zh>上半年|下半年)"),
        ("bare_months", rf"\b(?P<n>{_LENGTH})[- ]months? (?:periods? )?(?:ended|ending)\b"),
    )
)


_ANY = re.compile(
    rf"{_Y}|[Qq][1-4]|[1-4][Qq]|FY|quarter|half|季|半年|month|月"
    rf"|[一二][〇零一二三四五六七八九]{{3}}|{_MONTH}\s+\d|\d {_MONTH}",
    re.IGNORECASE,
)
_NUMERIC_DATE = re.compile(r"(?:19|20)\d\d[-/.]\d")
_QUARTERS = re.compile("q[1-4]|[1-4]q|quarter|季")
_HALVES = re.compile("h[12]|[12]h|half|半|中期")
_YEARS = re.compile(_Y)


def _likely(text: str, low: str, *, monthly: bool) -> set[str]:
    """The forms that a text may hold, by a cheap look: most texts have few of them."""
    found = {"zh_span"} if "日止" in text else set()
    if monthly:
        found |= {"month_days", "month"}
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
    if any(word in low for word in ("fiscal", "fy", "f.y", "f y", "财", "calendar")):
        found.add("fiscal")
    if _QUARTERS.search(low):
        found |= {"quarter", "bare_quarter"}
    if _HALVES.search(low):
        found |= {"half", "bare_half"}
    if _YEARS.search(text):
        found |= {"year", "years"} if "/" in text else {"year"}
    return found


def find_periods(text: str) -> list[Period]:
    """Every time that the text names, in order. The text has been through plain(), or has ordinary digits."""
    return list(_found(text))


@lru_cache(maxsize=16384)
def _found(text: str) -> tuple[Period, ...]:
    if not _ANY.search(text):
        return ()
    found: list[Period] = []
    taken = bytearray(len(text))

    def take(period: Period) -> None:
        if not any(taken[period.start : period.end]):
            taken[period.start : period.end] = b"\1" * (period.end - period.start)
            found.append(period)

    low = text.lower()
    monthly = any(month in low for month in _MONTHS)
    likely = _likely(text, low, monthly=monthly)
    if "zh_span" in likely:  # 截至2025年6月30日止六个月: a day and a length of time
        for match in (m for name, form in _FORMS if name == "zh_span" for m in form.finditer(text)):
            take(_zh_span(match))
    for date in find_dates(text) if monthly or "年" in text or _NUMERIC_DATE.search(text) else ():
        whole = Period(date.start, date.end, date.day.year, month=date.day.month, day=date.day.day)
        before = _SPAN_BEFORE.search(text[max(0, date.start - 45) : date.start])
        if before:
            start = date.start - len(text[max(0, date.start - 45) : date.start]) + before.start()
            whole = replace(whole, start=start, months=_length(before))
        elif found and _AND.fullmatch(text[found[-1].end : date.start]):
            whole = replace(whole, months=found[-1].months)  # "the three months ended July 1, 2023 and June 25, 2022"
        take(whole)
        _take_more(text, whole, take)
    for name, form in _FORMS:
        if name == "year":
            _expand(text, found, take)
        if name not in likely or name == "zh_span":
            continue
        for match in form.finditer(text):
            period = _read(name, match)
            if period is None or (name == "year" and is_count(text, *match.span("y"))):
                continue
            take(period)
            if name in {"month", "quarter"}:
                _take_more(text, period, take)
    found.sort(key=lambda period: period.start)
    for at in range(1, len(found)):  # "fiscal years 2017-2019"
        one, other = found[at - 1], found[at]
        if one.fiscal and not one.quarter and _is_year(other) and _TO.fullmatch(text[one.end : other.start]):
            found[at] = replace(other, fiscal=True)
    return tuple(found)


def _zh_span(match: re.Match[str]) -> Period:
    got = match.groupdict()
    said = got.get("n") or "12"
    months = int(said) if said.isdigit() else int(chinese(said) or 0)
    return Period(*match.span(), int(got["y"] or got["y2"] or 0), month=int(got["m"]), day=int(got["d"]), months=months)


def _is_year(period: Period) -> bool:
    return bool(period.year) and not (period.quarter or period.half or period.month or period.months)


def between(text: str, periods: Sequence[Period]) -> list[Period]:
    """The years between those of a range: 2018 of "from 2017 to 2019"."""
    found = []
    for one, other in pairwise(periods):
        if _is_year(one) and _is_year(other) and _TO.fullmatch(text[one.end : other.start]):
            low, high = sorted((one.year, other.year))
            found += [replace(one, year=year) for year in range(low + 1, min(high, low + 12))]
    return found


def _take_more(text: str, first: Period, take) -> None:  # type: ignore[no-untyped-def]  # a closure of find_periods
    """ "December 31, 2019 and 2018": the second year has the first one's day."""
    at = first.end
    while match := _MORE_YEARS.match(text, at):
        take(replace(first, start=match.start("y"), end=match.end(), year=int(match["y"])))
        at = match.end()


def _expand(text: str, found: list[Period], take) -> None:  # type: ignore[no-untyped-def]  # a closure of find_periods
    for period in list(found):
        if period.fiscal and not period.month:
            _take_more(text, period, take)


def _length(match: re.Match[str]) -> int:
    if match["n"]:
        return _LENGTHS[match["n"].lower()]
    return 12 if match["year"] else 3 if match["quarter"] else 6


def _year(text: str) -> int:
    return int(text) if len(text) == 4 else 2000 + int(text)


def _read(name: str, match: re.Match[str]) -> Period | None:
    start, end = match.span()
    got = {key: value for key, value in match.groupdict().items() if value}
    year = _year(got["y"]) if "y" in got else 0
    fiscal = bool(got.get("f")) and not got["f"].lower().startswith("calendar")
    quarter = int(got.get("q") or got.get("q2") or 0) or _ORDINALS.get(got.get("o", "").lower(), 0)
    quarter = quarter or _ZH_ORDINALS.get(got.get("z", ""), 0)
    half = int(got.get("h") or got.get("h2") or 0) or (1 if got.get("o", "").lower() == "first" else 2)
    if "zh" in got:
        half = 2 if got["zh"] == "下半年" else 1
    if name in {"quarter", "bare_quarter"}:
        return Period(start, end, year, quarter=quarter, months=3, fiscal=True, explicit=fiscal)
    if name in {"half", "bare_half"}:
        return Period(start, end, year, half=half, months=6, fiscal=fiscal)
    if name == "month":
        return Period(start, end, year, month=_MONTHS.index(got["m"][:3].lower()) + 1)
    if name in {"month_days", "zh_month_days"}:
        month = int(got["m"]) if got["m"].isdigit() else _MONTHS.index(got["m"][:3].lower()) + 1
        return Period(start, end, month=month, day=int(got["d"])) if 1 <= month <= 12 else None
    if name == "bare_first":
        return Period(start, end, months=9 if got.get("n") == "三" or got.get("n2", "").lower() == "three" else 6)
    if name == "first_months":
        return Period(start, end, year, months=_LENGTHS[got["n"].lower()], fiscal=fiscal)
    if name == "bare_months":
        return Period(start, end, months=_LENGTHS[got["n"].lower()])
    if name == "zh_months":
        said = got.get("n", "九")
        months = int(chinese(said) or 0) if not said.isdigit() else int(said)
        return Period(start, end, year or int(got["y2"]), months=months)
    if name == "zh_month":
        return Period(start, end, year, month=int(got["m"])) if 1 <= int(got["m"]) <= 12 else None
    if name == "years":
        second = _year(got["y"])
        return Period(start, end, second, fiscal=True) if second == int(got["y0"]) + 1 else None
    if name == "zh_words":
        value = int(chinese(got["w"]) or 0)
        if not 1900 <= value <= 2099:
            return None
        months = 3 if quarter else 6 if "zh" in got else 0
        return Period(start, end, value, quarter=quarter, half=half if "zh" in got else 0, months=months)
    if name in {"zh_year", "whole_year"}:
        return Period(start, end, year, months=12 if got.get("whole") == "全年" or name == "whole_year" else 0)
    return Period(start, end, year, fiscal=name == "fiscal" or fiscal)
