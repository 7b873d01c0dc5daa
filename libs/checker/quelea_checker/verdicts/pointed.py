"""Figures of which it is known on which cells they rest: what the sentence says of them, against what the cells say."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from quelea_checker.binding.cells import Difference, as_said_of, find_difference
from quelea_checker.matching.claims import Claim
from quelea_checker.model import CheckPassage
from quelea_checker.reading.evidence import Evidence
from quelea_checker.reading.facts import Fact
from quelea_checker.reading.markup import NormalizedAnswer
from quelea_checker.reading.sentences import plain
from quelea_checker.verdicts.answers import Sources, find_moved_otherwise, read_claims, read_sentences


@dataclass(frozen=True, slots=True)
class PointedFigure:
    """A figure of an answer, answer[start:end], and its cells.

    Attributes:
        cells: Of each operand the facts that it may be, which have its number in the passage that is pointed at: one
            operand where the figure is printed so.
        is_computed: It is computed from them.
    """

    start: int
    end: int
    cells: tuple[tuple[Fact, ...], ...]
    is_computed: bool = False


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
        cells: dict[int, Sequence[Fact]] = {}
        for one in own:
            claim = next(
                (c for at, c in claims.items() if _is_at(one, said.start + at, said.start + c.figure.end)), None
            )
            if claim is None:
                continue
            if not one.is_computed:
                cells[claim.figure.start] = one.cells[0]
            if difference := _compare(claim, one, sources):
                found[one.start] = difference
        for start in find_moved_otherwise(said, claims, cells):
            found |= {one.start: "direction" for one in own if one.start - said.start <= start < one.end - said.start}
    return {starts[at]: difference for at, difference in found.items()}


def _is_at(one: PointedFigure, start: int, end: int) -> bool:
    return start < one.end and one.start < end


def _compare(claim: Claim, one: PointedFigure, sources: Sources) -> Difference:
    """The difference from the cells, where every way to read them has one."""
    first: Difference = ""
    for facts in _ways(one.cells):
        compared = as_said_of(claim, facts[0]) if one.is_computed else claim
        difference = find_difference(compared, facts, sources.evidence, sources.binder)
        if not difference:
            return ""
        first = first or difference
    return first


def _ways(cells: Sequence[tuple[Fact, ...]]) -> Iterator[tuple[Fact, ...]]:
    """One fact for each operand: all of one row first, where its figures stand in several."""
    if len(cells) == 1:
        yield from ((fact,) for fact in cells[0])
        return
    yield tuple(facts[0] for facts in cells)
