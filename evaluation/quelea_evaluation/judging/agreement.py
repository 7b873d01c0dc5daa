"""How far a judge agrees with people, and people with one another: accuracy, Cohen's kappa, alpha, correlations."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
import numpy.typing as npt

from quelea_evaluation.metrics.intervals import Array, draws, estimate

Codes: TypeAlias = npt.NDArray[np.int64]


@dataclass(frozen=True)
class Agreement:
    """Of n labels. Kappa is None where everybody said the same, so that chance explains all.

    Args:
        failed: Labels to which the judge said nothing that can be read; they are in no other figure but
            `accuracy_failed_as_wrong`.
    """

    n: int
    failed: int
    accuracy: float
    accuracy_low: float | None
    accuracy_high: float | None
    accuracy_failed_as_wrong: float
    kappa: float | None
    kappa_low: float | None
    kappa_high: float | None


def agreement(people: Sequence[int], judge: Sequence[int | None]) -> Agreement | None:
    """Agreement of two lists in the same order; None where the judge said nothing at all.

    Raises:
        ValueError: The lists are not equally long.
    """
    if len(people) != len(judge):
        raise ValueError(f"{len(people)} labels and {len(judge)} verdicts cannot be paired")
    both = [(left, right) for left, right in zip(people, judge, strict=True) if right is not None]
    if not both:
        return None
    names = {label: at for at, label in enumerate(sorted({one for pair in both for one in pair}))}
    left, right = (np.array([names[one] for one in side]) for side in zip(*both, strict=True))
    counts = [np.ones(len(both)), *draws(len(both))]
    accuracy, *accuracies = (float((one * (left == right)).sum() / len(both)) for one in counts)
    kappa, *kappas = (_kappa(left, right, len(names), one) for one in counts)
    accuracy_ends, kappa_ends = estimate(accuracy, accuracies), estimate(kappa, kappas)
    return Agreement(
        n=len(both),
        failed=len(people) - len(both),
        accuracy=accuracy,
        accuracy_low=accuracy_ends.low,
        accuracy_high=accuracy_ends.high,
        accuracy_failed_as_wrong=sum(one == other for one, other in both) / len(people),
        kappa=kappa,
        kappa_low=kappa_ends.low,
        kappa_high=kappa_ends.high,
    )


def _kappa(left: Codes, right: Codes, labels: int, weights: Array) -> float | None:
    """Cohen's kappa without weights, of labels 0 to labels − 1; scikit-learn's would import for a second."""
    table = np.bincount(left * labels + right, weights, labels * labels).reshape(labels, labels) / weights.sum()
    seen = float(np.trace(table))
    chance = float(table.sum(axis=1) @ table.sum(axis=0))
    return None if chance >= 1 - 1e-12 else (seen - chance) / (1 - chance)


def krippendorff_alpha(units: Sequence[Sequence[float]], *, ordinal: bool = False) -> float | None:
    """Agreement beyond chance, 1 full, 0 as by chance: Krippendorff (2011), Computing Krippendorff's Alpha-Reliability.

    The package `krippendorff` computes the same and is under the GPL, which this project does not take in.

    Args:
        units: The values that raters gave to each unit; missing ones are left out, units with one value do not count.
        ordinal: Values have an order, and neighbours differ less; else any two different values differ alike.

    Returns:
        None where no two values can be compared, or all are the same, which leaves nothing to agree about.
    """
    return alpha_of(coincidences(units).sum(axis=0), ordinal=ordinal)


def coincidences(units: Sequence[Sequence[float]]) -> Array:
    """Pairs of values within each unit of several raters, (units, values, values)."""
    several = [unit for unit in units if len(unit) > 1]
    place = {value: index for index, value in enumerate(sorted({value for unit in several for value in unit}))}
    pairs: Array = np.zeros((len(several), len(place), len(place)))
    for index, unit in enumerate(several):
        counts = np.bincount([place[value] for value in unit], minlength=len(place)).astype(float)
        pairs[index] = (np.outer(counts, counts) - np.diag(counts)) / (len(unit) - 1)
    return pairs


def alpha_of(pairs: Array, *, ordinal: bool) -> float | None:
    """Krippendorff's alpha of pairs of values, (values, values)."""
    totals = pairs.sum(axis=1)
    if (totals > 0).sum() < 2:
        return None
    upto = np.cumsum(totals) - totals / 2
    distances = (upto[:, None] - upto[None, :]) ** 2 if ordinal else 1 - np.eye(len(totals))
    expected = float((np.outer(totals, totals) * distances).sum())
    observed = float((pairs * distances).sum())
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
