"""Engines that fail, fill up or fall silent: who is asked instead, who is up, when the pool is ready."""

import asyncio

import pytest
from prometheus_client import REGISTRY
from quelea_generator.adapters.engine import Engine
from quelea_generator.core.chat.prompt import Message
from quelea_generator.core.chat.routing import prompt_key, rank_replicas
from quelea_kit.errors import DeadlineExceeded, InvalidInput, Overloaded, QueleaError, Unavailable
from quelea_kit.testing import wait_until_async
from support.engine_pool import AWAY, ask, engine, idle, pooled


async def test_an_answer_without_text_begins_again_at_another_engine() -> None:
    a, b = engine("a", (), error=AWAY), engine("b", (), error=AWAY)
    async with pooled(a, b) as pool:
        first = rank_replicas(prompt_key("m", [Message("user", "q")], 1).home, ["a", "b"])[0]
        bad, good = (a, b) if first == "a" else (b, a)
        bad.failing, good.error, good._pieces = AWAY, None, ("fine",)
        assert await ask(pool) == "fine"
        assert (len(bad.seen), len(good.seen)) == (1, 1)
        assert await ask(pool) == "fine"  # and the failed one is left alone
        assert len(bad.seen) == 1
        bad.failing = bad.error = None
        probed = bad.probed
        await wait_until_async(lambda: pool._engines[bad.name].up, what="one token brings it back")
        assert bad.probed > probed
        assert await ask(pool) == ""
        assert len(bad.seen) == 2


async def test_a_retry_goes_elsewhere_even_when_the_failed_engine_seems_to_work_again() -> None:
    a, b = engine("a", (), error=AWAY), engine("b", (), error=AWAY)  # the probes of both succeed
    async with pooled(a, b, circuit_seconds=0.01) as pool:
        first = rank_replicas(prompt_key("m", [Message("user", "q")], 1).home, ["a", "b"])[0]
        bad, good = (a, b) if first == "a" else (b, a)
        good.error, good._pieces = None, ("fine",)
        for _ in range(5):
            assert await ask(pool) == "fine"
        assert len(good.seen) == 5
        assert pool._engines[bad.name].strikes == len(bad.seen) > 0
        bad.error = None
        await wait_until_async(lambda: pool._engines[bad.name].up)
        await ask(pool)
        assert pool._engines[bad.name].strikes == 0


async def test_an_answer_with_text_ends_with_the_error() -> None:
    a, b = engine("a", ("half ",), error=AWAY), engine("b", ("half ",), error=AWAY)
    async with pooled(a, b) as pool:
        with pytest.raises(Unavailable, match="away"):
            await ask(pool)
        assert len(a.seen) + len(b.seen) == 1
        assert idle(pool)


async def test_a_failure_counts_once_however_many_answers_it_takes_down() -> None:
    def failures(name: str) -> float:
        return REGISTRY.get_sample_value("quelea_generator_engine_failures_total", {"engine": name}) or 0.0

    only = engine("http://counted/v1", ("half ",), error=AWAY, wait=asyncio.Event())
    async with pooled(only) as pool:
        answers = [asyncio.create_task(ask(pool)) for _ in range(8)]
        await wait_until_async(lambda: len(only.seen) == 8, what="all are being answered")
        before = failures(only.name)
        only.failing = AWAY
        assert only.wait is not None
        only.wait.set()
        ends = await asyncio.gather(*answers, return_exceptions=True)
        assert all(isinstance(end, Unavailable) for end in ends)
        assert failures(only.name) - before == 1
        assert idle(pool)


async def test_the_only_engine_may_come_back_in_time() -> None:
    only = engine(pieces=(), error=AWAY)
    async with pooled(only, comeback_seconds=20.0) as pool:
        only.failing = AWAY
        answer = asyncio.create_task(ask(pool))
        await wait_until_async(lambda: only.probed >= 3, what="it is probed while the answer waits")
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
                await asyncio.wait_for(refused, 60)
        assert len(only.seen) == seen
        only.failing = only.error = None
        await wait_until_async(lambda: pool._engines["a"].up)
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
        await wait_until_async(lambda: a.probed >= 2)
        assert not check.done()
        b.failing = None
        await asyncio.wait_for(check, 60)
        assert await ask(pool) == "one two"
        assert not a.seen


async def test_an_engine_that_stops_answering_makes_unready() -> None:
    only = engine()
    async with pooled(only) as pool:
        only.failing = Unavailable("the engine is gone")
        check = asyncio.create_task(pool.check())
        await wait_until_async(lambda: not pool._engines["a"].up)
        check.cancel()
        only.failing = None
        await asyncio.wait_for(pool.check(), 60)


@pytest.mark.parametrize("error", [Overloaded("full"), DeadlineExceeded("slow")])
async def test_a_busy_engine_that_is_slow_to_say_so_stays_up(error: QueleaError) -> None:
    only = engine(wait=asyncio.Event())
    async with pooled(only) as pool:
        answer = asyncio.create_task(ask(pool))
        await wait_until_async(lambda: pool._engines["a"].in_flight == 1)
        pool._engines["a"].last_text = float("-inf")
        only.failing = error
        await pool.check()
        assert pool._engines["a"].up
        only.wait.set()
        assert await answer == "one two"


def test_silence_is_a_failure_only_when_all_are_silent() -> None:
    one = Engine(engine(), slots=1, stall_seconds=60.0)
    assert one.is_failure(DeadlineExceeded("silent"))
    one.last_text = one.down_since
    assert not one.is_failure(DeadlineExceeded("silent"))
    assert one.is_failure(AWAY)
