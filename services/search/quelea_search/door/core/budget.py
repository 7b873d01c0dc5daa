"""How often and how many at once: a bucket of tokens for a host, slots for calls under way.

Both live in this process alone; a door that starts anew starts with a full bucket.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager

from quelea_search.door.core.model import Refused

Clock = Callable[[], float]


class TokenBucket:
    """So many calls a minute, of which some may come at once.

    Args:
        per_minute: Above 0.
        burst: At once; 0: a sixth of a minute's.
        clock: Monotonic seconds.
    """

    def __init__(self, per_minute: int, burst: int = 0, clock: Clock = time.monotonic) -> None:
        self.per_minute = per_minute
        self._size = float(burst) or max(1.0, per_minute / 6)
        self._tokens = self._size
        self._now = clock
        self._seen = clock()

    def take(self, patience: float) -> float:
        """Take one token, now or ahead of its time.

        Returns:
            Seconds to wait before the call; a negative number: no token within the patience, and its amount says when
            there is one.
        """
        self._fill()
        wait = max(0.0, (1.0 - self._tokens) * 60.0 / self.per_minute)
        if wait > patience:
            return -wait
        self._tokens -= 1.0
        return wait

    @property
    def left(self) -> int:
        """Whole tokens that are there now."""
        self._fill()
        return max(0, int(self._tokens))

    def _fill(self) -> None:
        now = self._now()
        self._tokens = min(self._size, self._tokens + (now - self._seen) * self.per_minute / 60.0)
        self._seen = now


class CallSlots:
    """So many at once, so many waiting; one more is refused.

    Args:
        size: At once.
        waiting: Beside them.
        what: For the message.
    """

    def __init__(self, size: int, waiting: int, what: str) -> None:
        self._slots = asyncio.Semaphore(size)
        self._limit = size + waiting
        self._what = what
        self.inside = 0

    @asynccontextmanager
    async def take(self) -> AsyncIterator[None]:
        """Wait for a slot; the caller holds the deadline. Raises Refused (429)."""
        if self.inside >= self._limit:
            raise Refused(
                429, "BUSY", f"{self._limit} calls {self._what} are already running or waiting; try again in a second.",
                retry_after=1.0,
            )  # fmt: skip
        self.inside += 1
        try:
            async with self._slots:
                yield
        finally:
            self.inside -= 1


class OneAtATime:
    """Calls with the same key follow one another, so that the second finds what the first has fetched."""

    def __init__(self) -> None:
        self._locks: dict[str, tuple[asyncio.Lock, int]] = {}

    @asynccontextmanager
    async def of(self, key: str) -> AsyncIterator[None]:
        """Wait for the calls before; the caller holds the deadline."""
        lock, users = self._locks.get(key, (asyncio.Lock(), 0))
        self._locks[key] = (lock, users + 1)
        try:
            async with lock:
                yield
        finally:
            left = self._locks[key][1] - 1
            if left:
                self._locks[key] = (lock, left)
            else:
                del self._locks[key]
