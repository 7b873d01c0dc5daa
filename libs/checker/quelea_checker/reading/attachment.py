"""Which times of a sentence its figures are of."""

from __future__ import annotations

import re
from collections.abc import Sequence
from itertools import pairwise

from quelea_fintext.languages import LANGUAGES

from quelea_checker.model import Figure, Period
from quelea_checker.reading import wording
from quelea_checker.reading.calendar import year_before

_MARKERS = r"(?:\s?\[\d{1,3}\]){0,6}+"
"""Behind a figure, before what is said of it: "5,403 [2] a year earlier"."""
_BASE = re.compile(
    r"(?:\b(?:from|than|versus|vs\.?|against|above|below|exceed(?:ing|ed))|compared (?:to|with)|[较比])\s*(?:the\s*)?$",
    re.IGNORECASE,
)
_COMPARED = re.compile(
    r"(?:较|比|相比于?|对比|\bcompared (?:to|with)|\bversus|\bvs\.?|\babove|\bbelow|\bthan(?: in)?|\brelative to"
    r"|\bover)\s*(?:the )?$",
    re.IGNORECASE,
)
_SINCE = re.compile(rf"{_MARKERS}[,\s]{{0,2}}from (?:the )?$", re.IGNORECASE)
_ONWARDS = re.compile(r",? (?:to|through|until) ", re.IGNORECASE)
_ITS = re.compile(r"(?:'s?|同期|年|的|\s)*")
"""Between a time and the figure that it had then: "than 2022's 40%", 比2022年同期的40%."""
_AND = re.compile(rf"{_MARKERS},?\s{{0,8}}+(?:and|,|、|和|及|与)\s{{0,8}}+[$€£¥]?\s{{0,8}}+", re.IGNORECASE)
_EARLIER = re.compile(
    rf"{_MARKERS}[,\s]{{0,2}}(?:(?:in|for|during|of) )?(?:the )?"
    r"(?:a year (?:earlier|ago|before)|year[- ](?:ago|earlier)|year before"
    r"|prior[- ]year|last year"
    r"|previous year|same (?:period|quarter) (?:last year|a year (?:ago|earlier)|of the (?:prior|previous) year))",
    re.IGNORECASE,
)
"""Behind a figure: it is of the year before the sentence's. "From a year earlier" is said of a change."""
_BEFORE = re.compile(
    r"(?:(?<![较比])(?:上年|去年)同期(?:[则却还仅只才为是有约]|不过|达到?)+|(?:上年|去年)同期的)\s*$"
    r"|\b(?:(?:a|one) year (?:earlier|before|ago)|last year|in the (?:prior|previous) year),? "
    r"(?:it|they|this|that|the figure) (?:was|were|stood at|came to|had been)(?: (?:just|only|about))? ?$",
    re.IGNORECASE,
)
"""Before a figure: the same."""
_CAME_FROM = re.compile(
    r"(?:\b(?:up|down|rose|fell|grew|increased|decreased)?\s?from)\s(?:an? )?(?:\w+ )?(?:[A-Z]{3} )?$"
)
"""Before a figure: it is of an earlier time."""
_BUT = re.compile(r"\b(?:but|while|whereas)\b|[;；]|而")
_SAID = re.compile(r"公告|披露|发布|公布|\b(?:announced|reported on|said on|published)\b", re.IGNORECASE)
"""The time is that of the saying."""
_FROM = re.compile(rf"(?:{LANGUAGES.alternatives('time.moved_from')})\s{{0,8}}+$", re.IGNORECASE)
_ONTO = re.compile(rf"{_MARKERS},?\s{{0,8}}+(?:{LANGUAGES.alternatives('time.moved_to')})\s{{0,8}}+", re.IGNORECASE)
_THAN_ZH = re.compile(r"[较比]$")
_OF_THEN = re.compile(r"(?:同期)?的\s?")
_RESPECTIVELY = re.compile(r"respectively|分别", re.IGNORECASE)
_NEAR = 12
"""Characters between a figure and its time: " in ", " for the "."""


def attach_periods(sentence: str, figures: Sequence[Figure], periods: Sequence[Period]) -> list[tuple[Period, ...]]:
    """For each figure of a sentence the times that it may be of.

    Figures and times that take turns belong together in pairs, so do those with "respectively"; else any may be meant.
    """
    published = [
        p for p in periods if p.day and _SAID.search(sentence[slice(*wording.find_clause(sentence, p.start, p.end))])
    ]
    if published and len(published) < len(periods):
        periods = [p for p in periods if p not in published]
    found = _attach_by_order(sentence, figures, periods)
    for at, past in _find_from_to(sentence, figures, periods):
        found[at - 1] = (past,)
        found[at] = tuple(p for p in found[at] if p is not past) or tuple(p for p in periods if p is not past)
    found = [_drop_base_of_change(sentence, figure, own, periods) for figure, own in zip(figures, found, strict=True)]
    return [_shift_to_year_before(sentence, figure, own) for figure, own in zip(figures, found, strict=True)]


def attach_lead_periods(sentence: str, figure: Figure, periods: tuple[Period, ...]) -> tuple[Period, ...]:
    """Which of the times of the line before its list a figure is of: none where its words say "up from"."""
    if wording.ends_with(_CAME_FROM, sentence, figure.start):
        return ()
    return _shift_to_year_before(sentence, figure, periods)


def _shift_to_year_before(sentence: str, figure: Figure, own: tuple[Period, ...]) -> tuple[Period, ...]:
    """The times, a year before them where the words about the figure say so."""
    if figure.kind == "multiple":
        return own  # so many times that of then
    if _EARLIER.match(sentence, figure.end) or wording.ends_with(_BEFORE, sentence, figure.start):
        return tuple(year_before(p) for p in own if p.year)
    return own


def _drop_base_of_change(
    sentence: str, figure: Figure, own: tuple[Period, ...], periods: Sequence[Period]
) -> tuple[Period, ...]:
    """Of a change in percent, its times without those that it is only compared with: 今年一季度…同比2022年一季度增长5%.

    Where only such a time is beside it, it is of the sentence's others.
    """
    if figure.kind not in {"percent", "points"} or len(periods) < 2:
        return own
    if not wording.find_direction(sentence, figure.start, figure.end):
        return own
    past = [period for period in periods if _is_base_of_change(sentence, figure, period)]
    if not any(period in past for period in own):
        return own
    return tuple(p for p in own if p not in past) or tuple(p for p in periods if p not in past)


def _is_base_of_change(sentence: str, figure: Figure, period: Period) -> bool:
    """The change is since that time."""
    if period.end <= figure.start and _ITS.fullmatch(sentence[period.end : figure.start]):
        return False
    if period.start >= figure.end and _SINCE.fullmatch(sentence[figure.end : period.start]):
        return not _ONWARDS.match(sentence, period.end)
    return wording.ends_with(_COMPARED, sentence, period.start)


def is_base(sentence: str, start: int) -> bool:
    """What stands there is what something else is compared with: "compared with 5,403", "from 5,403"."""
    return wording.ends_with(_BASE, sentence, start)


def is_start_of_move(sentence: str, one: Figure, other: Figure | None) -> bool:
    """The figure is what something rose or fell from: to `other`, or to one that stands before it."""
    if other is None:
        return wording.ends_with(_CAME_FROM, sentence, one.start)
    return _moves_onto(sentence, one.start, sentence[one.end : other.start])


def drop_compared_periods(sentence: str, periods: Sequence[Period]) -> Sequence[Period]:
    """Without those that the evidence only compares with, where it names no others: "较2019年增长22%"."""
    if all(wording.ends_with(_COMPARED, sentence, p.start) for p in periods):
        return ()
    return periods


def _pair_in_order(sentence: str, figures: Sequence[Figure], periods: Sequence[Period]) -> list[tuple[Period, ...]]:
    """ "28 million shares for $3.65 billion and 56 million for $8.99 billion" of two times, "respectively": so many of
    the one, then so many of the other; of alike ones that stand in pairs, one of each. Empty where it is not so.
    """
    count = len(periods)
    each = len(figures) // count
    if each < 2 or len(figures) % count:
        return []
    kinds = [(f.kind, f.currency) for f in figures]
    chunks = [kinds[at : at + each] for at in range(0, len(kinds), each)]
    if len(set(kinds)) > 1 and all(chunk == chunks[0] for chunk in chunks):
        return [(periods[at // each],) for at in range(len(figures))]
    pairs = [_AND.fullmatch(sentence[a.end : b.start]) for a, b in pairwise(figures)]
    if all(pairs[at] for at in range(len(pairs)) if (at + 1) % count) and len(set(kinds)) == 1:
        return [(periods[at % count],) for at in range(len(figures))]
    return []


def _attach_by_order(sentence: str, figures: Sequence[Figure], periods: Sequence[Period]) -> list[tuple[Period, ...]]:
    remarks = _attach_in_parentheses(sentence, figures, periods) or _attach_compared(sentence, figures, periods)
    if remarks:
        return remarks
    every = tuple(periods)
    if len(periods) == 1 and len(figures) > 1:
        (period,) = periods
        starts = [figure for figure, behind in pairwise(figures) if _is_start(sentence, figure, behind, period)]
        return [() if figure in starts or is_of_other_time(sentence, figure, period) else every for figure in figures]
    if len(periods) < 2 or not figures:
        return [every] * len(figures)
    order = sorted([(f.start, 0) for f in figures] + [(p.start, 1) for p in periods])
    kinds = [kind for _, kind in order]
    turns = len(figures) == len(periods) and all(a != b for a, b in pairwise(kinds))
    listed = len(figures) == len(periods) and _RESPECTIVELY.search(sentence)
    if turns or listed:
        return [(period,) for period in periods]
    in_turn = _RESPECTIVELY.search(sentence) and _pair_in_order(sentence, figures, periods)
    if in_turn:
        return in_turn
    found = []
    for figure in figures:
        first, last = wording.find_clause(sentence, figure.start, figure.end)
        own = tuple(p for p in periods if first <= p.start and p.end <= last)
        found.append(own if len(own) == 1 else every)
    return found


def is_of_other_time(sentence: str, figure: Figure, period: Period) -> bool:
    """The sentence's only time is not the figure's: "in 2024 it rose to 5 from 4", "5, but 4 in the first half"."""
    if period.end <= figure.start:
        return wording.ends_with(_CAME_FROM, sentence, figure.start) and bool(
            sentence[period.end : figure.start].strip(" ,")
        )
    return bool(_BUT.search(sentence[figure.end : period.start]))


def _is_start(sentence: str, figure: Figure, behind: Figure, period: Period) -> bool:
    """The figure is what the one behind it came from, and the time is the latter's alone: "from 5 to 4 on May 2"."""
    end = behind.start
    if figure.end <= period.start < behind.start and _ITS.fullmatch(sentence[period.end : behind.start]):
        end = period.start  # 从5跌至5月2日的4
    return _moves_onto(sentence, figure.start, sentence[figure.end : end])


def _moves_onto(sentence: str, start: int, onto: str) -> bool:
    """ "from" stands before a place, and "to", or 跌至, is all that stands before the next figure."""
    return wording.ends_with(_FROM, sentence, start) and _ONTO.fullmatch(onto) is not None


def _attach_compared(sentence: str, figures: Sequence[Figure], periods: Sequence[Period]) -> list[tuple[Period, ...]]:
    """ "up 10% from $3.9 billion in 2024", 比2022年同期的71.5%低: the only time is of what it compares with.

    Empty when the sentence is not so.
    """
    if len(periods) != 1:
        return []
    period = periods[0]
    if wording.ends_with(_THAN_ZH, sentence, period.start) and (behind := _OF_THEN.match(sentence, period.end)):
        past = [f for f in figures if f.start == behind.end()]
        if past and figures[0].end <= period.start:
            return [(period,) if f in past else () for f in figures]
    before = [f for f in figures if f.end <= periods[0].start]
    if len(before) < 2 or before[-1] is not figures[-1] or not wording.ends_with(_BASE, sentence, before[-1].start):
        return []
    if len(sentence[before[-1].end : periods[0].start]) > _NEAR:
        return []
    return [() if f is not before[-1] else tuple(periods) for f in figures]


def _find_from_to(sentence: str, figures: Sequence[Figure], periods: Sequence[Period]) -> list[tuple[int, Period]]:
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
            if len(gap) <= _NEAR and _moves_onto(sentence, start, onto):
                found.append((at, period))
    return found


def _attach_in_parentheses(
    sentence: str, figures: Sequence[Figure], periods: Sequence[Period]
) -> list[tuple[Period, ...]]:
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
    told = dict(zip([f.start for f in rest], _attach_by_order(sentence, rest, outer), strict=True))
    return [
        told[f.start] if f.start in told
        else tuple(p for p, n in zip(periods, at, strict=True) if n == place(f.start))
        for f in figures
    ]  # fmt: skip
