"""Merging of concurrent calls, with an encoder that stops at a gate so that no test depends on time."""

from __future__ import annotations

import asyncio
import contextlib
import threading
from collections.abc import AsyncIterator, Callable, Sequence

import numpy as np
import pytest
from quelea_embedder.adapters.fake_encoder import FakeEncoder
from quelea_embedder.core.batching import Batcher, Encoded, EncoderBroken, Limits
from quelea_embedder.core.model import Kind, Silent
from quelea_kit.errors import Overloaded, QueleaError, Unavailable
from quelea_kit.testing import wait_until_async


class Gate:
    """Holds the worker's thread at its first batch until opened."""

    def __init__(self) -> None:
        self.reached = threading.Event()
        self._open = threading.Event()

    def __call__(self, _texts: Sequence[str]) -> None:
        self.reached.set()
        assert self._open.wait(30)

    def open(self) -> None:
        self._open.set()


class Heard(Silent):
    def __init__(self) -> None:
        self.depths: dict[Kind, tuple[int, int]] = {}
        self.cancelled_texts = 0
        self.refusals = 0
        self.batches: list[tuple[Kind, int, int]] = []

    def queued(self, kind: Kind, texts: int, tokens: int) -> None:
        self.depths[kind] = (texts, tokens)

    def encoded(self, kind: Kind, texts: int, tokens: int, seconds: float) -> None:
        self.batches.append((kind, texts, tokens))

    def refused(self, kind: Kind) -> None:
        self.refusals += 1

    def cancelled(self, kind: Kind, texts: int) -> None:
        self.cancelled_texts += texts


@contextlib.asynccontextmanager
async def running_batcher(
    encoder: FakeEncoder, limits: Limits | None = None, heard: Heard | None = None
) -> AsyncIterator[Batcher]:
    batcher = Batcher(encoder, limits or Limits(), heard)
    batcher.start()
    try:
        yield batcher
    finally:
        await batcher.stop()


async def ask(batcher: Batcher, texts: list[str], kind: Kind = Kind.QUERY) -> Encoded:
    return await batcher.encode(await batcher.measure(texts, kind), kind)


async def behind_the_gate(gate: Gate, batcher: Batcher) -> asyncio.Task[Encoded]:
    """A call that occupies the only worker."""
    holder = asyncio.create_task(ask(batcher, ["holder"]))
    await wait_until_async(gate.reached.is_set)
    return holder


def unit(encoder: FakeEncoder, text: str, kind: Kind) -> np.ndarray:
    vector = encoder.vector(text, kind)
    return vector / np.linalg.norm(vector)


async def test_callers_that_wait_together_go_in_one_batch_and_get_their_own_rows() -> None:
    gate = Gate()
    encoder = FakeEncoder(before=gate)
    async with running_batcher(encoder) as batcher:
        holder = await behind_the_gate(gate, batcher)
        names = [f"caller {i}" for i in range(20)]
        calls = [asyncio.create_task(ask(batcher, [name, name + " again"])) for name in names]
        await wait_until_async(lambda: batcher.waiting(Kind.QUERY) == 40)
        gate.open()
        answers = await asyncio.gather(*calls)
        await holder
    assert [len(texts) for _, texts in encoder.batches] == [1, 40]
    for name, answer in zip(names, answers, strict=True):
        np.testing.assert_allclose(answer.vectors[0], unit(encoder, name, Kind.QUERY), rtol=1e-6)
        np.testing.assert_allclose(answer.vectors[1], unit(encoder, name + " again", Kind.QUERY), rtol=1e-6)


async def test_rows_come_in_the_order_of_the_texts_whatever_their_length_and_have_unit_length() -> None:
    encoder = FakeEncoder()
    texts = [" ".join(["w"] * n) + f" {i}" for i, n in enumerate([9, 1, 12, 3, 3, 14, 2, 7] * 5)]
    async with running_batcher(encoder, Limits(passage_batch_tokens=30, workers=3)) as batcher:
        answer = await ask(batcher, texts, Kind.PASSAGE)
    for row, text in zip(answer.vectors, texts, strict=True):
        np.testing.assert_allclose(row, unit(encoder, text, Kind.PASSAGE), rtol=1e-5)
    np.testing.assert_allclose(np.linalg.norm(answer.vectors, axis=1), 1, atol=1e-6)
    assert len(encoder.batches) > 1


async def test_the_kind_decides_the_prefix_and_kinds_are_never_mixed() -> None:
    encoder = FakeEncoder()
    async with running_batcher(encoder) as batcher:
        query, passage = await asyncio.gather(ask(batcher, ["same"]), ask(batcher, ["same"], Kind.PASSAGE))
    assert not np.allclose(query.vectors, passage.vectors)
    assert sorted(kind.value for kind, _ in encoder.batches) == ["passage", "query"]


async def test_a_query_does_not_wait_for_a_bulk_job() -> None:
    gate = Gate()
    encoder = FakeEncoder(before=gate)
    async with running_batcher(encoder, Limits(passage_batch_tokens=4)) as batcher:
        bulk = asyncio.create_task(ask(batcher, [f"passage number {i}" for i in range(200)], Kind.PASSAGE))
        await wait_until_async(gate.reached.is_set)
        query = asyncio.create_task(ask(batcher, ["a question"]))
        await wait_until_async(lambda: batcher.waiting(Kind.QUERY) == 1)
        gate.open()
        await query
        await bulk
    kinds = [kind for kind, _ in encoder.batches]
    assert kinds.index(Kind.QUERY) == 1


@pytest.mark.parametrize(("queried", "sizes"), [(False, {3}), (True, {1})])
async def test_passages_go_in_larger_batches_while_nobody_queries(queried: bool, sizes: set[int]) -> None:
    encoder = FakeEncoder()
    texts = [f"passage number {i:02d}" for i in range(24)]
    tokens = encoder.measure(texts[:1], Kind.PASSAGE)[0].tokens
    limits = Limits(passage_batch_tokens=tokens, quiet_batch_tokens=3 * tokens, quiet_seconds=3600.0)
    async with running_batcher(encoder, limits) as batcher:
        if queried:
            await ask(batcher, ["a question"])
        await ask(batcher, texts, Kind.PASSAGE)
    assert {len(batch) for kind, batch in encoder.batches if kind is Kind.PASSAGE} == sizes


async def test_the_last_passages_are_shared_among_the_workers() -> None:
    encoder = FakeEncoder()
    async with running_batcher(encoder, Limits(workers=2)) as batcher:
        await ask(batcher, ["one", "two"], Kind.PASSAGE)
    assert [len(batch) for _, batch in encoder.batches] == [1, 1]


async def test_a_flood_of_queries_does_not_starve_passages() -> None:
    gate = Gate()
    encoder = FakeEncoder(before=gate)
    async with running_batcher(encoder, Limits(query_batch_tokens=2, passage_batch_tokens=2)) as batcher:
        holder = await behind_the_gate(gate, batcher)
        queries = asyncio.create_task(ask(batcher, [f"query {i}" for i in range(50)]))
        await wait_until_async(lambda: batcher.waiting(Kind.QUERY) == 50)
        passages = asyncio.create_task(ask(batcher, ["one passage"], Kind.PASSAGE))
        await wait_until_async(lambda: batcher.waiting(Kind.PASSAGE) == 1)
        gate.open()
        await asyncio.gather(holder, queries, passages)
    kinds = [kind for kind, _ in encoder.batches]
    assert kinds.index(Kind.PASSAGE) <= 5


async def test_a_full_queue_refuses_and_says_when_to_come_back_and_the_other_kind_still_enters() -> None:
    gate, heard = Gate(), Heard()
    async with running_batcher(FakeEncoder(before=gate), Limits(queue_texts=5), heard) as batcher:
        holder = await behind_the_gate(gate, batcher)
        fits = asyncio.create_task(ask(batcher, ["a", "b", "c", "d"]))
        await wait_until_async(lambda: batcher.waiting(Kind.QUERY) == 4)
        with pytest.raises(Overloaded) as refused:
            await ask(batcher, ["e", "f"])
        other = asyncio.create_task(ask(batcher, ["p"], Kind.PASSAGE))
        await wait_until_async(lambda: batcher.waiting(Kind.PASSAGE) == 1)
        gate.open()
        await asyncio.gather(holder, fits, other)
        await ask(batcher, ["room again"])
    assert refused.value.retry_after is not None and refused.value.retry_after > 0
    assert heard.refusals == 1


async def test_the_queue_is_bounded_in_tokens_too() -> None:
    gate = Gate()
    async with running_batcher(FakeEncoder(before=gate), Limits(queue_tokens=10)) as batcher:
        holder = await behind_the_gate(gate, batcher)
        fits = asyncio.create_task(ask(batcher, ["w w w w w w w w"]))
        await wait_until_async(lambda: batcher.waiting(Kind.QUERY) == 1)
        with pytest.raises(Overloaded):
            await ask(batcher, ["w w w"])
        gate.open()
        await asyncio.gather(holder, fits)


async def test_the_texts_of_a_cancelled_caller_leave_the_queue() -> None:
    gate, heard = Gate(), Heard()
    encoder = FakeEncoder(before=gate)
    async with running_batcher(encoder, heard=heard) as batcher:
        holder = await behind_the_gate(gate, batcher)
        leaver = asyncio.create_task(ask(batcher, ["never", "encoded"]))
        stayer = asyncio.create_task(ask(batcher, ["stays"]))
        await wait_until_async(lambda: batcher.waiting(Kind.QUERY) == 3)
        leaver.cancel()
        with pytest.raises(asyncio.CancelledError):
            await leaver
        assert batcher.waiting(Kind.QUERY) == 1
        assert heard.depths[Kind.QUERY] == (1, 1)
        gate.open()
        await asyncio.gather(holder, stayer)
    assert [texts for _, texts in encoder.batches] == [["holder"], ["stays"]]
    assert heard.cancelled_texts == 2


async def test_a_caller_cancelled_while_its_batch_is_encoded_harms_nobody() -> None:
    gate = Gate()
    async with running_batcher(FakeEncoder(before=gate)) as batcher:
        holder = await behind_the_gate(gate, batcher)
        holder.cancel()
        with pytest.raises(asyncio.CancelledError):
            await holder
        gate.open()
        answer = await ask(batcher, ["next"])
    assert answer.vectors.shape == (1, 8)


def failing_on(word: str) -> Callable[[Sequence[str]], None]:
    def before(texts: Sequence[str]) -> None:
        if any(word in text for text in texts):
            raise RuntimeError("out of memory")

    return before


async def test_a_text_that_breaks_the_encoder_fails_its_own_call_only() -> None:
    gate, breaks = Gate(), failing_on("poison")

    def before(texts: Sequence[str]) -> None:
        gate(texts)
        breaks(texts)

    encoder = FakeEncoder(before=before)
    async with running_batcher(encoder) as batcher:
        holder = await behind_the_gate(gate, batcher)
        good = asyncio.create_task(ask(batcher, ["good", "fine"]))
        bad = asyncio.create_task(ask(batcher, ["nice", "poison"]))
        await wait_until_async(lambda: batcher.waiting(Kind.QUERY) == 4)
        gate.open()
        await holder
        assert (await good).vectors.shape == (2, 8)
        with pytest.raises(QueleaError, match=r"texts\[1\]"):
            await bad
        assert batcher.running
        assert batcher.waiting(Kind.QUERY) == 0


async def test_an_encoder_that_fails_on_every_text_ends_its_worker() -> None:
    """It got no memory, or its device is gone: only a new process helps, and callers may try again."""

    class Broken(FakeEncoder):
        broken = False

        def encode(self, texts: Sequence[str], kind: Kind) -> np.ndarray:
            if self.broken:
                raise RuntimeError("std::bad_alloc")
            return super().encode(texts, kind)

    encoder = Broken()
    async with running_batcher(encoder) as batcher:
        assert (await ask(batcher, ["good"])).vectors.shape == (1, 8)
        encoder.broken = True
        with pytest.raises(Unavailable):
            await ask(batcher, ["good", "fine"])
        with pytest.raises(EncoderBroken, match="bad_alloc"):
            await asyncio.gather(*batcher.workers)
        assert not batcher.running


@pytest.mark.parametrize("value", [np.nan, np.inf, 0.0])
async def test_a_vector_that_is_no_direction_is_an_error_that_names_the_text(value: float) -> None:
    class Broken(FakeEncoder):
        def vector(self, text: str, kind: Kind) -> np.ndarray:
            vector = super().vector(text, kind)
            return vector * np.float32(0) + np.float32(value) if text == "bad" else vector

    async with running_batcher(Broken()) as batcher:
        with pytest.raises(QueleaError, match=r"texts\[1\]"):
            await ask(batcher, ["good", "bad"])
        assert np.isfinite((await ask(batcher, ["good"])).vectors).all()


async def test_a_wrong_shape_from_the_encoder_is_an_error_not_a_hang() -> None:
    class Short(FakeEncoder):
        def encode(self, texts: Sequence[str], kind: Kind) -> np.ndarray:
            return super().encode(texts, kind)[:, :3]

    async with running_batcher(Short()) as batcher:
        with pytest.raises(QueleaError):
            await ask(batcher, ["text"])


async def test_stopping_fails_what_waits_and_what_comes_later() -> None:
    gate = Gate()
    batcher = Batcher(FakeEncoder(before=gate), Limits())
    batcher.start()
    holder = await behind_the_gate(gate, batcher)
    waiting = asyncio.create_task(ask(batcher, ["waits"]))
    await wait_until_async(lambda: batcher.waiting(Kind.QUERY) == 1)
    stopping = asyncio.create_task(batcher.stop())
    gate.open()
    await stopping
    for call in (holder, waiting):
        with pytest.raises(Unavailable):
            await call
    measured = FakeEncoder().measure(["late"], Kind.QUERY)
    with pytest.raises(Unavailable):
        await batcher.encode(measured, Kind.QUERY)
    assert not batcher.running


async def test_workers_encode_at_the_same_time_each_in_its_own_prepared_thread() -> None:
    together = threading.Barrier(2, timeout=60)
    encoder = FakeEncoder(before=lambda texts: together.wait() if "pair" in texts[0] else None)
    async with running_batcher(encoder, Limits(workers=2, query_batch_tokens=1)) as batcher:
        await asyncio.gather(ask(batcher, ["pair"]), ask(batcher, ["pair"]))
    assert len(encoder.threads) == 2


async def test_the_observer_hears_of_batches() -> None:
    heard = Heard()
    async with running_batcher(FakeEncoder(), heard=heard) as batcher:
        await ask(batcher, ["one two three"])
    assert heard.batches == [(Kind.QUERY, 1, 3)]
    assert heard.depths[Kind.QUERY] == (0, 0)
