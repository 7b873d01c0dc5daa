"""Elo as UCFE's Table 5 was computed: the order of the games decides, every game counts twice. For comparison only.

What gives the printed table from the published record, and nothing else does: models, tasks and opponents in file
order, both sides of every pair (so each game twice); of a cell first the wins, then the losses, then the ties; after
each game first the one rating is moved, then the other against the rating that was moved already.
"""

from __future__ import annotations

import random
import statistics
from collections import Counter
from collections.abc import Iterable, Iterator
from itertools import repeat
from typing import Any

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
    return _play(record.models, _games(record, tasks))


def rate_shuffled(record: Record, times: int, seed: int = 0) -> dict[str, Any]:
    """How far the ratings depend on the order: the same games, shuffled so many times.

    Returns:
        `difference`, the mean absolute difference to file order over models and shuffles; `deviation` of each model's
        rating over the shuffles; `first`, how often which model came first.
    """
    ordered, games = rate_elo(record), list(_games(record, None))
    rng = random.Random(seed)  # noqa: S311  an order, no secret
    found = []
    for _ in range(times):
        rng.shuffle(games)
        found.append(_play(record.models, games))
    firsts = Counter(max(ratings, key=lambda name: ratings[name]) for ratings in found)
    return {
        "shuffles": times,
        "difference": statistics.fmean(abs(one[m] - ordered[m]) for one in found for m in ordered),
        "deviation": {m: statistics.stdev(one[m] for one in found) if times > 1 else None for m in ordered},
        "first": dict(firsts.most_common()),
    }


def _games(record: Record, tasks: Iterable[str] | None) -> Iterator[tuple[str, str, float]]:
    for cell in record.sides(tasks):
        wins, ties, losses = cell.counts
        for score, count in ((1.0, wins), (0.0, losses), (0.5, ties)):
            yield from repeat((cell.first, cell.second, score), count)


def _play(models: Iterable[str], games: Iterable[tuple[str, str, float]]) -> dict[str, float]:
    ratings = dict.fromkeys(models, START)
    for first, second, score in games:
        own, other = ratings[first], ratings[second]
        own += K * (score - expected_score(own, other))
        ratings[first], ratings[second] = own, other + K * ((1 - score) - expected_score(other, own))
    return ratings


def count_wins(record: Record) -> dict[str, int]:
    """Wins as the table prints them: each twice, as each game is counted from both sides."""
    return {model: 2 * record.total(model)[0] for model in record.models}
