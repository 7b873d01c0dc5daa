"""Budgets of calls on a real Redis (the stand-in knows no scripts)."""

from __future__ import annotations

from quelea_search.adapters.provider_budget import ProviderBudget
from quelea_search.adapters.redis_base import connect


async def test_replicas_share_a_budget(web_redis) -> None:
    one, other = (ProviderBudget(connect(web_redis.url), "p", per_minute=3, per_day=0) for _ in range(2))
    assert [await one.take("brave"), await other.take("brave"), await one.take("brave")] == [None] * 3
    for budget in (one, other):
        wait = await budget.take("brave")
        assert wait is not None
        assert 0 < wait <= 61
    assert await one.take("tavily") is None, "each provider has its own"
    assert await ProviderBudget(connect(web_redis.url), "q", per_minute=3, per_day=0).take("brave") is None
    keys = connect(web_redis.url).keys("*")
    assert keys
    assert all(key.startswith(("p:budget", "q:budget")) for key in keys)
    assert all(connect(web_redis.url).ttl(key) > 0 for key in keys)


async def test_a_day_has_its_own_limit(web_redis) -> None:
    budget = ProviderBudget(connect(web_redis.url), "p", per_minute=0, per_day=2)
    assert [await budget.take("brave"), await budget.take("brave")] == [None, None]
    wait = await budget.take("brave")
    assert wait is not None
    assert wait <= 86_401


async def test_no_limits_need_no_redis(web_redis) -> None:
    web_redis.stop()
    budget = ProviderBudget(connect(web_redis.url), "p", per_minute=0, per_day=0)
    assert [await budget.take("brave") for _ in range(100)] == [None] * 100


async def test_without_redis_it_is_counted_here(web_redis) -> None:
    budget = ProviderBudget(connect(web_redis.url), "p", per_minute=2, per_day=0)
    assert await budget.take("brave") is None
    web_redis.stop()
    assert [await budget.take("brave"), await budget.take("brave")] == [None, None]
    assert await budget.take("brave") is not None
    web_redis.start()
    assert await budget.take("brave") is None, "Redis counts again, and knew of one call"
