"""The watchdog of a worker: it must bark when nothing is taken, and never at a worker that works."""

from __future__ import annotations

import os

import fakeredis
import pytest
from quelea_kit.processes import process_identity
from quelea_search.adapters.jobs_redis import JobStore
from quelea_search.adapters.ledger_redis import Ledger
from quelea_search.core.jobs import Job
from quelea_search.jobs.watchdog import Watchdog


@pytest.fixture
def watchdog(search_store: JobStore, search_redis: fakeredis.FakeRedis, search_clock) -> Watchdog:
    ledger = Ledger(search_redis, prefix="test", lease_seconds=15, clock=search_clock)
    return Watchdog(
        search_store,
        ledger,
        queues=["q", "r"],
        concurrency=1,
        patience_seconds=15,
        children=lambda: {os.getpid()},
        clock=search_clock,
    )


def test_messages_that_nobody_takes(watchdog: Watchdog, search_redis, search_clock) -> None:
    search_clock.now += 100
    assert not watchdog.is_stuck()
    search_redis.rpush("q", "m")
    assert not watchdog.is_stuck()
    search_clock.now += 14
    assert not watchdog.is_stuck()
    search_clock.now += 2
    assert watchdog.is_stuck()


def test_a_worker_that_takes_messages_is_left_alone(watchdog: Watchdog, search_redis, search_clock) -> None:
    search_redis.rpush("q", "m")
    for _ in range(10):
        assert not watchdog.is_stuck()
        search_clock.now += 10
        watchdog.message_taken()


@pytest.mark.parametrize(("who", "stuck"), [("me", False), ("another machine/1/2/3/4", True)])
def test_a_busy_worker_is_left_alone(watchdog, search_store, search_redis, search_clock, who: str, stuck: bool) -> None:
    job = Job("j", "a", "d", "u", 1.0, 1.0)
    search_store.submit(job, stored_pages=None, max_queued=9)
    assert search_store.claim("j", process_identity.this_process() if who == "me" else who, lambda _: False)
    search_redis.rpush("q", "m")
    assert not watchdog.is_stuck()
    search_clock.now += 100
    assert watchdog.is_stuck() is stuck
