"""From candidates with two scores each to a ranked list."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from .model import Candidate, Hit, Mode, Reading

DENSE_WEIGHT = 0.3
SPARSE_WEIGHT = 0.7


def rank(
    query: str,
    candidates: Sequence[Candidate],
    reading: Reading,
    k: int,
    mode: Mode = "fused",
    plain: bool = False,
) -> list[Hit]:
    """The best k of the candidates, best first.

    Args:
        query: the question.
        candidates: each passage once, with both scores exact (a passage that only one of the two searches found
            must have its other score computed, not guessed).
        reading: what the question was read to ask about; its groups are interleaved, first group first.
        k: how many hits at most.
        mode: by both scores, by the cosine alone, or by the sparse score alone.
        plain: by dense + sparse fusion alone, without the second stage.
    """
    cosine = _min_max(np.array([c.cosine for c in candidates], dtype=np.float64))
    sparse = _min_max(np.array([c.sparse for c in candidates], dtype=np.float64))
    score = (
        cosine if mode == "dense" else sparse if mode == "sparse" else DENSE_WEIGHT * cosine + SPARSE_WEIGHT * sparse
    )
    order = np.argsort(-score, kind="stable")
    return [Hit(candidates[i], float(score[i])) for i in order[:k]]


def _min_max(values: npt.NDArray[np.float64]) -> npt.NDArray[np.float64]:
    if not len(values):
        return values
    low, high = float(values.min()), float(values.max())
    return (values - low) / (high - low) if high > low else np.zeros_like(values)
