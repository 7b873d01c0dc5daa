"""Who may call: keys, or nobody asked while only this machine can reach the gateway; and how often."""

from __future__ import annotations

import asyncio
import contextlib
import ipaddress
import time
from collections import OrderedDict
from collections.abc import AsyncGenerator, Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TypeVar

from quelea_kit.errors import InvalidInput, Overloaded, Unauthenticated

from quelea_gateway.core.access import Principal
from quelea_gateway.keys import KeyRing
from quelea_gateway.settings import Settings

_MOST_KEYS = 10_000
RENEW_SECONDS = 1.0
"""How long a stream may go on after its key was revoked."""
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
    """Names the caller of a key.

    Raises:
        InvalidInput: keys are off and a listener can be reached from elsewhere.
    """

    def __init__(self, settings: Settings) -> None:
        open_to_all = [a for a in (settings.http_listen, settings.listen) if not is_loopback(a)]
        if settings.auth == "off" and open_to_all:
            raise InvalidInput(
                f"API keys are off (QUELEA_GATEWAY_AUTH=off), but {', '.join(open_to_all)} can be reached from other "
                "machines. Listen on 127.0.0.1 or set QUELEA_GATEWAY_AUTH=keys."
            )
        self.required = settings.auth == "keys"
        self.ring = KeyRing(Path(settings.keys_file))

    def admit(self, authorization: str | None) -> Principal:
        """Who sends an Authorization value. Raises Unauthenticated."""
        if not self.required:
            return Principal.unbounded(LOCAL)
        scheme, _, key = (authorization or "").partition(" ")
        key = key.strip()
        if scheme.lower() != "bearer" or not key:
            raise Unauthenticated("An API key is required; send it as Authorization: Bearer KEY.")
        principal = self.ring.principal_of(key)
        if principal is None:
            raise Unauthenticated("Unknown API key.")
        return principal


class Caller:
    """A caller who was let in, and whether his key still opens.

    Args:
        access: Who may call.
        authorization: What the caller sent.
        now: Seconds, monotonic.

    Raises:
        Unauthenticated: No key, or one that is not known.
    """

    def __init__(self, access: Access, authorization: str | None, now: Callable[[], float] = time.monotonic) -> None:
        self.principal = access.admit(authorization)
        self._access = access
        self._authorization = authorization
        self._now = now
        self._checked = now()

    @property
    def name(self) -> str:
        """Under which his runs, feedback and limits are kept."""
        return self.principal.owner

    def renew(self) -> None:
        """To be called while something is streamed: looks once a second. Raises Unauthenticated."""
        if self._now() - self._checked < RENEW_SECONDS:
            return
        try:
            self._access.admit(self._authorization)
        except Unauthenticated:
            raise Unauthenticated("This key has been revoked.") from None
        self._checked = self._now()

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


@dataclass
class _State:
    calls: int = 0
    tokens: float = 0.0
    seen: float = 0.0


class CallLimiter:
    """Calls under way and calls begun, by key; of this process only: two gateways let through twice as much.

    Args:
        calls: Calls of one key under way at once.
        per_minute: Calls that one key may begin in a minute, evenly refilled; 0: no such limit.
        now: Seconds, monotonic.
    """

    def __init__(self, calls: int, per_minute: int = 0, now: Callable[[], float] = time.monotonic) -> None:
        self._calls = calls
        self._per_minute = per_minute
        self._now = now
        self._states: OrderedDict[str, _State] = OrderedDict()

    @contextlib.contextmanager
    def call(self, key: str) -> Iterator[None]:
        """Around one call. Raises Overloaded."""
        state = self._state(key)
        if state.calls >= self._calls:
            raise Overloaded(
                f"This key has {self._calls} calls under way already; wait for one to end.",
                details={"limit": str(self._calls)},
                retry_after=1.0,
            )
        if self._per_minute:
            if state.tokens < 1.0:
                wait = (1.0 - state.tokens) * 60.0 / self._per_minute
                raise Overloaded(
                    f"This key may begin {self._per_minute} calls a minute.",
                    details={"limit": str(self._per_minute)},
                    retry_after=wait,
                )
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
