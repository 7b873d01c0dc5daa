"""How often a provider may be asked, counted in Redis over all replicas with the package limits.

    <prefix>:budget:…    the calls of the last minute (moving window) and of the day (fixed window)

While Redis is away every replica counts for itself, with the same limits: a search goes on, and what can go wrong is
bounded by the number of replicas.
"""

from __future__ import annotations

import asyncio
import time

import redis
from limits import RateLimitItem, RateLimitItemPerDay, RateLimitItemPerMinute
from limits.storage import MemoryStorage, RedisStorage
from limits.strategies import FixedWindowRateLimiter, MovingWindowRateLimiter, RateLimiter
from quelea_kit.logging import get_logger

log = get_logger(__name__)
_REDIS_SECONDS = 1.0
"""A Redis that takes longer counts as away: the question is waiting."""

_Rules = list[tuple[RateLimiter, RateLimitItem]]


class ProviderBudget:
    """Calls to each provider.

    Args:
        client: Redis.
        prefix: Begins every key.
        per_minute: 0: no limit.
        per_day: 0: no limit.
    """

    def __init__(self, client: redis.Redis, prefix: str, *, per_minute: int, per_day: int) -> None:
        # The storage makes its own client, on the same connections and with the same time-outs.
        shared = RedisStorage("redis://", connection_pool=client.connection_pool, key_prefix=f"{prefix}:budget")
        self._shared = _rules(shared, per_minute, per_day)
        self._local = _rules(MemoryStorage(), per_minute, per_day)

    async def take(self, provider: str) -> float | None:
        """Count one call. None: go ahead; else the seconds until there is room again. Never raises."""
        try:
            async with asyncio.timeout(_REDIS_SECONDS):
                return await asyncio.to_thread(_take, self._shared, provider)
        except (redis.RedisError, TimeoutError) as error:
            log.warning("budget_counted_locally", provider=provider, why=type(error).__name__)
            return _take(self._local, provider)


def _rules(storage: RedisStorage | MemoryStorage, per_minute: int, per_day: int) -> _Rules:
    rules: _Rules = []
    if per_minute:
        rules.append((MovingWindowRateLimiter(storage), RateLimitItemPerMinute(per_minute)))
    if per_day:  # a moving window would keep a time stamp of every call of the day
        rules.append((FixedWindowRateLimiter(storage), RateLimitItemPerDay(per_day)))
    return rules


def _take(rules: _Rules, provider: str) -> float | None:
    for limiter, item in rules:
        if not limiter.hit(item, provider):
            return max(0.0, limiter.get_window_stats(item, provider).reset_time - time.time())
    return None
