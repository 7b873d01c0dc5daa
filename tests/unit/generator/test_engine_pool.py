"""The pool over engines made here: turns, bounds, failover, readiness. Order decides, never time."""

import asyncio
import contextlib
from collections.abc import AsyncIterator

import pytest
from quelea_generator.adapters.engine import Engine
from quelea_generator.adapters.engine_pool import EnginePool
from quelea_generator.adapters.fake_endpoint import FakeEndpoint
from quelea_generator.adapters.places import PoolLimits
from quelea_generator.core.prompt import Message
from quelea_generator.core.routing import affinity_key, ranked
from quelea_kit.errors import DeadlineExceeded, InvalidInput, Overloaded, QueleaError, Unavailable
from quelea_kit.testing import wait_until_async

AWAY = Unavailable("away")
LIMITS = {"queue_wait_seconds": 20.0, "circuit_seconds": 0.2}


def engine(name: str = "a", pieces: tuple[str, ...] = ("one ", "two"), **more: object) -> FakeEndpoint:
    return FakeEndpoint(pieces, name=name, **more)  # type: ignore[arg-type]  # handed on


@contextlib.asynccontextmanager
async def pooled(*engines: FakeEndpoint, up: bool = True, **limits: float) -> AsyncIterator[EnginePool]:
    pool = EnginePool(engines, PoolLimits(**{**LIMITS, **limits}))  # type: ignore[arg-type]  # numbers
    try:
        if up:
            await pool.check()
            await wait_until_async(lambda: all(one.up for one in pool._engines.values()), seconds=5)
        yield pool
    finally:
        await pool.close()


async def ask(pool: EnginePool, text: str = "q", tenant: str = "") -> str:
    pieces = pool.stream([Message("user", text)], model="m", max_tokens=10, temperature=0.0, tenant=tenant)
    return "".join([piece.text async for piece in pieces])


def asked(one: FakeEndpoint) -> list[str]:
    return [messages[-1].content for messages in one.seen]


async def waiting(pool: EnginePool, count: int) -> None:
    await wait_until_async(lambda: len(pool._places._queue) == count, seconds=5, what=f"{count} wait")


async def test_a_flood_of_one_tenant_does_not_starve_another() -> None:
    only = engine(wait=asyncio.Event())
    async with pooled(only, places=1, queue_quantum=20) as pool:
        tasks = [asyncio.create_task(ask(pool, f"flood {n}", "flood")) for n in range(12)]
        await waiting(pool, 11)
        tasks.append(asyncio.create_task(ask(pool, "other", "other")))
        await waiting(pool, 12)
        only.wait.set()
        await asyncio.gather(*tasks)
    assert asked(only).index("other") <= 2
    assert len(asked(only)) == 13


async def test_a_full_queue_refuses_at_once_and_says_when_to_come_back() -> None:
    only = engine(wait=asyncio.Event())
    async with pooled(only, places=1, queue_length=4, queue_length_per_tenant=2) as pool:
        tasks = [asyncio.create_task(ask(pool, f"{n}", "a")) for n in range(3)]
        await waiting(pool, 2)
        with pytest.raises(Overloaded) as refused:
            await ask(pool, "one too many", "a")
        assert refused.value.retry_after is not None
        assert refused.value.retry_after >= 1
        assert refused.value.details["waiting_of_tenant"] == "2"
        with pytest.raises(Overloaded):
            await pool.refuse_when_full("a")
        await pool.refuse_when_full("b")
        await pool.check()  # full is not unready
        only.wait.set()
        assert await asyncio.gather(*tasks) == ["one two"] * 3
        await pool.refuse_when_full("a")


async def test_when_all_is_full_the_flood_gives_way() -> None:
    only = engine(wait=asyncio.Event())
    async with pooled(only, places=1, queue_length=3, queue_length_per_tenant=3) as pool:
        tasks = [asyncio.create_task(ask(pool, f"{n}", "flood")) for n in range(4)]
        await waiting(pool, 3)
        other = asyncio.create_task(ask(pool, "other", "other"))
        await wait_until_async(tasks[3].done, seconds=5, what="the flood's newest is refused")
        assert isinstance(tasks[3].exception(), Overloaded)
        only.wait.set()
        assert await other == "one two"
        await asyncio.gather(*tasks[:3])


async def test_who_leaves_the_queue_is_never_asked_for() -> None:
    only = engine(wait=asyncio.Event())
    async with pooled(only, places=1) as pool:
        tasks = [asyncio.create_task(ask(pool, f"{n}")) for n in range(3)]
        await waiting(pool, 2)
        tasks[1].cancel()
        await waiting(pool, 1)
        only.wait.set()
        await asyncio.gather(tasks[0], tasks[2])
        assert asked(only) == ["0", "2"]
        assert idle(pool)


async def test_who_leaves_in_the_moment_of_its_turn_gives_the_place_back() -> None:
    only = engine(wait=asyncio.Event())
    async with pooled(only, places=1) as pool:
        first, second = (asyncio.create_task(ask(pool, f"{n}")) for n in range(2))
        await waiting(pool, 1)
        first.cancel()
        await wait_until_async(lambda: len(pool._places._queue) == 0, seconds=5, what="the place is granted")
        second.cancel()
        with contextlib.suppress(asyncio.CancelledError):
            await second
        await wait_until_async(lambda: idle(pool), seconds=5)
        only.wait.set()
        assert await ask(pool, "2") == "one two"


def idle(pool: EnginePool) -> bool:
    return all((one.in_flight, one.outstanding) == (0, 0) for one in pool._engines.values())


async def test_a_place_granted_to_a_caller_that_was_cancelled_is_released() -> None:
    only = engine()
    async with pooled(only, places=1) as pool:
        places, taken = pool._places, pool._engines["a"]
        from quelea_generator.adapters.places import Ticket

        ticket = Ticket("t", 5, b"k", 2)
        ticket.granted.set_result(taken)
        taken.in_flight, taken.outstanding, ticket.owed = 1, 5, 5
        places._leave(ticket)
        assert idle(pool)


async def test_a_wait_that_is_too_long_ends_as_overloaded() -> None:
    only = engine(wait=asyncio.Event())
    async with pooled(only, places=1, queue_wait_seconds=0.05) as pool:
        first = asyncio.create_task(ask(pool))
        await wait_until_async(lambda: bool(only.seen), seconds=5)
        with pytest.raises(Overloaded):
            await ask(pool)
        only.wait.set()
        assert await first == "one two"
        assert idle(pool)


async def test_an_answer_without_text_begins_again_at_another_engine() -> None:
    a, b = engine("a", (), error=AWAY), engine("b", (), error=AWAY)
    async with pooled(a, b) as pool:
        first = ranked(affinity_key("m", [Message("user", "q")]), ["a", "b"])[0]
        bad, good = (a, b) if first == "a" else (b, a)
        bad.failing, good.error, good._pieces = AWAY, None, ("fine",)
        assert await ask(pool) == "fine"
        assert (len(bad.seen), len(good.seen)) == (1, 1)
        assert await ask(pool) == "fine"  # and the failed one is left alone
        assert len(bad.seen) == 1
        bad.failing = bad.error = None
        probed = bad.probed
        await wait_until_async(lambda: pool._engines[bad.name].up, seconds=5, what="one token brings it back")
        assert bad.probed > probed
        assert await ask(pool) == ""
        assert len(bad.seen) == 2


async def test_a_retry_goes_elsewhere_even_when_the_failed_engine_seems_to_work_again() -> None:
    a, b = engine("a", (), error=AWAY), engine("b", (), error=AWAY)  # the probes of both succeed
    async with pooled(a, b, circuit_seconds=0.01) as pool:
        first = ranked(affinity_key("m", [Message("user", "q")]), ["a", "b"])[0]
        bad, good = (a, b) if first == "a" else (b, a)
        good.error, good._pieces = None, ("fine",)
        for _ in range(5):
            assert await ask(pool) == "fine"
        assert len(good.seen) == 5
        assert pool._engines[bad.name].strikes == len(bad.seen) > 0
        bad.error = None
        await wait_until_async(lambda: pool._engines[bad.name].up, seconds=5)
        await ask(pool)
        assert pool._engines[bad.name].strikes == 0


async def test_an_answer_with_text_ends_with_the_error() -> None:
    a, b = engine("a", ("half ",), error=AWAY), engine("b", ("half ",), error=AWAY)
    async with pooled(a, b) as pool:
        with pytest.raises(Unavailable, match="away"):
            await ask(pool)
        assert len(a.seen) + len(b.seen) == 1
        assert idle(pool)


async def test_the_only_engine_may_come_back_in_time() -> None:
    only = engine(pieces=(), error=AWAY)
    async with pooled(only, comeback_seconds=20.0) as pool:
        only.failing = AWAY
        answer = asyncio.create_task(ask(pool))
        await wait_until_async(lambda: only.probed >= 3, seconds=10, what="it is probed while the answer waits")
        only.error, only._pieces, only.failing = None, ("back",), None
        assert await answer == "back"
        assert len(only.seen) == 2


async def test_nobody_waits_longer_than_told_for_an_engine_and_then_nobody_waits() -> None:
    only = engine(pieces=(), error=AWAY)
    async with pooled(only, comeback_seconds=0.1) as pool:
        only.failing = AWAY
        with pytest.raises(Unavailable, match="away") as caught:
            await ask(pool)
        assert caught.value.retry_after
        seen = len(only.seen)
        for refused in (ask(pool), pool.refuse_when_full("")):
            with pytest.raises(Unavailable):
                await asyncio.wait_for(refused, 5)
        assert len(only.seen) == seen
        only.failing = only.error = None
        await wait_until_async(lambda: pool._engines["a"].up, seconds=5)
        assert await ask(pool) == ""


async def test_tries_are_bounded() -> None:
    only = engine(pieces=(), error=AWAY)  # its probes succeed, its answers do not
    async with pooled(only, attempts=3) as pool:
        with pytest.raises(Unavailable):
            await ask(pool)
        assert len(only.seen) == 3


async def test_a_refused_request_says_nothing_about_the_engine() -> None:
    only = engine(pieces=(), error=InvalidInput("no"))
    async with pooled(only) as pool:
        with pytest.raises(InvalidInput):
            await ask(pool)
        assert len(only.seen) == 1
        assert pool._engines["a"].up


async def test_an_engine_that_is_full_is_passed_over_for_its_while_and_stays_up() -> None:
    full = Overloaded("no room", retry_after=3.0)
    a, b = engine("a", (), error=full), engine("b", (), error=full)
    async with pooled(a, b) as pool:
        with pytest.raises(Overloaded) as caught:
            await ask(pool)
        assert caught.value.retry_after == 3.0
        assert (len(a.seen), len(b.seen)) == (1, 1)
        await pool.check()
        assert all(one.up and not one.takes for one in pool._engines.values())


async def test_not_ready_before_one_token_has_come_back() -> None:
    a, b = engine("a"), engine("b")
    a.failing = b.failing = AWAY
    async with pooled(a, b, up=False) as pool:
        check = asyncio.create_task(pool.check())
        await wait_until_async(lambda: a.probed >= 2, seconds=5)
        assert not check.done()
        b.failing = None
        await asyncio.wait_for(check, 10)
        assert await ask(pool) == "one two"
        assert not a.seen


async def test_an_engine_that_stops_answering_makes_unready() -> None:
    only = engine()
    async with pooled(only) as pool:
        only.failing = Unavailable("the engine is gone")
        check = asyncio.create_task(pool.check())
        await wait_until_async(lambda: not pool._engines["a"].up, seconds=5)
        check.cancel()
        only.failing = None
        await asyncio.wait_for(pool.check(), 10)


@pytest.mark.parametrize("error", [Overloaded("full"), DeadlineExceeded("slow")])
async def test_a_busy_engine_that_is_slow_to_say_so_stays_up(error: QueleaError) -> None:
    only = engine(wait=asyncio.Event())
    async with pooled(only) as pool:
        answer = asyncio.create_task(ask(pool))
        await wait_until_async(lambda: pool._engines["a"].in_flight == 1, seconds=5)
        pool._engines["a"].last_text = float("-inf")
        only.failing = error
        await pool.check()
        assert pool._engines["a"].up
        only.wait.set()
        assert await answer == "one two"


def test_silence_is_a_failure_only_when_all_are_silent() -> None:
    one = Engine(engine(), places=1, stall_seconds=60.0)
    assert one.is_failure(DeadlineExceeded("silent"))
    one.last_text = one.down_since
    assert not one.is_failure(DeadlineExceeded("silent"))
    assert one.is_failure(AWAY)


async def test_prompts_that_begin_alike_meet_at_one_engine() -> None:
    engines = [engine(name) for name in ("a", "b", "c")]
    async with pooled(*engines) as pool:
        for group in range(12):
            for question in range(4):
                await ask(pool, f"evidence {group} " * 200 + f"question {question}")
    for one in engines:
        groups = [text.split()[1] for text in asked(one)]
        assert all(groups.count(group) == 4 for group in groups)


async def test_what_an_engine_owes_falls_with_the_first_text() -> None:
    only = engine(wait=asyncio.Event())
    async with pooled(only) as pool:
        pieces = pool.stream([Message("user", "q")], model="m", max_tokens=7, temperature=0.0, prompt_tokens=500)
        async with contextlib.aclosing(pieces):
            await anext(pieces)
            assert pool._engines["a"].outstanding == 7
        assert idle(pool)


async def test_context_and_counts_are_those_of_the_replicas() -> None:
    a, b = engine("a", context=4096, counts=True), engine("b", context=2048, counts=True)
    messages = [Message("user", "one two three")]
    async with pooled(a, b, up=False) as pool:
        assert await pool.count(messages, model="m") is None
        await pool.check()
        assert pool.context("m") == 2048
        counted = await pool.count(messages, model="m")
        assert counted is not None
        assert (counted.tokens, counted.context) == (3, 2048)
