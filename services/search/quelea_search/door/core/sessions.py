"""Sessions: a token, what it is good for, and how much of it is used. In memory only: a door that starts has none."""

from __future__ import annotations

import asyncio
import hashlib
import secrets
import time
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from datetime import date

from quelea_kit.errors import NotFound, Overloaded

from quelea_search.door.core.budget import CallSlots
from quelea_search.door.core.cookies import CookieJar
from quelea_search.door.core.model import Refused

TOKEN_BYTES = 32


@dataclass(slots=True)
class Session:
    """What one run may fetch."""

    id: str
    run_id: str
    tenant: str
    replay: bool
    as_of: date | None
    """The day that the run is pinned to; None: now."""
    bundle_ids: tuple[str, ...]
    max_calls: int
    max_bytes: int
    until: float
    """Monotonic seconds."""
    jar: CookieJar
    slots: CallSlots
    calls: int = 0
    bytes: int = 0
    served: Counter[str] = field(default_factory=Counter)
    """Key -> how often it was replayed, so that the third call of a run gets what the third call got."""
    full: bool = False
    """Whether the log has the first call over the limit; the others leave no line."""
    tasks: set[asyncio.Task[None]] = field(default_factory=set)
    """Calls under way; ended with the session."""


class Sessions:
    """Sessions by the hash of their token; the token itself is not kept.

    Args:
        limit: Open at once.
        clock: Monotonic seconds.
    """

    def __init__(self, limit: int, clock: Callable[[], float] = time.monotonic) -> None:
        self._limit = limit
        self._now = clock
        self._by_token: dict[bytes, Session] = {}

    def __len__(self) -> int:
        return sum(1 for _ in self.open())

    def open(self) -> Iterator[Session]:
        """Those whose time is not over; the others are dropped."""
        for digest, session in list(self._by_token.items()):
            if session.until <= self._now():
                del self._by_token[digest]
            else:
                yield session

    def add(self, session: Session) -> str:
        """Take a session in. Returns its token. Raises Overloaded."""
        if len(self) >= self._limit:
            raise Overloaded(f"{self._limit} sessions are open; close some or try again later.", retry_after=5.0)
        token = secrets.token_urlsafe(TOKEN_BYTES)
        self._by_token[_digest(token)] = session
        return token

    def close(self, session_id: str) -> None:
        """End a session and its calls under way. Raises NotFound."""
        for digest, session in list(self._by_token.items()):
            if session.id == session_id:
                del self._by_token[digest]
                for task in session.tasks:
                    task.cancel()
                return
        raise NotFound("There is no such session; it was closed, has expired, or the door was restarted.")

    def find(self, token: str) -> Session:
        """The session of a token. Raises Refused (403)."""
        session = self._by_token.get(_digest(token))
        if session is None or session.until <= self._now():
            raise Refused(403, "TOKEN", "The token is unknown or its session has ended; open a new session.")
        return session

    def admit(self, session: Session) -> None:
        """Count one call. Raises Refused (429)."""
        session.calls += 1
        left = max(1.0, session.until - self._now())
        if session.calls > session.max_calls:
            raise Refused(
                429, "CALLS", f"The run has used all of its {session.max_calls} calls; make fewer or raise the limit.",
                retry_after=left,
            )  # fmt: skip
        if session.bytes >= session.max_bytes:
            raise Refused(
                429,
                "BYTES",
                f"The run has used all of its {session.max_bytes:,} bytes; request less or raise the limit.",
                retry_after=left,
            )  # fmt: skip

    def seconds_left(self, session: Session) -> float:
        """Until the session is over."""
        return session.until - self._now()


def _digest(token: str) -> bytes:
    return hashlib.sha256(token.encode("utf-8", "surrogatepass")).digest()
