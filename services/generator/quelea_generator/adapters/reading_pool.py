"""Reading of callers' text in processes that can be ended: a text that is slow to read stops nobody else's answer."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from datetime import date
from typing import ParamSpec, TypeVar

from quelea_kit.errors import DeadlineExceeded, Unavailable
from quelea_kit.processes.process_pool import ProcessPool, WorkCrashed, WorkTimeout

from quelea_generator.core.extractive.reader import answer
from quelea_generator.core.model import Evidence, Task

P = ParamSpec("P")
T = TypeVar("T")
_MEMORY_MB = 2048
_RETRY_SECONDS = 1.0
_PATIENCE = 4.0
_PRELOAD = [
    "quelea_generator.core.joint_answer",
    "quelea_generator.core.extractive.reader",
    "quelea_generator.core.dialogue.follow_up",
]
_FIRST = "Revenue was $1.2 billion in fiscal 2023, up 5% from 2022. 2023年营业收入为12亿元，同比增长5%。"


def _read_first() -> None:
    evidence = (Evidence(1, _FIRST),)
    for question in ("What was revenue in fiscal 2023?", "2023年营业收入是多少？"):
        answer(Task(question, evidence, as_of=date(2024, 1, 1)))


class ReadingPool:
    """Runs functions on callers' text, bounded, with a deadline.

    Args:
        processes: Texts that are read at once.
        seconds: Most processor time for a text; by the clock four times as long, for a machine that is busy, and as
            long again to wait for a process.
    """

    def __init__(self, *, processes: int, seconds: float) -> None:
        self._pool = ProcessPool(processes, memory_mb=_MEMORY_MB, preload=_PRELOAD, patience=_PATIENCE)
        self._seconds = seconds

    async def run(self, call: Callable[P, T], *args: P.args, **kwargs: P.kwargs) -> T:
        """call(*args) in a process.

        Raises:
            DeadlineExceeded: It took longer than it may; its process has ended and another takes its place.
            Unavailable: Its process was killed, twice.
        """
        try:
            async with asyncio.timeout(2 * _PATIENCE * self._seconds):
                try:
                    return await self._pool.run(self._seconds, call, *args, **kwargs)
                except WorkCrashed:  # its process may have been killed before it began
                    return await self._pool.run(self._seconds, call, *args, **kwargs)
        except (TimeoutError, WorkTimeout):
            raise DeadlineExceeded(
                f"Reading the question and its evidence took longer than {self._seconds:g} seconds of processor time; "
                "ask a shorter question or send less evidence."
            ) from None
        except WorkCrashed:
            raise Unavailable(
                "The process that read the text was killed; try again.", retry_after=_RETRY_SECONDS
            ) from None

    async def warm(self) -> None:
        """Start every process, and have each read a first text, so that no caller waits for what it loads for that."""
        await self._pool.warm(_read_first)

    async def close(self) -> None:
        """End the processes."""
        await self._pool.close()
