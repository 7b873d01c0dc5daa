"""The pool over engines made here: turns, bounds, who leaves, who is asked. Order decides, never time."""

import asyncio
import contextlib

import pytest
from quelea_generator.core.chat.chat_model import ChatRequest
from quelea_generator.core.chat.prompt import Message
from quelea_generator.core.chat.routing import prompt_key
from quelea_kit.errors import Overloaded
from quelea_kit.testing import wait_until_async
from support.engine_pool import ask, asked, engine, idle, pooled, waiting


async def test_a_flood_of_one_tenant_does_not_starve_another() -> None:
    only = engine(wait=asyncio.Event())
    async with pooled(only, slots=1, queue_quantum=20) as pool:
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
    async with pooled(only, slots=1, queue_length=4, queue_length_per_tenant=2) as pool:
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
    async with pooled(only, slots=1, queue_length=3, queue_length_per_tenant=3) as pool:
        tasks = [asyncio.create_task(ask(pool, f"{n}", "flood")) for n in range(4)]
        await waiting(pool, 3)
        other = asyncio.create_task(ask(pool, "other", "other"))
        await wait_until_async(tasks[3].done, what="the flood's newest is refused")
        assert isinstance(tasks[3].exception(), Overloaded)
        only.wait.set()
        assert await other == "one two"
        await asyncio.gather(*tasks[:3])


async def test_who_leaves_the_queue_is_never_asked_for() -> None:
    only = engine(wait=asyncio.Event())
    async with pooled(only, slots=1) as pool:
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
    async with pooled(only, slots=1) as pool:
        first, second = (asyncio.create_task(ask(pool, f"{n}")) for n in range(2))
        await waiting(pool, 1)
        first.cancel()
        await wait_until_async(lambda: len(pool._slots._queue) == 0, what="the slot is granted")
        second.cancel()
        with contextlib.suppress(asyncio.CancelledError):
            await second
        await wait_until_async(lambda: idle(pool))
        only.wait.set()
        assert await ask(pool, "2") == "one two"


async def test_a_place_granted_to_a_caller_that_was_cancelled_is_released() -> None:
    only = engine()
    async with pooled(only, slots=1) as pool:
        slots, taken = pool._slots, pool._engines["a"]
        from quelea_generator.adapters.engine_slots import Ticket

        ticket = Ticket("t", 5, prompt_key("m", [], 3), 2)
        ticket.granted.set_result(taken)
        taken.in_flight, taken.outstanding, ticket.owed = 1, 5, 5
        slots._leave(ticket)
        assert idle(pool)


async def test_a_wait_that_is_too_long_ends_as_overloaded() -> None:
    only = engine(wait=asyncio.Event())
    async with pooled(only, slots=1, queue_wait_seconds=0.05) as pool:
        first = asyncio.create_task(ask(pool))
        await wait_until_async(lambda: bool(only.seen))
        with pytest.raises(Overloaded):
            await ask(pool)
        only.wait.set()
        assert await first == "one two"
        assert idle(pool)


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
        pieces = pool.stream(ChatRequest((Message("user", "q"),), "m", 7, prompt_tokens=500))
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
