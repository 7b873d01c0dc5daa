"""Two subjects of one sentence exchanged: "A rose 6% and B fell 2%" where the evidence has it of B and of A."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import combinations

from quelea_checker.binding import scorer
from quelea_checker.binding.scorer import Binder
from quelea_checker.binding.support import has_size_of, is_comparable
from quelea_checker.matching.claims import Claim
from quelea_checker.matching.profiles import RESPECTIVELY, distinctive_terms, find_role
from quelea_checker.reading.facts import Fact

_FACTS = 6
"""Facts of a figure that are looked at."""
_TOLD = 2
"""Digits of a figure that may be exchanged."""
_MOST = 12
"""Figures of a sentence that are set against one another."""


def find_exchanged(
    claims: Mapping[int, Claim], matched_facts: Mapping[int, Sequence[Fact]], binder: Binder
) -> Iterator[int]:
    """Starts of figures that stand in the evidence, but for what the sentence says of another of its figures.

    Args:
        claims: The figures of one sentence, by their starts.
        matched_facts: By the same, the facts that a figure is.
    """
    known = [claim for start, claim in claims.items() if matched_facts.get(start) and claim.zone][:_MOST]
    if len({claim.figure.value for claim in known}) < 2:
        return
    taken = [
        (claim, scorer.FigureMatch(claim.profile(), matched_facts[claim.figure.start][:_FACTS])) for claim in known
    ]
    for (one, first), (other, second) in combinations(taken, 2):
        if one.figure.value == other.figure.value or not is_alike(one, other):
            continue
        rows = {fact.group for fact in first.facts} & {fact.group for fact in second.facts}
        if rows and not (has_size_of(one.figure, first.facts[0]) and has_size_of(other.figure, second.facts[0])):
            continue  # one is computed from the other's row
        mine, its = _in_one_place(first, second)
        if (
            any(f.passage not in one.excluded_passages and is_comparable(one, f) for f in its.facts)
            and any(f.passage not in other.excluded_passages and is_comparable(other, f) for f in mine.facts)
            and scorer.are_exchanged(binder, mine, its)
        ):
            yield one.figure.start
            yield other.figure.start


def _in_one_place(one: scorer.FigureMatch, other: scorer.FigureMatch) -> tuple[scorer.FigureMatch, scorer.FigureMatch]:
    """The facts of the tables, or passages' prose, that hold both figures: a table has other words than a sentence."""
    places = [{(fact.passage, fact.table) for fact in taken.facts} for taken in (one, other)]
    both = places[0] & places[1]
    if not both:
        return one, other
    first, second = ([f for f in taken.facts if (f.passage, f.table) in both] for taken in (one, other))
    return scorer.FigureMatch(one.said, first), scorer.FigureMatch(other.said, second)


def is_alike(one: Claim, other: Claim) -> bool:
    """Two figures that may be exchanged: of one kind, both levels or both changes, each with words of its own."""
    a, b = one.figure, other.figure
    if (
        not (
            distinctive_terms(one.sentence[min(a.end, b.end) : max(a.start, b.start)])
            or RESPECTIVELY.search(one.sentence)
        )
        or a.kind != b.kind
        or bool(a.currency) != bool(b.currency)
        or (a.kind == "number" and min(a.digits, b.digits) < _TOLD)
    ):
        return False
    roles = {find_role(one.sentence, a.start), find_role(other.sentence, b.start)}
    return roles != {"change", "level"}
