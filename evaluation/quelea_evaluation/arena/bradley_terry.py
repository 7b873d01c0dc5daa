"""Ratings that do not depend on the order of games: Bradley and Terry (1952), a tie counting half a win to each side.

P(a beats b) = 1 / (1 + exp(s_b - s_a)); strengths s are printed on Elo's scale, 1000 + 400 s / ln 10, with mean 1000.
They are the mode under a normal prior of 1000 points' standard deviation around the mean: a model that never lost, or
models that never met, get finite ratings. On UCFE's record the prior moves no rating by more than 0.01.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import islice

import numpy as np
import numpy.typing as npt

from quelea_evaluation.arena.record import Cell
from quelea_evaluation.metrics.intervals import ENDS, RESAMPLES, Array, draws

CENTRE = 1000.0
POINTS = 400 / math.log(10)
"""Points for one unit of strength (a factor e in the odds)."""
PRIOR = (POINTS / 1000.0) ** 2
"""Precision of the prior, in units of strength."""
_STEPS = 100
_CLOSE = 1e-10
_NUMBERS_HELD = 8_000_000


SAME = 1e-6
"""Points: ratings that are nearer to each other differ by how floats are rounded, and are equal."""


@dataclass(frozen=True)
class Rating:
    """Points, with the ends of the interval.

    Both ends are None where a model won or lost every game, or played none, and where all its games ended alike: drawn
    anew they are the same games.
    """

    rating: float
    low: float | None
    high: float | None


@dataclass(frozen=True)
class Game:
    """One comparison of two models on one item."""

    item: str
    task: str
    first: str
    second: str
    score: float
    """Of the first: 1 won, 0.5 tied, 0 lost."""


def rate_record(
    cells: Sequence[Cell], models: Sequence[str], *, resamples: int = RESAMPLES, seed: int = 0
) -> dict[str, Rating]:
    """Ratings with percentile intervals of a bootstrap that draws the games of each pair and task anew.

    Args:
        cells: Every pair and task once.
        models: Their names.
        resamples: How many times to draw; at least 1.
        seed: Of the drawing.
    """
    best, drawn = draw_ratings(cells, models, resamples, np.random.default_rng(seed))
    points = {name: [0.0, 0.0] for name in models}
    for cell in cells:
        wins, ties, losses = cell.counts
        for name, own, other in ((cell.first, wins, losses), (cell.second, losses, wins)):
            points[name][0] += own + ties / 2
            points[name][1] += other + ties / 2
    return _with_intervals(models, best, drawn, [points[name] for name in models])


def draw_ratings(
    cells: Sequence[Cell], models: Sequence[str], resamples: int, rng: np.random.Generator
) -> tuple[Array, Array]:
    """Points of each model, (models,), and of games drawn anew, (resamples, models)."""
    place = {name: index for index, name in enumerate(models)}
    counts = np.array([cell.counts for cell in cells], dtype=np.int64).reshape(-1, 3)
    pairs = np.array([(place[c.first], place[c.second]) for c in cells], dtype=np.intp).reshape(-1, 2)
    size = len(models)
    best = to_points(fit_strengths(score_matrix(pairs, counts[None], size)))[0]
    parts = [
        to_points(fit_strengths(score_matrix(pairs, draw_counts(counts, some, rng), size)))
        for some in _portions(resamples, counts.size + 6 * size**2)
    ]
    return best, np.concatenate(parts)


def _portions(resamples: int, numbers: int) -> Iterator[int]:
    """How many to draw together, so that some 64 MB are held; `numbers` are those of one drawing."""
    most = max(1, _NUMBERS_HELD // numbers)
    for done in range(0, resamples, most):
        yield min(most, resamples - done)


def rate_games(
    games: Sequence[Game], models: Sequence[str], *, resamples: int = RESAMPLES, seed: int = 0
) -> dict[str, Rating]:
    """The same, drawing whole items with all their games: games on one item are no independent evidence."""
    place = {name: index for index, name in enumerate(models)}
    items = {name: index for index, name in enumerate(dict.fromkeys(game.item for game in games))}
    of_item = np.array([items[game.item] for game in games], dtype=np.intp)
    scores = np.array([game.score for game in games])
    size = len(models)
    sides = np.array([(place[g.first], place[g.second]) for g in games], dtype=np.intp)
    whole = game_matrices(sides, scores, [np.ones(len(games))], size)
    weights = (one[of_item] for one in draws(len(items), seed, resamples))
    parts = [
        to_points(fit_strengths(game_matrices(sides, scores, islice(weights, some), size)))
        for some in _portions(resamples, 6 * size**2)
    ]
    points = list(zip(whole[0].sum(axis=1).tolist(), whole[0].sum(axis=0).tolist(), strict=True))
    return _with_intervals(models, to_points(fit_strengths(whole))[0], np.concatenate(parts), points)


def game_matrices(sides: npt.NDArray[np.intp], scores: Array, weights: Iterable[Array], size: int) -> Array:
    """Points of the row over the column under each weighting of the games, (weightings, models, models).

    Args:
        sides: First and second model of each game, (games, 2).
        scores: Of the first.
        weights: How often each game counts.
        size: How many models there are.
    """
    cell, mirror = sides @ [size, 1], sides @ [1, size]
    matrices = [
        np.bincount(cell, own * scores, size**2) + np.bincount(mirror, own * (1 - scores), size**2) for own in weights
    ]
    return np.asarray(matrices, dtype=np.float64).reshape(-1, size, size)


def _with_intervals(
    models: Sequence[str], best: Array, drawn: Array, points: Sequence[Sequence[float]]
) -> dict[str, Rating]:
    """Ratings with percentiles; `points` are those won and lost, of which none leaves an end open."""
    low, high = np.quantile(drawn, ENDS, axis=0)
    return {
        name: Rating(float(best[i]), float(low[i]), float(high[i]))
        if points[i][0] and points[i][1] and high[i] - low[i] > SAME
        else Rating(float(best[i]), None, None)
        for i, name in enumerate(models)
    }


def draw_counts(counts: npt.NDArray[np.int64], resamples: int, rng: np.random.Generator) -> npt.NDArray[np.int64]:
    """Counts drawn with replacement inside each cell, (cells, 3) → (resamples, cells, 3)."""
    drawn = np.zeros((resamples, *counts.shape), dtype=np.int64)
    for index, cell in enumerate(counts):
        total = int(cell.sum())
        if total:
            drawn[:, index] = rng.multinomial(total, cell / total, size=resamples)
    return drawn


def score_matrix(pairs: npt.NDArray[np.intp], counts: npt.NDArray[np.int64], models: int) -> Array:
    """Points of a over b, wins plus half the ties, (resamples, models, models), from (resamples, cells, 3)."""
    scores: Array = np.zeros((len(counts), models, models))
    for (first, second), cell in zip(pairs, np.moveaxis(counts, 1, 0), strict=True):
        scores[:, first, second] += cell[:, 0] + cell[:, 1] / 2
        scores[:, second, first] += cell[:, 2] + cell[:, 1] / 2
    return scores


def fit_strengths(scores: Array) -> Array:
    """The mode of the posterior by Newton's method, (sets, models, models) → (sets, models); each row has mean 0.

    The log posterior is strictly concave, so there is one mode; steps of more than one unit are cut, which keeps the
    way to it from running off where one side has won everything.
    """
    games = scores + np.swapaxes(scores, 1, 2)
    won = scores.sum(axis=2)
    strengths: Array = np.zeros(won.shape)
    eye = np.eye(scores.shape[1])
    for _ in range(_STEPS):
        chance = 1 / (1 + np.exp(strengths[:, None, :] - strengths[:, :, None]))
        gradient = won - (games * chance).sum(axis=2) - PRIOR * strengths
        weights = games * chance * (1 - chance)
        hessian = eye * (weights.sum(axis=2) + PRIOR)[:, :, None] - weights
        step = np.linalg.solve(hessian, gradient[:, :, None])[:, :, 0]
        strengths += np.clip(step, -1, 1)
        if np.abs(step).max() < _CLOSE:
            break
    centred: Array = strengths - strengths.mean(axis=1, keepdims=True)
    return centred


def to_points(strengths: Array) -> Array:
    """Strengths on Elo's scale."""
    points: Array = CENTRE + POINTS * strengths
    return points


def separate_groups(cells: Sequence[Cell], models: Sequence[str]) -> list[list[str]]:
    """Models that are linked by games, directly or through others; two groups cannot be compared."""
    group = {name: index for index, name in enumerate(models)}
    for cell in cells:
        old, new = group[cell.second], group[cell.first]
        if sum(cell.counts) and old != new:
            group = {name: new if own == old else own for name, own in group.items()}
    return [[name for name in models if group[name] == index] for index in sorted(set(group.values()))]
