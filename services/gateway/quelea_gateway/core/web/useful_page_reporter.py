"""Tells search in the background which pages were useful, so that no answer waits for it."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Awaitable, Callable

from quelea_kit.errors import QueleaError
from quelea_kit.reach import DEFAULT_COLLECTION, Reach, current, within

from quelea_gateway.core.model import Kept
from quelea_gateway.core.web.model import KeepOrder

_WORKERS = 2

Report = Callable[[KeepOrder, tuple[Kept, ...], str], None]
"""Called with what was sent, what became of it, and what went wrong (empty when nothing did)."""


class UsefulPageReporter:
    """A bounded queue before KeepPages.

    Args:
        keep: Tells search.
        seconds: Deadline of one call.
        most: Orders waiting; one more is dropped and reported.
        report: Told how each ended.
    """

    def __init__(
        self,
        keep: Callable[[KeepOrder], Awaitable[tuple[Kept, ...]]],
        *,
        seconds: float,
        most: int,
        report: Report = lambda _order, _kept, _error: None,
    ) -> None:
        self._keep = keep
        self._seconds = seconds
        self._report = report
        self._queue: asyncio.Queue[tuple[KeepOrder, asyncio.Future[tuple[Kept, ...]], Reach]] = asyncio.Queue(most)
        self._workers: list[asyncio.Task[None]] = []
        self._closed = False

    def send(self, order: KeepOrder) -> asyncio.Future[tuple[Kept, ...]] | None:
        """What will become of the pages (nothing, when it fails).

        None when the queue is full or closed, or the caller may not read the collection that they would go to.
        """
        bounds = current()
        if self._closed or not bounds.holds(bounds.tenant, DEFAULT_COLLECTION):
            return None
        outcome: asyncio.Future[tuple[Kept, ...]] = asyncio.get_running_loop().create_future()
        try:
            self._queue.put_nowait((order, outcome, bounds))
        except asyncio.QueueFull:
            self._report(order, (), "too many pages wait to be kept")
            return None
        self._workers = [task for task in self._workers if not task.done()]
        if len(self._workers) < _WORKERS:
            self._workers.append(asyncio.create_task(self._work()))
        return outcome

    async def _work(self) -> None:
        while not self._queue.empty():
            order, outcome, bounds = self._queue.get_nowait()
            kept: tuple[Kept, ...] = ()
            error = ""
            try:
                with within(bounds):  # a worker is begun by one caller, and serves the next ones too
                    async with asyncio.timeout(self._seconds):
                        kept = await self._keep(order)
            except QueleaError as failed:
                error = failed.message
            except TimeoutError:
                error = f"no answer in {self._seconds:g} s"
            except Exception as failed:  # noqa: BLE001  # nobody waits for it: reported, and the next one is due
                error = f"{type(failed).__name__}: {failed}"
            finally:
                if not outcome.done():
                    outcome.set_result(kept)
            self._report(order, kept, error)

    async def close(self, seconds: float) -> None:
        """Finish what waits, within the given seconds; then drop the rest."""
        self._closed = True
        if self._workers:
            _, late = await asyncio.wait(self._workers, timeout=seconds)
            for task in late:
                task.cancel()
                with contextlib.suppress(asyncio.CancelledError):
                    await task
