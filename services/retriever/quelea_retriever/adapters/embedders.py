"""The embedders that this service may ask, each with a model of its own.

Usually one. While a knowledge base is re-embedded there are two: that of the vectors that are searched, and that of
those that will be. Which one is asked follows from the collection, so the change from one to the other needs no
restart and no moment in which nobody answers.
"""

from __future__ import annotations

from collections.abc import Sequence

from quelea.common.v1 import common_pb2
from quelea.embedder.v1 import embedder_pb2
from quelea_kit.errors import QueleaError

from quelea_retriever.adapters.embedder import Embedder, Embedding, Kind, ModelInfo

_MODEL_SECONDS = 5.0


class Embedders:
    """Text to vectors, by the model that is wanted.

    Args:
        members: At least one; the first is asked where nothing is stored yet.
    """

    def __init__(self, members: Sequence[Embedder]) -> None:
        self._members = list(members)
        self._models: dict[int, str] = {}

    async def model(self, seconds: float, wanted: str = "") -> ModelInfo:
        """The encoder of that name if any has it, else the first's; Unavailable when it cannot be told."""
        member = await self._member(wanted, seconds)
        info = await member.model(seconds)
        self._models[id(member)] = info.model
        return info

    async def embed(self, texts: Sequence[str], kind: Kind, seconds: float, wanted: str = "") -> Embedding:
        """One vector for each text, in order; of another model when nobody has the one that is wanted."""
        member = await self._member(wanted, seconds)
        embedding = await member.embed(texts, kind, seconds)
        self._models[id(member)] = embedding.model
        if wanted in ("", embedding.model):
            return embedding
        other = await self._member(wanted, seconds)  # it was exchanged while it ran: another may have the model
        return embedding if other is member else await other.embed(texts, kind, seconds)

    async def entail(self, pairs: Sequence[common_pb2.TextPair], seconds: float) -> embedder_pb2.EntailResponse:
        """Scores by the first embedder's cross-encoder: they depend on no stored vector."""
        return await self._members[0].entail(pairs, seconds)

    async def close(self) -> None:
        """Close every connection."""
        for member in self._members:
            await member.close()

    async def _member(self, wanted: str, seconds: float) -> Embedder:
        if len(self._members) == 1 or not wanted:
            return self._members[0]
        for member in self._members:
            if self._models.get(id(member)) == wanted:
                return member
        failure: QueleaError | None = None
        for member in self._members:
            try:
                info = await member.model(min(seconds, _MODEL_SECONDS))
            except QueleaError as error:
                failure = error
                continue
            self._models[id(member)] = info.model
            if info.model == wanted:
                return member
        if failure is not None:
            raise failure  # perhaps the one that is away has it
        return self._members[0]
