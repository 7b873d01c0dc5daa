"""Weights of the second stage from questions whose right passages are known: a conditional logit with a prior.

Of a question's candidates the right ones should get the probability: the loss is -log(sum of exp(score) over the right
ones / over all), the listwise softmax of Cao et al. (ListNet, 2007) for several right ones. No weight falls below 0,
as more of a feature never speaks against a passage, and all are pulled to the weights that there were: what the data
do not speak of stays as it is.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from quelea_kit.errors import InvalidInput
from scipy.optimize import minimize, minimize_scalar  # type: ignore[import-untyped]  # no stubs are published

from quelea_training.ranking.candidates import Candidates, Weights

Vector = NDArray[np.float64]
SCALED = ("dense", "sparse")
"""Their weights add up to 1: scores of one ranker are then as large as those of another, which the gate relies on."""
FEW = 30
"""Fewer questions with a right passage among wrong ones teach nothing."""


def fit(questions: Sequence[Candidates], names: Sequence[str], prior: Weights, strength: float) -> Weights:
    """Weights for both kinds of search, each by the questions that had it.

    Args:
        questions: each set weighs the same, whatever its size.
        names: of the features.
        prior: where the weights are pulled to, and what stays where too few questions had that kind of search.
        strength: of the pull.
    """
    found = {}
    for kind, before in (("anywhere", prior.anywhere), ("in_filing", prior.in_filing)):
        own = [one for one in questions if one.in_filing == (kind == "in_filing") and teaches(one)]
        found[kind] = _fit(own, names, before, strength) if len(own) >= FEW else before
    return Weights(**found)


def teaches(one: Candidates) -> bool:
    """Whether there is something to tell apart: right passages, and wrong ones."""
    return bool(one.right.any() and not one.right.all())


def _fit(questions: Sequence[Candidates], names: Sequence[str], prior: Vector, strength: float) -> Vector:
    rows = np.concatenate([one.features for one in questions])
    right = np.concatenate([one.right for one in questions])
    starts = np.cumsum([0, *(len(one.right) for one in questions)])[:-1]
    sizes = {name: sum(one.set == name for one in questions) for name in {one.set for one in questions}}
    share = np.array([1.0 / (len(sizes) * sizes[one.set]) for one in questions])
    counts = np.diff([*starts, len(right)])
    # What never differs inside a question cannot be learned, and is not moved by what it happens to be.
    varies = np.array([any(np.ptp(one.features[:, i]) > 0 for one in questions) for i in range(len(names))])

    def loss(weights: Vector) -> tuple[float, Vector]:
        scores = rows @ weights
        scores -= np.repeat(np.maximum.reduceat(scores, starts), counts)
        power = np.exp(scores)
        whole, part = np.add.reduceat(power, starts), np.add.reduceat(power * right, starts)
        part = np.maximum(part, 1e-300)
        push = np.repeat(share / whole, counts) * power - np.repeat(share / part, counts) * power * right
        return float((share * (np.log(whole) - np.log(part))).sum()), np.asarray(rows.T @ push)

    heat = float(minimize_scalar(lambda log: loss(prior * np.exp(log))[0], bounds=(-2.0, 5.0), method="bounded").x)
    start = prior * np.exp(heat)
    pull = strength / np.exp(2.0 * heat)

    def objective(weights: Vector) -> tuple[float, Vector]:
        value, slope = loss(weights)
        away = weights - start
        return value + pull * float(away @ away), slope + 2.0 * pull * away

    bounds = [(0.0, None) if free else (before, before) for free, before in zip(varies, start, strict=True)]
    done = minimize(objective, start, jac=True, bounds=bounds, method="L-BFGS-B", options={"maxiter": 500})
    return normalise(np.asarray(done.x, dtype=np.float64), names)


def normalise(weights: Vector, names: Sequence[str]) -> Vector:
    """The same order of passages, with the weights of both scores adding up to 1."""
    whole = sum(float(weights[names.index(name)]) for name in SCALED)
    if whole <= 0:
        raise InvalidInput("The fit gave both scores of the store no weight: there is something wrong with the pairs.")
    return weights / whole


@dataclass(frozen=True)
class Measured:
    """How well weights rank some questions, each measure from 0 to 1."""

    set: str
    questions: int
    hit1: float
    hit5: float
    mrr10: float
    document1: float
    document5: float


def measure(name: str, questions: Iterable[Candidates], weights: Weights) -> Measured:
    """Hit@k and MRR@10 of right passages, and hit@k of right documents in the order of their first passage."""
    ranks: list[tuple[int, int]] = []
    for one in questions:
        order = ranked(one, one.features @ weights.of(one))
        hits = np.flatnonzero(one.right[order])
        first = list(dict.fromkeys(one.documents[order].tolist()))
        good = {int(d) for d, right in zip(one.documents, one.right_document, strict=True) if right}
        place = next((i for i, document in enumerate(first) if document in good), 10**6)
        ranks.append((int(hits[0]) if hits.size else 10**6, place))
    found = np.array(ranks)
    passage, document = found[:, 0], found[:, 1]
    return Measured(
        set=name,
        questions=len(ranks),
        hit1=float((passage < 1).mean()),
        hit5=float((passage < 5).mean()),
        mrr10=float(np.where(passage < 10, 1.0 / (passage + 1), 0.0).mean()),
        document1=float((document < 1).mean()),
        document5=float((document < 5).mean()),
    )


def ranked(one: Candidates, scores: Vector) -> NDArray[np.int64]:
    """Positions of the candidates, best first: each list by its scores, then the lists in turn, as the service does."""
    order = np.argsort(-scores, kind="stable")
    turn: dict[int, int] = {}
    keys = []
    for i in order.tolist():
        number = int(one.lists[i])
        keys.append((turn.get(number, 0), number, i))
        turn[number] = turn.get(number, 0) + 1
    return np.array([i for _, _, i in sorted(keys)], dtype=np.int64)
