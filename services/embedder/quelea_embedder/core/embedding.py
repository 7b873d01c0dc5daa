"""One call from texts to vectors: checks, the cache of queries, the batcher."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from quelea_kit.errors import InvalidInput, TooLarge

from quelea_embedder.core.batching import Batcher
from quelea_embedder.core.model import Encoder, Kind, ModelInfo, Vectors


@dataclass(frozen=True, slots=True)
class Embedded:
    """The answer to one call."""

    vectors: Vectors
    """Shape (texts, dimension), unit rows, in the order of the texts."""

    truncated: list[int]
    """Indexes of texts that were longer than the model reads."""

    queue_seconds: float
    compute_seconds: float
    cached: int
    """Texts whose vector was known."""


class VectorCache:
    """The vectors of the latest texts, the least recently asked for forgotten first.

    Args:
        size: Texts kept; 0 keeps none.
        max_characters: Longer texts are not kept.
    """

    def __init__(self, size: int, max_characters: int = 2000) -> None:
        self._size = size
        self._max_characters = max_characters
        self._entries: OrderedDict[str, tuple[Vectors, bool]] = OrderedDict()

    def __len__(self) -> int:
        return len(self._entries)

    def get(self, text: str) -> tuple[Vectors, bool] | None:
        """Vector and whether the text was truncated."""
        found = self._entries.get(text)
        if found:
            self._entries.move_to_end(text)
        return found

    def put(self, text: str, vector: Vectors, *, truncated: bool) -> None:
        """Keep a copy."""
        if not self._size or len(text) > self._max_characters:
            return
        self._entries[text] = (vector.copy(), truncated)
        self._entries.move_to_end(text)
        while len(self._entries) > self._size:
            self._entries.popitem(last=False)


class Embedding:
    """What the service offers, without the wire.

    Args:
        encoder: The model.
        batcher: In front of it.
        max_texts: Texts in one call.
        cache: For queries.
    """

    def __init__(self, encoder: Encoder, batcher: Batcher, *, max_texts: int, cache: VectorCache) -> None:
        self._encoder = encoder
        self._batcher = batcher
        self._cache = cache
        self.max_texts = max_texts

    @property
    def info(self) -> ModelInfo:
        """What the encoder is."""
        return self._encoder.info

    async def embed(self, texts: Sequence[str], kind: Kind) -> Embedded:
        """Unit vectors of the texts.

        Raises:
            InvalidInput: No text, or an empty one; the message names its index.
            TooLarge: More than max_texts.
            Overloaded: The queue is full.
        """
        self._check(texts)
        vectors = np.empty((len(texts), self.info.dimension), np.float32)
        truncated: set[int] = set()
        missing: list[int] = []
        for i, text in enumerate(texts):
            known = self._cache.get(text) if kind is Kind.QUERY else None
            if known is None:
                missing.append(i)
                continue
            vectors[i] = known[0]
            if known[1]:
                truncated.add(i)
        if not missing:
            return Embedded(vectors, sorted(truncated), 0.0, 0.0, len(texts))
        self._batcher.check_room(len(missing), 0, kind)
        measured = await self._batcher.measure([texts[i] for i in missing], kind)
        encoded = await self._batcher.encode(measured, kind)
        vectors[missing] = encoded.vectors
        for i, one, row in zip(missing, measured, encoded.vectors, strict=True):
            if one.truncated:
                truncated.add(i)
            if kind is Kind.QUERY:
                self._cache.put(texts[i], row, truncated=one.truncated)
        cached = len(texts) - len(missing)
        return Embedded(vectors, sorted(truncated), encoded.queue_seconds, encoded.compute_seconds, cached)

    def _check(self, texts: Sequence[str]) -> None:
        if not texts:
            raise InvalidInput("texts must not be empty.")
        if len(texts) > self.max_texts:
            raise TooLarge(
                f"texts has {len(texts)} items; the limit is {self.max_texts}.",
                details={"limit": str(self.max_texts)},
            )
        for i, text in enumerate(texts):
            if not text.strip():
                raise InvalidInput(f"texts[{i}] is empty or blank.", details={"index": str(i)})

    async def ready(self) -> None:
        """Returns when the encoder has encoded a text once and the workers are there.

        Raises:
            RuntimeError: A worker has ended.
        """
        if not self._batcher.running:
            raise RuntimeError("the batcher's workers are not running")
