"""The embedder service, as a client sees it."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Literal, Protocol

import numpy as np
import numpy.typing as npt
from quelea.common.v1 import common_pb2
from quelea.embedder.v1 import embedder_pb2, embedder_pb2_grpc
from quelea_kit.client import channel, unary
from quelea_kit.errors import Overloaded, Unavailable
from quelea_kit.logging import get_logger

log = get_logger(__name__)

Kind = Literal["query", "passage"]
_SERVICE = "quelea.embedder.v1.EmbedderService"
_KINDS = {"query": embedder_pb2.EMBED_KIND_QUERY, "passage": embedder_pb2.EMBED_KIND_PASSAGE}
# A full queue at the embedder is waited for while documents come in; a question fails at once and says so.
_TRIES = {"query": 1, "passage": 6}
_LONGEST_PAUSE = 5.0


@dataclass(frozen=True)
class ModelInfo:
    """The encoder behind the vectors."""

    model: str
    dimension: int
    max_texts: int


@dataclass(frozen=True)
class Embedding:
    """Unit vectors, float32, shape (texts, dimension), and the model that made them."""

    vectors: npt.NDArray[np.float32]
    model: str


class Embedder(Protocol):
    """Text to vectors."""

    async def model(self, seconds: float) -> ModelInfo:
        """The encoder; Unavailable when there is no answer within the given seconds."""
        ...

    async def embed(self, texts: Sequence[str], kind: Kind, seconds: float) -> Embedding:
        """One vector for each text, in order. Raises what the embedder raises."""
        ...

    async def entail(self, pairs: Sequence[common_pb2.TextPair], seconds: float) -> embedder_pb2.EntailResponse:
        """Scores by the embedder's cross-encoder. Raises what the embedder raises, Conflict when it has none."""
        ...

    async def close(self) -> None:
        """Close the connection."""
        ...


@contextlib.contextmanager
def _naming_it() -> Iterator[None]:
    """Say who is away: a caller knows the retriever alone, which does answer."""
    try:
        yield
    except Unavailable as error:
        raise Unavailable(
            "The embedder does not answer; try again in a moment.",
            details={**error.details, "behind": "embedder"},
            retry_after=error.retry_after or 1.0,
        ) from error


class GrpcEmbedder:
    """An embedder behind an address.

    Args:
        target: host:port, or any gRPC target.
        wait_seconds: How long calls wait for an embedder that is away, within their deadline.
    """

    def __init__(self, target: str, wait_seconds: float = 0.0) -> None:
        methods = ["Embed", "GetModel", "Entail"]
        self._channel = channel(target, _SERVICE, idempotent=methods, wait_seconds=wait_seconds)
        self._stub = embedder_pb2_grpc.EmbedderServiceStub(self._channel)
        self._info: ModelInfo | None = None

    async def model(self, seconds: float) -> ModelInfo:
        """Ask the embedder what it is."""
        with _naming_it():
            answer = await unary(self._stub.GetModel(embedder_pb2.GetModelRequest(), timeout=seconds))
        self._info = ModelInfo(answer.model, answer.dimension, answer.max_texts or 1)
        return self._info

    async def embed(self, texts: Sequence[str], kind: Kind, seconds: float) -> Embedding:
        """Embed, in as many requests as the embedder's limit asks for, one after the other."""
        info = self._info or await self.model(min(seconds, 10.0))
        parts: list[npt.NDArray[np.float32]] = []
        model = info.model
        async with asyncio.timeout(seconds):
            for start in range(0, len(texts), info.max_texts):
                answer = await self._request(texts[start : start + info.max_texts], kind, seconds)
                parts.append(np.frombuffer(answer.vectors, "<f4").reshape(answer.count, answer.dimension))
                if model != answer.model and start:
                    raise Unavailable("The embedder changed its model during the request; try again.", retry_after=1.0)
                model = answer.model
        return Embedding(np.concatenate(parts), model)

    async def entail(self, pairs: Sequence[common_pb2.TextPair], seconds: float) -> embedder_pb2.EntailResponse:
        """One request; a full queue is not waited for."""
        with _naming_it():
            return await unary(self._stub.Entail(embedder_pb2.EntailRequest(pairs=pairs), timeout=seconds))

    async def close(self) -> None:
        """Close the channel."""
        await self._channel.close()

    async def _request(self, texts: Sequence[str], kind: Kind, seconds: float) -> embedder_pb2.EmbedResponse:
        request = embedder_pb2.EmbedRequest(texts=texts, kind=_KINDS[kind])
        for left in reversed(range(_TRIES[kind])):
            try:
                with _naming_it():
                    return await unary(self._stub.Embed(request, timeout=seconds))
            except Overloaded as error:
                if not left:
                    raise
                pause = min(error.retry_after or 1.0, _LONGEST_PAUSE)
                log.info("embedder_busy", pause=pause, tries_left=left)
                await asyncio.sleep(pause)
        raise AssertionError("unreachable: the last try returns or raises")
