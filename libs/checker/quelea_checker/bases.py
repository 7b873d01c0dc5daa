"""Against which time the words state a growth: the same time a year before (同比), or the quarter before (环比)."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import lru_cache
from typing import Literal

from quelea_checker.periods import find_periods

Basis = Literal["", "year", "quarter"]

_THAN = r"(?:from|over|versus|vs\.?|than|against|above|below|compared (?:to|with)|relative to)"
_BASES = re.compile(
    r"(?P<year>\byear[- ](?:over|on|to)[- ]year\b|\byoy\b|\by[/-]y\b"
    r"|\b(?:a|one|the) year (?:ago|earlier|before|prior)\b|\byear[- ](?:ago|earlier)\b"
    r"|\b(?:prior|previous|last|preceding)[- ]year\b"
    r"|\b(?:same|corresponding|comparable) (?:fiscal )?(?:quarter|period)\b|同比|(?:上年|去年)同期)"
    r"|(?P<quarter>\bsequential(?:ly)?\b|\bquarter[- ](?:over|on|to)[- ]quarter\b|\bqoq\b|\bq[/-]q\b"
    r"|\b(?:prior|previous|preceding|last|linked)[- ](?:fiscal )?quarter\b(?! (?:of|last|a year)\b)"
    r"|\b(?:a|one) quarter (?:ago|earlier|before)\b|\bthree months (?:ago|earlier|before)\b"
    rf"|\b{_THAN} (?:the )?(?:first|second|third|fourth) quarter\b(?! (?:of|in|a|one|last)\b| \d|'s|,? (?:19|20)\d\d)"
    r"|环比|上一?个?季度?(?!报))",
    re.IGNORECASE,
)
_AGAINST_QUARTER = re.compile(
    rf"(?:\b{_THAN} (?:the |its )?(?:fiscal |first |second |third |fourth |[1-4]?Q|(?:19|20)\d\d)|[较比](?:19|20)\d\d)",
    re.IGNORECASE,
)
"""A cheap look."""
_AGAINST = re.compile(rf"(?:\b{_THAN} (?:the |its )?|[较比])$", re.IGNORECASE)
_MAY = (
    "year ago", "year-ago", "year earlier", "year-earlier", "year before", "year prior", "-over-", "year over", "-on-",
    "year on", "-to-", "year to", "yoy", "y/y", "y-y", "prior", "previous", "last", "preceding", "linked", "same ",
    "correspond", "comparable", "sequential", "quarter ago", "quarter earlier", "quarter before", "quarter over",
    "quarter on", "quarter to", "qoq", "q/q", "q-q", "months ago", "months earlier", "months before", "rst quarter",
    "ond quarter", "ird quarter", "rth quarter", "同", "环比", "上",
)  # fmt: skip
"""A cheap look: no text without one of these says against which time."""
SHARE = r"\d\s?(?:%|percent|pct|个?百分点|个?基点|percentage points?|basis points?|points?|bps?\b|pts?\b|ppts?\b)"
_PERCENT = re.compile(SHARE, re.IGNORECASE)
_APART = re.compile(rf"[;；。，、]|,(?!\d)|{SHARE}", re.IGNORECASE)
_APART_BEFORE = re.compile(r"[;；。]")
_LISTED = re.compile(r"\s*(?:and|but|while|or|和|及|与|而|但)\s*", re.IGNORECASE)
_NEAR = 70
"""Characters between a figure and the words that say against what it is."""


def basis(text: str, start: int, end: int) -> Basis:
    """What the words about the figure text[start:end] say: those behind it in its clause, else those before."""
    found = _marks(text)
    if not found:
        return ""
    for begin, _, kind in found:
        if begin >= end:
            if _is_behind(text, end, begin):
                return kind
            break
    for begin, behind, kind in reversed(found):
        if behind > start:
            continue
        gap = text[behind:start]
        taken = any(m.end() <= begin and _is_behind(text, m.end(), begin) for m in _PERCENT.finditer(text[:begin]))
        others = _PERCENT.search(gap) and not re.search("分别", gap)
        return "" if taken or others or _APART_BEFORE.search(gap) or len(gap) > _NEAR else kind
    return ""


def _is_behind(text: str, end: int, begin: int) -> bool:
    gap = text[end:begin]
    return len(gap) <= _NEAR and not _APART.search(gap) and not _LISTED.fullmatch(gap)


@lru_cache(maxsize=8192)
def _marks(text: str) -> tuple[tuple[int, int, Basis], ...]:
    low = text.lower()
    found: list[tuple[int, int, Basis]] = []
    if any(hint in low for hint in _MAY):
        found = [(*m.span(), "year" if m["year"] else "quarter") for m in _BASES.finditer(text)]
    if _AGAINST_QUARTER.search(text):
        found = sorted({*found, *_named(text)})
    return tuple(found)


def _named(text: str) -> Iterator[tuple[int, int, Basis]]:
    """Quarters that a growth is stated against by their names, "from the third quarter of fiscal 2023"."""
    quarters = [period for period in find_periods(text) if period.quarter]
    against = [period for period in quarters if period.year and _AGAINST.search(text[: period.start])]
    own = {(p.year, p.quarter) for p in quarters if not _AGAINST.search(text[: p.start])}
    if len(own) != 1:
        return
    year, quarter = own.pop()
    for period in against:
        apart = 4 * (year - period.year) + quarter - period.quarter if year else (quarter - period.quarter) % 4 or 4
        if apart in {1, 4}:
            yield period.start, period.end, "year" if apart == 4 else "quarter"


def claimed(sentence: str, question: str, own: Basis) -> Basis:
    """What the sentence says, else the question where the sentence says nothing."""
    return own if own or _marks(sentence) or not question else only(question)


def only(text: str) -> Basis:
    """The one basis that a text speaks of."""
    kinds = {kind for *_, kind in _marks(text)}
    return kinds.pop() if len(kinds) == 1 else ""


def right_behind(text: str, at: int) -> Basis:
    """What the words directly behind text[:at] say."""
    return next((kind for begin, _, kind in _marks(text) if begin >= at and not text[at:begin].strip(" ,(")), "")
