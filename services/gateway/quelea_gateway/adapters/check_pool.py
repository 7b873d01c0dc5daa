"""Checks of figures without stopping the server: small ones in a thread, large ones in processes of their own.

Why: a check is computation in Python, which keeps the interpreter and so every other call waiting; the largest that is
let in takes seconds.
"""

from __future__ import annotations

import asyncio
import contextlib
import re
import time
from collections.abc import AsyncIterator, Mapping, Sequence
from functools import partial
from types import MappingProxyType

import quelea_checker
from quelea_checker import CheckPassage, Near, Report
from quelea_kit.errors import DeadlineExceeded, Overloaded, QueleaError, Unavailable
from quelea_kit.processes.process_pool import ProcessPool, WorkCrashed, WorkTimeout

from quelea_gateway.metrics import CHECK_SECONDS, CHECKS

SMALL = 6_000
"""Characters of answer and evidence up to which a check stays in this process: it takes tens of milliseconds."""
_FEW = 60
"""Numbers of an answer up to which it does: each is looked for by itself, and the words of its sentence are read."""
_NUMBER = re.compile(r"\d+(?:[.,]\d+)*")
_AT_ONCE = 2
"""Small checks under way at once: more would only share the interpreter."""
_MOST_SMALL = 256
_MEMORY_MB = 1024
_RETRY_SECONDS = 5.0
_Nearness = Mapping[str, Sequence[Near]]


class CheckPool:
    """quelea_checker.check_answer for servers: bounded, with a deadline.

    Args:
        processes: Large checks under way at once; a process starts with the first check that needs it.
        waiting: Large checks that may wait for a process.
        seconds: A check's deadline, its waiting counted in.
        small: Characters up to which a check needs no process.
    """

    def __init__(self, *, processes: int, waiting: int, seconds: float, small: int = SMALL) -> None:
        self._pool = ProcessPool(processes, memory_mb=_MEMORY_MB, preload=[__name__])
        self._seconds = seconds
        self._small = small
        self._turns = asyncio.Semaphore(_AT_ONCE)
        self._most = {"small": _MOST_SMALL + _AT_ONCE, "large": waiting + processes}
        self._under_way = {"small": 0, "large": 0}

    async def check(
        self,
        answer: str,
        passages: Sequence[CheckPassage],
        *,
        question: str = "",
        near: Mapping[str, Sequence[Near]] = MappingProxyType({}),
    ) -> Report:
        """See quelea_checker.check_answer. Large checks of a caller that leaves end by their clock.

        Raises:
            Overloaded: Too many checks wait already.
            DeadlineExceeded: It took longer than a check may.
            Unavailable: Its process was killed, twice.
        """
        size = len(answer) + len(question) + sum(len(p.text) + len(p.table_head) + len(p.header) for p in passages)
        few = size <= self._small and sum(1 for _ in _NUMBER.finditer(answer)) <= _FEW
        kind = "small" if few else "large"
        async with self._count(kind):
            try:
                async with asyncio.timeout(self._seconds):
                    if kind == "small":
                        return await self._here(answer, passages, question, near)
                    return await self._elsewhere(answer, list(passages), question, dict(near))
            except (TimeoutError, WorkTimeout):
                raise DeadlineExceeded(
                    f"The check took longer than {self._seconds:g} seconds; check fewer sentences or passages at once."
                ) from None
            except WorkCrashed:
                raise Unavailable(
                    "The process of the check was killed; try again.", retry_after=_RETRY_SECONDS
                ) from None

    async def close(self) -> None:
        """End the processes."""
        await self._pool.close()

    async def _here(self, answer: str, passages: Sequence[CheckPassage], question: str, near: _Nearness) -> Report:
        async with self._turns:
            return await asyncio.to_thread(
                partial(quelea_checker.check_answer, answer, passages, question=question, near=near)
            )

    async def _elsewhere(self, answer: str, passages: list[CheckPassage], question: str, near: _Nearness) -> Report:
        try:
            return await self._pool.run(self._seconds, _check, answer, passages, question, near)
        except WorkCrashed:  # its process may have been killed before it began
            return await self._pool.run(self._seconds, _check, answer, passages, question, near)

    @contextlib.asynccontextmanager
    async def _count(self, kind: str) -> AsyncIterator[None]:
        if self._under_way[kind] >= self._most[kind]:
            CHECK_SECONDS.labels(kind, Overloaded.reason).observe(0.0)
            raise Overloaded(
                f"{self._most[kind]} checks are already under way or waiting; try again later.",
                retry_after=_RETRY_SECONDS,
            )
        started, end = time.perf_counter(), "left"  # a caller who leaves cancels the check
        self._under_way[kind] += 1
        CHECKS.labels(kind).inc()
        try:
            yield
            end = "done"
        except QueleaError as error:
            end = error.reason
            raise
        finally:
            self._under_way[kind] -= 1
            CHECKS.labels(kind).dec()
            CHECK_SECONDS.labels(kind, end).observe(time.perf_counter() - started)


def _check(answer: str, passages: list[CheckPassage], question: str, near: _Nearness) -> Report:
    return quelea_checker.check_answer(answer, passages, question=question, near=near)
