"""Vectors that are kept: the embedder behind is asked for what is not there, and for nothing else."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import grpc
import numpy as np
import pytest
from quelea.embedder.v1 import embedder_pb2 as pb
from quelea.embedder.v1 import embedder_pb2_grpc
from quelea_evaluation.tools.vector_cache import CachingEmbedder, Vectors, key_of
from quelea_kit.errors import QueleaError

QUERY, PASSAGE = pb.EMBED_KIND_QUERY, pb.EMBED_KIND_PASSAGE


class Upstream(embedder_pb2_grpc.EmbedderServiceServicer):
    """The embedder behind: a text's vector is its length and the kind."""

    def __init__(self) -> None:
        self.asked: list[tuple[int, list[str]]] = []
        self.model = "a"
        self.broken = False

    async def GetModel(self, request: pb.GetModelRequest, context: Any) -> pb.GetModelResponse:  # noqa: N802  # the wire's
        return pb.GetModelResponse(model=self.model, dimension=2)

    async def Embed(self, request: pb.EmbedRequest, context: Any) -> pb.EmbedResponse:  # noqa: N802  # the wire's name
        if self.broken:
            await context.abort(grpc.StatusCode.INTERNAL, "broken")
        self.asked.append((request.kind, list(request.texts)))
        vectors = np.array([[len(text), request.kind] for text in request.texts], dtype="<f4")
        return pb.EmbedResponse(vectors=vectors.tobytes(), count=len(request.texts), dimension=2, model=self.model)


@pytest.fixture
async def upstream() -> AsyncIterator[tuple[Upstream, str]]:
    behind = Upstream()
    server = grpc.aio.server()
    embedder_pb2_grpc.add_EmbedderServiceServicer_to_server(behind, server)
    port = server.add_insecure_port("127.0.0.1:0")
    await server.start()
    yield behind, f"127.0.0.1:{port}"
    await server.stop(None)


async def embedded(cache: CachingEmbedder, texts: list[str], kind: int = PASSAGE) -> list[list[float]]:
    answer = await cache.Embed(pb.EmbedRequest(texts=texts, kind=kind), None)  # type: ignore[arg-type]  # an enum's number
    assert (answer.count, answer.dimension, answer.model) == (len(texts), 2, "a")
    return np.frombuffer(answer.vectors, "<f4").reshape(answer.count, answer.dimension).tolist()


async def test_only_what_is_not_kept_is_asked_for_and_the_order_stays(upstream: Any, tmp_path: Path) -> None:
    behind, address = upstream
    cache = CachingEmbedder(address, Vectors(tmp_path / "v.sqlite"))
    assert await embedded(cache, ["one", "three"]) == [[3, PASSAGE], [5, PASSAGE]]
    assert await embedded(cache, ["three", "fourth", "one"]) == [[5, PASSAGE], [6, PASSAGE], [3, PASSAGE]]
    assert behind.asked == [(PASSAGE, ["one", "three"]), (PASSAGE, ["fourth"])]


async def test_a_query_is_another_vector_than_a_passage(upstream: Any, tmp_path: Path) -> None:
    _, address = upstream
    cache = CachingEmbedder(address, Vectors(tmp_path / "v.sqlite"))
    assert await embedded(cache, ["one"], PASSAGE) != await embedded(cache, ["one"], QUERY)
    assert (
        len({key_of("a", PASSAGE, "x"), key_of("a", QUERY, "x"), key_of("b", PASSAGE, "x"), key_of("a", 1, "xx")}) == 4
    )


async def test_what_is_kept_outlives_the_process_and_the_embedder(upstream: Any, tmp_path: Path) -> None:
    behind, address = upstream
    await embedded(CachingEmbedder(address, Vectors(tmp_path / "v.sqlite")), ["one"])
    behind.broken = True
    again = CachingEmbedder(address, Vectors(tmp_path / "v.sqlite"))
    assert await embedded(again, ["one"]) == [[3, PASSAGE]]


async def test_another_encoder_is_asked_again(upstream: Any, tmp_path: Path) -> None:
    behind, address = upstream
    file = tmp_path / "v.sqlite"
    await embedded(CachingEmbedder(address, Vectors(file)), ["one"])
    behind.model = "b"
    answer = await CachingEmbedder(address, Vectors(file)).Embed(pb.EmbedRequest(texts=["one"], kind=PASSAGE), None)
    assert (answer.model, len(behind.asked)) == ("b", 2)


async def test_an_error_is_passed_on_and_nothing_is_kept_of_it(upstream: Any, tmp_path: Path) -> None:
    behind, address = upstream
    cache = CachingEmbedder(address, Vectors(tmp_path / "v.sqlite"))
    behind.broken = True
    with pytest.raises(QueleaError):
        await embedded(cache, ["one"])
    behind.broken = False
    assert await embedded(cache, ["one"]) == [[3, PASSAGE]]
