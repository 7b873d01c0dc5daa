"""Runs: from a checked request to its last event, in a container of its own or as a step of a session."""

from __future__ import annotations

import asyncio
import contextlib
import secrets
import time
from collections.abc import AsyncGenerator, Iterator
from dataclasses import dataclass, fields, replace

from quelea_kit.errors import Cancelled, Conflict, InvalidInput
from quelea_kit.logging import get_logger

from quelea_sandbox import metrics
from quelea_sandbox.core.limits import LimitRules, shape_of
from quelea_sandbox.core.model import InputFile, Limits, Outcome, Output, Reason, ReturnedFile, Shape, Task
from quelea_sandbox.keeper import Keeper
from quelea_sandbox.mailbox import Mailbox
from quelea_sandbox.pool import Pool
from quelea_sandbox.sessions import Session, Sessions

log = get_logger(__name__)

MARKET_SOCKET = "/run/market/door.sock"
"""Where the door's socket is inside a container."""


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
    """

    def __init__(self, pool: Pool, sessions: Sessions, rules: LimitRules) -> None:
        self._pool = pool
        self._sessions = sessions
        self._rules = rules
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
        with self._registered(request.id) as cancelled:
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
    def _registered(self, run_id: str) -> Iterator[asyncio.Event]:
        if run_id in self._cancels:
            raise Conflict(f"A run with the id {run_id} is under way.")
        cancelled = self._cancels[run_id] = asyncio.Event()
        try:
            yield cancelled
        finally:
            del self._cancels[run_id]

    async def _alone(self, request: Request, cancelled: asyncio.Event) -> AsyncGenerator[RunEvent, None]:
        limits, shape = self.container_of(request.asked, market=bool(request.market))
        asked_at = time.monotonic()
        try:
            keeper, warm = await self._pool.take(shape, request.tenant, cancelled)
        except Cancelled as error:
            yield self._counted(Outcome(Reason.CANCELLED, error.message))
            return
        waited = time.monotonic() - asked_at
        metrics.QUEUE_SECONDS.observe(waited)
        try:
            yield Began("", warm, waited)
            async for event in self._drive(keeper, request, limits, cancelled, request.market_token, keep=False):
                yield event
        finally:
            self._pool.discard(keeper)

    async def _step(
        self, request: Request, session: Session, cancelled: asyncio.Event
    ) -> AsyncGenerator[RunEvent, None]:
        asked = dict(request.asked)
        limits, shape = self.container_of(tuple(_of_session(session.limits, asked).items()), market=False)
        if replace(shape, market=session.keeper.shape.market) != session.keeper.shape:
            raise InvalidInput("Memory, cpus and pids of a session are fixed when it is created; leave them at 0.")
        if request.market is not None and request.market is not session.keeper.shape.market:
            raise InvalidInput("The network policy of a session is fixed when it is created; leave it unspecified.")
        token = request.market_token or session.market_token
        clean = False
        try:
            yield Began(session.id, True, 0.0)
            async for event in self._drive(session.keeper, request, limits, cancelled, token, keep=True):
                if isinstance(event, Outcome):
                    clean = event.reason in (Reason.OK, Reason.ERROR)
                    if not clean:
                        self._sessions.end(session)
                yield event
        finally:
            if not clean:
                self._sessions.end(session)

    async def _drive(
        self,
        keeper: Keeper,
        request: Request,
        limits: Limits,
        cancelled: asyncio.Event,
        market_token: str,
        *,
        keep: bool,
    ) -> AsyncGenerator[RunEvent, None]:
        environment = {}
        if keeper.shape.market:
            environment = {"QUELEA_MARKET_TOKEN": market_token, "QUELEA_MARKET_SOCKET": MARKET_SOCKET}
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
        mailbox = Mailbox()
        running = asyncio.create_task(keeper.run(task, limits, mailbox, cancelled))
        running.add_done_callback(lambda _: mailbox.close())
        try:
            async for event in mailbox:
                yield event
            outcome = await running
        finally:
            running.cancel()
        dropped = outcome.dropped_output_bytes + mailbox.dropped
        yield self._counted(replace(outcome, dropped_output_bytes=dropped))

    def _counted(self, outcome: Outcome) -> Outcome:
        metrics.RUNS.labels(outcome.reason.value).inc()
        metrics.RUN_SECONDS.observe(outcome.usage.wall_seconds)
        log.info(
            "ran",
            reason=outcome.reason.value,
            seconds=round(outcome.usage.wall_seconds, 3),
            cpu_seconds=round(outcome.usage.cpu_seconds, 3),
        )
        return outcome


def _of_session(limits: Limits, asked: dict[str, float]) -> dict[str, float]:
    """The session's limits, with what this step asks for instead."""
    return {**{field.name: getattr(limits, field.name) for field in fields(Limits)}, **asked}
