"""What inline XBRL says of a filing's figures, brought to the places that print them."""

from __future__ import annotations

import re
from bisect import bisect_left
from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from difflib import SequenceMatcher
from itertools import pairwise

from quelea_fintext.concepts import concept_of_tag

from quelea_search.core.model import CELL, LineKind, Page
from quelea_search.core.statements.model import Fact, TaggedFigure

_NUMBER = re.compile(r"\d[\d,.]*\d|\.\d+|\d|[-–—−]|\bnone?\b", re.IGNORECASE)
_RUNS = (8, 4, 2)
"""Lengths of the runs of numbers by which tags and text are held together."""
_TELLING = 6
"""Characters that a run must have to be taken for the same run."""
_AREA = 2_000_000
"""Comparisons that a part of the document without such pairs may cost."""
_PAIRS = 20_000
"""Likewise, pairs of equal numbers in it: the comparison looks at all of them again for each run that it finds."""
_OTHER = "note"


@dataclass(frozen=True, slots=True)
class _Printed:
    """A number of the text."""

    text: str
    page: int
    start: int
    end: int
    label: str
    """Of its row; empty in running text."""


def with_tags(facts: Sequence[Fact], tagged: Sequence[TaggedFigure], pages: Sequence[Page]) -> list[Fact]:
    """The facts with what the tags say of them, and the tagged figures that were not among them.

    A tag wins over what was read from the table. A figure of a part of the company keeps its label and loses its
    concept: the revenue of a segment is not the revenue.
    """
    if not tagged:
        return list(facts)
    printed = list(_numbers(pages))
    outer = [one.printed for one in tagged if not one.is_inside]
    aligned = iter(_align(outer, [one.text for one in printed]))
    places: list[int | None] = []
    for figure in tagged:
        places.append(places[-1] if figure.is_inside and places else next(aligned))
    at = {(fact.page, start): index for index, fact in enumerate(facts) for start in range(fact.start, fact.end)}
    found = list(facts)
    for figure, place in zip(tagged, places, strict=True):
        if place is None:
            continue
        where = printed[place]
        index = at.get((where.page, where.start))
        if index is not None:
            if found[index].source != "tag":
                found[index] = _said(found[index], figure)
            elif figure.is_whole:  # one cell with two tags: basic and diluted
                found.append(_said(found[index], figure))
        elif figure.is_whole:
            found.append(_said(_new(where, figure), figure))
    return found


def _said(fact: Fact, figure: TaggedFigure) -> Fact:
    concept = concept_of_tag(figure.tag.rpartition(":")[2]) if figure.is_whole else None
    return replace(
        fact,
        concept=concept.id if concept else "",
        value=figure.value,
        unit=_unit(figure.unit),
        period=figure.period,
        source="tag",
        tag=figure.tag,
    )


def _unit(said: str) -> str:
    return said.removesuffix("s") if said.endswith("/shares") else said


def _new(where: _Printed, figure: TaggedFigure) -> Fact:
    return Fact(
        statement=_OTHER,
        label=where.label,
        concept="",
        value=figure.value,
        unit=figure.unit,
        period=figure.period,
        printed=where.text,
        page=where.page,
        start=where.start,
        end=where.end,
    )


def _numbers(pages: Sequence[Page]) -> Iterator[_Printed]:
    for number, page in enumerate(pages, start=1):
        for line in page.lines:
            text = page.text[line.start : line.end]
            label = text.split(CELL, 1)[0] if line.kind is LineKind.ROW else ""
            for match in _NUMBER.finditer(text):
                yield _Printed(match[0], number, line.start + match.start(), line.start + match.end(), label)


def _align(wanted: Sequence[str], text: Sequence[str]) -> list[int | None]:
    """The place of each tagged number among the numbers of the text; None where none is found.

    Both are in document order, and the text has more: some figures stand in it two and three times. Runs of numbers
    that both have equally often hold the two together, the longest first (as in patience diff); what is left between
    them is compared as it stands.
    """
    parts = [(0, len(wanted), 0, len(text))]
    anchors: list[tuple[int, int]] = []
    for size in _RUNS:
        found = [one for part in parts for one in _anchors(wanted, text, part, size)]
        anchors = sorted({*anchors, *found})
        edges = [(-1, -1), *anchors, (len(wanted), len(text))]
        parts = [(i0 + 1, i1, j0 + 1, j1) for (i0, j0), (i1, j1) in pairwise(edges) if i1 > i0 + 1 and j1 > j0 + 1]
    places: list[int | None] = [None] * len(wanted)
    for i, j in anchors:
        places[i] = j
    for i0, i1, j0, j1 in parts:
        if (i1 - i0) * (j1 - j0) <= _AREA and _pairs(wanted[i0:i1], text[j0:j1]) <= _PAIRS:
            matcher = SequenceMatcher(None, wanted[i0:i1], text[j0:j1], autojunk=False)
            for block in matcher.get_matching_blocks():
                for step in range(block.size):
                    places[i0 + block.a + step] = j0 + block.b + step
    return places


def _pairs(wanted: Sequence[str], text: Sequence[str]) -> int:
    """How many pairs of one number here and the same one there there are."""
    theirs = Counter(text)
    return sum(count * theirs[number] for number, count in Counter(wanted).items())


def _anchors(
    wanted: Sequence[str], text: Sequence[str], part: tuple[int, int, int, int], size: int
) -> list[tuple[int, int]]:
    """Places of runs of so many numbers in both, where both have the run as often."""
    i0, i1, j0, j1 = part
    ours, theirs = _runs(wanted, i0, i1, size), _runs(text, j0, j1, size)
    pairs = sorted(
        match
        for run, places in ours.items()
        if sum(map(len, run)) >= _TELLING and len(places) == len(theirs.get(run, ()))
        for match in zip(places, theirs[run], strict=True)
    )
    chain = _increasing(pairs)
    found = {(i + step, j + step) for i, j in chain for step in range(size)}
    return _increasing(sorted(found))


def _runs(numbers: Sequence[str], begin: int, end: int, size: int) -> dict[tuple[str, ...], list[int]]:
    found: dict[tuple[str, ...], list[int]] = defaultdict(list)
    for at in range(begin, end - size + 1):
        found[tuple(numbers[at : at + size])].append(at)
    return found


def _increasing(pairs: Sequence[tuple[int, int]]) -> list[tuple[int, int]]:
    """The longest part of the pairs, ordered by their first, whose second grows too (patience sorting)."""
    tails: list[int] = []
    ends: list[int] = []
    before: list[int] = []
    for index, (_, place) in enumerate(pairs):
        at = bisect_left(tails, place)
        before.append(ends[at - 1] if at else -1)
        tails[at : at + 1] = [place]
        ends[at : at + 1] = [index]
    chain: list[tuple[int, int]] = []
    at = ends[-1] if ends else -1
    while at >= 0:
        chain.append(pairs[at])
        at = before[at]
    return chain[::-1]
