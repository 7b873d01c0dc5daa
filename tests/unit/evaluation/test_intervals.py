"""Bootstrap intervals and the paired test, against what is known of them."""

import numpy as np
import pytest
from quelea_evaluation.metrics.intervals import compare_paired, mean_interval


def test_the_interval_is_about_that_of_the_normal_distribution() -> None:
    values = np.random.default_rng(1).normal(0.5, 0.2, 400).tolist()
    found = mean_interval(values)
    assert found is not None
    half = 1.96 * 0.2 / 20
    assert found.mean == pytest.approx(np.mean(values))
    assert found.high - found.low == pytest.approx(2 * half, rel=0.15)
    assert mean_interval(values) == found


def test_of_nothing_there_is_no_interval_and_of_one_value_no_width() -> None:
    assert mean_interval([]) is None
    one = mean_interval([0.3])
    assert one is not None
    assert (one.low, one.mean, one.high) == (0.3, 0.3, 0.3)


def test_pairs_tell_a_difference_that_the_spread_hides() -> None:
    first = np.random.default_rng(2).normal(0.5, 0.3, 60)
    same = compare_paired(first.tolist(), first.tolist())
    better = compare_paired(first.tolist(), (first + 0.05).tolist())
    assert same is not None
    assert better is not None
    assert (same.difference, same.p) == (0.0, 1.0)
    assert better.difference == pytest.approx(0.05)
    assert better.low > 0
    assert better.p < 0.01


def test_few_pairs_cannot_be_significant() -> None:
    found = compare_paired([0, 0, 0], [1, 1, 1])
    assert found is not None
    assert found.p == pytest.approx(0.25, abs=0.03)
    with pytest.raises(ValueError, match="cannot be paired"):
        compare_paired([1], [1, 2])


def test_many_values_need_little_memory() -> None:
    found = mean_interval([0.0, 1.0] * 5000)
    assert found is not None
    assert found.low == pytest.approx(0.49, abs=0.002)
