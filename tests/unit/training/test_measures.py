"""MAP, MAR and similarities against values worked out by hand."""

from __future__ import annotations

import numpy as np
import pytest
from quelea_training.encoder.measures import average_precision, best, score, similarities


def test_average_precision_is_the_mean_of_precisions_at_the_hits() -> None:
    assert average_precision([True, False, True], 2) == pytest.approx((1 + 2 / 3) / 2)
    assert average_precision([False, False, False, False, True], 1) == pytest.approx(1 / 5)
    assert average_precision([True, True], 7) == 1.0  # two places, both right: no ranking is better
    assert average_precision([False, False], 3) == 0.0
    assert average_precision([], 1) == 0.0


def test_map_and_mar_are_means_over_queries() -> None:
    ranked = [["a", "b"], ["c", "d"], ["e", "f"]]
    right = [frozenset("b"), frozenset("cxy"), frozenset("z")]
    found = score(ranked, right)
    assert found.map == pytest.approx((1 / 2 + 1 / 2 + 0) / 3)
    assert found.mar == pytest.approx((1 + 1 / 3 + 0) / 3)
    assert found.queries == 3
    assert score([], []).queries == 0


def test_the_three_similarities_order_otherwise() -> None:
    query = np.array([[1, 0]], np.float32)
    passages = np.array([[0.5, 0.0], [10, 9], [1.2, 0.5]], np.float32)
    cosine, dot, euclidean = (similarities(query, passages, by) for by in ("cosine", "dot", "euclidean"))
    assert cosine[0] == pytest.approx([1, 10 / np.hypot(10, 9), 1.2 / np.hypot(1.2, 0.5)])
    assert dot[0] == pytest.approx([0.5, 10, 1.2])
    assert euclidean[0] == pytest.approx([-0.5, -np.hypot(9, 9), -np.hypot(0.2, 0.5)], rel=1e-5)
    assert [best(one, 1)[0][0] for one in (cosine, dot, euclidean)] == [0, 1, 0]


def test_of_documents_only_the_best_passage_counts() -> None:
    scores = np.array([[0.9, 0.8, 0.7, 0.6]], np.float32)
    assert best(scores, 2) == [[0, 1]]
    assert best(scores, 2, ["x", "x", "y", "z"]) == [[0, 2]]
    assert best(np.zeros((1, 3), np.float32), 2) == [[0, 1]]
