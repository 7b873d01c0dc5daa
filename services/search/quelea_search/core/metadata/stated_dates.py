"""The day that a search provider states for a result, in the many ways in which they say it."""

from __future__ import annotations

import re
from datetime import UTC, date, datetime, timedelta

from quelea_fintext.dates import find_dates, parse_iso
from quelea_fintext.languages import LANGUAGES, find_all, groups_of
from quelea_fintext.times.period_words import UNITS

_FIRST = date(1990, 1, 1)
"""Before there was a web: such a day is a mistake."""
_MILLISECONDS = 100_000_000_000
"""Epochs above this are in milliseconds; in seconds it would be the year 5138."""
_SLASHED = re.compile(r"(?<!\d)(\d{1,2})/(\d{1,2})/((?:19|20)\d\d)(?!\d)")
_COMPACT = re.compile(r"(?<!\d)((?:19|20)\d\d)(\d\d)(\d\d)(?!\d)")
_AGO = LANGUAGES.grouped("time.ago")
_DAYS = {"second": 0.0, "minute": 0.0, "hour": 1 / 24, "day": 1.0, "week": 7.0, "month": 30.0, "year": 365.0}
_WORDS: dict[str, int] = LANGUAGES.table("time.days_ago")


def stated_day(value: object, today: date) -> str:
    """YYYY-MM-DD, or "" where the value is no day that can be.

    Args:
        value: ISO with or without a time, "Oct 27, 2023", "27 Oct 2023 10:00 GMT", "2023年10月27日", "3 days ago",
            "2小时前", "yesterday", 20231027, or an epoch in seconds or milliseconds. A month alone is no day, and
            4/5/2023 may be either of two.
        today: What "ago" counts from; a later day is a mistake, except tomorrow, which is today in another zone.
    """
    found = _epoch(value) if isinstance(value, int | float) else _text(value, today) if isinstance(value, str) else None
    if found is None or found < _FIRST or found > today + timedelta(days=1):
        return ""
    return min(found, today).isoformat()


def _epoch(value: float) -> date | None:
    if isinstance(value, bool):
        return None
    compact = _COMPACT.fullmatch(str(value))
    if compact:
        return _day(int(compact[1]), int(compact[2]), int(compact[3]))
    try:
        return datetime.fromtimestamp(value / 1000 if abs(value) > _MILLISECONDS else value, UTC).date()
    except (ValueError, OverflowError, OSError):
        return None


def _text(value: str, today: date) -> date | None:
    text = value.strip()[:200]
    if re.fullmatch(r"\d{9,13}", text):
        return _epoch(int(text))
    exact = parse_iso(text[:10])
    if exact is not None:
        return exact
    first = next(find_dates(text), None)
    if first is not None:
        return first.day
    compact = _COMPACT.search(text)
    if compact:
        return _day(int(compact[1]), int(compact[2]), int(compact[3]))
    slashed = _SLASHED.search(text)
    if slashed:
        one, other, year = int(slashed[1]), int(slashed[2]), int(slashed[3])
        if one > 12:
            return _day(year, other, one)
        return _day(year, one, other) if other > 12 or one == other else None
    return _relative(text.lower(), today)


def _relative(text: str, today: date) -> date | None:
    if ago := find_all(_AGO, text):
        said = groups_of(ago[0])
        days = (int(said["count"]) if said["count"].isdigit() else 1) * _DAYS[UNITS[said["unit"]]]
        return today - timedelta(days=int(days))
    return next((today - timedelta(days=days) for word, days in _WORDS.items() if word in text), None)


def _day(year: int, month: int, day: int) -> date | None:
    try:
        return date(year, month, day)
    except ValueError:
        return None
