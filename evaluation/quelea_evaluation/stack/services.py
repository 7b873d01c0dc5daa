"""Calls to the stack's services that an evaluation needs and the gateway does not offer."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray
from quelea.embedder.v1 import embedder_pb2, embedder_pb2_grpc
from quelea.retriever.v1 import retriever_pb2, retriever_pb2_grpc
from quelea_kit.client import channel, unary

from quelea_evaluation.sets.model import Found

_BATCH = 32


class Retriever:
    """The retriever's Search, with its switches."""

    def __init__(self, address: str) -> None:
        self._channel = channel(address, "quelea.retriever.v1.RetrieverService", idempotent=["Search"])
        self._stub = retriever_pb2_grpc.RetrieverServiceStub(self._channel)

    async def search(self, request: retriever_pb2.SearchRequest, keys: dict[str, str]) -> list[Found]:
        """Ranked passages; documents by the set's keys."""
        answer = await self.answer(request)
        return [
            Found(
                keys.get(p.passage.document_id, p.passage.document_id),
                p.passage.page,
                f"{p.passage.table_head}\n{p.passage.text}",
            )
            for p in answer.passages
        ]

    async def answer(self, request: retriever_pb2.SearchRequest) -> retriever_pb2.SearchResponse:
        """Everything that a search says."""
        return await unary(self._stub.Search(request, timeout=60))

    async def rank(
        self, query: str, candidates: Sequence[retriever_pb2.RankCandidate], seconds: float
    ) -> retriever_pb2.RankResponse:
        """The candidates, best first."""
        request = retriever_pb2.RankRequest(query=query, candidates=candidates)
        return await unary(self._stub.Rank(request, timeout=seconds))


class Embedder:
    """Vectors for the ordinary set-up."""

    def __init__(self, address: str) -> None:
        self._channel = channel(address, "quelea.embedder.v1.EmbedderService", idempotent=["Embed"])
        self._stub = embedder_pb2_grpc.EmbedderServiceStub(self._channel)

    async def embed(self, texts: Sequence[str], kind: embedder_pb2.EmbedKind.ValueType) -> NDArray[np.float32]:
        """Unit vectors, shape n x d."""
        rows = []
        for first in range(0, len(texts), _BATCH):
            request = embedder_pb2.EmbedRequest(texts=texts[first : first + _BATCH], kind=kind)
            answer = await unary(self._stub.Embed(request, timeout=300))
            rows.append(np.frombuffer(answer.vectors, dtype="<f4").reshape(answer.count, answer.dimension))
        return np.concatenate(rows)

    async def model(self) -> str:
        """The encoder's name."""
        answer = await unary(self._stub.GetModel(embedder_pb2.GetModelRequest(), timeout=30))
        return str(answer.model)


async def encoder_of(address: str) -> str:
    """The name of an embedder's encoder."""
    return await Embedder(address).model()
