"""How many containers to keep warm, and how long to wait after a failure. Pure arithmetic over a clock given in."""

from __future__ import annotations

import math
from collections import deque
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class PoolLimits:
    """Bounds of the pool; the settings say what they mean."""

    min_warm: int = 1
    max_warm: int = 4
    max_containers: int = 8
    starts_at_once: int = 2
    queue_length: int = 128
    queue_length_per_tenant: int = 64
    queue_seconds: float = 60.0
    start_seconds: float = 60.0
    warm_age_seconds: float = 1800.0
    check_seconds: float = 2.0
    demand_seconds: float = 60.0
    max_files: int = 64


class Demand:
    """How many containers of one shape should be ready, from how often and in what bursts they were asked for.

    Args:
        least: Ready even when nobody asks.
        most: Ready at most.
        window_seconds: How long an arrival is remembered; the pool shrinks so long after the last burst.
    """

    def __init__(self, *, least: int, most: int, window_seconds: float = 60.0) -> None:
        if not 0 <= least <= most:
            raise ValueError("least must be from 0 to most")
        self._least, self._most, self._window = least, most, window_seconds
        self._arrivals: deque[float] = deque(maxlen=4096)

    def arrived(self, now: float) -> None:
        """Somebody asked for one."""
        self._arrivals.append(now)

    def target(self, now: float, start_seconds: float) -> int:
        """Containers to have ready: as many as came at most in any span as long as it takes to start one, and one."""
        while self._arrivals and self._arrivals[0] < now - self._window:
            self._arrivals.popleft()
        if not self._arrivals:
            return self._least
        span = max(start_seconds, 0.1)
        burst, begin, times = 0, 0, list(self._arrivals)
        for end, time in enumerate(times):
            while times[begin] < time - span:
                begin += 1
            burst = max(burst, end - begin + 1)
        return max(self._least, min(self._most, burst + 1))


class Backoff:
    """The wait after failures in a row: 0.25, 0.5, 1 … seconds, at most `most`."""

    def __init__(self, *, first: float = 0.25, most: float = 10.0) -> None:
        self._first, self._most = first, most
        self.failures = 0
        self.until = 0.0

    def failed(self, now: float) -> None:
        """It went wrong again."""
        self.failures += 1
        self.until = now + min(self._most, self._first * 2 ** min(self.failures - 1, 20))

    def worked(self) -> None:
        """It works."""
        self.failures, self.until = 0, 0.0

    def open(self, now: float) -> bool:
        """Whether another try may be made."""
        return now >= self.until


class Mean:
    """A smoothed mean of seconds, for what callers are told to wait."""

    def __init__(self, start: float, *, weight: float = 0.3) -> None:
        self.value, self._weight = start, weight

    def add(self, seconds: float) -> None:
        """One more measurement."""
        self.value += self._weight * (seconds - self.value)


def retry_after(waiting: int, at_once: int, start_seconds: float) -> float:
    """Seconds after which a refused caller may find room: the queue's length over how fast containers come."""
    rounds = math.ceil((waiting + 1) / max(1, at_once))
    return min(60.0, max(0.5, rounds * start_seconds))
