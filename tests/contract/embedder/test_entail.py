"""Entail over real gRPC, with the fake cross-encoder behind it."""

from __future__ import annotations

import asyncio
import contextlib
import threading
from collections.abc import AsyncIterator, Sequence
from typing import Any

import pytest
from prometheus_client import REGISTRY
from quelea.common.v1 import common_pb2
from quelea.embedder.v1 import embedder_pb2 as pb
from quelea.embedder.v1 import embedder_pb2_grpc as pb_grpc
from quelea_embedder.__main__ import build, build_entailment
from quelea_embedder.adapters.fake_cross_encoder import FakeCrossEncoder
from quelea_embedder.adapters.fake_encoder import FakeEncoder
from quelea_embedder.service import NAME, EmbedderService
from quelea_embedder.settings import EmbedderSettings
from quelea_kit.client import channel, unary
from quelea_kit.errors import Conflict, DeadlineExceeded, InvalidInput, Overloaded, QueleaError, TooLarge, Unavailable
from quelea_kit.testing import running, wait_until_async

Pairs = Sequence[tuple[str, str]]
HOLD = ("hold", "hold")
WAITING = "quelea_embedder_entail_queue_pairs"


class Served:
    """A server and its client."""

    def __init__(self, stub: Any, entailment: Any) -> None:
        self._stub = stub
        self.entailment = entailment

    async def entail(self, pairs: Pairs, seconds: float = 30) -> pb.EntailResponse:
        wire = [common_pb2.TextPair(premise=premise, hypothesis=hypothesis) for premise, hypothesis in pairs]
        return await unary(self._stub.Entail(pb.EntailRequest(pairs=wire), timeout=seconds))


@contextlib.asynccontextmanager
async def served(encoder: FakeCrossEncoder | None, **settings: int) -> AsyncIterator[Served]:
    given = EmbedderSettings(**{"workers": 1, "max_pairs": 8, "batch_pairs": 2, "drain_seconds": 0.5, **settings})
    embedding, batcher = await build(given, FakeEncoder())
    entailment = build_entailment(given, encoder, "cpu")
    service = EmbedderService(embedding, entailment)
    async with (
        running(lambda s: pb_grpc.add_EmbedderServiceServicer_to_server(service, s), [NAME], settings=given) as at,
        channel(at, NAME) as to,
    ):
        yield Served(pb_grpc.EmbedderServiceStub(to), entailment)
    entailment.stop()
    await batcher.stop()


class HeldCrossEncoder(FakeCrossEncoder):
    """Stops at a pair that says so, until released."""

    def __init__(self) -> None:
        self.release = threading.Event()
        self.held = threading.Event()
        super().__init__(before=self._hold)

    def _hold(self, pairs: Pairs) -> None:
        if HOLD in pairs:
            self.held.set()
            assert self.release.wait(30)


def waiting() -> float:
    return REGISTRY.get_sample_value(WAITING) or 0.0


async def test_scores_come_in_the_order_of_the_pairs_whatever_their_batches() -> None:
    pairs = [
        ("the board rejected the offer of last year", "the board rejected the offer"),
        ("sales rose", "sales not rose"),
        ("sales rose in the third quarter of the year", "costs fell"),
        ("a b", "a"),
        ("x " * 70, "x"),
    ]
    encoder = FakeCrossEncoder()
    scored = REGISTRY.get_sample_value("quelea_embedder_entail_pairs_total") or 0.0
    async with served(encoder) as server:
        answer = await server.entail(pairs)
    largest = [max(("entailment", "neutral", "contradiction"), key=lambda f: getattr(s, f)) for s in answer.scores]
    assert largest == ["entailment", "contradiction", "neutral", "entailment", "entailment"]
    assert list(answer.truncated) == [4]
    assert answer.model == "fake-cross-encoder@0"
    assert answer.timing.compute_ms > 0
    assert sorted(len(batch) for batch in encoder.batches) == [1, 2, 2]
    assert encoder.batches[0] == [("a b", "a"), ("sales rose", "sales not rose")]  # of like length
    assert REGISTRY.get_sample_value("quelea_embedder_entail_pairs_total") == scored + 5
    assert waiting() == 0


async def test_without_a_cross_encoder_the_answer_says_what_to_set() -> None:
    async with served(None) as server:
        with pytest.raises(Conflict, match="Set QUELEA_EMBEDDER_CROSS_ENCODER"):
            await server.entail([("a", "b")])


@pytest.mark.parametrize(
    ("pairs", "error", "words"),
    [
        ([], InvalidInput, "must not be empty"),
        ([("a", "b"), (" ", "b")], InvalidInput, r"pairs\[1\].premise is empty"),
        ([("a", "")], InvalidInput, r"pairs\[0\].hypothesis is empty"),
        ([("a", "b")] * 9, TooLarge, "limit is 8"),
    ],
)
async def test_a_wrong_request_is_refused(pairs: Pairs, error: type[QueleaError], words: str) -> None:
    async with served(FakeCrossEncoder()) as server:
        with pytest.raises(error, match=words):
            await server.entail(pairs)


async def test_a_full_queue_arrives_as_overloaded_with_retry_after() -> None:
    encoder = HeldCrossEncoder()
    async with served(encoder, queue_pairs=3) as server:
        holder = asyncio.create_task(server.entail([HOLD]))
        await wait_until_async(encoder.held.is_set)
        waits = asyncio.create_task(server.entail([("a", "b"), ("c", "d")]))
        await wait_until_async(lambda: waiting() == 3)
        with pytest.raises(Overloaded) as refused:
            await server.entail([("e", "f")])
        encoder.release.set()
        await asyncio.gather(holder, waits)
        assert len((await server.entail([("e", "f")] * 3)).scores) == 3
    assert refused.value.retry_after is not None and refused.value.retry_after > 0


async def test_a_caller_that_leaves_or_is_late_takes_what_waits_along() -> None:
    encoder = HeldCrossEncoder()
    async with served(encoder) as server:
        holder = asyncio.create_task(server.entail([HOLD]))
        await wait_until_async(encoder.held.is_set)
        leaves = asyncio.create_task(server.entail([("left", "left")] * 4))
        await wait_until_async(lambda: waiting() == 5)
        leaves.cancel()
        await wait_until_async(lambda: waiting() == 1)
        with pytest.raises(DeadlineExceeded):
            await server.entail([("late", "late")], seconds=0.3)
        await wait_until_async(lambda: waiting() == 1)
        encoder.release.set()
        await holder
        await server.entail([("next", "next")])
    assert [batch[0][0] for batch in encoder.batches] == ["hold", "next"]


async def test_a_model_that_fails_is_an_internal_error_and_the_service_goes_on() -> None:
    def before(pairs: Pairs) -> None:
        if ("poison", "poison") in pairs:
            raise RuntimeError("secret detail")

    async with served(FakeCrossEncoder(before=before)) as server:
        with pytest.raises(QueleaError, match="RuntimeError") as raised:
            await server.entail([("fine", "fine"), ("poison", "poison"), ("fine", "fine")])
        assert len((await server.entail([("fine", "fine")])).scores) == 1
    assert "secret" not in raised.value.message
    assert waiting() == 0


async def test_what_waits_when_the_embedder_stops_is_refused() -> None:
    encoder = HeldCrossEncoder()
    async with served(encoder) as server:
        holder = asyncio.create_task(server.entail([HOLD]))
        await wait_until_async(encoder.held.is_set)
        waits = asyncio.create_task(server.entail([("a", "b")]))
        await wait_until_async(lambda: waiting() == 2)
        server.entailment.stop()
        with pytest.raises(Unavailable, match="stopping"):
            await waits
        with pytest.raises(Unavailable, match="stopping"):
            await server.entail([("a", "b")])
        encoder.release.set()
        await holder
