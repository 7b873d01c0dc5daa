"""Warm containers: started ahead, given out once, destroyed and replaced."""

from __future__ import annotations

import asyncio
import secrets
import time
from collections.abc import Coroutine
from functools import partial
from typing import Any

from quelea_kit.errors import Cancelled, Overloaded, Unavailable
from quelea_kit.logging import get_logger

from quelea_sandbox import metrics
from quelea_sandbox.adapters.backend import Backend, EngineError
from quelea_sandbox.core.model import Shape
from quelea_sandbox.core.policy import Mean, PoolLimits, retry_after
from quelea_sandbox.core.turns import TurnQueue
from quelea_sandbox.engine_watch import EngineWatch
from quelea_sandbox.keeper import Keeper
from quelea_sandbox.lines import Counts, Line, Waiter, wants

log = get_logger(__name__)

_TICK = 0.25
_FAILURES_UNTIL_DOWN = 3
_CLOSE_SECONDS = 15.0


class Pool:
    """Gives out containers, each once.

    Args:
        backend: Makes them.
        warm: Shapes of which some are kept ready.
        limits: Bounds.
    """

    def __init__(self, backend: Backend, warm: list[Shape], limits: PoolLimits) -> None:
        self._backend = backend
        self._limits = limits
        self._warm = tuple(warm)
        self._lines = {shape: Line(limits, warm=True) for shape in warm}
        self._waiting: TurnQueue[Waiter] = TurnQueue(
            length=limits.queue_length, lane_length=limits.queue_length_per_tenant
        )
        self._running: set[Keeper] = set()
        self._removing = 0
        self._known: set[str] = set()
        self._tasks: set[asyncio.Task[None]] = set()
        self._start_mean = Mean(2.0)
        self._engine = EngineWatch(backend)
        self._down = self._engine.down
        self._closed = False
        self._upkeep: asyncio.Task[None] | None = None

    def start(self) -> None:
        """Remove leftovers and fill the pool, in the background; the engine may be down now."""
        self._upkeep = asyncio.create_task(self._keep_up())

    async def ready(self) -> None:
        """Whether containers can be had.

        Raises:
            Unavailable: The engine is unusable; says why.
        """
        if self._closed:
            raise Unavailable("The sandbox is shutting down.", retry_after=2.0)
        if self._down:
            raise Unavailable(f"No container can be made: {self._down}", retry_after=2.0)

    @property
    def down(self) -> str:
        """Why no container can be made; empty while they can."""
        return self._down

    @property
    def asked(self) -> bool:
        """Whether the engine was asked at least once."""
        return self._engine.asked

    @property
    def counts(self) -> Counts:
        """The state of things."""
        return Counts(
            ready=sum(len(line.idle) for line in self._lines.values()),
            running=len(self._running),
            starting=sum(line.starting for line in self._lines.values()),
            removing=self._removing,
            waiting=len(self._waiting),
        )

    async def take(self, shape: Shape, tenant: str, cancelled: asyncio.Event | None = None) -> tuple[Keeper, bool]:
        """A container that nobody had before, and whether it was ready at once. Give it back with `discard`.

        Raises:
            Cancelled: `cancelled` was set while it waited.
            Overloaded: The queue is full, or the wait was too long.
            Unavailable: The engine is unusable.
        """
        await self.ready()
        line = self._line(shape)
        line.demand.arrived(time.monotonic())
        waiter = Waiter(shape, asyncio.get_running_loop().create_future())
        self._queue(tenant, waiter)
        self._balance()
        warm, taken = waiter.answer.done(), False
        stop = asyncio.create_task((cancelled or asyncio.Event()).wait())
        try:
            either: set[asyncio.Future[Any]] = {waiter.answer, stop}
            await asyncio.wait(either, timeout=self._limits.queue_seconds, return_when=asyncio.FIRST_COMPLETED)
            if stop.done():
                raise Cancelled("Cancelled while it waited for a container.")
            if not waiter.answer.done():
                metrics.REFUSED.labels("wait").inc()
                await self.ready()
                raise Overloaded(
                    f"No container became free within {self._limits.queue_seconds:g} s; try again later.",
                    retry_after=self._retry_after(),
                )
            keeper = waiter.answer.result()
            taken = True
        finally:
            stop.cancel()
            self._waiting.remove(tenant, waiter)
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
            self._destroy(keeper)

    def _destroy(self, keeper: Keeper) -> None:
        keeper.on_broken = None
        self._removing += 1
        self._spawn(self._remove(keeper))

    async def close(self) -> None:
        """Destroy all containers, whatever they do; those that wait are refused."""
        self._closed = True
        if self._upkeep:
            self._upkeep.cancel()
        for waiter in list(self._waiting):
            if not waiter.answer.done():
                waiter.answer.set_exception(Unavailable("The sandbox is shutting down.", retry_after=2.0))
        for line in self._lines.values():
            while line.idle:
                self._destroy(line.idle.popleft())
        for keeper in list(self._running):
            self.discard(keeper)
        until = time.monotonic() + _CLOSE_SECONDS
        while self._tasks and time.monotonic() < until:  # a start that ends now is followed by its removal
            await asyncio.wait(self._tasks, timeout=until - time.monotonic())
        try:
            async with asyncio.timeout(_CLOSE_SECONDS):
                await self._backend.sweep(frozenset())
        except (EngineError, TimeoutError) as error:
            log.warning("containers_may_be_left", why=str(error))
        await self._backend.close()

    def _line(self, shape: Shape) -> Line:
        if shape not in self._lines:
            self._lines[shape] = Line(self._limits, warm=False)
        return self._lines[shape]

    def _queue(self, tenant: str, waiter: Waiter) -> None:
        refused = self._waiting.push(tenant, waiter)
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

    def _retry_after(self) -> float:
        return retry_after(len(self._waiting), self._limits.starts_at_once, self._start_mean.value)

    def _balance(self) -> None:
        """Give ready containers to who waits, and start what is missing."""
        if not self._closed:
            for shape, line in self._lines.items():
                while line.idle:
                    if not line.idle[0].usable:
                        self._destroy(line.idle.popleft())
                        continue
                    waiter = self._waiting.pop(partial(wants, shape))
                    if waiter is None:
                        break
                    keeper = line.idle.popleft()
                    self._running.add(keeper)
                    waiter.answer.set_result(keeper)
            self._start_missing()
        counts = self.counts
        for state in ("ready", "running", "starting", "removing"):
            metrics.CONTAINERS.labels(state).set(getattr(counts, state))
        metrics.WAITING.set(counts.waiting)

    def _start_missing(self) -> None:
        now = time.monotonic()
        wanted: dict[Shape, int] = {}
        for waiter in self._waiting:  # in the order of turns
            wanted[waiter.shape] = wanted.get(waiter.shape, 0) + 1
        for shape, number in wanted.items():
            line = self._lines[shape]
            while line.starting < number and self._may_start(line, now):
                if self._room() <= 0:
                    self._evict(wanted)  # and this comes again when that one is gone
                    return
                self._begin(shape, line)
        for shape in self._warm:
            line = self._lines[shape]
            target = max(self._target(line, now), 1 if line.backoff.failures else 0) + wanted.get(shape, 0)
            while len(line.idle) + line.starting < target and self._may_start(line, now) and self._room() > 0:
                self._begin(shape, line)

    def _may_start(self, line: Line, now: float) -> bool:
        starting = sum(one.starting for one in self._lines.values())
        # After a failure one at a time.
        most = 1 if line.backoff.failures else self._limits.starts_at_once
        return starting < most and not self._engine.down and line.backoff.open(now)

    def _room(self) -> int:
        counts = self.counts
        return self._limits.max_containers - counts.ready - counts.running - counts.starting - counts.removing

    def _evict(self, wanted: dict[Shape, int]) -> None:
        """Make room for a shape that is waited for with a ready container of a shape that is not."""
        if self._removing:
            return
        for shape, line in self._lines.items():
            if shape not in wanted and line.idle:
                self._destroy(line.idle.popleft())
                return

    def _target(self, line: Line, now: float) -> int:
        return line.demand.target(now, self._start_mean.value)

    def _begin(self, shape: Shape, line: Line) -> None:
        line.starting += 1
        self._spawn(self._start_one(shape, line))

    async def _start_one(self, shape: Shape, line: Line) -> None:
        began = time.monotonic()
        name = f"quelea-sandbox-{secrets.token_hex(8)}"
        self._known.add(name)
        keeper: Keeper | None = None
        try:
            container = await self._backend.create(shape, name)
            keeper = Keeper(container, shape, max_files=self._limits.max_files)
            await keeper.ready(self._limits.start_seconds)
            await keeper.measure()
            if not keeper.usable:
                raise EngineError("the guest ended as soon as it was ready")
        except Exception as error:  # whatever it was: no container, and the next try only after a pause
            if not isinstance(error, EngineError):
                log.exception("start_failed")
            self._start_failed(line, shape, str(error) or type(error).__name__)
            if keeper is None:
                self._known.discard(name)
                self._engine.sweep_soon()  # it may be there in spite of the error
            else:
                self._destroy(keeper)
        else:
            seconds = time.monotonic() - began
            self._start_mean.add(seconds)
            metrics.START_SECONDS.observe(seconds)
            line.backoff.worked()
            if self._closed:
                self._destroy(keeper)
            else:
                keeper.on_broken = partial(self._broken, keeper)
                line.idle.append(keeper)
        finally:
            line.starting -= 1
            self._judge()
            self._balance()

    def _start_failed(self, line: Line, shape: Shape, why: str) -> None:
        metrics.START_FAILURES.inc()
        line.backoff.failed(time.monotonic())
        line.why = why
        log.warning("no_container", why=why, failures=line.backoff.failures)
        if shape not in self._warm and line.backoff.failures >= _FAILURES_UNTIL_DOWN:
            # Nobody else wants this shape: its callers hear of it, the service goes on.
            while waiter := self._waiting.pop(partial(wants, shape)):
                waiter.answer.set_exception(Unavailable(f"No such container can be made: {why}", retry_after=5.0))
            line.backoff.worked()

    def _broken(self, keeper: Keeper) -> None:
        """A ready container ended, or spoke out of turn."""
        line = self._lines.get(keeper.shape)
        if line and keeper in line.idle:
            line.idle.remove(keeper)
            self._destroy(keeper)
            self._balance()

    async def _remove(self, keeper: Keeper) -> None:
        try:
            await keeper.close()
        except EngineError as error:
            log.warning("container_not_removed", name=keeper.container.name, why=str(error))
            self._engine.sweep_soon()
        finally:
            self._known.discard(keeper.container.name)
            self._removing -= 1
            self._balance()

    async def _keep_up(self) -> None:
        checked = 0.0
        while True:
            now = time.monotonic()
            if now - checked >= self._limits.check_seconds:
                await self._check()
                checked = time.monotonic()
            self._trim(now)
            self._balance()
            await asyncio.sleep(_TICK)

    async def _check(self) -> None:
        if await self._engine.check(self._known):
            for line in self._lines.values():  # made from an image that is not the one any more
                while line.idle:
                    self._destroy(line.idle.popleft())
        self._judge()

    def _judge(self) -> None:
        """Usable or not, in one sentence."""
        lines = [self._lines[shape] for shape in self._warm]
        failing = (line.why for line in lines if line.backoff.failures >= _FAILURES_UNTIL_DOWN)
        why = self._engine.down or next(failing, "")
        if bool(why) != bool(self._down):
            log.warning("engine_unusable", why=why) if why else log.info("engine_usable")
        self._down = why
        metrics.ENGINE_UP.set(0 if why else 1)

    def _trim(self, now: float) -> None:
        """Remove ready containers that are old, or more than the demand asks for."""
        for shape, line in list(self._lines.items()):
            while line.idle and (
                len(line.idle) > self._target(line, now) or line.idle[0].since < now - self._limits.warm_age_seconds
            ):
                self._destroy(line.idle.popleft())
            used = line.idle or line.starting or line.backoff.failures
            if not used and shape not in self._warm and not any(wants(shape, waiter) for waiter in self._waiting):
                del self._lines[shape]

    def _spawn(self, work: Coroutine[None, None, None]) -> None:
        task = asyncio.create_task(work)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)
