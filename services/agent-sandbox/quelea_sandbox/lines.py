"""What the pool keeps of each shape of container, and of who waits for it."""

from __future__ import annotations

import asyncio
from collections import deque
from dataclasses import dataclass

from quelea_sandbox.core.model import Shape
from quelea_sandbox.core.policy import Backoff, Demand, PoolLimits
from quelea_sandbox.keeper import Keeper


@dataclass(eq=False, slots=True)
class Waiter:
    """A call that waits for a container."""

    shape: Shape
    answer: asyncio.Future[Keeper]


class Line:
    """The containers of one shape that nobody has yet."""

    def __init__(self, limits: PoolLimits, *, warm: bool) -> None:
        self.idle: deque[Keeper] = deque()
        self.starting = 0
        self.backoff = Backoff()
        self.why = ""
        """Why the last start failed."""

        self.demand = Demand(
            least=limits.min_warm if warm else 0,
            most=max(limits.min_warm, limits.max_warm) if warm else 0,
            window_seconds=limits.demand_seconds,
        )


@dataclass(frozen=True, slots=True)
class Counts:
    """How many containers, and callers, are in which state."""

    ready: int
    running: int
    starting: int
    removing: int
    waiting: int


def wants(shape: Shape, waiter: Waiter) -> bool:
    """Whether a container of this shape is what the call waits for."""
    return waiter.shape == shape and not waiter.answer.done()
