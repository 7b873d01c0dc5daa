"""Sessions of people who signed in to the page: in memory, or in Redis where several gateways share them.

A session's id is 256 random bits in a cookie; what is stored goes by its hash, so what is stored opens nothing.
"""

from __future__ import annotations

import hashlib
import json
import secrets
import time
from collections import OrderedDict
from collections.abc import Callable
from dataclasses import asdict, dataclass, field, replace
from typing import Any, Protocol

from quelea_kit.errors import Unavailable
from redis.asyncio import Redis
from redis.exceptions import RedisError

from quelea_gateway.core.callers.access import Principal, Right

_MOST = 50_000
_PREFIX = "quelea:session:"
_TOUCH_SECONDS = 60.0


@dataclass(frozen=True)
class Session:
    """One person in one browser. Times are seconds since 1970."""

    subject: str
    tenant: str
    rights: dict[str, str]
    administrator: bool
    name: str
    expires: float
    used: float
    csrf: str = field(default_factory=lambda: secrets.token_urlsafe(24))
    """Must come back in a header with whatever changes something."""
    id_token: str = ""

    @property
    def principal(self) -> Principal:
        """Who he is."""
        rights = {name: Right.parse(word) for name, word in self.rights.items()}
        return Principal(self.subject, self.tenant, rights, self.administrator)

    @staticmethod
    def of(principal: Principal, name: str, id_token: str, now: float, seconds: float) -> Session:
        """A new one."""
        rights = {one: right.word for one, right in principal.rights.items()}
        return Session(
            principal.subject, principal.tenant, rights, principal.administrator, name, now + seconds, now,
            id_token=id_token,
        )  # fmt: skip


class Store(Protocol):
    """Where sessions are kept."""

    async def put(self, key: str, value: str, seconds: float, *, known: bool = False) -> None:
        """Keep it so long; with `known` only if it is still there. Raises Unavailable."""
        ...

    async def get(self, key: str) -> str | None:
        """None: there is none, or not any more. Raises Unavailable."""
        ...

    async def delete(self, key: str) -> None:
        """Raises Unavailable."""
        ...


class MemoryStore:
    """Of one gateway, gone with it."""

    def __init__(self, now: Callable[[], float] = time.time, most: int = _MOST) -> None:
        self._now = now
        self._most = most
        self._kept: OrderedDict[str, tuple[float, str]] = OrderedDict()

    async def put(self, key: str, value: str, seconds: float, *, known: bool = False) -> None:
        """Keep it; the oldest goes when there are too many."""
        if known and key not in self._kept:
            return
        self._kept[key] = (self._now() + seconds, value)
        self._kept.move_to_end(key)
        while len(self._kept) > self._most:
            self._kept.popitem(last=False)

    async def get(self, key: str) -> str | None:
        """As of a Store."""
        until, value = self._kept.get(key, (0.0, ""))
        return value if until > self._now() else None

    async def delete(self, key: str) -> None:
        """As of a Store."""
        self._kept.pop(key, None)


class RedisStore:
    """Shared by all gateways with this Redis, each call within the client's deadline."""

    def __init__(self, redis: Redis) -> None:
        self._redis = redis

    async def put(self, key: str, value: str, seconds: float, *, known: bool = False) -> None:
        """As of a Store."""
        await self._do(self._redis.set(_PREFIX + key, value, ex=max(1, int(seconds)), xx=known))

    async def get(self, key: str) -> str | None:
        """As of a Store."""
        found = await self._do(self._redis.get(_PREFIX + key))
        return found.decode() if isinstance(found, bytes) else found

    async def delete(self, key: str) -> None:
        """As of a Store."""
        await self._do(self._redis.delete(_PREFIX + key))

    @staticmethod
    async def _do(call: Any) -> Any:
        try:
            return await call
        except (RedisError, OSError, TimeoutError) as error:
            raise Unavailable("Sessions cannot be looked up: their Redis does not answer.", retry_after=2.0) from error


class Sessions:
    """The sessions of a deployment.

    Args:
        store: Where they are kept.
        seconds: How long one lasts.
        idle_seconds: How long one lasts that is not used.
        now: Seconds since 1970.
    """

    def __init__(
        self, store: Store, *, seconds: float, idle_seconds: float, now: Callable[[], float] = time.time
    ) -> None:
        self._store = store
        self.seconds = seconds
        self._idle = idle_seconds
        self._now = now

    async def begin(self, principal: Principal, name: str, id_token: str) -> str:
        """A new session; its id, for the cookie."""
        made = secrets.token_urlsafe(32)
        await self._put(made, Session.of(principal, name, id_token, self._now(), self.seconds))
        return made

    async def find(self, session_id: str) -> Session | None:
        """The session of a cookie, and that it is used; None when it is over."""
        stored = await self._store.get(_hash(session_id))
        if stored is None:
            return None
        session = Session(**json.loads(stored))
        now = self._now()
        if now >= session.expires or now - session.used >= self._idle:
            await self._store.delete(_hash(session_id))
            return None
        if now - session.used >= min(_TOUCH_SECONDS, self._idle / 10):
            session = replace(session, used=now)
            await self._put(session_id, session, known=True)  # else one that was ended just now would be there again
        return session

    async def end(self, session_id: str) -> None:
        """Nobody gets in by it any more."""
        await self._store.delete(_hash(session_id))

    async def _put(self, session_id: str, session: Session, *, known: bool = False) -> None:
        left = min(session.expires - self._now(), self._idle)
        await self._store.put(_hash(session_id), json.dumps(asdict(session)), left, known=known)


def _hash(session_id: str) -> str:
    return hashlib.sha256(session_id[:256].encode("utf-8", "replace")).hexdigest()
