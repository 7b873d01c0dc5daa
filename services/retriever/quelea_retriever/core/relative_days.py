"""Spans of days that a question names relative to its own day: yesterday, last quarter, 上个月, the past two weeks.

By the calendar, for whether the stored documents reach that far; which filing is meant is `relative_asks`'.
"""

from __future__ import annotations

import re
from contextlib import suppress
from datetime import date, timedelta

from quelea_fintext.numerals import how_many
from quelea_fintext.period_words import UNITS

_DAYS = {"day": 1, "week": 7, "month": 30}

_SPAN = re.compile(
    r"\b(?:(?P<en>last|this|current|past)\s+(?P<unit>week|month|quarter|year)|(?P<day>today|yesterday)"
    r"|(?:past|last|previous)\s+(?P<n>\d{1,3}|a|one|two|three|four|five|six|seven|eight)\s+(?P<many>day|week|month)s?)\b"
    r"|(?P<zh>上个?|本|这个?)(?P<zunit>周|星期|月|季度)|(?P<zday>今天|今日|昨天|昨日)|(?P<zyear>今年|去年)"
    r"|(?:过去|最近|近)(?P<zn>\d{1,3}|[一两二三四五六七八九十])个?(?P<zmany>天|日|周|月)",
    re.IGNORECASE,
)
SAME_PERIOD = re.compile(
    r"\b(?:same|corresponding)\s+(?:quarter|period|time|month)\s+(?:of\s+|in\s+)?(?:the\s+)?last\s+year\b"
    r"|(?:上年|去年|上年度)同期|\blast\s+(?:\w+\s+)?year[- ]end\b",
    re.IGNORECASE,
)
"""Compares with an earlier period, or names the last quarter's like of the year before."""


def relative_spans(text: str, as_of: date) -> list[tuple[date, date]]:
    """(first day, last day) of each span that the text names, in order; `as_of` is the day of the question."""
    found = []
    for match in _SPAN.finditer(SAME_PERIOD.sub(" ", text)):
        with suppress(OverflowError):  # before the first day that a date can be
            found.append(_span(match, as_of))
    return found


def _span(match: re.Match[str], as_of: date) -> tuple[date, date]:
    if match["day"] or match["zday"]:
        day = as_of - timedelta(days=1) if (match["day"] or match["zday"]).lower()[0] in "y昨" else as_of
        return day, day
    if match["n"] or match["zn"]:
        count = how_many(match["n"] or match["zn"])
        return as_of - timedelta(days=count * _DAYS[UNITS[(match["many"] or match["zmany"]).lower()]]), as_of
    if match["zyear"]:
        return _calendar("year", as_of, match["zyear"] == "去年")
    unit = UNITS[(match["unit"] or match["zunit"]).lower()]
    return _calendar(unit, as_of, (match["en"] or match["zh"]).lower()[0] in "lp上")


def _calendar(unit: str, as_of: date, before: bool) -> tuple[date, date]:
    """The week, month, quarter or year that holds the day, up to that day; or, `before`, the whole one before it."""
    if unit == "week":
        first = as_of - timedelta(days=as_of.weekday())
    elif unit == "month":
        first = as_of.replace(day=1)
    elif unit == "quarter":
        first = date(as_of.year, (as_of.month - 1) // 3 * 3 + 1, 1)
    else:
        first = date(as_of.year, 1, 1)
    if not before:
        return first, as_of
    last = first - timedelta(days=1)
    return _calendar(unit, last, before=False)[0], last
