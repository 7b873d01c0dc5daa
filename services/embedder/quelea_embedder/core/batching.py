"""Concurrent calls merged into batches for the encoder, with a bounded queue in front.

The event loop owns all state; only Encoder.encode and Encoder.measure run in threads.
"""

from __future__ import annotations

import asyncio
import math
import time
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass

import numpy as np
from quelea_kit.errors import Overloaded, QueleaError, Unavailable

from quelea_embedder.core.model import Encoder, Kind, Measured, Observer, Silent, Vectors
from quelea_embedder.core.text_queue import Call, Item, TextQueue

_QUERY_BATCHES_IN_A_ROW = 4  # then one of passages, when any wait: a flood of queries slows ingestion, but no more
_MEASURE_AT_ONCE = 8  # texts; a short query waits no longer than this for the tokenizer
_RETRY_AFTER = (0.1, 30.0)  # seconds, least and most that a refused caller is told to wait


@dataclass(frozen=True, slots=True)
class Limits:
    """Sizes of batches and queues."""

    workers: int = 1
    """Batches that are encoded at the same time."""

    query_batch_tokens: int = 192
    """Longest text x number of texts of a batch of queries."""

    passage_batch_tokens: int = 256
    """The same for passages. A query waits for at most one such batch."""

    quiet_batch_tokens: int = 768
    """The same for passages while nobody queries: a token costs less in a larger batch."""

    quiet_seconds: float = 10.0
    """Since the last query: nobody queries."""

    batch_texts: int = 64
    """Texts in a batch, of either kind."""

    overhead_tokens: int = 24
    """What a batch of its own costs, in tokens."""

    queue_texts: int = 4096
    """Waiting texts of each kind."""

    queue_tokens: int = 1_048_576
    """Waiting tokens of each kind."""


@dataclass(frozen=True, slots=True)
class Encoded:
    """Vectors of one call."""

    vectors: Vectors
    queue_seconds: float
    compute_seconds: float


TRIAL_TEXT = "ready"
"""Encoded before the service is ready, and after a failure to tell a bad text from a broken encoder."""


class EncoderBroken(Exception):
    """The encoder fails on any text, as one that got no memory does, or whose device is gone."""


class Batcher:
    """The queue and the workers that empty it.

    Args:
        encoder: Does the work.
        limits: Sizes.
        observer: Hears of every batch and refusal.
    """

    def __init__(self, encoder: Encoder, limits: Limits, observer: Observer | None = None) -> None:
        self._encoder = encoder
        self._limits = limits
        self._observer: Observer = observer or Silent()
        self._queues = {
            kind: TextQueue(limits.queue_texts, limits.queue_tokens, limits.overhead_tokens) for kind in Kind
        }
        self._arrived = asyncio.Event()
        self._query_batches = 0
        self._queried = -math.inf  # when a query last came, by the loop's clock
        self._tokens_per_second = 0.0  # of one worker, smoothed; 0 before the first batch
        self._tokenizing = ThreadPoolExecutor(1, "tokenize")
        self._encoding = ThreadPoolExecutor(limits.workers, "encode", initializer=encoder.start_thread)
        self.workers: list[asyncio.Task[None]] = []
        """Each runs until `stop`, or fails with EncoderBroken: the process is then to be started again."""
        self._closed = False

    def start(self) -> None:
        """Start the workers. Needs a running event loop."""
        self.workers = [asyncio.create_task(self._work()) for _ in range(self._limits.workers)]

    async def stop(self) -> None:
        """Fail what waits with Unavailable, and end the threads."""
        self._closed = True
        for worker in self.workers:
            worker.cancel()
        await asyncio.gather(*self.workers, return_exceptions=True)
        for kind, queue in self._queues.items():
            while items := queue.take(1 << 60, 1 << 30):
                for item in items:
                    _fail(item.call, Unavailable("The embedder is stopping."))
            self._tell_depth(kind)
        self._tokenizing.shutdown(wait=False, cancel_futures=True)
        self._encoding.shutdown(wait=False, cancel_futures=True)

    @property
    def running(self) -> bool:
        """True while every worker is there."""
        return bool(self.workers) and not any(worker.done() for worker in self.workers)

    def waiting(self, kind: Kind) -> int:
        """Texts in the queue."""
        return len(self._queues[kind])

    async def measure(self, texts: Sequence[str], kind: Kind) -> list[Measured]:
        """Tokenize in a thread, a few texts at a time."""
        loop = asyncio.get_running_loop()
        measured: list[Measured] = []
        for start in range(0, len(texts), _MEASURE_AT_ONCE):
            part = texts[start : start + _MEASURE_AT_ONCE]
            measured += await loop.run_in_executor(self._tokenizing, self._encoder.measure, part, kind)
        return measured

    def check_room(self, texts: int, tokens: int, kind: Kind) -> None:
        """Refuse a call that the queue cannot take, before work is spent on it.

        Raises:
            Overloaded: Too much is waiting.
            Unavailable: The batcher is stopping.
        """
        queue = self._queues[kind]
        if self._closed:
            raise Unavailable("The embedder is stopping.")
        if not queue.fits(texts, tokens):
            self._observer.refused(kind)
            raise Overloaded(
                f"{len(queue)} {kind.value} texts ({queue.tokens} tokens) are waiting; no room for {texts} more.",
                retry_after=self._retry_after(),
            )

    async def encode(self, texts: Sequence[Measured], kind: Kind) -> Encoded:
        """Vectors of the texts, in their order. Cancelling takes what still waits out of the queue.

        Raises:
            Overloaded: The queue has no room for all of them.
            Unavailable: The batcher is stopping.
            QueleaError: The encoder failed on one of them.
        """
        self.check_room(len(texts), sum(text.tokens for text in texts), kind)
        queue = self._queues[kind]
        call = Call.new(kind, texts, self._encoder.info.dimension)
        if not texts:
            return Encoded(call.rows, 0.0, 0.0)
        if kind is Kind.QUERY:
            self._queried = call.entered
        queue.add(call)
        self._tell_depth(kind)
        self._arrived.set()
        try:
            await call.done
        except asyncio.CancelledError:
            self._observer.cancelled(kind, call.missing)
            raise
        finally:
            if call.missing:  # it failed or was cancelled: nothing of it stays behind
                queue.remove(call)
                self._tell_depth(kind)
        now = asyncio.get_running_loop().time()
        started = call.started if call.started is not None else now
        return Encoded(call.rows, started - call.entered, now - started)

    def _retry_after(self) -> float:
        """Seconds until about half of what waits is done."""
        waiting = sum(queue.tokens for queue in self._queues.values())
        rate = self._tokens_per_second * self._limits.workers
        least, most = _RETRY_AFTER
        return min(max(waiting / 2 / rate if rate else 1.0, least), most)

    def _tell_depth(self, kind: Kind) -> None:
        self._observer.queued(kind, len(self._queues[kind]), self._queues[kind].tokens)

    async def _work(self) -> None:
        """One worker: as long as it runs, it takes the next batch whenever it is free. It never waits for a fuller
        one: what comes in while the workers are busy makes the next batches full enough."""
        while True:
            while not any(self._queues.values()):
                self._arrived.clear()
                await self._arrived.wait()
            await self._next_batch()

    def _next_kind(self) -> Kind | None:
        queries, passages = self._queues[Kind.QUERY], self._queues[Kind.PASSAGE]
        if queries and not (passages and self._query_batches >= _QUERY_BATCHES_IN_A_ROW):
            self._query_batches += 1
            return Kind.QUERY
        self._query_batches = 0
        return Kind.PASSAGE if passages else None

    async def _next_batch(self) -> None:
        """Encode one batch, if anything waits."""
        kind = self._next_kind()
        if kind is None:
            return
        now = asyncio.get_running_loop().time()
        batch = self._queues[kind].take(*self._bounds(kind, now))
        self._tell_depth(kind)
        for item in batch:
            if item.call.started is None:
                item.call.started = now
        await self._encode(batch, kind)

    def _bounds(self, kind: Kind, now: float) -> tuple[int, int]:
        """Most tokens and most texts of the next batch."""
        limits = self._limits
        if kind is Kind.QUERY:
            return limits.query_batch_tokens, limits.batch_texts
        if now - self._queried < limits.quiet_seconds:
            return limits.passage_batch_tokens, limits.batch_texts
        share = -(-len(self._queues[kind]) // limits.workers)  # so that the last ones are not all one worker's
        return max(limits.passage_batch_tokens, limits.quiet_batch_tokens), min(limits.batch_texts, share)

    async def _encode(self, batch: list[Item], kind: Kind) -> None:
        """Encode and hand out the rows. When a batch fails, its texts are tried once more, each alone, so that one
        caller's text does not fail its neighbours.

        Raises:
            EncoderBroken: Nor does it encode a text that it has encoded before.
        """
        texts = [item.call.texts[item.index].text for item in batch]
        began = time.perf_counter()
        try:
            rows = await asyncio.get_running_loop().run_in_executor(self._encoding, self._encoder.encode, texts, kind)
            if rows.shape != (len(batch), self._encoder.info.dimension):
                raise ValueError(f"the encoder returned the shape {rows.shape} for {len(batch)} texts")
        except asyncio.CancelledError:
            for item in batch:
                _fail(item.call, Unavailable("The embedder is stopping."))
            raise
        except Exception as error:  # noqa: BLE001  # whatever the encoder raises goes to the callers, never to the worker
            await self._encode_again(batch, kind, error)
            return
        seconds = time.perf_counter() - began
        tokens = sum(item.tokens for item in batch)
        self._observer.encoded(kind, len(batch), tokens, seconds)
        rate = tokens / seconds if seconds > 0 else 0.0
        self._tokens_per_second = 0.9 * self._tokens_per_second + 0.1 * rate if self._tokens_per_second else rate
        for item, row in zip(batch, rows, strict=True):
            _deliver(item, row)

    async def _encode_again(self, batch: list[Item], kind: Kind, error: Exception) -> None:
        """After a batch failed with an error."""
        if len(batch) == 1 and await self._works():
            _fail(batch[0].call, _as_error(error, batch[0].index))
            return
        try:
            if len(batch) == 1:
                raise EncoderBroken(f"{type(error).__name__}: {error}"[:500]) from error
            for item in batch:
                if not item.call.done.done():
                    await self._encode([item], kind)
        except EncoderBroken:
            for item in batch:
                _fail(item.call, Unavailable("The embedder's model does not work; it is started again."))
            raise

    async def _works(self) -> bool:
        """Whether a text that was encoded at the start still is."""
        try:
            await asyncio.get_running_loop().run_in_executor(
                self._encoding, self._encoder.encode, [TRIAL_TEXT], Kind.QUERY
            )
        except Exception:  # noqa: BLE001  # whatever it is, it does not work
            return False
        return True


def _deliver(item: Item, row: Vectors) -> None:
    """Put a row into its call; the call is done when it was the last."""
    call = item.call
    if call.done.done():
        return
    if not (np.isfinite(row).all() and row.any()):
        _fail(call, QueleaError(f"The model gave no usable vector for texts[{item.index}]."))
        return
    call.rows[item.index] = row / np.linalg.norm(row)
    call.missing -= 1
    if not call.missing:
        call.done.set_result(None)


def _fail(call: Call, error: QueleaError) -> None:
    if not call.done.done():
        call.done.set_exception(error)


def _as_error(error: Exception, index: int) -> QueleaError:
    if isinstance(error, QueleaError):
        return error
    failure = QueleaError(f"The model failed on texts[{index}]: {type(error).__name__}.")
    failure.__cause__ = error
    return failure
