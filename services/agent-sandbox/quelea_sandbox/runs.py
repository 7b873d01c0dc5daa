"""Runs: from a checked request to its last event, in a container of its own or as a step of a session."""

from __future__ import annotations

import asyncio
import contextlib
import secrets
import time
from collections.abc import AsyncGenerator, Callable, Iterator
from dataclasses import asdict, dataclass, replace
from functools import partial

from quelea_kit.errors import Cancelled, Conflict, InvalidInput
from quelea_kit.logging import get_logger

from quelea_sandbox import metrics
from quelea_sandbox.adapters.door import Door
from quelea_sandbox.core.limits import LimitRules, shape_of
from quelea_sandbox.core.model import (
    InputFile,
    Limits,
    Outcome,
    Output,
    Reason,
    ReturnedFile,
    Shape,
    Task,
)
from quelea_sandbox.event_buffer import EventBuffer
from quelea_sandbox.keeper import Keeper
from quelea_sandbox.pool import Pool
from quelea_sandbox.sessions import Session, Sessions

log = get_logger(__name__)


@dataclass(frozen=True, slots=True)
class Request:
    """What a caller wants to have run, checked but for its limits."""

    id: str
    code: str
    tenant: str
    session_id: str = ""
    files: tuple[InputFile, ...] = ()
    asked: tuple[tuple[str, float], ...] = ()
    """Limits that are not 0."""

    market: bool | None = None
    """Whether the door may be used; None: not said."""

    market_token: str = ""


@dataclass(frozen=True, slots=True)
class Began:
    """The code is about to run."""

    session_id: str
    warm: bool
    queue_seconds: float


RunEvent = Began | Output | ReturnedFile | Outcome


class Runs:
    """Everything that is under way.

    Args:
        pool: Containers.
        sessions: Open sessions.
        rules: Limits.
        door: Where runs that may use it find the market-data door.
    """

    def __init__(self, pool: Pool, sessions: Sessions, rules: LimitRules, door: Door) -> None:
        self._pool = pool
        self._sessions = sessions
        self._rules = rules
        self._door = door
        self._cancels: dict[str, asyncio.Event] = {}

    def cancel(self, run_id: str) -> bool:
        """End a run; False when it is not under way."""
        event = self._cancels.get(run_id)
        if event is None:
            return False
        event.set()
        return True

    async def execute(self, request: Request) -> AsyncGenerator[RunEvent, None]:
        """Run it: Began, then output and files as they come, then the Outcome. Closing the generator kills the run.

        Raises:
            QueleaError: It did not begin: no container, no session, limits out of bounds, an id in use.
        """
        with self._register(request.id) as cancelled:
            if request.session_id:
                with self._sessions.step(request.session_id, request.tenant) as session:
                    events = self._step(request, session, cancelled)
                    async with contextlib.aclosing(events):
                        async for event in events:
                            yield event
            else:
                events = self._alone(request, cancelled)
                async with contextlib.aclosing(events):
                    async for event in events:
                        yield event

    def container_of(self, asked: tuple[tuple[str, float], ...], *, market: bool) -> tuple[Limits, Shape]:
        """Limits, and the container that they need.

        Raises:
            InvalidInput: A limit is out of bounds.
        """
        limits = self._rules.resolve(dict(asked))
        return limits, shape_of(limits, market=market)

    @contextlib.contextmanager
    def _register(self, run_id: str) -> Iterator[asyncio.Event]:
        if run_id in self._cancels:
            raise Conflict(f"A run with the id {run_id} is already running.")
        cancelled = self._cancels[run_id] = asyncio.Event()
        try:
            yield cancelled
        finally:
            del self._cancels[run_id]

    async def _alone(self, request: Request, cancelled: asyncio.Event) -> AsyncGenerator[RunEvent, None]:
        limits, shape = self.container_of(request.asked, market=bool(request.market))
        environment = await self._environment(shape, request.market_token)
        asked_at = time.monotonic()
        try:
            keeper, warm = await self._pool.take(shape, request.tenant, cancelled)
        except Cancelled as error:
            yield self._count(Outcome(Reason.CANCELLED, error.message))
            return
        waited = time.monotonic() - asked_at
        metrics.QUEUE_SECONDS.observe(waited)
        try:
            yield Began("", warm, waited)
            release = partial(self._pool.discard, keeper)
            async for event in self._drive(keeper, request, limits, cancelled, environment, release):
                yield event
        finally:
            self._pool.discard(keeper)

    async def _step(
        self, request: Request, session: Session, cancelled: asyncio.Event
    ) -> AsyncGenerator[RunEvent, None]:
        keeper = session.keeper
        asked = {**asdict(session.limits), **dict(request.asked)}
        limits, shape = self.container_of(tuple(asked.items()), market=keeper.shape.market)
        if shape != keeper.shape:
            raise InvalidInput("memory, cpus and pids are fixed when a session is created; leave them at 0.")
        if request.market is not None and request.market is not keeper.shape.market:
            raise InvalidInput("The network policy is fixed when a session is created; leave it unspecified.")
        environment = await self._environment(shape, request.market_token or session.market_token)
        complete = False
        try:
            yield Began(session.id, True, 0.0)
            release = partial(self._sessions.end, session)
            async for event in self._drive(keeper, request, limits, cancelled, environment, release):
                yield event
            complete = True
        finally:
            if not complete:
                self._sessions.end(session)

    async def _environment(self, shape: Shape, market_token: str) -> dict[str, str]:
        return {"QUELEA_MARKET_TOKEN": market_token, **await self._door.environment()} if shape.market else {}

    async def _drive(
        self,
        keeper: Keeper,
        request: Request,
        limits: Limits,
        cancelled: asyncio.Event,
        environment: dict[str, str],
        release: Callable[[], None],
    ) -> AsyncGenerator[RunEvent, None]:
        keep = bool(request.session_id)
        task = Task(
            # The guest's word for the end must name it: a fresh one, so that an old one does not fit.
            id=secrets.token_hex(8),
            code=request.code,
            files=request.files,
            environment=environment,
            output_bytes=limits.output_bytes,
            files_bytes=limits.files_bytes,
            keep=keep,
        )
        buffer = EventBuffer()

        async def work() -> Outcome:
            try:
                outcome = await keeper.run(task, limits, buffer, cancelled)
            except BaseException:
                release()
                raise
            finally:
                buffer.close()
            # At once, however long the caller takes to read what came before.
            if not keep or outcome.reason not in (Reason.OK, Reason.ERROR):
                release()
            return outcome

        running = asyncio.create_task(work())
        try:
            async for event in buffer:
                yield event
            outcome = await running
        finally:
            running.cancel()
        dropped = outcome.dropped_output_bytes + buffer.dropped
        yield self._count(replace(outcome, dropped_output_bytes=dropped))

    def _count(self, outcome: Outcome) -> Outcome:
        metrics.RUNS.labels(outcome.reason.value).inc()
        metrics.RUN_SECONDS.observe(outcome.usage.wall_seconds)
        log.info(
            "ran",
            reason=outcome.reason.value,
            seconds=round(outcome.usage.wall_seconds, 3),
            cpu_seconds=round(outcome.usage.cpu_seconds, 3),
        )
        return outcome
