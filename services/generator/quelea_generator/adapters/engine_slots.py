"""Slots of the engines, and the bounded, fair queue of those who want one."""

from __future__ import annotations

import asyncio
import contextlib
import time
from collections.abc import AsyncIterator, Sequence
from dataclasses import dataclass, field

from quelea_kit.errors import Overloaded, Unavailable
from quelea_kit.fair_queue import FairQueue

from quelea_generator.adapters import pool_metrics as metrics
from quelea_generator.adapters.engine import Engine
from quelea_generator.core.chat.routing import Policy, PromptKey

_MOST_RETRY_AFTER = 60.0


@dataclass(frozen=True, slots=True)
class PoolLimits:
    """Bounds of a pool; the settings of the same names say what they mean."""

    slots: int = 64
    attempts: int = 3
    queue_length: int = 128
    queue_length_per_tenant: int = 64
    queue_wait_seconds: float = 30.0
    queue_quantum: int = 2000
    comeback_seconds: float = 20.0
    circuit_seconds: float = 15.0
    stall_seconds: float = 60.0


@dataclass(slots=True, eq=False)
class Ticket:
    """An answer that wants a slot."""

    tenant: str
    cost: int
    prompt: PromptKey
    answer_tokens: int
    avoid: set[str] = field(default_factory=set)
    """Engines that failed at it: asked again only when no other takes it."""
    granted: asyncio.Future[Engine] = field(default_factory=lambda: asyncio.get_running_loop().create_future())
    owed: int = 0
    """Tokens that its engine's account still has of it."""


class EngineSlots:
    """Gives out slots at the engines that take more, in turn among tenants.

    Args:
        engines: All of them; which are up is for others to say.
        limits: Bounds.
        policy: Which engine is taken.
    """

    def __init__(self, engines: Sequence[Engine], limits: PoolLimits, policy: Policy) -> None:
        self._engines = {engine.name: engine for engine in engines}
        self._limits = limits
        self._policy = policy
        self._queue: FairQueue[Ticket] = FairQueue(
            quantum=limits.queue_quantum, length=limits.queue_length, tenant_length=limits.queue_length_per_tenant
        )
        self._labels = metrics.TenantLabels()
        self._work_seconds = 1.0

    @contextlib.asynccontextmanager
    async def take(self, ticket: Ticket, *, again: bool) -> AsyncIterator[Engine]:
        """One slot, for as long as the block runs. Overloaded or Unavailable when there is none to be had in time."""
        engine = await self._acquire(ticket, again=again)
        started = time.monotonic()
        try:
            yield engine
        finally:
            self._work_seconds += 0.1 * (time.monotonic() - started - self._work_seconds)
            self._release(engine, ticket)

    async def _acquire(self, ticket: Ticket, *, again: bool) -> Engine:
        tenant, began = ticket.tenant, time.monotonic()
        wait = self._limits.queue_wait_seconds
        if not self.some_up():
            wait = self._limits.comeback_seconds
        if again:
            self._queue.push_front(tenant, ticket.cost, ticket)
        else:
            self.dispatch()
            refused = self._queue.push(tenant, ticket.cost, ticket)
            if refused is ticket:
                raise self._overload_error(tenant, "full")
            if refused is not None:
                self._measure(refused.tenant)
                refused.granted.set_exception(self._overload_error(refused.tenant, "full"))
        self.dispatch()
        self._measure(tenant)
        try:
            async with asyncio.timeout(wait):
                engine = await ticket.granted
        except TimeoutError as late:
            self._leave(ticket)
            if not self.some_up():
                raise self.gone() from late
            raise self._overload_error(tenant, "late") from late
        except BaseException:
            self._leave(ticket)
            raise
        finally:
            self._measure(tenant)
            metrics.QUEUE_SECONDS.labels(self._labels.label(tenant)).observe(time.monotonic() - began)
        return engine

    def _leave(self, ticket: Ticket) -> None:
        """The caller goes without the slot, which may have been granted in the same moment."""
        self._queue.discard(ticket.tenant, ticket)
        granted = ticket.granted
        if granted.done() and not granted.cancelled() and granted.exception() is None:
            self._release(granted.result(), ticket)

    def dispatch(self) -> None:
        """Give slots to those who wait, in turn."""
        while len(self._queue):
            if not self.some_take():
                return
            ticket = self._queue.pop()
            if ticket is None or ticket.granted.done():
                continue
            up = [one for one in self._engines.values() if one.up]
            others = [one for one in up if one.name not in ticket.avoid]
            if any(one.takes for one in others):
                up = others
            choice = self._policy.choose([one.load for one in up], ticket.prompt)
            assert choice is not None  # noqa: S101  # some_take() said that there is a slot
            engine = self._engines[choice.name]
            engine.in_flight += 1
            self.owe(engine, ticket, ticket.cost - choice.cached)
            ticket.granted.set_result(engine)
            self._measure(ticket.tenant)

    def _release(self, engine: Engine, ticket: Ticket) -> None:
        engine.in_flight -= 1
        self.owe(engine, ticket, 0)
        self.dispatch()

    def owe(self, engine: Engine, ticket: Ticket, tokens: int) -> None:
        """Set what the engine's account has of an answer."""
        engine.outstanding += tokens - ticket.owed
        ticket.owed = tokens
        metrics.ENGINE_IN_FLIGHT.labels(engine.name).set(engine.in_flight)
        metrics.ENGINE_TOKENS.labels(engine.name).set(engine.outstanding)

    def _measure(self, tenant: str) -> None:
        metrics.QUEUE_LENGTH.labels(self._labels.label(tenant)).set(self._queue.length(tenant))

    def some_up(self) -> bool:
        """Whether any engine works."""
        return any(engine.up for engine in self._engines.values())

    def some_take(self) -> bool:
        """Whether any engine may be asked now."""
        return any(engine.takes for engine in self._engines.values())

    def _overload_error(self, tenant: str, why: str) -> Overloaded:
        metrics.QUEUE_REFUSED.labels(self._labels.label(tenant), why).inc()
        slots = max(1, sum(engine.slots for engine in self._engines.values() if engine.up))
        seconds = self._work_seconds * (len(self._queue) + 1) / slots
        return Overloaded(
            f"{len(self._queue)} requests are already waiting for the language model. Try again later.",
            details={"waiting": str(len(self._queue)), "waiting_of_tenant": str(self._queue.length(tenant))},
            retry_after=float(round(min(_MOST_RETRY_AFTER, max(1.0, seconds)))),
        )

    def refuse_when_full(self, tenant: str) -> None:
        """Overloaded when the tenant's next request would be refused now."""
        if not self.some_take() and self._queue.full(tenant):
            raise self._overload_error(tenant, "full")

    def gone(self) -> Unavailable:
        """The error for callers while no engine works."""
        trouble = next(iter(self._engines.values())).trouble
        return Unavailable(
            f"The language model is unavailable: {trouble}", details={"behind": "engine"}, retry_after=5.0
        )
