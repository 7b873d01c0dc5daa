"""Against which time a growth is stated: the same time a year before (同比), or the quarter before (环比)."""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import lru_cache
from typing import Literal

from quelea_gateway.core.checking.model import Figure, Period
from quelea_gateway.core.checking.passage_facts import Fact, Group

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
_MAY = (
    "year ago", "year-ago", "year earlier", "year-earlier", "year before", "year prior", "-over-", "year over", "-on-",
    "year on", "-to-", "year to", "yoy", "y/y", "y-y", "prior", "previous", "last", "preceding", "linked", "same ",
    "correspond", "comparable", "sequential", "quarter ago", "quarter earlier", "quarter before", "quarter over",
    "quarter on", "quarter to", "qoq", "q/q", "q-q", "months ago", "months earlier", "months before", "rst quarter",
    "ond quarter", "ird quarter", "rth quarter", "同", "环比", "上",
)  # fmt: skip
"""A cheap look: no text without one of these says it."""
_SHARE = r"\d\s?(?:%|percent|pct|个?百分点|个?基点|percentage points?|basis points?|points?|bps?\b|pts?\b|ppts?\b)"
_APART = re.compile(rf"[;；。，、]|,(?!\d)|{_SHARE}", re.IGNORECASE)
_APART_BEFORE = re.compile(r"[;；。]")
_LISTED = re.compile(r"\s*(?:and|but|while|or|和|及|与|而|但)\s*", re.IGNORECASE)
_PERCENT = re.compile(_SHARE, re.IGNORECASE)
_PRIOR = re.compile(r"(?<!比)(?:上年|去年)同期|\b(?:prior|previous|last)[- ]year\b", re.IGNORECASE)
"""The head of a column that is of a year before the one beside it."""
_YEAR_MONTHS, _QUARTER_MONTHS = 12, 3
_NEAR = 70
"""Characters between a figure and the words that say against what it is."""


def fits(sentence: str, question: str, figure: Figure, fact: Fact, group: Group) -> bool:
    """Whether the evidence's growth is against the time that the sentence says; where either does not say, it is."""
    if figure.kind not in {"percent", "points"} and not fact.change:
        return fact.table >= 0 or not _beside(sentence, figure.end, fact.words, fact.figure.end)
    said = _said(sentence, question, figure)
    if not said:
        return True
    found = _of_cell(fact, group) if fact.table >= 0 else basis(fact.words, fact.figure.start, fact.figure.end)
    return not found or found == said


def _beside(sentence: str, end: int, words: str, behind: int) -> bool:
    """ "$13.30 billion a quarter ago" is not that of a year ago."""
    if not _marks(sentence):
        return False
    one, other = (
        next((kind for begin, _, kind in _marks(text) if text[at:begin].strip(" ,(") == "" and begin >= at), "")
        for text, at in ((sentence, end), (words, behind))
    )
    return bool(one and other) and one != other


def spans(sentence: str, question: str, figure: Figure, operands: Sequence[Fact]) -> bool:
    """Whether two figures lie as far apart as the growth computed from them says; where their times are not known, so.

    A growth "from a year ago" needs one a year older, a sequential one that of the quarter before.
    """
    if len(operands) != 2 or not (said := _said(sentence, question, figure)):
        return True
    if all(f.figure.kind in {"percent", "points"} and (f.change or (f.table < 0 and f.direction)) for f in operands):
        return False  # growth less growth is none
    months = _months(*operands)
    return not months or (months >= _YEAR_MONTHS - 1 if said == "year" else months <= _QUARTER_MONTHS + 1)


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


@lru_cache(maxsize=4096)
def _marks(text: str) -> tuple[tuple[int, int, Basis], ...]:
    low = text.lower()
    if not any(hint in low for hint in _MAY):
        return ()
    return tuple((*m.span(), "year" if m["year"] else "quarter") for m in _BASES.finditer(text))


def _said(sentence: str, question: str, figure: Figure) -> Basis:
    if _marks(sentence) or not question:
        return basis(sentence, figure.start, figure.end)
    return only(question)


def only(text: str) -> Basis:
    """The one basis that a text speaks of."""
    kinds = {kind for *_, kind in _marks(text)}
    return kinds.pop() if len(kinds) == 1 else ""


def _of_cell(fact: Fact, group: Group) -> Basis:
    """As its column's head says; of a column of changes else as the two columns before it lie apart."""
    head = fact.words[len(group.label or "total") + len(group.section) + 1 :]
    if kind := only(head):
        return kind
    if not fact.change:
        return ""
    before = [f for f in group.facts[: fact.column] if not f.change][-2:]
    months = _months(*before) if len(before) == 2 else 0
    return "" if not months else "year" if months == _YEAR_MONTHS else "quarter" if months == _QUARTER_MONTHS else ""


def _months(one: Fact, other: Fact) -> int:
    """How many months lie between two figures' times; 0 where that is not known."""
    if one.table == other.table >= 0 and bool(_PRIOR.search(one.words)) != bool(_PRIOR.search(other.words)):
        return _YEAR_MONTHS
    a, b = _time(one.periods), _time(other.periods)
    if a is None or b is None or bool(a.month) != bool(b.month) or bool(a.quarter) != bool(b.quarter):
        return 0
    if a.months != b.months and a.months and b.months:
        return 0
    months = abs(_at(a) - _at(b))
    return next((whole for whole in (_YEAR_MONTHS, _QUARTER_MONTHS) if abs(months - whole) <= 1), months)


def _time(periods: Sequence[Period]) -> Period | None:
    """The time of a figure, with its month or quarter: of several the last, which stands nearest above it."""
    known = [p for p in periods if p.year and (p.month or p.quarter)]
    return known[-1] if known else None


def _at(period: Period) -> int:
    return 12 * period.year + (period.month or 3 * period.quarter)
