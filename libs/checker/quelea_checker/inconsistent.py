"""Figures that their own sentence contradicts: a move the wrong way, a range whose ends are of different things."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from itertools import pairwise

from quelea_checker import wording
from quelea_checker.model import Figure
from quelea_checker.passage_facts import Fact
from quelea_checker.profiles import is_another

_RANGED = re.compile(r"\s?(?:-|–|—|~|至|到|to)\s?[$€£¥]?\s?", re.IGNORECASE)
_BETWEEN = re.compile(r"\bbetween\s?[$€£¥]?\s*$|(?:介于|介乎)\s*$", re.IGNORECASE)
_FROM = re.compile(rf"(?:\bfrom|[从由自]{wording.OF_A_TIME})\s*$", re.IGNORECASE)
_TO = re.compile(rf"(?:\bto|[至到]{wording.OF_A_TIME})\s*$", re.IGNORECASE)


def torn(sentence: str, amounts: Sequence[Figure], stood: Mapping[int, Sequence[Fact]]) -> Iterator[int]:
    """Starts of the second figures of ranges, "210 to 230", whose two ends stand in no one row or sentence."""
    for one, other in pairwise(amounts):
        joined = sentence[one.end : other.start]
        ranged = (_RANGED.fullmatch(joined) or _is_between(sentence, one, joined)) and one.kind == other.kind
        moved = _FROM.search(sentence[: one.start]) or wording.direction(sentence, one.start, other.end)
        ends = tuple({fact.group for fact in stood.get(end.start, ())} for end in (one, other))
        if ranged and not moved and all(ends) and not ends[0] & ends[1]:
            yield other.start


def _is_between(sentence: str, one: Figure, joined: str) -> bool:
    """ "between $1.70 and $1.85": the two ends of a range."""
    return bool(_BETWEEN.search(sentence[: one.start]) and re.fullmatch(r"\s?(?:and|[与和])\s?[$€£¥]?\s?", joined))


def contradicted(sentence: str, amounts: Sequence[Figure]) -> set[int]:
    """Starts of figures that their own sentence contradicts: "increased from 5 to 4"."""
    broken = set()
    for one, other in pairwise(amounts):
        if one.kind != other.kind or one.size == other.size:
            continue
        between = sentence[one.end : other.start]
        before = sentence[: one.start]
        if len(between) > 80 or is_another(between):
            continue
        if _FROM.search(before) and _TO.search(between):
            old, new = one, other
        elif _TO.search(before) and _FROM.search(between):
            new, old = one, other
        else:
            continue
        direction = wording.direction(sentence, one.start, one.end)
        if direction and (new.value - old.value) * direction < 0 and (new.scale == old.scale):
            broken |= {one.start, other.start}
    return broken
