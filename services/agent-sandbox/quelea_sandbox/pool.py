"""Warm containers for whoever waits: started ahead, given out once, destroyed and replaced."""

from __future__ import annotations

import asyncio
import time
from dataclasses import dataclass
from functools import partial
from typing import Any

from quelea_kit.errors import Cancelled, Overloaded, QueleaError, Unavailable
from quelea_kit.fair_queue import FairQueue

from quelea_sandbox import metrics
from quelea_sandbox.adapters.backend import Backend
from quelea_sandbox.core.model import Shape
from quelea_sandbox.core.policy import PoolLimits, retry_after
from quelea_sandbox.idle_containers import IdleContainers
from quelea_sandbox.keeper import Keeper

_TICK = 0.25


@dataclass(eq=False, slots=True)
class Waiter:
    """A call that waits for a container."""

    shape: Shape
    answer: asyncio.Future[Keeper]


@dataclass(frozen=True, slots=True)
class Counts:
    """How many containers, and callers, are in which state."""

    ready: int
    running: int
    starting: int
    removing: int
    waiting: int


class Pool:
    """Gives out containers, each once.

    Args:
        backend: Makes them.
        warm: Shapes of which some are kept ready.
        limits: Bounds.
    """

    def __init__(self, backend: Backend, warm: list[Shape], limits: PoolLimits) -> None:
        self._limits = limits
        self._idle = IdleContainers(backend, warm, limits, changed=self._balance, hopeless=self._refuse)
        self._waiting: FairQueue[Waiter] = FairQueue(
            quantum=1, length=limits.queue_length, tenant_length=limits.queue_length_per_tenant
        )
        self._running: set[Keeper] = set()
        self._closed = False
        self._upkeep: asyncio.Task[None] | None = None

    def start(self) -> None:
        """Remove leftovers and fill the pool, in the background; the engine may be down now."""
        self._upkeep = asyncio.create_task(self._keep_up())

    async def ready(self) -> None:
        """What health says: a container of each kind that is kept warm has started, and more can be had.

        Raises:
            Unavailable: None has started yet, or the engine is unusable; says why.
        """
        self._check_usable()
        if self._idle.unproven:
            raise Unavailable(f"The sandbox is starting: {self._idle.unproven}.", retry_after=2.0)

    def _check_usable(self) -> None:
        """Whether it is worth while to wait for a container; before the first has started it is."""
        if self._closed:
            raise Unavailable("The sandbox is shutting down.", retry_after=2.0)
        if self.down:
            raise Unavailable(f"No container can be made: {self.down}", retry_after=2.0)

    @property
    def down(self) -> str:
        """Why no container can be made; empty while they can."""
        return self._idle.down

    @property
    def was_asked(self) -> bool:
        """Whether the engine was asked at least once."""
        return self._idle.was_asked

    @property
    def counts(self) -> Counts:
        """The state of things."""
        return Counts(
            ready=self._idle.ready,
            running=len(self._running),
            starting=self._idle.starting,
            removing=self._idle.removing,
            waiting=len(self._waiting),
        )

    async def take(self, shape: Shape, tenant: str, cancelled: asyncio.Event | None = None) -> tuple[Keeper, bool]:
        """A container that nobody had before, and whether it was ready at once. Give it back with `discard`.

        Raises:
            Cancelled: `cancelled` was set while it waited.
            InvalidInput: So little memory that nothing can be loaded.
            Overloaded: The queue is full, or the wait was too long.
            Unavailable: The engine is unusable.
        """
        self._check_usable()
        self._idle.state(shape).demand.arrived(time.monotonic())
        waiter = Waiter(shape, asyncio.get_running_loop().create_future())
        self._queue(tenant, waiter)
        self._balance()
        warm, taken = waiter.answer.done(), False
        stop = asyncio.create_task((cancelled or asyncio.Event()).wait())
        try:
            either: set[asyncio.Future[Any]] = {waiter.answer, stop}
            await asyncio.wait(either, timeout=self._limits.queue_seconds, return_when=asyncio.FIRST_COMPLETED)
            if stop.done():
                raise Cancelled("Cancelled while waiting for a container.")
            if not waiter.answer.done():
                metrics.REFUSED.labels("wait").inc()
                self._check_usable()
                raise Overloaded(
                    f"No container became free within {self._limits.queue_seconds:g} s; try again later.",
                    retry_after=self._retry_after(),
                )
            keeper = waiter.answer.result()
            taken = True
        finally:
            stop.cancel()
            self._waiting.discard(tenant, waiter)
            if not taken and waiter.answer.done() and not waiter.answer.exception():
                self.discard(waiter.answer.result())  # it came in the moment in which the caller left
            waiter.answer.cancel()
            self._balance()
        metrics.HANDED.labels("yes" if warm else "no").inc()
        return keeper, warm

    def discard(self, keeper: Keeper) -> None:
        """Destroy a container that was given out, in the background; once is enough."""
        if keeper in self._running:
            self._running.remove(keeper)
            self._idle.destroy(keeper)

    async def close(self) -> None:
        """Destroy all containers, whatever they do; those that wait are refused."""
        self._closed = True
        if self._upkeep:
            self._upkeep.cancel()
        for waiter in list(self._waiting):
            if not waiter.answer.done():
                waiter.answer.set_exception(Unavailable("The sandbox is shutting down.", retry_after=2.0))
        for keeper in list(self._running):
            self.discard(keeper)
        await self._idle.close()

    def _queue(self, tenant: str, waiter: Waiter) -> None:
        refused = self._waiting.push(tenant, 1, waiter)
        if refused is None:
            return
        metrics.REFUSED.labels("queue").inc()
        error = Overloaded(
            f"{len(self._waiting)} runs are waiting already; try again later.", retry_after=self._retry_after()
        )
        if refused is waiter:
            raise error
        if not refused.answer.done():
            refused.answer.set_exception(error)

    def _refuse(self, shape: Shape, why: QueleaError) -> None:
        """Everybody who waits for this shape hears why there is none."""
        while waiter := self._waiting.pop(wanted=partial(is_wanted_by, shape)):
            waiter.answer.set_exception(why)

    def _retry_after(self) -> float:
        return retry_after(len(self._waiting), self._limits.starts_at_once, self._idle.start_mean.value)

    def _balance(self) -> None:
        """Give ready containers to who waits, and start what is missing."""
        if not self._closed:
            for shape, state in self._idle.shapes.items():
                while state.idle:
                    if not state.idle[0].usable:
                        self._idle.destroy(state.idle.popleft())
                        continue
                    waiter = self._waiting.pop(wanted=partial(is_wanted_by, shape))
                    if waiter is None:
                        break
                    keeper = state.idle.popleft()
                    self._running.add(keeper)
                    waiter.answer.set_result(keeper)
            self._start_missing()
        counts = self.counts
        for label in ("ready", "running", "starting", "removing"):
            metrics.CONTAINERS.labels(label).set(getattr(counts, label))
        metrics.WAITING.set(counts.waiting)

    def _start_missing(self) -> None:
        now, idle = time.monotonic(), self._idle
        wanted: dict[Shape, int] = {}
        for waiter in self._waiting:  # in the order of turns
            wanted[waiter.shape] = wanted.get(waiter.shape, 0) + 1
        for shape, number in wanted.items():
            state = idle.state(shape)
            while state.starting < number and idle.may_start(state, now):
                if self._room() <= 0:
                    self._evict(wanted)  # and this comes again when that one is gone
                    return
                idle.begin(shape)
        for shape in idle.warm:
            state = idle.state(shape)
            # A try where none has worked yet, or lately, even if nothing is to be kept warm: health goes by it.
            least = 0 if shape in wanted or (state.proven and not state.backoff.failures) else 1
            target = max(idle.target(state, now), least) + wanted.get(shape, 0)
            while len(state.idle) + state.starting < target and idle.may_start(state, now) and self._room() > 0:
                idle.begin(shape)

    def _room(self) -> int:
        counts = self.counts
        return self._limits.max_containers - counts.ready - counts.running - counts.starting - counts.removing

    def _evict(self, wanted: dict[Shape, int]) -> None:
        """Make room for a shape that is waited for with a ready container of a shape that is not."""
        if self._idle.removing:
            return
        for shape, state in self._idle.shapes.items():
            if shape not in wanted and state.idle:
                self._idle.destroy(state.idle.popleft())
                return

    async def _keep_up(self) -> None:
        checked = 0.0
        while True:
            now = time.monotonic()
            if now - checked >= self._limits.check_seconds:
                await self._idle.check()
                checked = time.monotonic()
            self._idle.trim(now, lambda shape: any(is_wanted_by(shape, waiter) for waiter in self._waiting))
            self._balance()
            await asyncio.sleep(_TICK)


def is_wanted_by(shape: Shape, waiter: Waiter) -> bool:
    """Whether a container of this shape is what the call waits for."""
    return waiter.shape == shape and not waiter.answer.done()
