"""Many pieces of work at once, a bounded number at a time; ends early when the other side is gone."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Iterable
from typing import TypeVar

from quelea_evaluation.endpoints.client import EndpointError

T = TypeVar("T")

MOST_AT_ONCE = 64
GONE_AFTER = 12
"""Failures in a row, of the kind that may pass, after which the endpoint counts as gone: time and money would go to
nothing."""


class Gone(Exception):
    """The endpoint stopped answering; what is done is kept."""


class Liveness:
    """Counts failures in a row, and says when to give up.

    Args:
        advice: How the work is taken up again.
    """

    def __init__(self, advice: str = "call again to go on") -> None:
        self._advice = advice
        self._failures = 0
        self._last = ""
        self._lives = False

    def succeeded(self) -> None:
        """An answer came."""
        self._failures = 0
        self._lives = True

    def failed(self, error: EndpointError) -> None:
        """None came.

        Raises:
            Gone: As often as the limit, one after the other.
        """
        if error.passing:
            self.missed(str(error))

    def missed(self, problem: str) -> None:
        """Nobody could be reached; see `failed`."""
        self._failures += 1
        self._last = problem
        if self._failures >= GONE_AFTER:
            self._give_up()

    def check(self) -> None:
        """At the end of the work.

        Raises:
            Gone: There were few requests, and none was answered.
        """
        if self._last and not self._lives:
            self._give_up()

    def _give_up(self) -> None:
        raise Gone(
            f"{self._failures} requests in a row failed, the last with: {self._last}. What is done is kept; "
            f"{self._advice}."
        )


async def run_all(items: Iterable[T], work: Callable[[T], Awaitable[None]], concurrency: int) -> None:
    """Work on every item, so many at a time; the items are taken from the iterable only when they are due.

    The first error ends the others and is raised.
    """
    waiting = iter(items)

    async def worker() -> None:
        for item in waiting:  # one iterator for all workers: there is no await between taking and using it
            await work(item)

    try:
        async with asyncio.TaskGroup() as group:
            for _ in range(max(1, concurrency)):
                group.create_task(worker())
    except BaseExceptionGroup as errors:
        raise errors.exceptions[0] from None
