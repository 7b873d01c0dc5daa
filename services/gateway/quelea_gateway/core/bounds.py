"""How much one key may ask for at once, and in a minute. In this process only: two gateways bound twice as much."""

from __future__ import annotations

import contextlib
import time
from collections import OrderedDict
from collections.abc import Callable, Iterator
from dataclasses import dataclass

from quelea_kit.errors import Overloaded

_KEPT = 10_000


@dataclass
class _State:
    calls: int = 0
    tokens: float = 0.0
    seen: float = 0.0


class Bounds:
    """Calls under way and calls begun, by key.

    Args:
        calls: Calls of one key under way at once.
        per_minute: Calls that one key may begin in a minute, evenly refilled; 0: no such limit.
        now: Seconds, monotonic.
    """

    def __init__(self, calls: int, per_minute: int = 0, now: Callable[[], float] = time.monotonic) -> None:
        self._calls = calls
        self._per_minute = per_minute
        self._now = now
        self._states: OrderedDict[str, _State] = OrderedDict()

    @contextlib.contextmanager
    def call(self, key: str) -> Iterator[None]:
        """Around one call. Raises Overloaded."""
        state = self._state(key)
        if state.calls >= self._calls:
            raise Overloaded(
                f"This key has {self._calls} calls under way already; wait for one to end.",
                details={"limit": str(self._calls)},
                retry_after=1.0,
            )
        if self._per_minute:
            if state.tokens < 1.0:
                wait = (1.0 - state.tokens) * 60.0 / self._per_minute
                raise Overloaded(
                    f"This key may begin {self._per_minute} calls a minute.",
                    details={"limit": str(self._per_minute)},
                    retry_after=wait,
                )
            state.tokens -= 1.0
        state.calls += 1
        try:
            yield
        finally:
            state.calls -= 1

    def _state(self, key: str) -> _State:
        now = self._now()
        state = self._states.get(key)
        if state is None:
            state = self._states[key] = _State(tokens=float(self._per_minute), seen=now)
            while len(self._states) > _KEPT:
                self._states.popitem(last=False)
        self._states.move_to_end(key)
        refill = (now - state.seen) * self._per_minute / 60.0
        state.tokens = min(float(self._per_minute), state.tokens + refill)
        state.seen = now
        return state
