"""An encoder for tests: deterministic, instant, and it tells what it was asked."""

from __future__ import annotations

import hashlib
import threading
from collections.abc import Callable, Sequence

import numpy as np

from quelea_embedder.core.model import Kind, Measured, ModelInfo, Vectors


class FakeEncoder:
    """One token a word; the vector is drawn from a hash of prefix and text.

    Args:
        dimension: Of the vectors.
        max_tokens: Longer texts are cut at a word.
        before: Called in the worker's thread with each batch, before it is encoded; may block or raise.
    """

    def __init__(
        self, dimension: int = 8, max_tokens: int = 16, before: Callable[[Sequence[str]], None] | None = None
    ) -> None:
        self.info = ModelInfo(
            model="fake@0",
            dimension=dimension,
            max_tokens=max_tokens,
            query_prefix="query: ",
            passage_prefix="passage: ",
            device="cpu",
            two_towers=False,
        )
        self.batches: list[tuple[Kind, list[str]]] = []
        """Every batch that was encoded, in the order of their starts."""
        self.threads: set[str] = set()
        """Names of the threads that start_thread() was called in."""
        self._before = before
        self._lock = threading.Lock()

    def measure(self, texts: Sequence[str], kind: Kind) -> list[Measured]:  # both towers cut alike
        """One token a word."""
        limit = self.info.max_tokens
        return [
            Measured(" ".join(words[:limit]), min(len(words), limit), len(words) > limit)
            for words in (text.split() for text in texts)
        ]

    def encode(self, texts: Sequence[str], kind: Kind) -> Vectors:
        """Not of unit length: making it so is the batcher's work."""
        with self._lock:
            self.batches.append((kind, list(texts)))
        if self._before:
            self._before(texts)
        return np.stack([self.vector(text, kind) for text in texts])

    def start_thread(self) -> None:
        """Remember the thread."""
        self.threads.add(threading.current_thread().name)

    def vector(self, text: str, kind: Kind) -> Vectors:
        """What encode() gives for one text."""
        prefix = self.info.query_prefix if kind is Kind.QUERY else self.info.passage_prefix
        seed = hashlib.sha256((prefix + text).encode()).digest()
        return np.random.default_rng(list(seed)).normal(size=self.info.dimension).astype(np.float32)
