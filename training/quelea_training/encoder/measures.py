"""How well vectors retrieve: MAP and MAR at k by cosine, dot product and Euclidean distance (WeaverBird's Figure 2)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal, get_args

import numpy as np
from numpy.typing import NDArray

Similarity = Literal["cosine", "dot", "euclidean"]
SIMILARITIES: tuple[Similarity, ...] = get_args(Similarity)
Vectors = NDArray[np.float32]
K = 5


@dataclass(frozen=True)
class Score:
    """Means over queries, each 0 to 1."""

    map: float
    """Average precision at k: precision at the rank of each right passage among the best k, over min(k, right)."""
    mar: float
    """Recall at k: right passages among the best k, over all that are right."""
    queries: int


def similarities(queries: Vectors, passages: Vectors, by: Similarity) -> Vectors:
    """Higher is nearer; shape (queries, passages). Euclidean distances are negated.

    Args:
        queries: As the encoder pools them, not of unit length: of that the three would be one.
        passages: Likewise.
        by: Which.
    """
    if by == "cosine":
        queries, passages = unit(queries), unit(passages)
    products: Vectors = queries @ passages.T
    if by != "euclidean":
        return products
    squares = (queries**2).sum(1)[:, None] - 2 * products + (passages**2).sum(1)[None, :]
    distances: Vectors = -np.sqrt(np.maximum(squares, 0))
    return distances


def unit(vectors: Vectors) -> Vectors:
    """Of length 1."""
    made: Vectors = vectors / np.maximum(np.linalg.norm(vectors, axis=1, keepdims=True), np.float32(1e-12))
    return made


def best(scores: Vectors, k: int, names: Sequence[str] | None = None) -> list[list[int]]:
    """Places of the k best of each row, best first; equal ones in their order.

    Args:
        scores: Shape (queries, passages).
        k: How many.
        names: Of each passage its document: only the best passage of each counts.
    """
    found = []
    for row in scores:
        order = np.argsort(-row, kind="stable")
        if names is None:
            found.append(order[:k].tolist())
            continue
        seen: set[str] = set()
        chosen: list[int] = []
        for place in order.tolist():
            if names[place] not in seen:
                seen.add(names[place])
                chosen.append(place)
            if len(chosen) == k:
                break
        found.append(chosen)
    return found


def average_precision(hits: Sequence[bool], right: int) -> float:
    """Of one query.

    Args:
        hits: Whether the first, second, … is right.
        right: How many right ones there are; at least 1.
    """
    found, total = 0, 0.0
    for rank, hit in enumerate(hits, 1):
        if hit:
            found += 1
            total += found / rank
    return total / min(len(hits), right) if hits else 0.0


def score(ranked: Sequence[Sequence[str]], right: Sequence[frozenset[str]]) -> Score:
    """MAP and MAR of ranked names.

    Args:
        ranked: Of each query the names of the best k.
        right: Of each query the right ones; none is empty.
    """
    precisions, recalls = [], []
    for names, wanted in zip(ranked, right, strict=True):
        hits = [name in wanted for name in names]
        precisions.append(average_precision(hits, len(wanted)))
        recalls.append(sum(hits) / len(wanted))
    if not precisions:
        return Score(0.0, 0.0, 0)
    return Score(float(np.mean(precisions)), float(np.mean(recalls)), len(precisions))
