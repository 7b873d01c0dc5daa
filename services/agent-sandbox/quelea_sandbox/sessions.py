"""Sessions: a container that stays with one tenant from step to step."""

from __future__ import annotations

import asyncio
import contextlib
import secrets
import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import partial

from quelea_kit.errors import Conflict, InvalidInput, NotFound, Overloaded
from quelea_kit.logging import get_logger

from quelea_sandbox import metrics
from quelea_sandbox.core.model import Limits
from quelea_sandbox.keeper import Keeper
from quelea_sandbox.pool import Pool

log = get_logger(__name__)

_TICK = 0.5


@dataclass(eq=False, slots=True)
class Session:
    """One of them."""

    id: str
    tenant: str
    keeper: Keeper
    limits: Limits
    market_token: str
    idle_seconds: float
    last_used: float = field(default_factory=time.monotonic)
    busy: bool = False
    spare: bool = False
    """It waits for another task, which may never come: whoever needs its place has it."""


class Sessions:
    """All of them; ends those that are idle or whose container is gone.

    Args:
        pool: Containers come from it and go back to be destroyed.
        most: Sessions at once.
        most_per_tenant: Of those, of one tenant.
    """

    def __init__(self, pool: Pool, *, most: int, most_per_tenant: int) -> None:
        self._pool = pool
        self._most = most
        self._most_per_tenant = most_per_tenant
        self._open: dict[str, Session] = {}
        self._places: dict[str, int] = {}
        self._upkeep: asyncio.Task[None] | None = None

    def __len__(self) -> int:
        return len(self._open)

    def start(self) -> None:
        """Watch over idle sessions."""
        self._upkeep = asyncio.create_task(self._keep_up())

    @contextlib.contextmanager
    def place(self, tenant: str) -> Iterator[None]:
        """A place for a session that is about to be opened; kept while its container is waited for.

        Where all are taken, the spare session that has waited longest ends for it.

        Raises:
            Overloaded: There is none.
        """
        if self._count(tenant) >= self._most_per_tenant:
            self._end_spare(tenant)
        mine = self._count(tenant)
        if mine >= self._most_per_tenant:
            metrics.REFUSED.labels("sessions").inc()
            raise Overloaded(
                f"{mine} sessions are already open; close one, or wait until one expires.",
                retry_after=10.0,
            )
        if len(self._open) + sum(self._places.values()) >= self._most:
            self._end_spare()
        if len(self._open) + sum(self._places.values()) >= self._most:
            metrics.REFUSED.labels("sessions").inc()
            raise Overloaded(f"All {self._most} sessions are in use; try again later.", retry_after=10.0)
        self._places[tenant] = self._places.get(tenant, 0) + 1
        try:
            yield
        finally:
            self._places[tenant] -= 1
            if not self._places[tenant]:
                del self._places[tenant]

    def _count(self, tenant: str) -> int:
        return sum(one.tenant == tenant for one in self._open.values()) + self._places.get(tenant, 0)

    def _end_spare(self, tenant: str | None = None) -> None:
        """End the spare session, of one tenant or of any, that has waited longest."""
        spare = [one for one in self._open.values() if one.spare and not one.busy and tenant in (None, one.tenant)]
        if spare:
            log.info("spare_session_ended")
            self.end(min(spare, key=lambda one: one.last_used))

    def open(self, keeper: Keeper, tenant: str, limits: Limits, market_token: str, idle_seconds: float) -> Session:
        """Begin a session with this container. Its id is its key: nobody can guess it."""
        session = Session(secrets.token_urlsafe(24), tenant, keeper, limits, market_token, idle_seconds)
        self._open[session.id] = session
        keeper.on_broken = partial(self.end, session)
        metrics.SESSIONS.set(len(self._open))
        return session

    @contextlib.contextmanager
    def step(self, session_id: str, tenant: str) -> Iterator[Session]:
        """The session, for one step at a time.

        Raises:
            NotFound: There is none of this id and tenant (any more).
            Conflict: A step of it is under way.
        """
        session = self._idle(session_id, tenant)
        session.busy, session.spare = True, False
        try:
            yield session
        finally:
            session.busy = False
            session.last_used = time.monotonic()

    def spare(self, session_id: str, tenant: str, *, spare: bool, idle_seconds: float = 0.0) -> None:
        """Say that a session waits for another task, or has one again.

        Args:
            idle_seconds: How long it may be idle from now on; 0: as before.

        Raises:
            NotFound: There is none of this id and tenant (any more).
            Conflict: A step of it is under way.
        """
        session = self._idle(session_id, tenant)
        session.spare, session.last_used = spare, time.monotonic()
        session.idle_seconds = idle_seconds or session.idle_seconds

    def _idle(self, session_id: str, tenant: str) -> Session:
        session = self._open.get(session_id)
        if session is None or session.tenant != tenant:
            raise NotFound("There is no such session; it may have expired. Open a new one.")
        if session.busy:
            raise Conflict("This session is already running a step; wait until it ends, or cancel it.")
        return session

    def end(self, session: Session) -> None:
        """End it and destroy its container; nothing happens when it has ended already."""
        if self._open.pop(session.id, None):
            self._pool.discard(session.keeper)
            metrics.SESSIONS.set(len(self._open))

    def close(self, session_id: str) -> None:
        """End it at its owner's wish.

        Raises:
            InvalidInput: No id.
            NotFound: There is none of this id.
        """
        if not session_id:
            raise InvalidInput("session_id is required.")
        session = self._open.get(session_id)
        if session is None:
            raise NotFound("There is no such session; it may have expired.")
        self.end(session)

    async def stop(self) -> None:
        """End all."""
        if self._upkeep:
            self._upkeep.cancel()
        for session in list(self._open.values()):
            self.end(session)

    async def _keep_up(self) -> None:
        while True:
            await asyncio.sleep(_TICK)
            now = time.monotonic()
            for session in list(self._open.values()):
                idle = not session.busy and session.last_used < now - session.idle_seconds
                if idle:
                    log.info("session_idle", seconds=session.idle_seconds)
                    self.end(session)
