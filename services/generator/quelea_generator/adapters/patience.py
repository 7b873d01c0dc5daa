"""How long an answer waits for an engine's first word: longer while others are given theirs."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncIterator

STALLS = 3
"""Times the usual wait, at most."""


class Patience:
    """The waits for a first word at one engine.

    An engine that has just started, or whose batch is full of long prompts, reads one after the other: the last of
    sixteen waits for the fifteen before it. That is no silence as long as the others get their words. An engine that is
    silent towards all is given up as fast as ever.

    Args:
        seconds: Longest silence of the engine.
    """

    def __init__(self, seconds: float) -> None:
        self._seconds = seconds
        self._waiting: dict[asyncio.Timeout, float] = {}
        self._pushed = 0.0

    @contextlib.asynccontextmanager
    async def first_word(self) -> AsyncIterator[None]:
        """Raises TimeoutError in the block when the engine was silent towards all for too long, or the wait is."""
        async with asyncio.timeout(self._seconds) as limit:
            self._waiting[limit] = asyncio.get_running_loop().time()
            try:
                yield
            finally:
                del self._waiting[limit]

    def progressed(self) -> None:
        """The engine has sent a word to somebody."""
        now = asyncio.get_running_loop().time()
        if not self._waiting or now - self._pushed < min(1.0, self._seconds / 4):  # not at every token
            return
        self._pushed = now
        for limit, since in self._waiting.items():
            if not limit.expired():
                limit.reschedule(min(now + self._seconds, since + STALLS * self._seconds))
