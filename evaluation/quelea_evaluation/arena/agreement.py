"""Do people agree with one another, and does the judge agree with people?"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

from quelea_evaluation.arena.bradley_terry import Game, draw_ratings, fit_strengths
from quelea_evaluation.arena.errors import ArenaError
from quelea_evaluation.arena.record import Record

Array: TypeAlias = npt.NDArray[np.float64]

RESAMPLES = 1000
FEWEST_SYSTEMS = 3
"""Two systems give two points, through which a line always goes."""


@dataclass(frozen=True)
class Vote:
    """One person's comparison of two systems on one item."""

    rater: str
    item: str
    task: str
    first: str
    second: str
    score: float
    """Of the first: 1 better, 0.5 equal, 0 worse."""

    @property
    def unit(self) -> tuple[str, str, str]:
        """What was compared."""
        return (self.item, self.first, self.second)


def krippendorff_alpha(units: Sequence[Sequence[float]], *, ordinal: bool = False) -> float | None:
    """Agreement beyond chance, 1 full, 0 as by chance: Krippendorff (2011), Computing Krippendorff's Alpha-Reliability.

    The package `krippendorff` computes the same and is under the GPL, which this project does not take in.

    Args:
        units: The values that raters gave to each unit; missing ones are left out, units with one value do not count.
        ordinal: Values have an order, and neighbours differ less; else any two different values differ alike.

    Returns:
        None where no two values can be compared, or all are the same, which leaves nothing to agree about.
    """
    return _alpha(_coincidences(units).sum(axis=0), ordinal=ordinal)


def _coincidences(units: Sequence[Sequence[float]]) -> Array:
    """Pairs of values within each unit of several raters, (units, values, values)."""
    several = [unit for unit in units if len(unit) > 1]
    place = {value: index for index, value in enumerate(sorted({value for unit in several for value in unit}))}
    pairs: Array = np.zeros((len(several), len(place), len(place)))
    for index, unit in enumerate(several):
        counts = np.bincount([place[value] for value in unit], minlength=len(place)).astype(float)
        pairs[index] = (np.outer(counts, counts) - np.diag(counts)) / (len(unit) - 1)
    return pairs


def _alpha(coincidences: Array, *, ordinal: bool) -> float | None:
    totals = coincidences.sum(axis=1)
    if (totals > 0).sum() < 2:
        return None
    upto = np.cumsum(totals) - totals / 2
    distances = (upto[:, None] - upto[None, :]) ** 2 if ordinal else 1 - np.eye(len(totals))
    expected = float((np.outer(totals, totals) * distances).sum())
    observed = float((coincidences * distances).sum())
    return 1 - (float(totals.sum()) - 1) * observed / expected


def pearson(first: Array, second: Array, weights: Array | None = None) -> float | None:
    """Correlation; None where one side does not vary, or with fewer than three points.

    Args:
        first: Values.
        second: Values of the same points.
        weights: How often each point counts; once when None.
    """
    weights = np.ones(len(first)) if weights is None else weights
    if (weights > 0).sum() < 3:
        return None
    total = weights.sum()
    x, y = (values - (weights * values).sum() / total for values in (first, second))
    spread = float((weights * x * x).sum() * (weights * y * y).sum())
    return float((weights * x * y).sum() / math.sqrt(spread)) if spread > 1e-18 * total**2 else None


def spearman(first: Array, second: Array, weights: Array | None = None) -> float | None:
    """Correlation of ranks, equal values sharing theirs."""
    return pearson(rank(first, weights), rank(second, weights), weights)


def rank(values: Array, weights: Array | None = None) -> Array:
    """Ranks from 1, equal values sharing the mean of theirs; a value of weight 2 takes two places."""
    _, inverse = np.unique(np.round(values, 9), return_inverse=True)
    counts = np.bincount(inverse, weights)
    return np.asarray((np.cumsum(counts) - (counts - 1) / 2)[inverse], dtype=np.float64)


def describe_raters(votes: Sequence[Vote], seed: int = 0) -> dict[str, Any]:
    """How many voted, and how far they agree, with 95 % intervals that draw compared units anew."""
    units: dict[tuple[str, str, str], list[float]] = {}
    for vote in votes:
        units.setdefault(vote.unit, []).append(vote.score)
    shared = _coincidences(list(units.values()))

    def alpha(*, ordinal: bool) -> dict[str, Any]:
        drawn = [_alpha(np.tensordot(one, shared, axes=1), ordinal=ordinal) for one in _draws(len(shared), seed)]
        return _percentiles(_alpha(shared.sum(axis=0), ordinal=ordinal), drawn)

    return {
        "votes": len(votes),
        "raters": dict(sorted(Counter(vote.rater for vote in votes).items())),
        "units": len(units),
        "units_with_several_raters": len(shared),
        "alpha_nominal": alpha(ordinal=False),
        "alpha_ordinal": alpha(ordinal=True),
    }


def compare_with_people(games: Sequence[Game], votes: Sequence[Vote], seed: int = 0) -> dict[str, Any]:
    """Judge and people on what both compared, with 95 % intervals that draw items anew.

    Returns:
        `verdicts`: over comparisons, the judge's score against the mean vote, and the share where both find the same
        side better. `systems`: over systems, the judge's Bradley-Terry rating against that of the votes, where there
        are three systems or more.
    """
    judged = {(game.item, game.first, game.second): game.score for game in games}
    voted: dict[tuple[str, str, str], list[float]] = {}
    for vote in votes:
        if vote.unit in judged:
            voted.setdefault(vote.unit, []).append(vote.score)
    units = sorted(voted)
    judge = np.array([judged[unit] for unit in units])
    people = np.array([float(np.mean(voted[unit])) for unit in units])
    items = {name: index for index, name in enumerate(dict.fromkeys(unit[0] for unit in units))}
    of_item = np.array([items[unit[0]] for unit in units], dtype=np.intp)

    def weightings() -> Iterator[Array]:
        yield np.ones(len(units))
        yield from (one[of_item] for one in _draws(len(items), seed))

    result: dict[str, Any] = {
        "units": len(units),
        "items": len(items),
        "verdicts": {
            name: _of_draws([measure(judge, people, one) for one in weightings()])
            for name, measure in (("pearson", pearson), ("spearman", spearman), ("same", _same))
        },
    }
    systems = sorted({name for unit in units for name in unit[1:]})
    if len(systems) >= FEWEST_SYSTEMS:
        sides = np.array([(systems.index(unit[1]), systems.index(unit[2])) for unit in units], dtype=np.intp)
        both = [_strengths(sides, scores, weightings(), len(systems)) for scores in (judge, people)]
        result["systems"] = {
            "systems": systems,
            **{
                name: _of_draws([measure(one, two) for one, two in zip(*both, strict=True)])
                for name, measure in (("pearson", pearson), ("spearman", spearman))
            },
        }
    return result


def compare_records(record: Record, people: Record, seed: int = 0) -> dict[str, Any]:
    """Ratings of two records, a judge's and people's, over the models that both have; intervals draw games anew.

    Raises:
        ArenaError: Fewer than three models are in both.
    """
    models = [model for model in record.models if model in people.counts]
    if len(models) < FEWEST_SYSTEMS:
        raise ArenaError(
            f"a correlation of ratings needs {FEWEST_SYSTEMS} models in both records, there are {len(models)}"
        )
    rng = np.random.default_rng(seed)
    both = [draw_ratings(one.cells(), one.models, RESAMPLES, rng) for one in (record, people)]
    columns = [[one.models.index(model) for model in models] for one in (record, people)]
    (judge, judge_drawn), (human, human_drawn) = (
        (best[own], drawn[:, own]) for (best, drawn), own in zip(both, columns, strict=True)
    )

    def correlate(of: Callable[[Array, Array], float | None]) -> dict[str, Any]:
        drawn = [of(one, two) for one, two in zip(judge_drawn, human_drawn, strict=True)]
        return _percentiles(of(judge, human), drawn)

    return {"systems": models, "pearson": correlate(pearson), "spearman": correlate(spearman)}


def _same(judge: Array, people: Array, weights: Array) -> float | None:
    total = float(weights.sum())
    return float((weights * (np.sign(judge - 0.5) == np.sign(people - 0.5))).sum()) / total if total else None


def _strengths(sides: npt.NDArray[np.intp], scores: Array, weights: Iterable[Array], systems: int) -> Array:
    """Bradley-Terry strengths under each weighting, (weightings, systems)."""
    cell, mirror = sides @ [systems, 1], sides @ [1, systems]
    matrices = [
        np.bincount(cell, own * scores, systems**2) + np.bincount(mirror, own * (1 - scores), systems**2)
        for own in weights
    ]
    return fit_strengths(np.asarray(matrices, dtype=np.float64).reshape(-1, systems, systems))


def _draws(units: int, seed: int) -> Iterator[Array]:
    """How often each unit is drawn, when as many are drawn as there are."""
    rng = np.random.default_rng(seed)
    for _ in range(RESAMPLES if units else 0):
        yield np.bincount(rng.integers(0, units, units), minlength=units).astype(np.float64)


def _of_draws(values: Sequence[float | None]) -> dict[str, Any]:
    """The first is that of all units, the others of those drawn anew."""
    return _percentiles(values[0], values[1:])


def _percentiles(value: float | None, drawn: Sequence[float | None]) -> dict[str, Any]:
    known = [one for one in drawn if one is not None]
    if value is None or len(known) < len(drawn) / 2:
        return {"value": value, "low": None, "high": None}
    low, high = np.quantile(known, [0.025, 0.975])
    return {"value": value, "low": float(low), "high": float(high)}


def read_score(choice: str, sides: Mapping[str, str], first: str) -> float:
    """The score of `first` when a person chose `left`, `right` or `equal` and `sides` says who stood where."""
    if choice == "equal":
        return 0.5
    return 1.0 if sides[choice] == first else 0.0
