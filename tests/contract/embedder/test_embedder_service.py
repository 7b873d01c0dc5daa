"""EmbedderService over real gRPC, with the fake encoder behind it."""

from __future__ import annotations

import asyncio
import contextlib
import threading
from collections.abc import AsyncIterator

import numpy as np
import pytest
from prometheus_client import REGISTRY
from quelea.embedder.v1 import embedder_pb2 as pb
from quelea.embedder.v1 import embedder_pb2_grpc as pb_grpc
from quelea_embedder.__main__ import build, build_entailment
from quelea_embedder.adapters.fake_encoder import FakeEncoder
from quelea_embedder.core.batching import Batcher
from quelea_embedder.core.model import Kind
from quelea_embedder.service import NAME, EmbedderService
from quelea_embedder.settings import EmbedderSettings
from quelea_kit.client import channel, unary
from quelea_kit.errors import DeadlineExceeded, InvalidInput, Overloaded, QueleaError, TooLarge
from quelea_kit.testing import running, wait_until_async

Stub = pb_grpc.EmbedderServiceStub


@contextlib.asynccontextmanager
async def served(encoder: FakeEncoder, **settings: int) -> AsyncIterator[tuple[Stub, Batcher]]:
    given = EmbedderSettings(**{"workers": 1, "max_texts": 8, "drain_seconds": 0.5, **settings})
    embedding, batcher = await build(given, encoder)
    service = EmbedderService(embedding, build_entailment(given, None, "cpu"))
    async with (
        running(
            lambda s: pb_grpc.add_EmbedderServiceServicer_to_server(service, s),
            [NAME],
            settings=given,
            ready=embedding.ready,
        ) as at,
        channel(at, NAME) as to,
    ):
        yield pb_grpc.EmbedderServiceStub(to), batcher
    await batcher.stop()


def rows(answer: pb.EmbedResponse) -> np.ndarray:
    return np.frombuffer(answer.vectors, "<f4").reshape(answer.count, answer.dimension)


async def embed(
    stub: Stub, texts: list[str], kind: int = pb.EMBED_KIND_PASSAGE, seconds: float = 30
) -> pb.EmbedResponse:
    return await unary(stub.Embed(pb.EmbedRequest(texts=texts, kind=kind), timeout=seconds))


class HeldEncoder(FakeEncoder):
    """Stops at a text that says so, until released."""

    def __init__(self) -> None:
        self.release = threading.Event()
        self.held = threading.Event()
        super().__init__(before=self._hold)

    def _hold(self, texts: object) -> None:
        if "hold" in list(texts):  # type: ignore[call-overload]  # any sequence
            self.held.set()
            assert self.release.wait(30)


async def test_vectors_are_float32_rows_of_unit_length_in_order() -> None:
    encoder = FakeEncoder()
    async with served(encoder) as (stub, _):
        answer = await embed(stub, ["one", "two words", "three more words"])
    got = rows(answer)
    for row, text in zip(got, ["one", "two words", "three more words"], strict=True):
        wanted = encoder.vector(text, Kind.PASSAGE)
        np.testing.assert_allclose(row, wanted / np.linalg.norm(wanted), rtol=1e-6)
    assert (answer.count, answer.dimension, answer.model) == (3, 8, "fake@0")
    assert len(answer.vectors) == 3 * 8 * 4
    assert answer.timing.compute_ms > 0
    assert answer.timing.queue_ms >= 0


async def test_query_and_passage_differ() -> None:
    async with served(FakeEncoder()) as (stub, _):
        query = await embed(stub, ["text"], pb.EMBED_KIND_QUERY)
        passage = await embed(stub, ["text"], pb.EMBED_KIND_PASSAGE)
    assert query.vectors != passage.vectors


async def test_truncated_texts_are_listed() -> None:
    async with served(FakeEncoder(max_tokens=3)) as (stub, _):
        answer = await embed(stub, ["a b c", "a b c d", "a", "a b c e"])
    assert list(answer.truncated) == [1, 3]


@pytest.mark.parametrize(
    ("texts", "kind", "error", "words"),
    [
        (["a", " "], pb.EMBED_KIND_QUERY, InvalidInput, r"texts\[1\]"),
        ([], pb.EMBED_KIND_QUERY, InvalidInput, "must not be empty"),
        (["t"] * 9, pb.EMBED_KIND_PASSAGE, TooLarge, "limit is 8"),
        (["a"], pb.EMBED_KIND_UNSPECIFIED, InvalidInput, "kind"),
        (["a"], 77, InvalidInput, "kind"),
    ],
)
async def test_a_wrong_request_comes_back_as_the_error_that_was_raised(
    texts: list[str], kind: int, error: type[QueleaError], words: str
) -> None:
    async with served(FakeEncoder()) as (stub, _):
        with pytest.raises(error, match=words) as raised:
            await embed(stub, texts, kind)
    assert type(raised.value) is error


async def test_a_full_queue_arrives_as_overloaded_with_retry_after() -> None:
    encoder = HeldEncoder()
    async with served(encoder, queue_texts=2) as (stub, batcher):
        holder = asyncio.create_task(embed(stub, ["hold"]))
        await wait_until_async(encoder.held.is_set)
        waits = asyncio.create_task(embed(stub, ["a", "b"]))
        await wait_until_async(lambda: batcher.waiting(Kind.PASSAGE) == 2)
        with pytest.raises(Overloaded) as refused:
            await embed(stub, ["c"])
        encoder.release.set()
        await asyncio.gather(holder, waits)
    assert refused.value.retry_after is not None and refused.value.retry_after > 0


async def test_a_client_that_leaves_takes_its_texts_out_of_the_queue() -> None:
    encoder = HeldEncoder()
    async with served(encoder) as (stub, batcher):
        holder = asyncio.create_task(embed(stub, ["hold"]))
        await wait_until_async(encoder.held.is_set)
        leaves = asyncio.create_task(embed(stub, ["a", "b"]))
        await wait_until_async(lambda: batcher.waiting(Kind.PASSAGE) == 2)
        leaves.cancel()
        await wait_until_async(lambda: batcher.waiting(Kind.PASSAGE) == 0)
        encoder.release.set()
        await holder
    assert ["hold"] in [texts for _, texts in encoder.batches]
    assert not any("a" in texts or "b" in texts for _, texts in encoder.batches)


async def test_a_deadline_that_passes_takes_its_texts_out_of_the_queue() -> None:
    encoder = HeldEncoder()
    async with served(encoder) as (stub, batcher):
        holder = asyncio.create_task(embed(stub, ["hold"]))
        await wait_until_async(encoder.held.is_set)
        with pytest.raises(DeadlineExceeded):
            await embed(stub, ["late"], seconds=0.3)
        await wait_until_async(lambda: batcher.waiting(Kind.PASSAGE) == 0)
        encoder.release.set()
        await holder


async def test_an_encoder_that_fails_is_an_internal_error_and_the_service_goes_on() -> None:
    def before(texts: object) -> None:
        if "poison" in list(texts):  # type: ignore[call-overload]  # any sequence
            raise RuntimeError("secret detail")

    async with served(FakeEncoder(before=before)) as (stub, _):
        with pytest.raises(QueleaError) as raised:
            await embed(stub, ["fine", "poison"])
        assert (await embed(stub, ["fine"])).count == 1
    assert "texts[1]" in raised.value.message
    assert "secret" not in raised.value.message


async def test_strange_but_valid_text_is_text() -> None:
    texts = ["\x00\x01", "\ufdfa" * 500, "😀", "\ue0f0", "a\u200bb", "\ufffd", "净销售额", "\u202e"]
    async with served(FakeEncoder()) as (stub, _):
        assert np.allclose(np.linalg.norm(rows(await embed(stub, texts)), axis=1), 1)


async def test_get_model_tells_the_limits() -> None:
    async with served(FakeEncoder(dimension=12, max_tokens=99)) as (stub, _):
        model = await unary(stub.GetModel(pb.GetModelRequest(), timeout=60))
    assert (model.model, model.dimension, model.max_tokens, model.max_texts) == ("fake@0", 12, 99, 8)
    assert (model.query_prefix, model.passage_prefix) == ("query: ", "passage: ")
    assert (model.device, model.two_towers) == ("cpu", False)
    assert model.version


async def test_metrics_count_texts_batches_truncations_and_refusals() -> None:
    def value(name: str) -> float:
        return REGISTRY.get_sample_value(name, {"kind": "passage"}) or 0.0

    names = [
        "quelea_embedder_texts_total",
        "quelea_embedder_tokens_total",
        "quelea_embedder_truncated_total",
        "quelea_embedder_batch_texts_count",
        "quelea_embedder_encode_seconds_count",
    ]
    async with served(FakeEncoder(max_tokens=2)) as (stub, _):
        before = [value(name) for name in names]
        await embed(stub, ["a b", "a b c"])
        after = [value(name) for name in names]
    assert [b - a for a, b in zip(before, after, strict=True)] == [2, 4, 1, 1, 1]
    assert value("quelea_embedder_queue_texts") == 0
