"""A cross-encoder for tests: it compares words, and tells what it was asked."""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence

import numpy as np

from quelea_embedder.core.entailment import Pair, Scores

_FOLLOWS, _UNKNOWN, _CONTRADICTS = (0.9, 0.06, 0.04), (0.1, 0.8, 0.1), (0.02, 0.08, 0.9)


class FakeCrossEncoder:
    """A premise with every word of the hypothesis entails it; one that has the same words but "not" contradicts it.

    Args:
        max_words: A pair with more words is reported as truncated.
        before: Called in the worker's thread with each batch, before it is scored; may block or raise.
    """

    name = "fake-cross-encoder@0"

    def __init__(self, max_words: int = 64, before: Callable[[Sequence[Pair]], None] | None = None) -> None:
        self.batches: list[list[Pair]] = []
        """Every batch that was scored, in the order of their starts."""
        self._max_words = max_words
        self._before = before
        self._lock = threading.Lock()

    def score(self, pairs: Sequence[Pair]) -> tuple[Scores, list[bool]]:
        """Three numbers a pair."""
        with self._lock:
            self.batches.append(list(pairs))
        if self._before:
            self._before(pairs)
        rows = [_row(set(premise.lower().split()), set(hypothesis.lower().split())) for premise, hypothesis in pairs]
        return np.array(rows, np.float32), [len(f"{a} {b}".split()) > self._max_words for a, b in pairs]

    def start_thread(self) -> None:
        """Nothing to set."""


def _row(premise: set[str], hypothesis: set[str]) -> tuple[float, float, float]:
    if hypothesis - {"not"} <= premise:
        return _FOLLOWS if ("not" in hypothesis) == ("not" in premise) else _CONTRADICTS
    return _UNKNOWN
