"""When a web page was published: out of its address, out of its first lines; and what a date may be."""

from __future__ import annotations

import re
from collections.abc import Sequence
from datetime import date, timedelta
from urllib.parse import unquote, urlsplit

from quelea_fintext.dates import find_dates, parse_iso
from quelea_fintext.languages import LANGUAGES

FIRST_LINES = 8
SHORT_LINE = 100
"""A date in a line of at most so many characters near the top is the page's own; in a longer one it is an event's."""
OLDEST = date(1990, 1, 1)
"""No web page is older."""

_Y, _M, _D = r"((?:19|20)\d\d)", r"(0[1-9]|1[0-2])", r"(0[1-9]|[12]\d|3[01])"
_IN_PATH = (
    re.compile(rf"(?<![0-9]){_Y}([-/._]){_M}\2{_D}(?![0-9])"),  # /2023/10/27/, /2023-10-27-
    re.compile(rf"(?<![0-9]){_Y}()[-/]{_M}{_D}(?![0-9])"),  # /2023/1027/, /2023-1027
    re.compile(rf"(?<![0-9]){_Y}(){_M}/{_D}(?![0-9])"),  # /202310/27/
    re.compile(rf"(?<![0-9A-Za-z])t?{_Y}(){_M}{_D}(?![0-9])"),  # /20231027/, t20231027_4312.html
)
_COMPACT = re.compile(rf"\s*{_Y}{_M}{_D}(?:\d{{6}})?(?![0-9])")
_LABELLED = LANGUAGES.pattern(
    "documents.dated_page",
    rf"(?:{LANGUAGES.alternatives('documents.dated')}|<>)\s{{0,8}}+(?:on\b)?\s{{0,8}}+[:：]?\s{{0,8}}+$",
)
_DATELINE = re.compile(r"[A-Z][A-Za-z .'’&,/-]{0,60}?[,(–—-]\s*")
"""What stands before the date of a press release: "CUPERTINO, California, "."""


def url_date(url: str) -> str:
    """The day that an address names, as YYYY-MM-DD; empty where there is none."""
    path = unquote(urlsplit(url).path)
    for pattern in _IN_PATH:
        for year, _, month, day in pattern.findall(path):
            if found := parse_iso(f"{year}-{month}-{day}"):
                return found.isoformat()
    return ""


def stated_date(text: str) -> str:
    """The day in a field that holds nothing but a date: 2023-10-27T08:00Z, 20231027, Oct 27, 2023."""
    compact = _COMPACT.match(text)
    if compact and (day := parse_iso("-".join(compact.groups()))):
        return day.isoformat()
    found = next(find_dates(text[:200]), None)
    return found.day.isoformat() if found else ""


def text_date(lines: Sequence[str]) -> str:
    """The page's own date in its first lines: on a short line, behind a label, or at the head of a press release."""
    for line in lines[:FIRST_LINES]:
        for found in find_dates(line[:400]):
            before = line[: found.start].strip()
            if len(line) <= SHORT_LINE or _LABELLED.search(before) or _DATELINE.fullmatch(f"{before} "):
                return found.day.isoformat()
    return ""


def plausible(day: str, today: str) -> str:
    """The day itself, or nothing when it cannot be when a page was published; never after `today`.

    A page may be a day ahead of us, where the sun rises earlier; it counts as of today.
    """
    said, now = parse_iso(day), parse_iso(today)
    if said is None or now is None or said < OLDEST or said > now + timedelta(days=1):
        return ""
    return min(said, now).isoformat()
