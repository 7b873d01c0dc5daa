"""Which times of a sentence its figures are of."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace
from itertools import pairwise

from quelea_gateway.core.checking import wording
from quelea_gateway.core.checking.model import Figure, Period
from quelea_gateway.core.checking.periods import between

_BASE = re.compile(r"(?:\b(?:from|than|versus|vs\.?|against)|compared (?:to|with)|[较比])\s*$", re.IGNORECASE)
_EARLIER = re.compile(
    r"[,\s]{0,2}(?:(?:in|for|during) )?(?:the )?"
    r"(?:a year (?:earlier|ago|before)|year[- ](?:ago|earlier)|year before"
    r"|prior[- ]year|last year"
    r"|previous year|same (?:period|quarter) (?:last year|a year (?:ago|earlier)|of the (?:prior|previous) year))",
    re.IGNORECASE,
)
"""Behind a figure: it is of the year before the sentence's."""
_BEFORE = re.compile(r"(?<![较比])(?:上年|去年)同期(?:则?[为是]|达到?|约)\s*$")
"""Before a figure: the same."""
_SAID = re.compile(r"公告|披露|发布|公布|\b(?:announced|reported on|said on|published)\b", re.IGNORECASE)
"""The time is that of the saying."""
_FROM = re.compile(r"(?:\bfrom|[由从自])\s*(?:the )?$", re.IGNORECASE)
_ONTO = re.compile(r",?\s*(?:to|(?:提高|上升|增长|增加|下降|减少)?[增升降减]?[至到])\s*", re.IGNORECASE)
_NEAR = 12
"""Characters between a figure and its time: " in ", " for the "."""


def attached(sentence: str, figures: Sequence[Figure], periods: Sequence[Period]) -> list[tuple[Period, ...]]:
    """For each figure of a sentence the times that it may be of.

    Figures and times that take turns belong together in pairs, so do those with "respectively"; else any may be meant.
    """
    published = [
        p for p in periods if p.day and _SAID.search(sentence[slice(*wording.clause(sentence, p.start, p.end))])
    ]
    if published and len(published) < len(periods):
        periods = [p for p in periods if p not in published]
    found = _attached(sentence, figures, periods)
    for at, past in _onto(sentence, figures, periods):
        found[at - 1] = (past,)
        found[at] = tuple(p for p in found[at] if p is not past) or tuple(p for p in periods if p is not past)
    return [
        tuple(replace(p, year=p.year - 1) for p in own if p.year)
        if _EARLIER.match(sentence, figure.end) or _BEFORE.search(sentence[: figure.start])
        else own
        for figure, own in zip(figures, found, strict=True)
    ]


def _attached(sentence: str, figures: Sequence[Figure], periods: Sequence[Period]) -> list[tuple[Period, ...]]:
    remarks = _remarks(sentence, figures, periods) or _base(sentence, figures, periods)
    if remarks:
        return remarks
    every = tuple(periods)
    if len(figures) > len(periods) > 1:
        every += tuple(between(sentence, periods))
    if len(periods) < 2 or not figures:
        return [every] * len(figures)
    order = sorted([(f.start, 0) for f in figures] + [(p.start, 1) for p in periods])
    kinds = [kind for _, kind in order]
    turns = len(figures) == len(periods) and all(a != b for a, b in pairwise(kinds))
    listed = len(figures) == len(periods) and re.search(r"respectively|分别", sentence, re.IGNORECASE)
    if turns or listed:
        return [(period,) for period in periods]
    apart = max(p.start for p in periods) < figures[0].start or figures[-1].start < periods[0].start
    if apart:
        return [every] * len(figures)
    found = []
    for figure in figures:
        first, last = wording.clause(sentence, figure.start, figure.end)
        own = tuple(p for p in periods if first <= p.start and p.end <= last)
        if len(own) == 1:  # "As of June 30, 2023, $5 billion of the notes due in 2030": it may be of either
            found.append((*_introduced(sentence, figures, periods, first), *own))
        else:
            found.append(every)
    return found


def _base(sentence: str, figures: Sequence[Figure], periods: Sequence[Period]) -> list[tuple[Period, ...]]:
    """ "up 10% from $3.9 billion in 2024": the sentence's only time is of what it compares with.

    Empty when the sentence is not so.
    """
    if len(periods) != 1:
        return []
    before = [f for f in figures if f.end <= periods[0].start]
    if len(before) < 2 or before[-1] is not figures[-1] or not _BASE.search(sentence[: before[-1].start]):
        return []
    if len(sentence[before[-1].end : periods[0].start]) > _NEAR:
        return []
    return [() if f is not before[-1] else tuple(periods) for f in figures]


def _onto(sentence: str, figures: Sequence[Figure], periods: Sequence[Period]) -> list[tuple[int, Period]]:
    """ "from $27 billion in 2023 to $61 billion", "由2023年的270亿元增至610亿元": the second is of another time.

    Places of figures, each with the time that it is not of and the one before it is.
    """
    found = []
    for at, (one, other) in enumerate(pairwise(figures), 1):
        for period in periods:
            if one.end <= period.start and period.end <= other.start:
                start, gap, onto = one.start, sentence[one.end : period.start], sentence[period.end : other.start]
            elif period.end <= one.start:
                start, gap, onto = period.start, sentence[period.end : one.start], sentence[one.end : other.start]
            else:
                continue
            if len(gap) <= _NEAR and _FROM.search(sentence[:start]) and _ONTO.fullmatch(onto):
                found.append((at, period))
    return found


def _introduced(sentence: str, figures: Sequence[Figure], periods: Sequence[Period], at: int) -> tuple[Period, ...]:
    """The time of the clause that ends at a place and has no figure of its own."""
    before = [p for p in periods if p.end <= at]
    if not before:
        return ()
    first, last = wording.clause(sentence, before[-1].start, before[-1].end)
    alone = not any(first <= f.start < at for f in figures) and last <= at
    return (before[-1],) if alone else ()


def _remarks(sentence: str, figures: Sequence[Figure], periods: Sequence[Period]) -> list[tuple[Period, ...]]:
    """ "£41.5 million (31 December 2018: £45.1 million)": a time in parentheses with a figure is of that figure alone.

    Empty when the sentence has no such parentheses.
    """
    spans = [match.span() for match in re.finditer(r"\([^()]*\)", sentence)] if "(" in sentence else []

    def place(start: int) -> int:
        return next((n for n, (first, last) in enumerate(spans) if first <= start < last), -1)

    at = [place(period.start) for period in periods]
    inner = {place(f.start) for f in figures if not f.loose} & set(at) - {-1}
    if not inner or len(periods) == len([n for n in at if n not in inner]):
        return []
    outer = [p for p, n in zip(periods, at, strict=True) if n not in inner]
    rest = [f for f in figures if place(f.start) not in inner]
    told = dict(zip([f.start for f in rest], _attached(sentence, rest, outer), strict=True))
    return [
        told[f.start] if f.start in told
        else tuple(p for p, n in zip(periods, at, strict=True) if n == place(f.start))
        for f in figures
    ]  # fmt: skip
