"""Against an engine that dies full, a tenant that floods and callers that vanish: all is given back in time."""

import asyncio

from quelea_kit.errors import Overloaded, QueleaError, Unavailable
from quelea_kit.testing import wait_until_async
from support.engine_pool import AWAY, ask, engine, idle, pooled, waiting


async def test_an_engine_that_dies_with_sixteen_streams_gives_back_every_place() -> None:
    dying, other = engine("a", ("half ",), wait=asyncio.Event()), engine("b", ("half ",), wait=asyncio.Event())
    async with pooled(dying, other, slots=16, queue_length=64, circuit_seconds=0.05) as pool:
        streams = [asyncio.create_task(ask(pool, f"q{n}")) for n in range(32)]
        await wait_until_async(lambda: len(dying.seen) == len(other.seen) == 16, what="both are full")
        queued = [asyncio.create_task(ask(pool, f"later {n}")) for n in range(10)]
        await waiting(pool, 10)
        dying.error = dying.failing = AWAY
        assert dying.wait is not None
        assert other.wait is not None
        dying.wait.set()
        await wait_until_async(lambda: sum(one.done() for one in streams) == 16, what="its sixteen end")
        assert pool._engines["a"].in_flight == pool._engines["a"].outstanding == 0
        assert len(pool._slots._queue) == 10  # nobody is sent to it, and nobody is lost
        other.wait.set()
        ends = await asyncio.gather(*streams, *queued, return_exceptions=True)
        assert sum(isinstance(end, Unavailable) for end in ends) == 16
        assert ends.count("half ") == 26
        assert idle(pool)
        assert len(dying.seen) == 16


async def test_an_engine_that_dies_before_the_first_word_hands_all_over_to_the_other() -> None:
    dying, other = engine("a", (), error=AWAY), engine("b", ("fine",))
    async with pooled(dying, other, slots=4, queue_length=4, queue_length_per_tenant=4) as pool:
        dying.failing = AWAY
        # More than the queue holds come back at once: who had a turn is not refused for that.
        ends = await asyncio.gather(*(ask(pool, f"q{n}") for n in range(8)))
        assert ends == ["fine"] * 8
        assert idle(pool)
        assert len(pool._slots._queue) == 0


async def test_all_who_vanish_while_queued_leave_nothing_behind() -> None:
    only = engine(wait=asyncio.Event())
    async with pooled(only, slots=2, queue_length=32, queue_length_per_tenant=32) as pool:
        working = [asyncio.create_task(ask(pool, f"w{n}")) for n in range(2)]
        await wait_until_async(lambda: len(only.seen) == 2, what="both slots are taken")
        gone = [asyncio.create_task(ask(pool, f"g{n}", f"tenant {n % 5}")) for n in range(30)]
        await waiting(pool, 30)
        # Some leave while they wait, the slots come free in the same moment, and the rest leave as they are granted.
        for task in gone[::2]:
            task.cancel()
        assert only.wait is not None
        only.wait.set()
        for task in [*working, *gone[1::2]]:
            task.cancel()
        await asyncio.gather(*working, *gone, return_exceptions=True)
        assert idle(pool)
        assert len(pool._slots._queue) == 0
        assert not pool._slots._queue._tenants
        assert only.closed == len(only.seen)
        assert await ask(pool, "after") == "one two"


async def test_a_callers_stream_that_is_dropped_halfway_gives_its_place_to_the_next() -> None:
    only = engine(wait=asyncio.Event())
    async with pooled(only, slots=1) as pool:
        first = asyncio.create_task(ask(pool, "first"))
        await wait_until_async(lambda: bool(only.seen))
        second = asyncio.create_task(ask(pool, "second"))
        await waiting(pool, 1)
        first.cancel()
        await wait_until_async(lambda: len(only.seen) == 2, what="the next one is asked for")
        assert only.closed == 1
        assert only.wait is not None
        only.wait.set()
        assert await second == "one two"
        assert idle(pool)


async def test_every_wait_of_a_flood_ends_and_is_no_longer_than_told() -> None:
    only = engine(wait=asyncio.Event())  # it never goes on
    async with pooled(only, slots=1, queue_wait_seconds=0.2, queue_length=8, queue_length_per_tenant=4) as pool:
        holder = asyncio.create_task(ask(pool, "holds the place"))
        await wait_until_async(lambda: bool(only.seen))
        floods = [ask(pool, f"{tenant} {n}", tenant) for n in range(50) for tenant in ("a", "b", "c", "d")]
        async with asyncio.timeout(60):
            ends = await asyncio.gather(*floods, return_exceptions=True)
        assert all(isinstance(end, Overloaded) and 1 <= (end.retry_after or 0) <= 60 for end in ends)
        assert len(only.seen) == 1
        assert len(pool._slots._queue) == 0
        holder.cancel()
        await asyncio.gather(holder, return_exceptions=True)
        assert idle(pool)


async def test_a_wait_for_an_engine_that_dies_meanwhile_is_bounded_too() -> None:
    only = engine(pieces=("half ",), wait=asyncio.Event())
    async with pooled(only, slots=1, queue_wait_seconds=0.3, comeback_seconds=0.1) as pool:
        first = asyncio.create_task(ask(pool, "first"))
        await wait_until_async(lambda: bool(only.seen))
        queued = [asyncio.create_task(ask(pool, f"{n}")) for n in range(5)]
        await waiting(pool, 5)
        only.error = only.failing = AWAY
        assert only.wait is not None
        only.wait.set()
        async with asyncio.timeout(60):
            ends = await asyncio.gather(first, *queued, return_exceptions=True)
        assert all(isinstance(end, QueleaError) for end in ends)
        assert all(isinstance(end, Unavailable) for end in ends)  # not "overloaded": the engine is gone
        assert idle(pool)
