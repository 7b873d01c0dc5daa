"""How far a judge agrees with people: accuracy and Cohen's kappa, with bootstrap intervals."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

_RESAMPLES = 1000


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
    accuracy_low: float
    accuracy_high: float
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
    left = np.array([names[one] for one, _ in both])
    right = np.array([names[one] for _, one in both])
    draw = np.random.default_rng(0)
    size = len(both)
    accuracies, kappas = [], []
    for _ in range(_RESAMPLES):
        at = draw.integers(0, size, size)
        accuracies.append(float((left[at] == right[at]).mean()))
        kappas.append(_kappa(left[at], right[at], len(names)))
    known = [one for one in kappas if one is not None]
    low, high = np.quantile(accuracies, (0.025, 0.975))
    kappa = _kappa(left, right, len(names))
    bounds = np.quantile(known, (0.025, 0.975)) if kappa is not None and known else (None, None)
    right_ones = int((left == right).sum())
    return Agreement(
        n=size,
        failed=len(people) - size,
        accuracy=right_ones / size,
        accuracy_low=float(low),
        accuracy_high=float(high),
        accuracy_failed_as_wrong=right_ones / len(people),
        kappa=kappa,
        kappa_low=None if bounds[0] is None else float(bounds[0]),
        kappa_high=None if bounds[1] is None else float(bounds[1]),
    )


def _kappa(left: np.ndarray, right: np.ndarray, labels: int) -> float | None:
    """Cohen's kappa without weights, of labels 0 to labels − 1; scikit-learn's would import for a second."""
    table = np.bincount(left * labels + right, minlength=labels * labels).reshape(labels, labels) / len(left)
    seen = float(np.trace(table))
    chance = float(table.sum(axis=1) @ table.sum(axis=0))
    return None if chance >= 1 - 1e-12 else (seen - chance) / (1 - chance)
