"""How long an answer waits for an engine's first word: longer where it is cold or slow, or writes to others."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncIterator

_MARGIN = 3
"""Times what a prompt of this length took lately that it may take now."""
_FADES = 0.9
"""What is left of a slow pace at the next word: one long wait is not remembered for ever."""


class Patience:
    """The waits for a first word at one engine.

    An engine that has just started, or whose batch is full of long prompts, reads one after the other: the last of
    sixteen waits for the fifteen before it. That is no silence as long as the others get their words. Nor is the first
    answer of a model or an adapter, which may have to be loaded or compiled, or of a prompt that at the model's own
    pace takes long to read. An engine that is fast, and then silent towards all, is given up as fast as ever.

    Args:
        seconds: Longest silence of the engine.
        first_seconds: Longest wait for a first word in any case; what is less than `seconds` counts as that.
    """

    def __init__(self, seconds: float, first_seconds: float) -> None:
        self._seconds = seconds
        self.most = max(seconds, first_seconds)
        self._waiting: dict[asyncio.Timeout, tuple[float, float]] = {}
        self._pushed = 0.0
        self._paces: dict[str, float] = {}

    @contextlib.asynccontextmanager
    async def first_word(self, model: str, tokens: int) -> AsyncIterator[None]:
        """The wait of this model or adapter's first word after a prompt of so many tokens; it comes as the block ends.

        Raises TimeoutError in the block when the engine was silent towards all for too long, or the wait is.
        """
        began, tokens = asyncio.get_running_loop().time(), max(1, tokens)
        async with asyncio.timeout(self._silence(model, tokens)) as limit:
            self._waiting[limit] = (began, began + self.most)
            try:
                yield
            finally:
                del self._waiting[limit]
        took = (asyncio.get_running_loop().time() - began) / tokens
        self._paces[model] = max(took, _FADES * self._paces.get(model, 0.0))

    def progressed(self) -> None:
        """The engine has sent a word to somebody."""
        now = asyncio.get_running_loop().time()
        if not self._waiting or now - self._pushed < min(1.0, self._seconds / 4):  # not at every token
            return
        self._pushed = now
        for limit, (_, last) in self._waiting.items():
            if not limit.expired():
                limit.reschedule(max(limit.when() or 0.0, min(now + self._seconds, last)))

    def forget(self) -> None:
        """The engine is away: what comes back has loaded nothing."""
        self._paces.clear()

    def _silence(self, model: str, tokens: int) -> float:
        """Seconds that this first word may take although nobody gets one."""
        pace = self._paces.get(model)
        return self.most if pace is None else min(self.most, max(self._seconds, _MARGIN * pace * tokens))
