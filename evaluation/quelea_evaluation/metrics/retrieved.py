"""What was retrieved for one question against what is relevant: average precision, twice, and reciprocal rank.

These are the definitions of OmniEval's paper (equation 8) and of its code, for lists that are as long as they are;
`rankings` has the measures at a depth, by ir-measures.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence


def map_retrieved(retrieved: Sequence[str], relevant: Collection[str]) -> float:
    """Average precision over the relevant ones among the retrieved, as OmniEval's code has it; 0 when there is none.

    What was not found costs nothing: one of two relevant at the first rank is 1. An id that comes twice counts twice.
    """
    hits, total = 0, 0.0
    for rank, one in enumerate(retrieved, 1):
        if one in relevant:
            hits += 1
            total += hits / rank
    return total / hits if hits else 0.0


def map_relevant(retrieved: Sequence[str], relevant: Collection[str]) -> float:
    """Average precision over all relevant ones, as the paper has it; 0 when nothing is relevant.

    An id that comes twice is relevant once and takes up a rank the second time.
    """
    seen: set[str] = set()
    total = 0.0
    for rank, one in enumerate(retrieved, 1):
        if one in relevant and one not in seen:
            seen.add(one)
            total += len(seen) / rank
    wanted = len(set(relevant))
    return total / wanted if wanted else 0.0


def reciprocal_rank(retrieved: Sequence[str], relevant: Collection[str]) -> float:
    """1 / rank of the first relevant one, 0 when there is none."""
    return next((1 / rank for rank, one in enumerate(retrieved, 1) if one in relevant), 0.0)
