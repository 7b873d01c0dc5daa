"""Whether hypotheses follow from their premises: checks, a bounded queue, batches for the cross-encoder's threads."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Protocol

import numpy as np
from numpy.typing import NDArray
from quelea_kit.errors import Conflict, InvalidInput, Overloaded, QueleaError, TooLarge, Unavailable

Pair = tuple[str, str]
"""Premise and hypothesis."""

Scores = NDArray[np.float32]
"""Shape (pairs, 3): entailment, neutral, contradiction; rows sum to 1."""

_RETRY_AFTER = (0.1, 30.0)  # seconds, least and most that a refused caller is told to wait


class CrossEncoder(Protocol):
    """Reads premise and hypothesis together. score() blocks and is called from several threads at once."""

    @property
    def name(self) -> str:
        """Name and content hash; changes whenever scores would change."""
        ...

    def score(self, pairs: Sequence[Pair]) -> tuple[Scores, list[bool]]:
        """Scores of one batch, and which pairs were longer than the model reads."""
        ...

    def start_thread(self) -> None:
        """Called once in every thread that will call score()."""
        ...


class EntailmentObserver(Protocol):
    """Hears what happens; the service turns it into metrics."""

    def pairs_waiting(self, pairs: int) -> None:
        """So many wait or are being scored."""
        ...

    def batch_scored(self, pairs: int, truncated: int, seconds: float) -> None:
        """One batch is done."""
        ...

    def pairs_refused(self) -> None:
        """A call did not fit into the queue."""
        ...


@dataclass(frozen=True, slots=True)
class EntailmentLimits:
    """Sizes of calls, batches and the queue."""

    workers: int = 1
    """Batches that are scored at the same time."""

    max_pairs: int = 256
    """Pairs of one call."""

    batch_pairs: int = 16
    """Pairs of one batch. A call that is cancelled waits for no more than the batches under way."""

    queue_pairs: int = 1024
    """Pairs that wait or are being scored, of all calls."""


@dataclass(frozen=True, slots=True)
class Entailed:
    """The answer to one call; scores in the order of its pairs."""

    scores: Scores
    truncated: list[int]
    queue_seconds: float
    compute_seconds: float


class Entailment:
    """What the service offers, without the wire.

    Args:
        encoder: The model; None where the operator names none.
        limits: Sizes.
        observer: Hears of every batch and refusal.
    """

    def __init__(self, encoder: CrossEncoder | None, limits: EntailmentLimits, observer: EntailmentObserver) -> None:
        self._encoder = encoder
        self._limits = limits
        self._observer = observer
        self._waiting = 0
        self._seconds_per_pair = 0.0  # of one worker, smoothed; 0 before the first batch
        self._closed = False
        self._threads = (
            ThreadPoolExecutor(limits.workers, "entail", initializer=encoder.start_thread) if encoder else None
        )

    @property
    def model(self) -> str:
        """The cross-encoder's name; empty: none."""
        return self._encoder.name if self._encoder else ""

    async def entail(self, pairs: Sequence[Pair]) -> Entailed:
        """Scores of the pairs. Cancelling drops the batches that still wait.

        Raises:
            Conflict: No cross-encoder is configured.
            InvalidInput: No pair, or an empty text; the message names its index.
            TooLarge: More than max_pairs.
            Overloaded: The queue is full.
            Unavailable: The embedder is stopping.
            QueleaError: The model failed.
        """
        if self._encoder is None or self._threads is None:
            raise Conflict("No cross-encoder is configured. Set QUELEA_EMBEDDER_CROSS_ENCODER to the folder of one.")
        self._check(pairs)
        self._check_room(len(pairs))
        entered = time.perf_counter()
        # Pairs of like length share a batch: little padding.
        order = sorted(range(len(pairs)), key=lambda i: len(pairs[i][0]) + len(pairs[i][1]))
        parts = [order[at : at + self._limits.batch_pairs] for at in range(0, len(order), self._limits.batch_pairs)]
        self._change_waiting(len(pairs))
        loop = asyncio.get_running_loop()
        batches = [
            loop.run_in_executor(self._threads, _score, self._encoder, [pairs[i] for i in part]) for part in parts
        ]
        try:
            done = await asyncio.gather(*batches)
        except asyncio.CancelledError:
            if self._closed:
                raise Unavailable("The embedder is stopping.") from None
            raise
        except Exception as error:
            raise QueleaError(f"The cross-encoder failed: {type(error).__name__}.") from error
        finally:
            for batch in batches:
                batch.cancel()
            self._change_waiting(-len(pairs))
        scores = np.empty((len(pairs), 3), np.float32)
        truncated: list[int] = []
        for part, scored in zip(parts, done, strict=True):
            scores[part] = scored.scores
            cut = [i for i, was_cut in zip(part, scored.truncated, strict=True) if was_cut]
            truncated += cut
            self._observer.batch_scored(len(part), len(cut), scored.seconds)
            self._learn(scored.seconds / len(part))
        if not np.isfinite(scores).all():
            raise QueleaError("The cross-encoder gave a score that is not a number.")
        started = min(scored.began for scored in done)
        return Entailed(scores, sorted(truncated), started - entered, time.perf_counter() - started)

    def stop(self) -> None:
        """Drop what waits, and end the threads."""
        self._closed = True
        if self._threads:
            self._threads.shutdown(wait=False, cancel_futures=True)

    def _check(self, pairs: Sequence[Pair]) -> None:
        if not pairs:
            raise InvalidInput("pairs must not be empty.")
        if len(pairs) > self._limits.max_pairs:
            raise TooLarge(
                f"pairs has {len(pairs)} items; the limit is {self._limits.max_pairs}.",
                details={"limit": str(self._limits.max_pairs)},
            )
        for i, (premise, hypothesis) in enumerate(pairs):
            for field, text in (("premise", premise), ("hypothesis", hypothesis)):
                if not text.strip():
                    raise InvalidInput(f"pairs[{i}].{field} is empty or blank.", details={"index": str(i)})

    def _check_room(self, pairs: int) -> None:
        if self._closed:
            raise Unavailable("The embedder is stopping.")
        if self._waiting + pairs > self._limits.queue_pairs:
            self._observer.pairs_refused()
            least, most = _RETRY_AFTER
            half = self._waiting / 2 * self._seconds_per_pair / self._limits.workers
            raise Overloaded(
                f"{self._waiting} pairs are waiting; no room for {pairs} more.",
                retry_after=min(max(half or 1.0, least), most),
            )

    def _change_waiting(self, pairs: int) -> None:
        self._waiting += pairs
        self._observer.pairs_waiting(self._waiting)

    def _learn(self, seconds: float) -> None:
        self._seconds_per_pair = 0.9 * self._seconds_per_pair + 0.1 * seconds if self._seconds_per_pair else seconds


@dataclass(frozen=True, slots=True)
class _Batch:
    scores: Scores
    truncated: list[bool]
    began: float
    seconds: float


def _score(encoder: CrossEncoder, pairs: list[Pair]) -> _Batch:
    began = time.perf_counter()
    scores, truncated = encoder.score(pairs)
    if scores.shape != (len(pairs), 3):
        raise ValueError(f"the cross-encoder returned the shape {scores.shape} for {len(pairs)} pairs")
    return _Batch(scores, truncated, began, time.perf_counter() - began)
