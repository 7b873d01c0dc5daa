"""Figures of which it is known on which cells they rest: what the sentence says of them, against what the cells say."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import islice, product

from quelea_checker.binding.cells import Difference, as_said_of, find_difference
from quelea_checker.deriving.computations import is_later, is_ordered
from quelea_checker.matching.claims import Claim
from quelea_checker.model import CheckPassage
from quelea_checker.reading import wording
from quelea_checker.reading.attachment import is_base
from quelea_checker.reading.evidence import Evidence
from quelea_checker.reading.facts import Fact
from quelea_checker.reading.markup import NormalizedAnswer
from quelea_checker.reading.sentences import plain
from quelea_checker.verdicts.answers import Sources, find_moved_otherwise, read_claims, read_sentences

_PAIR = 2
_MOST_WAYS = 12


@dataclass(frozen=True, slots=True)
class PointedFigure:
    """A figure of an answer, answer[start:end], and its cells.

    Attributes:
        cells: Of each operand the facts that it may be, which have its number in the passage that is pointed at: one
            operand where the figure is printed so.
        is_computed: It is computed from them.
        is_change: It is their difference, or growth.
    """

    start: int
    end: int
    cells: tuple[tuple[Fact, ...], ...]
    is_computed: bool = False
    is_change: bool = False


def find_differences(
    answer: str, pointed: Sequence[PointedFigure], passages: Sequence[CheckPassage], evidence: Evidence, question: str
) -> dict[int, Difference | str]:
    """By the start of a figure, in what its sentence differs from its cells; without those that do not differ.

    Args:
        passages: What `evidence` was read from.
    """
    sources = Sources.of(passages, plain(question), evidence)
    found: dict[int, Difference | str] = {}
    shaped = NormalizedAnswer(answer)
    moved = [replace(one, start=shaped.place(one.start), end=shaped.place(one.end)) for one in pointed]
    starts = {new.start: old.start for new, old in zip(moved, pointed, strict=True)}
    for said in read_sentences(shaped.text):
        own = [one for one in moved if said.start <= one.start < said.end]
        if not own:
            continue
        claims = read_claims(said, sources)
        if len(claims) > 1 and all(figure.period is None for figure in said.figures):
            # the question's time is not that of every figure: "6,976, compared with 5,403"
            claims = {at: replace(claim, periods=(), all_periods=()) for at, claim in claims.items()}
        cells: dict[int, Sequence[Fact]] = {}
        for one in own:
            claim = next(
                (c for at, c in claims.items() if _is_at(one, said.start + at, said.start + c.figure.end)), None
            )
            if claim is None:
                continue
            if not one.is_computed:
                cells[claim.figure.start] = one.cells[0]
            if one.is_change and _went_otherwise(claim, one):
                found[one.start] = "direction"
            elif (difference := _compare(claim, one, sources)) and not _is_base_of(claim, one, own):
                found[one.start] = difference
        for start in find_moved_otherwise(said, claims, cells, sources.evidence):
            found |= {one.start: "direction" for one in own if one.start - said.start <= start < one.end - said.start}
    return {starts[at]: difference for at, difference in found.items()}


def _is_at(one: PointedFigure, start: int, end: int) -> bool:
    return start < one.end and one.start < end


def _is_base_of(claim: Claim, one: PointedFigure, own: Sequence[PointedFigure]) -> bool:
    """A figure before it in the sentence, of the same row, is compared with it: that one tells of what both are."""
    if one.is_computed or not is_base(claim.sentence, claim.figure.start):
        return False
    rows = {fact.group for fact in one.cells[0]}
    return any(
        fact.group in rows for other in own if other.start < one.start for facts in other.cells for fact in facts
    )


def _went_otherwise(claim: Claim, one: PointedFigure) -> bool:
    """The words beside the figure say that it rose, where its two cells, of one row, say that it fell; or the like."""
    ways = [_way(facts) for facts in _ways(one.cells)]
    figure = claim.figure
    said = wording.find_direction_beside(claim.sentence, figure.start, figure.end)
    return bool(ways) and all(way * said < 0 for way in ways)


def _way(facts: Sequence[Fact]) -> int:
    """1 where the later of two cells of a row is the larger, -1 where it is the smaller; 0 of others."""
    if len(facts) != _PAIR or facts[0].group != facts[1].group or not is_ordered(*facts):
        return 0
    new, old = facts if is_later(*facts) else facts[::-1]
    if new.value <= 0 or old.value <= 0 or new.value == old.value:
        return 0
    return 1 if new.value > old.value else -1


def _compare(claim: Claim, one: PointedFigure, sources: Sources) -> Difference:
    """The difference from the cells, where every way to read them has one."""
    first: Difference = ""
    for facts in _ways(one.cells):
        compared = as_said_of(claim, facts[0]) if one.is_computed else claim
        difference = find_difference(compared, facts, sources.evidence, sources.binder, change=one.is_change)
        if not difference:
            return ""
        first = first or difference
    return first


def _ways(cells: Sequence[tuple[Fact, ...]]) -> Iterator[tuple[Fact, ...]]:
    """One fact for each operand, the likeliest first: a number may stand in several cells."""
    return islice(product(*cells), _MOST_WAYS)
