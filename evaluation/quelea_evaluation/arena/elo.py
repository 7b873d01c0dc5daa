"""Elo as UCFE's Table 5 was computed: the order of the games decides, every game counts twice. For comparison only.

What gives the printed table from the published record, and nothing else does: models, tasks and opponents in file
order, both sides of every pair (so each game twice); of a cell first the wins, then the losses, then the ties; after
each game first the one rating is moved, then the other against the rating that was moved already.
"""

from __future__ import annotations

from collections.abc import Iterable

from quelea_evaluation.arena.record import Record

START = 1000.0
K = 4.0
SCALE = 400.0


def expected_score(rating: float, opponent: float) -> float:
    """Elo's logistic curve: 400 points are odds of ten to one."""
    return float(1 / (1 + 10 ** ((opponent - rating) / SCALE)))


def rate_elo(record: Record, tasks: Iterable[str] | None = None) -> dict[str, float]:
    """The rating of every model after all games of these tasks, in file order.

    Args:
        record: Counts from both sides.
        tasks: Only these; all when None.
    """
    ratings = dict.fromkeys(record.models, START)
    for cell in record.sides(tasks):
        wins, ties, losses = cell.counts
        for score, count in ((1.0, wins), (0.0, losses), (0.5, ties)):
            for _ in range(count):
                own, other = ratings[cell.first], ratings[cell.second]
                own += K * (score - expected_score(own, other))
                other += K * ((1 - score) - expected_score(other, own))
                ratings[cell.first], ratings[cell.second] = own, other
    return ratings


def count_wins(record: Record) -> dict[str, int]:
    """Wins as the table prints them: each twice, as each game is counted from both sides."""
    return {model: 2 * record.total(model)[0] for model in record.models}
