"""A few processes for work that may hang, crash, eat memory or compute for seconds: reading pages, large checks.

Why processes: a thread cannot be stopped, and work that stays in C or computes without a pause holds the interpreter,
and with it every call of this server. Each process ends itself when one piece of work takes too long, by faulthandler's
timer, a C thread that needs no interpreter, and has an address space of its own size.

Why one ProcessPoolExecutor for each process: when a process dies, its executor is broken as a whole; so nothing but
the work that killed it is lost, and a new executor takes its place.

Why forkserver: gRPC's threads and channels do not survive a fork of this server. The fork server is a clean process
that has imported the modules once, so that a new process is there in milliseconds.
"""

from __future__ import annotations

import asyncio
import contextlib
import faulthandler
import multiprocessing
import multiprocessing.connection
import os
import resource
import signal
import sys
import threading
import time
from collections.abc import Callable
from concurrent.futures import Future, ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from typing import ParamSpec, TypeVar

from quelea_kit.logging import get_logger

log = get_logger(__name__)
P = ParamSpec("P")
T = TypeVar("T")
_STDERR = 2
_TASKS = 200
"""A process is replaced after so many pieces of work, so that a leak stays small."""
_GRACE_SECONDS = 2.0
"""Between a process's own end and the moment at which it is taken for lost."""
_START_SECONDS = 60.0
_preload: dict[str, None] = {}
"""Of all pools: they share one fork server, which knows the last list that it was given."""


class WorkTimeout(Exception):
    """The work took longer than it may; its process has ended."""


class WorkCrashed(Exception):
    """The process ended in the middle of the work."""


class _Slot:
    """One process, whichever it is at the moment."""

    def __init__(self, context: multiprocessing.context.BaseContext, memory_mb: int) -> None:
        self._context = context
        self._memory_mb = memory_mb
        self._executor: ProcessPoolExecutor | None = None
        self._tasks = 0

    def submit(self, seconds: float, patience: float, call: Callable[..., T], args: tuple[object, ...]) -> Future[T]:
        """Blocks while a process starts."""
        if self._executor is None or self._tasks >= _TASKS:
            self.renew()
            self._executor = ProcessPoolExecutor(
                1, mp_context=self._context, initializer=_prepare, initargs=(self._memory_mb,)
            )
        self._tasks += 1
        return self._executor.submit(_run_timed, seconds, patience, call, args)

    def renew(self) -> None:
        """Let the process go; the next piece of work starts another."""
        executor, self._executor, self._tasks = self._executor, None, 0
        if executor is not None:
            executor.shutdown(wait=False, cancel_futures=True)


class ProcessPool:
    """Runs functions in processes, one at a time in each.

    Args:
        size: Processes.
        memory_mb: Address space of each; 0 sets no limit.
        preload: Modules that the fork server imports.
        patience: How many times longer than its seconds a piece of work may take by the clock, while it has used less
            of the processor: on a machine that is busy with other things it is not the work that is slow.
    """

    def __init__(self, size: int, *, memory_mb: int, preload: list[str], patience: float = 1.0) -> None:
        context = multiprocessing.get_context("forkserver")
        _preload.update(dict.fromkeys(preload))
        context.set_forkserver_preload([*_preload])
        self._slots = [_Slot(context, memory_mb) for _ in range(size)]
        self._free: asyncio.Queue[_Slot] = asyncio.Queue()
        for slot in self._slots:
            self._free.put_nowait(slot)
        self._patience = patience
        self._closed = False

    async def run(self, seconds: float, call: Callable[P, T], *args: P.args, **kwargs: P.kwargs) -> T:
        """call(*args) in a process, which ends when it takes longer than the seconds.

        Waits for a free process. A caller that is cancelled leaves the process to its clock.

        Raises:
            WorkTimeout: It took too long.
            WorkCrashed: It killed its process.
        """
        if kwargs:
            raise TypeError("only positional arguments go to the process")
        slot = await self._free.get()
        began = time.monotonic()
        work = asyncio.ensure_future(self._work(slot, seconds, call, args))
        try:
            return await asyncio.shield(work)
        except (BrokenProcessPool, TimeoutError):
            if time.monotonic() - began >= seconds:
                raise WorkTimeout from None
            raise WorkCrashed from None

    async def warm(self, call: Callable[[], object] | None = None) -> None:
        """Start every process, and have each do a first piece of work, which loads what others need too."""
        with contextlib.suppress(WorkTimeout, WorkCrashed):
            await asyncio.gather(*(self.run(_START_SECONDS, call or _nothing) for _ in self._slots))

    async def close(self) -> None:
        """End the processes; work under way ends by its clock."""
        self._closed = True
        for slot in self._slots:
            slot.renew()

    async def _work(self, slot: _Slot, seconds: float, call: Callable[..., T], args: tuple[object, ...]) -> T:
        try:
            future = await asyncio.to_thread(slot.submit, seconds, self._patience, call, args)
            # A process that does not even end itself is stuck in the kernel; it is left behind.
            async with asyncio.timeout(seconds * self._patience + _GRACE_SECONDS):
                return await asyncio.wrap_future(future)
        except (BrokenProcessPool, TimeoutError):
            log.warning("pool_process_ended", work=call.__name__, seconds=seconds)
            slot.renew()
            raise
        finally:
            if self._closed:
                slot.renew()
            self._free.put_nowait(slot)


def _run_timed(seconds: float, patience: float, call: Callable[..., T], args: tuple[object, ...]) -> T:
    faulthandler.dump_traceback_later(max(seconds * patience, 0.05), exit=True, file=_STDERR)
    if patience > 1:
        signal.setitimer(signal.ITIMER_PROF, seconds)  # nobody handles SIGPROF, so the kernel ends the process
    try:
        return call(*args)
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)
        faulthandler.cancel_dump_traceback_later()


def _nothing() -> None:
    """What a process does to get ready."""


def _prepare(memory_mb: int) -> None:
    signal.signal(
        signal.SIGINT, signal.SIG_IGN
    )  # the server's own, from a terminal, ends this process through its pipe
    if memory_mb:
        size = memory_mb * 1024 * 1024
        _, hard = resource.getrlimit(resource.RLIMIT_AS)
        resource.setrlimit(resource.RLIMIT_AS, (size if hard < 0 else min(size, hard), hard))
    threading.Thread(target=_end_with_parent, daemon=True).start()


def _end_with_parent() -> None:
    """A server that is killed tells nobody; its processes must not stay behind."""
    parent = multiprocessing.parent_process()
    if parent is not None:
        multiprocessing.connection.wait([parent.sentinel])
        sys.stderr.flush()
        os._exit(1)
