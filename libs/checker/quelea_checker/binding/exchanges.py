"""Two subjects of one sentence exchanged: "A rose 6% and B fell 2%" where the evidence has it of B and of A."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import combinations

from quelea_checker.binding import scorer
from quelea_checker.binding.scorer import Binder
from quelea_checker.binding.support import is_comparable
from quelea_checker.matching.claims import Claim
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
        if (
            any(f.passage not in one.excluded_passages and is_comparable(one, f) for f in second.facts)
            and any(f.passage not in other.excluded_passages and is_comparable(other, f) for f in first.facts)
            and scorer.are_exchanged(binder, first, second)
        ):
            yield one.figure.start
            yield other.figure.start


def is_alike(one: Claim, other: Claim) -> bool:
    """Two figures that may be exchanged: of one kind, and of more than one digit."""
    a, b = one.figure, other.figure
    return a.kind == b.kind and (a.kind != "number" or min(a.digits, b.digits) >= _TOLD)
