"""Limits of calls in Redis, so that all gateways count together: calls under way by leases, calls begun by `limits`.

    quelea:limits:under-way:<whose>    sorted set: a lease for each call under way, by when it ends
    quelea:limits:begun:…              the calls of the last minute (moving window)

A gateway that dies leaves leases behind; they end within a minute. While Redis does not answer, each gateway counts for
itself with the same limits, so that what can go wrong is bounded by the number of gateways; a call waits for Redis half
a second at the most, and for two seconds after that nobody asks it.
"""

from __future__ import annotations

import asyncio
import contextlib
import secrets
import time
from collections.abc import AsyncIterator, Awaitable, Callable
from dataclasses import dataclass
from functools import partial
from typing import TypeVar

from limits import RateLimitItem, RateLimitItemPerMinute
from limits.aio.storage import RedisStorage
from limits.aio.strategies import MovingWindowRateLimiter
from quelea_kit.errors import Overloaded
from quelea_kit.logging import get_logger
from redis.asyncio import Redis
from redis.exceptions import RedisError

from quelea_gateway.metrics import LIMITS_LOCAL

log = get_logger(__name__)
T = TypeVar("T")

_PREFIX = "quelea:limits"
_SECONDS = 0.5
_AWAY_SECONDS = 2.0
_LEASE_MS = 60_000
_RENEW_SECONDS = 20.0

# Which of the sets is full (from 1), or 0 when all of them have taken the lease. By Redis's own clock.
_TAKE = """
local t = redis.call('TIME')
local now = t[1] * 1000 + math.floor(t[2] / 1000)
for i, key in ipairs(KEYS) do
  redis.call('ZREMRANGEBYSCORE', key, '-inf', now)
  if redis.call('ZCARD', key) >= tonumber(ARGV[2 + i]) then return i end
end
for _, key in ipairs(KEYS) do
  redis.call('ZADD', key, now + ARGV[2], ARGV[1])
  redis.call('PEXPIRE', key, ARGV[2])
end
return 0
"""
_RENEW = """
local t = redis.call('TIME')
local now = t[1] * 1000 + math.floor(t[2] / 1000)
redis.call('ZADD', KEYS[1], now + ARGV[2], ARGV[1])
redis.call('PEXPIRE', KEYS[1], ARGV[2])
"""


@dataclass(frozen=True)
class Bound:
    """How much one key, or one tenant, may do. 0: as much as it likes."""

    whose: str
    """key or tenant."""
    name: str
    under_way: int
    per_minute: int

    def too_many(self) -> Overloaded:
        """What is said of one call too many at once."""
        return Overloaded(
            f"This {self.whose} has {self.under_way} calls under way already; wait for one to end.",
            details={"limit": str(self.under_way)},
            retry_after=1.0,
        )

    def too_often(self, wait: float) -> Overloaded:
        """What is said of one call too many in a minute."""
        return Overloaded(
            f"This {self.whose} may begin {self.per_minute} calls a minute.",
            details={"limit": str(self.per_minute)},
            retry_after=wait,
        )


class SharedLimits:
    """What all gateways count together.

    Args:
        redis: Where.
        now: Seconds, monotonic.
    """

    def __init__(self, redis: Redis, now: Callable[[], float] = time.monotonic) -> None:
        self._redis = redis
        self._now = now
        self._take = redis.register_script(_TAKE)
        self._renew = redis.register_script(_RENEW)
        storage = RedisStorage(
            "async+redis://", implementation="redispy", key_prefix=f"{_PREFIX}:begun",
            connection_pool=redis.connection_pool,  # type: ignore[arg-type]  # as its documentation has it
        )  # fmt: skip
        self._begun = MovingWindowRateLimiter(storage)
        self._away_until = -1e9
        self._leases: dict[str, list[str]] = {}
        self._renewing: asyncio.Task[None] | None = None

    @contextlib.asynccontextmanager
    async def call(self, *bounds: Bound) -> AsyncIterator[None]:
        """Around one call that all of these bound. Raises Overloaded."""
        lease = secrets.token_hex(8)
        keys = await self._enter(lease, bounds)
        try:
            yield
        finally:
            if keys:
                self._leases.pop(lease, None)
                await self._ask(lambda: self._leave(lease, keys))

    async def close(self) -> None:
        """Renew no longer."""
        if self._renewing is not None:
            self._renewing.cancel()
            await asyncio.gather(self._renewing, return_exceptions=True)

    async def _enter(self, lease: str, bounds: tuple[Bound, ...]) -> list[str]:
        """The sets that hold the lease now."""
        at_once = [one for one in bounds if one.under_way]
        keys = [f"{_PREFIX}:under-way:{one.whose}:{one.name}" for one in at_once]
        if keys:
            limits = [one.under_way for one in at_once]
            full = await self._ask(lambda: self._take(keys=keys, args=[lease, _LEASE_MS, *limits]))
            if full:
                raise at_once[full - 1].too_many()
            if full is None:
                keys = []
        if keys:
            self._leases[lease] = keys
            if self._renewing is None or self._renewing.done():
                self._renewing = asyncio.create_task(self._keep_renewing())
        try:
            for one in bounds:
                if one.per_minute:
                    await self._count(one)
        except BaseException:
            self._leases.pop(lease, None)
            await self._ask(lambda: self._leave(lease, keys))
            raise
        return keys

    async def _count(self, bound: Bound) -> None:
        item: RateLimitItem = RateLimitItemPerMinute(bound.per_minute)

        async def hit() -> float:
            if await self._begun.hit(item, bound.whose, bound.name):
                return 0.0
            stats = await self._begun.get_window_stats(item, bound.whose, bound.name)
            return max(0.1, stats.reset_time - time.time())

        wait = await self._ask(hit)
        if wait:
            raise bound.too_often(wait)

    async def _leave(self, lease: str, keys: list[str]) -> bool:
        if keys:
            async with self._redis.pipeline(transaction=False) as pipe:
                for key in keys:
                    pipe.zrem(key, lease)
                await pipe.execute()
        return True

    async def _keep_renewing(self) -> None:
        while self._leases:
            await asyncio.sleep(_RENEW_SECONDS)
            for lease, keys in list(self._leases.items()):
                for key in keys:
                    if lease in self._leases:
                        await self._ask(partial(self._renew, keys=[key], args=[lease, _LEASE_MS]))

    async def _ask(self, ask: Callable[[], Awaitable[T]]) -> T | None:
        """What Redis says; None while it does not answer."""
        if self._now() < self._away_until:
            return None
        try:
            async with asyncio.timeout(_SECONDS):
                said = await ask()
        except (RedisError, OSError, TimeoutError) as error:
            self._away_until = self._now() + _AWAY_SECONDS
            LIMITS_LOCAL.set(1)
            log.warning("limits_counted_locally", why=f"{type(error).__name__}: {error}"[:200])
            return None
        LIMITS_LOCAL.set(0)
        return said
