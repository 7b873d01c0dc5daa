"""Do people agree with one another, and does the judge agree with people?"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from quelea_evaluation.arena.bradley_terry import Game, draw_ratings, fit_strengths, game_matrices
from quelea_evaluation.arena.record import Record
from quelea_evaluation.inputs import BadInput
from quelea_evaluation.judging.agreement import alpha_of, coincidences, pearson, spearman
from quelea_evaluation.metrics.intervals import RESAMPLES, Array, draws, estimate

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


def describe_raters(votes: Sequence[Vote], seed: int = 0) -> dict[str, Any]:
    """How many voted, and how far they agree, with 95 % intervals that draw compared units anew."""
    units: dict[tuple[str, str, str], list[float]] = {}
    for vote in votes:
        units.setdefault(vote.unit, []).append(vote.score)
    shared = coincidences(list(units.values()))

    def alpha(*, ordinal: bool) -> dict[str, Any]:
        drawn = [alpha_of(np.tensordot(one, shared, axes=1), ordinal=ordinal) for one in draws(len(shared), seed)]
        return asdict(estimate(alpha_of(shared.sum(axis=0), ordinal=ordinal), drawn))

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
        yield from (one[of_item] for one in draws(len(items), seed))

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
        both = [fit_strengths(game_matrices(sides, scores, weightings(), len(systems))) for scores in (judge, people)]
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
        BadInput: Fewer than three models are in both.
    """
    models = [model for model in record.models if model in people.counts]
    if len(models) < FEWEST_SYSTEMS:
        raise BadInput(
            f"a correlation of ratings needs {FEWEST_SYSTEMS} models in both records, there are {len(models)}"
        )
    rng = np.random.default_rng(seed)
    both = [draw_ratings(one.cells(), one.models, RESAMPLES, rng) for one in (record, people)]
    columns = [[one.models.index(model) for model in models] for one in (record, people)]
    (judge, judge_drawn), (human, human_drawn) = (
        (best[own], drawn[:, own]) for (best, drawn), own in zip(both, columns, strict=True)
    )

    def correlate(of: Callable[[Array, Array], float | None]) -> dict[str, Any]:
        return _of_draws([of(judge, human), *(of(*both) for both in zip(judge_drawn, human_drawn, strict=True))])

    return {"systems": models, "pearson": correlate(pearson), "spearman": correlate(spearman)}


def _same(judge: Array, people: Array, weights: Array) -> float | None:
    total = float(weights.sum())
    return float((weights * (np.sign(judge - 0.5) == np.sign(people - 0.5))).sum()) / total if total else None


def _of_draws(values: Sequence[float | None]) -> dict[str, Any]:
    """The first is that of all units, the others of those drawn anew."""
    return asdict(estimate(values[0], values[1:]))


def read_score(choice: str, sides: Mapping[str, str], first: str) -> float:
    """The score of `first` when a person chose `left`, `right` or `equal` and `sides` says who stood where."""
    if choice == "equal":
        return 0.5
    return 1.0 if sides[choice] == first else 0.0
