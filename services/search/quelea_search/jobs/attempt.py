"""One attempt at a job: its lease on the job's record, and its calls to the retriever."""

from __future__ import annotations

import asyncio
import functools
import time
from collections.abc import Awaitable, Callable
from typing import TypeVar

import stamina
from quelea_kit.errors import DeadlineExceeded, DiskFull, Overloaded, QueleaError, Unavailable
from quelea_kit.logging import get_logger

from quelea_search.adapters.jobs_redis import LeaseLost
from quelea_search.components import WorkerComponents
from quelea_search.core import jobs
from quelea_search.core.jobs import Job, Lane

log = get_logger(__name__)
T = TypeVar("T")
_REDIS_WAIT_SECONDS = 60.0
PASSING = (Unavailable, Overloaded, DeadlineExceeded)
"""What another try may heal."""


class Attempt:
    """Heartbeat, progress, patience.

    Args:
        parts: What the job is done with.
        job: As claimed.
    """

    def __init__(self, parts: WorkerComponents, job: Job) -> None:
        self.parts = parts
        self.settings = parts.settings
        self.job = job
        self.ending = False
        self._noted = False

    async def beat(self) -> None:
        """Say that the worker lives, until cancelled; LeaseLost when the job is no longer its own."""
        while not self.ending:
            await asyncio.sleep(self.settings.beat_seconds)
            try:
                await asyncio.to_thread(self.parts.store.beat, self.job)
            except LeaseLost:
                if not self.ending:
                    raise
            except (Unavailable, Overloaded) as error:
                log.warning("beat_failed", job=self.job.id, why=error.message)
        # The end itself is fenced; whatever is left to clear up after it must not be cut short.
        await asyncio.get_running_loop().create_future()

    async def report(self, **what: object) -> None:
        """Tell the job record; a Redis that is away for a moment must not stop the work."""
        how = functools.partial(_advance, what)
        try:
            await asyncio.to_thread(self.parts.store.change, self.job, how)
        except (Unavailable, Overloaded) as error:
            log.warning("report_failed", job=self.job.id, why=error.message)

    async def essential(self, call: Callable[..., T], *args: object) -> T:
        """Call what lies in Redis until it answers, within a minute."""
        caller = stamina.AsyncRetryingCaller(attempts=None, timeout=_REDIS_WAIT_SECONDS, wait_max=2.0)
        return await caller.on((Unavailable, Overloaded))(asyncio.to_thread, call, *args)

    async def patiently(self, call: Callable[[], Awaitable[T]], passing: tuple[type[QueleaError], ...] = PASSING) -> T:
        """Call the retriever until it answers, and say so in the job while it does not; `passing` is waited out."""
        wait, since = self.settings.retriever_wait_seconds, 0.0

        def try_again(error: Exception) -> bool:
            nonlocal since
            since = since or time.monotonic()  # from the first refusal: a slow call alone must not use the time up
            if isinstance(error, DiskFull):  # may last for hours: the job goes back into the queue
                return False
            return isinstance(error, passing) and time.monotonic() - since < wait

        try:
            async for attempt in stamina.retry_context(
                on=try_again, attempts=None, timeout=None, wait_initial=0.2, wait_max=5.0, wait_jitter=0.3
            ):
                with attempt:
                    if attempt.num > 1 and not self._noted:
                        self._noted = True
                        await self.report(note="waiting for the retriever")
                    result = await call()
                    if self._noted:
                        self._noted = False
                        await self.report(note="")
                    return result
        except DiskFull:
            raise
        except passing as error:
            raise Unavailable(
                f"The retriever did not take the document within {wait:g} s ({error.message.rstrip('.')}); "
                "replay the job when it is back."
            ) from error
        raise AssertionError("retry_context ends with a result or an error")

    def end(self, how: Callable[..., Job], *, leftovers: bool = False) -> None:
        """The job ends or goes back into the queue, and the next one of its uri may begin."""
        self.ending = True
        self.parts.store.end(self.job, lambda job: how(job, now=time.time()), leftovers=leftovers)
        woken = self.parts.wake_next(self.job.name)
        for lane in Lane:
            if woken is None or woken.lane is not lane:
                self.parts.wake_lane(lane)


def _advance(what: dict[str, object], job: Job) -> Job:
    return jobs.advance(job, now=time.time(), **what)  # type: ignore[arg-type]  # report passes on advance's own names
