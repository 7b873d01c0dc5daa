"""Who may call: keys, or nobody asked while only this machine can reach the gateway; and how often."""

from __future__ import annotations

import asyncio
import contextlib
import ipaddress
import time
from collections import OrderedDict
from collections.abc import AsyncGenerator, Callable, Iterator
from contextvars import ContextVar
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

from quelea_kit.errors import InvalidInput, Unauthenticated, Unavailable
from redis.asyncio import Redis

from quelea_gateway.adapters.callers.sessions import MemoryStore, RedisStore, Session, Sessions
from quelea_gateway.adapters.callers.shared_limits import Bound
from quelea_gateway.core.callers.access import Principal
from quelea_gateway.core.callers.sign_in import is_token
from quelea_gateway.core.callers.sign_in import read as read_sign_in
from quelea_gateway.keys import KeyRing
from quelea_gateway.settings import Settings

if TYPE_CHECKING:
    from quelea_gateway.adapters.callers.openid import OpenIdProvider

_MOST_KEYS = 10_000
RENEW_SECONDS = 1.0
"""How long a stream may go on after its key was revoked."""
GRACE_SECONDS = 600.0
"""How long a stream may go on after its token has expired: tokens are often valid for minutes only."""
T = TypeVar("T")
LOCAL = "local"
"""The name that calls go by when no key is asked for."""


class _End:
    """Nothing more comes."""


_END = _End()


def host_of(address: str) -> str:
    """The host of host:port, [v6]:port or unix:path."""
    if address.startswith("unix:"):
        return "localhost"
    host = address.rsplit(":", 1)[0] if ":" in address else address
    return host.strip("[]")


def is_loopback_name(host: str) -> bool:
    """Whether a host name or address is this machine's own."""
    if host == "localhost":
        return True
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False


def is_loopback(address: str) -> bool:
    """Whether only this machine can reach the listener."""
    return is_loopback_name(host_of(address))


class Access:
    """Says who a caller is, by his key, his token or his session.

    Args:
        settings: What is asked for.
        redis: Where sessions are kept that several gateways share; None: in memory.

    Raises:
        InvalidInput: keys are off and a listener can be reached from elsewhere, or people are to sign in all the same;
            or the file of the OpenID provider cannot be used.
    """

    def __init__(self, settings: Settings, redis: Redis | None = None) -> None:
        open_to_all = [a for a in (settings.http_listen, settings.listen) if not is_loopback(a)]
        if settings.auth == "off" and open_to_all:
            raise InvalidInput(
                f"API keys are off (QUELEA_GATEWAY_AUTH=off), but {', '.join(open_to_all)} can be reached from other "
                "machines. Listen on 127.0.0.1 or set QUELEA_GATEWAY_AUTH=keys."
            )
        if settings.auth == "off" and settings.openid_file:
            raise InvalidInput(
                f"QUELEA_GATEWAY_OPENID_FILE is {settings.openid_file}, but QUELEA_GATEWAY_AUTH=off lets everyone in "
                "without signing in. Set QUELEA_GATEWAY_AUTH=keys, or leave QUELEA_GATEWAY_OPENID_FILE empty."
            )
        self.required = settings.auth == "keys"
        self.ring = KeyRing(Path(settings.keys_file))
        self.openid: OpenIdProvider | None = None
        self.sessions: Sessions | None = None
        if settings.openid_file:
            from quelea_gateway.adapters.callers.openid import OpenIdProvider  # noqa: PLC0415  # few sign in: slow import

            sign_in = read_sign_in(Path(settings.openid_file))
            self.openid = OpenIdProvider(sign_in)
            if sign_in.login is not None:
                store = MemoryStore() if redis is None else RedisStore(redis)
                login = sign_in.login
                self.sessions = Sessions(store, seconds=login.session_seconds, idle_seconds=login.idle_seconds)

    def identify(self, authorization: str | None) -> Identity:
        """Who sends an Authorization value, and how that is known. Raises Unauthenticated or PermissionDenied."""
        if not self.required:
            return Identity(Principal.unbounded(LOCAL))
        bearer = bearer_of(authorization)
        if not bearer:
            raise Unauthenticated("An API key is required; send it as Authorization: Bearer KEY.")
        if self.openid is not None and is_token(bearer):
            claims = self.openid.claims_of(bearer)
            return Identity(self.openid.settings.principal(claims), TOKEN, expires=float(claims["exp"]))
        known = self.ring.key_of(bearer)
        if known is None:
            raise Unauthenticated("Unknown API key.")
        return Identity(known.principal, known.id)

    def admit(self, authorization: str | None) -> Principal:
        """Who sends an Authorization value. Raises Unauthenticated."""
        return self.identify(authorization).principal

    async def let_in(self, authorization: str | None, session_id: str = "") -> Caller:
        """The caller who sends an Authorization value or, without one, the cookie of a session.

        Raises:
            Unauthenticated: Neither, or one that is not valid.
            PermissionDenied: A person of none of the groups that may call.
            Unavailable: What it takes to tell is not there.
        """
        if self.required and authorization is None and session_id and self.sessions is not None:
            session = await self.sessions.find(session_id)
            if session is None:
                raise Unauthenticated("Your session is over; sign in again.")
            return Caller(self, Identity(session.principal, SESSION), session=(session_id, session))
        bearer = bearer_of(authorization)
        if self.required and self.openid is not None and is_token(bearer):
            await self.openid.prepare(bearer)
        return Caller(self, self.identify(authorization), authorization)


def bearer_of(authorization: str | None) -> str:
    """The key or token of an Authorization value; empty where there is none."""
    scheme, _, given = (authorization or "").partition(" ")
    return given.strip() if scheme.lower() == "bearer" else ""


TOKEN, SESSION = "token", "session"
"""How somebody is known who has no key."""


@dataclass(frozen=True)
class Identity:
    """Who calls, and how that is known."""

    principal: Principal
    proof: str = ""
    """Id of the key, or TOKEN or SESSION; empty: nobody was asked."""
    expires: float = 0.0
    """Of a token: seconds since 1970."""


class Caller:
    """A caller who was let in, and whether what he showed still opens.

    Args:
        access: Who may call.
        identity: Who it is.
        authorization: What he sent.
        session: Id of his session, and the session.
        now: Seconds, monotonic.
    """

    def __init__(
        self,
        access: Access,
        identity: Identity,
        authorization: str | None = None,
        *,
        session: tuple[str, Session] | None = None,
        now: Callable[[], float] = time.monotonic,
    ) -> None:
        self.principal = identity.principal
        self.proof = identity.proof
        """As of Identity."""
        self.session = session[1] if session else None
        self._session_id = session[0] if session else ""
        self._expires = identity.expires
        self._access = access
        self._authorization = authorization
        self._now = now
        self._checked = now()
        self._looking: asyncio.Task[None] | None = None
        self._signed_out = False

    @property
    def subject(self) -> str:
        """Whose call it is."""
        return self.principal.subject

    @property
    def name(self) -> str:
        """Under which his runs, feedback and limits are kept."""
        return self.principal.owner

    def renew(self) -> None:
        """To be called while something is streamed: looks once a second. Raises Unauthenticated."""
        if self._signed_out:
            raise Unauthenticated("You have signed out.")
        if self._now() - self._checked < RENEW_SECONDS:
            return
        if self.session is not None:
            if self._looking is None or self._looking.done():
                self._looking = asyncio.ensure_future(self._look())
        elif self._expires:
            if time.time() > self._expires + GRACE_SECONDS:
                raise Unauthenticated("The token has expired; call again with a new one.")
        else:
            try:
                self._access.admit(self._authorization)
            except Unauthenticated:
                raise Unauthenticated("This key has been revoked.") from None
        self._checked = self._now()

    async def _look(self) -> None:
        """Whether the session is still there; while that cannot be said, it is."""
        if self._access.sessions is not None:
            with contextlib.suppress(Unavailable):
                self._signed_out = await self._access.sessions.find(self._session_id) is None

    async def watch(self, items: AsyncGenerator[T, None]) -> AsyncGenerator[T, None]:
        """The items as they come; they end, and are closed, when the key is revoked. Raises Unauthenticated."""
        async with contextlib.aclosing(items):
            while True:
                coming = asyncio.ensure_future(anext(items, _END))
                try:
                    while not coming.done():
                        await asyncio.wait({coming}, timeout=RENEW_SECONDS)
                        self.renew()
                finally:
                    coming.cancel()
                    await asyncio.gather(coming, return_exceptions=True)
                item = coming.result()
                if isinstance(item, _End):
                    return
                yield item


_let_in: ContextVar[Caller | None] = ContextVar("quelea_caller", default=None)


@contextlib.contextmanager
def letting_in(caller: Caller) -> Iterator[None]:
    """Around what a gRPC call does, so that it finds who was let in."""
    token = _let_in.set(caller)
    try:
        yield
    finally:
        _let_in.reset(token)


def let_in() -> Caller:
    """Who was let in to do what is under way. Raises Unauthenticated where nobody was."""
    caller = _let_in.get()
    if caller is None:
        raise Unauthenticated("Nobody was let in.")
    return caller


@dataclass
class _State:
    calls: int = 0
    tokens: float = 0.0
    seen: float = 0.0


class CallLimiter:
    """Calls under way and calls begun, by key or by tenant; of this process only (SharedLimits counts for all).

    Args:
        calls: Calls under way at once; 0: no such limit.
        per_minute: Calls that may be begun in a minute, evenly refilled; 0: no such limit.
        now: Seconds, monotonic.
        whose: key or tenant.
    """

    def __init__(
        self, calls: int, per_minute: int = 0, now: Callable[[], float] = time.monotonic, *, whose: str = "key"
    ) -> None:
        self._calls = calls
        self._per_minute = per_minute
        self._now = now
        self._whose = whose
        self._states: OrderedDict[str, _State] = OrderedDict()

    def bound(self, name: str) -> Bound:
        """The same limits, for whoever counts them elsewhere."""
        return Bound(self._whose, name, self._calls, self._per_minute)

    @contextlib.contextmanager
    def call(self, key: str) -> Iterator[None]:
        """Around one call. Raises Overloaded."""
        state, bound = self._state(key), self.bound(key)
        if self._calls and state.calls >= self._calls:
            raise bound.too_many()
        if self._per_minute:
            if state.tokens < 1.0:
                raise bound.too_often((1.0 - state.tokens) * 60.0 / self._per_minute)
            state.tokens -= 1.0
        state.calls += 1
        try:
            yield
        finally:
            state.calls -= 1

    def _state(self, key: str) -> _State:
        now = self._now()
        state = self._states.get(key)
        if state is None:
            state = self._states[key] = _State(tokens=float(self._per_minute), seen=now)
            while len(self._states) > _MOST_KEYS:
                self._states.popitem(last=False)
        self._states.move_to_end(key)
        refill = (now - state.seen) * self._per_minute / 60.0
        state.tokens = min(float(self._per_minute), state.tokens + refill)
        state.seen = now
        return state
