"""Intervals by the percentile bootstrap; the same values give the same interval."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
import numpy.typing as npt

Array: TypeAlias = npt.NDArray[np.float64]

RESAMPLES = 1000
ENDS = (0.025, 0.975)
_AT_ONCE = 1_000_000  # numbers drawn at a time, so that 10,000 values need a few megabytes


@dataclass(frozen=True)
class Interval:
    """A mean with its 95 % interval; low and high are the mean where there is one value alone."""

    n: int
    mean: float
    low: float
    high: float


@dataclass(frozen=True)
class Estimate:
    """A value with its 95 % interval; no ends where there is no value, or where most drawings have none."""

    value: float | None
    low: float | None
    high: float | None


@dataclass(frozen=True)
class Paired:
    """Two systems on the same items: the mean of second − first, its 95 % interval, and how likely it is by chance.

    `p` is of the sign-flip permutation test, two-sided; 1.0 where no item differs.
    """

    n: int
    first: float
    second: float
    difference: float
    low: float
    high: float
    p: float


def draws(units: int, seed: int = 0, resamples: int = RESAMPLES) -> Iterator[Array]:
    """How often each unit is drawn, (units,), when as many are drawn as there are; nothing of no units."""
    rng = np.random.default_rng(seed)
    for _ in range(resamples if units else 0):
        yield np.bincount(rng.integers(0, units, units), minlength=units).astype(np.float64)


def estimate(value: float | None, drawn: Sequence[float | None]) -> Estimate:
    """A value with the percentiles of the same of drawn units."""
    known = [one for one in drawn if one is not None]
    if value is None or len(known) < len(drawn) / 2:
        return Estimate(value, None, None)
    low, high = np.quantile(known, ENDS)
    return Estimate(value, float(low), float(high))


def mean_interval(values: Sequence[float], resamples: int = RESAMPLES) -> Interval | None:
    """Mean and 95 % bootstrap interval, or None of no values."""
    if not values:
        return None
    given = np.asarray(values, dtype=float)
    means = _resampled_means(given, resamples)
    low, high = np.quantile(means, ENDS)
    return Interval(len(given), float(given.mean()), float(low), float(high))


def compare_paired(first: Sequence[float], second: Sequence[float], resamples: int = RESAMPLES) -> Paired | None:
    """Two systems on the same items in the same order, or None of no items.

    Raises:
        ValueError: The lists are not equally long.
    """
    if len(first) != len(second):
        raise ValueError(f"{len(first)} and {len(second)} values cannot be paired")
    if not first:
        return None
    left, right = np.asarray(first, dtype=float), np.asarray(second, dtype=float)
    gaps = right - left
    low, high = np.quantile(_resampled_means(gaps, resamples), ENDS)
    return Paired(
        len(gaps), float(left.mean()), float(right.mean()), float(gaps.mean()), float(low), float(high), _chance(gaps)
    )


def _resampled_means(values: np.ndarray, resamples: int) -> np.ndarray:
    draw = np.random.default_rng(0)
    size = len(values)
    step = max(1, _AT_ONCE // size)
    parts = [
        values[draw.integers(0, size, (min(step, resamples - done), size))].mean(axis=1)
        for done in range(0, resamples, step)
    ]
    return np.concatenate(parts)


def _chance(gaps: np.ndarray, flips: int = 5000) -> float:
    seen = abs(float(gaps.sum()))
    moved = gaps[gaps != 0]
    if not len(moved):
        return 1.0
    draw = np.random.default_rng(0)
    step = max(1, _AT_ONCE // len(moved))
    extreme = 0
    for done in range(0, flips, step):
        signs = draw.integers(0, 2, (min(step, flips - done), len(moved))) * 2 - 1
        extreme += int((np.abs(signs @ moved) >= seen - 1e-12).sum())
    return (extreme + 1) / (flips + 1)
