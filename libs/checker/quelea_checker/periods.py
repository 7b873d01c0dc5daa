"""Dates and fiscal periods of a text, in English and Chinese."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace
from functools import lru_cache
from itertools import pairwise

from quelea_fintext.dates import find_dates
from quelea_fintext.numerals import chinese
from quelea_fintext.period_words import MONTHS_LONG, QUARTERS, YEAR

from quelea_checker.counts import is_count
from quelea_checker.model import Period
from quelea_checker.period_forms import (
    ANY,
    FORMS,
    LENGTH,
    MONTHS,
    NUMERIC_DATE,
    likely,
)
from quelea_checker.short_dates import MAY_HOLD, short_dates

_SPAN_BEFORE = re.compile(
    rf"(?:(?P<n>{LENGTH})[- ]months?(?:[- ]periods?)?|(?P<year>(?:fiscal |calendar )?years?)"
    r"|(?P<quarter>(?:fiscal )?quarters?"
    rf"(?:ly periods?)?)|(?P<half>half[- ]years?))(?: periods?)?,? (?:then )?(?:ended|ending)(?: on)?\s*(?:as of )?$",
    re.IGNORECASE,
)
_AND = re.compile(r"\s*(?:,|,? and|,? or|、|和|及|与)\s*", re.IGNORECASE)
_TO = re.compile(r"\s*(?:-|–|—|~|to|through|and|至|到)\s*(?:fiscal )?", re.IGNORECASE)
_MORE_YEARS = re.compile(rf"\s*(?:,? and|,|&|or|和|及|、)\s*(?P<y>{YEAR})(?![\d%]|,\d|\.\d|年)", re.IGNORECASE)

_SINCE = re.compile(
    r"(?:[较比]|compared (?:to|with)|\bfrom|\bover|\bversus|\bvs\.?|\bthan(?: in)?)\s*(?:the )?$", re.IGNORECASE
)
_LINE = re.compile(r"[。!?！？\n]|\.\s")
_BESIDE = 80
"""Characters between a time and the one that it is compared with."""
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
    return list(_found(text))


@lru_cache(maxsize=16384)
def _found(text: str) -> tuple[Period, ...]:
    if not ANY.search(text):
        return ()
    found: list[Period] = []
    taken = bytearray(len(text))

    def take(period: Period) -> None:
        if not any(taken[period.start : period.end]):
            taken[period.start : period.end] = b"\1" * (period.end - period.start)
            found.append(period)

    low = text.lower()
    monthly = any(month in low for month in MONTHS)
    forms = likely(text, low, monthly=monthly)
    if "zh_span" in forms:  # 截至2025年6月30日止六个月: a day and a length of time
        for match in (m for name, form in FORMS if name == "zh_span" for m in form.finditer(text)):
            take(_zh_span(match))
    for whole in _dates(text, monthly=monthly):
        before = _SPAN_BEFORE.search(text[max(0, whole.start - 45) : whole.start])
        if before:
            start = max(0, whole.start - 45) + before.start()
            whole = replace(whole, start=start, months=_length(before))  # noqa: PLW2901  # the same date, its length known
        elif found and _AND.fullmatch(text[found[-1].end : whole.start]):
            whole = replace(whole, months=found[-1].months)  # noqa: PLW2901  # "the three months ended July 1, 2023 and June 25, 2022"
        take(whole)
        _take_more(text, whole, take)
    for name, form in FORMS:
        if name == "year":
            _expand(text, found, take)
        if name not in forms or name == "zh_span":
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
        if one.year == 0 and other.year and _is_year_after(text, one, other):
            found[at - 1] = replace(one, year=other.year + 1)
    return tuple(found)


def _is_year_after(text: str, one: Period, other: Period) -> bool:
    """ "The first quarter, up 5% from the first quarter of 2022", 同比2022年一季度: it is the next year's."""
    if not (one.quarter or one.half) or (one.quarter, one.half) != (other.quarter, other.half):
        return False
    between = text[one.end : other.start]
    return len(between) <= _BESIDE and not _LINE.search(between) and bool(_SINCE.search(between))


def _dates(text: str, *, monthly: bool) -> list[Period]:
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
        return MONTHS_LONG[match["n"].lower()]
    return 12 if match["year"] else 3 if match["quarter"] else 6


def _year(text: str) -> int:
    return int(text) if len(text) == 4 else 2000 + int(text)


def _month(said: str) -> int:
    """The number of a month, 0 of none."""
    if said.isdigit():
        return int(said)
    return MONTHS.index(said[:3].lower()) + 1 if said.isascii() else int(chinese(said) or 0)


def _stretch(start: int, end: int, year: int, first: int, last: int) -> Period | None:
    """From one month of a year to another; one that begins with the year is named by its length alone."""
    if not 1 <= first < last <= 12:
        return None
    return Period(start, end, year, month=0 if first == 1 else last, months=last - first + 1)


def _read(name: str, match: re.Match[str]) -> Period | None:
    start, end = match.span()
    got = {key: value for key, value in match.groupdict().items() if value}
    year = _year(got["y"]) if "y" in got else 0
    fiscal = bool(got.get("f")) and not got["f"].lower().startswith(("calendar", "cy"))
    quarter = int(got.get("q") or got.get("q2") or 0) or QUARTERS.get(got.get("o", "").lower(), 0)
    quarter = quarter or QUARTERS.get(got.get("z", ""), 0)
    half = int(got.get("h") or got.get("h2") or 0) or (1 if got.get("o", "").lower() == "first" else 2)
    if "zh" in got:
        half = 2 if got["zh"] == "下半年" else 1
    if name in {"quarter", "bare_quarter"}:
        return Period(start, end, year, quarter=quarter, months=3, fiscal=True, explicit=fiscal)
    if name in {"half", "bare_half"}:
        return Period(start, end, year, half=half, months=6, fiscal=fiscal)
    if name == "month":
        return Period(start, end, year, month=MONTHS.index(got["m"][:3].lower()) + 1)
    if name in {"month_days", "zh_month_days"}:
        month = int(got["m"]) if got["m"].isdigit() else MONTHS.index(got["m"][:3].lower()) + 1
        return Period(start, end, month=month, day=int(got["d"])) if 1 <= month <= 12 else None
    if name == "bare_first":
        return Period(start, end, months=9 if got.get("n") == "三" or got.get("n2", "").lower() == "three" else 6)
    if name == "first_months":
        return Period(start, end, year, months=MONTHS_LONG[got["n"].lower()], fiscal=fiscal)
    if name == "bare_months":
        return Period(start, end, months=MONTHS_LONG[got["n"].lower()])
    if name == "zh_months":
        if "y2" in got:
            return Period(start, end, int(got["y2"]), months=9)
        return _stretch(start, end, year, _month(got["m"]), _month(got["n"]))
    if name == "month_span":
        last = _month(got["m"])
        long = MONTHS_LONG[got["n"].lower()] if "n" in got else 3 if "quarter" in got else 12
        if "first" in got or "first2" in got:
            return _stretch(start, end, year, _month(got.get("first") or got["first2"]), last)
        return Period(start, end, year, month=last, months=long)
    if name == "zh_month":
        return Period(start, end, year, month=int(got["m"])) if 1 <= int(got["m"]) <= 12 else None
    if name == "years":
        second = _year(got["y"])
        return Period(start, end, second, fiscal=True) if second == int(got["y0"]) + 1 else None
    if name == "year_to":  # "2020-24" is a range
        first = int(got["y0"])
        last = first // 100 * 100 + int(got["y"])
        return Period(match.start("y"), end, last) if first < last <= first + 12 else None
    if name == "zh_words":
        value = int(chinese(got["w"]) or 0)
        if not 1900 <= value <= 2099:
            return None
        months = 3 if quarter else 6 if "zh" in got else 0
        return Period(start, end, value, quarter=quarter, half=half if "zh" in got else 0, months=months)
    if name in {"zh_year", "whole_year"}:
        return Period(start, end, year, months=12 if got.get("whole") == "全年" or name == "whole_year" else 0)
    return Period(start, end, year, fiscal=name == "fiscal" or fiscal)
