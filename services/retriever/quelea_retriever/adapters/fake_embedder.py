"""An embedder for tests: vectors from the words of a text, the same every time, without a model or a network."""

from __future__ import annotations

import zlib
from collections.abc import Sequence

import numpy as np
import numpy.typing as npt
from quelea.common.v1 import common_pb2
from quelea.embedder.v1 import embedder_pb2
from quelea_fintext.text import terms
from quelea_kit.errors import QueleaError

from quelea_retriever.adapters.embedder import Embedding, Kind, ModelInfo


class FakeEmbedder:
    """Texts that share words have near vectors.

    Args:
        dimension: Of the vectors.
        name: The model's name.
    """

    def __init__(self, dimension: int = 32, name: str = "fake") -> None:
        self.info = ModelInfo(name, dimension, 64)
        self.failure: QueleaError | None = None
        """Raised by every call while it is set."""
        self.asked: list[tuple[Kind, str, float]] = []
        """Every text so far, with the seconds that its call was given."""

    async def model(self, seconds: float) -> ModelInfo:
        """The made-up model."""
        if self.failure:
            raise self.failure
        return self.info

    async def embed(self, texts: Sequence[str], kind: Kind, seconds: float) -> Embedding:
        """A sum of one random direction for each word."""
        if self.failure:
            raise self.failure
        self.asked.extend((kind, text, seconds) for text in texts)
        vectors = np.stack([self._vector(text) for text in texts]) if texts else np.zeros((0, self.info.dimension))
        return Embedding(vectors.astype(np.float32), self.info.model)

    async def entail(self, pairs: Sequence[common_pb2.TextPair], seconds: float) -> embedder_pb2.EntailResponse:
        """A premise entails a hypothesis whose words it all has; of any other it says nothing."""
        if self.failure:
            raise self.failure
        follows = [set(terms(pair.hypothesis)) <= set(terms(pair.premise)) for pair in pairs]
        scores = [common_pb2.EntailmentScore(entailment=float(one), neutral=float(not one)) for one in follows]
        return embedder_pb2.EntailResponse(scores=scores, model=self.info.model)

    async def close(self) -> None:
        """Nothing to close."""

    def _vector(self, text: str) -> npt.NDArray[np.float64]:
        total: npt.NDArray[np.float64] = np.full(self.info.dimension, 0.05)
        for term in terms(text):
            total += np.random.default_rng(zlib.crc32(term.encode())).normal(size=self.info.dimension)
        total /= np.linalg.norm(total)
        return total
