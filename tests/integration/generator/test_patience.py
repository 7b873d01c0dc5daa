"""How long an answer waits for its first word, by a clock that the test moves: nothing here hangs on real time."""

import asyncio
import contextlib
import json
import threading
from collections.abc import AsyncIterator, Callable, Iterator
from typing import Any

import pytest
from pydantic import SecretStr
from quelea_generator.adapters.openai_endpoint import OpenAIEndpoint
from quelea_generator.adapters.patience import Patience
from quelea_generator.core.chat.chat_model import ChatRequest
from quelea_generator.core.chat.prompt import Message
from quelea_kit.errors import DeadlineExceeded, Unavailable
from quelea_kit.testing import wait_until_async

MESSAGES = [Message("user", "u")]
PIECE = b'data: {"choices": [{"index": 0, "delta": {"content": "Sales "}, "finish_reason": null}]}\n\n'
END = b'data: {"choices": [{"index": 0, "delta": {}, "finish_reason": "stop"}]}\n\n'


@pytest.fixture
async def later() -> AsyncIterator[Callable[[float], Any]]:
    """Moves the loop's clock ahead by so many seconds, and lets what is due then happen."""
    loop = asyncio.get_running_loop()
    real, ahead = loop.time, 0.0

    async def moved(seconds: float) -> None:
        nonlocal ahead
        ahead += seconds
        for _ in range(10):
            await asyncio.sleep(0)

    loop.time = lambda: real() + ahead  # type: ignore[method-assign]  # the clock is the test's
    yield moved
    loop.time = real  # type: ignore[method-assign]


@pytest.fixture
async def waiting() -> AsyncIterator[tuple[Patience, asyncio.Task[None]]]:
    """An engine's patience, of an hour, with a model that is warm, and somebody who waits for a first word."""
    patience = Patience(3600.0, 10_800.0)
    async with patience.first_word("tiny", 10):
        pass

    async def wait() -> None:
        async with patience.first_word("tiny", 10):
            await asyncio.Event().wait()

    task = asyncio.create_task(wait())
    await asyncio.sleep(0)
    yield patience, task
    task.cancel()
    await asyncio.gather(task, return_exceptions=True)


async def test_silence_towards_all_ends_the_wait(later: Any, waiting: Any) -> None:
    _, task = waiting
    await later(3000)
    assert not task.done()
    await later(700)
    with pytest.raises(TimeoutError):
        await task


async def test_words_for_others_make_it_longer_and_not_endless(later: Any, waiting: Any) -> None:
    patience, task = waiting
    for _ in range(3):  # until 9,000 s
        await later(3000)
        assert not task.done()
        patience.progressed()
    await later(1700)
    assert not task.done()
    patience.progressed()
    await later(200)  # three hours are over, although a word has just come
    with pytest.raises(TimeoutError):
        await task
    patience.progressed()  # nobody waits: nothing to do


async def word(patience: Patience, model: str, tokens: int, after: float, later: Any) -> bool:
    """Whether a first word that comes after so many seconds is waited for."""
    comes = asyncio.Event()

    async def wait() -> None:
        async with patience.first_word(model, tokens):
            await comes.wait()

    task = asyncio.create_task(wait())
    await asyncio.sleep(0)
    await later(after)
    comes.set()
    return (await asyncio.gather(task, return_exceptions=True))[0] is None


async def test_each_model_and_adapter_may_be_late_with_its_first_answer(later: Any) -> None:
    patience = Patience(60.0, 18_000.0)
    assert await word(patience, "tiny", 1000, 0.0, later)
    assert not await word(patience, "tiny", 1000, 900.0, later)
    assert await word(patience, "finance", 1000, 900.0, later)
    for _ in range(100):
        assert await word(patience, "finance", 1000, 0.0, later)
    assert not await word(patience, "finance", 1000, 900.0, later)
    patience.forget()
    assert await word(patience, "tiny", 1000, 900.0, later)
    assert not await word(Patience(60.0, 18_000.0), "tiny", 1000, 19_000.0, later)


async def test_a_model_that_reads_slowly_has_time_for_a_longer_prompt(later: Any) -> None:
    patience = Patience(600.0, 18_000.0)
    assert await word(patience, "tiny", 1000, 500.0, later)
    assert await word(patience, "tiny", 2000, 1500.0, later)
    assert not await word(patience, "tiny", 100, 1500.0, later)
    assert not await word(patience, "tiny", 1_000_000, 19_000.0, later)


async def test_a_word_for_others_never_shortens_a_wait(later: Any) -> None:
    patience = Patience(60.0, 18_000.0)
    comes = asyncio.Event()

    async def wait() -> None:
        async with patience.first_word("cold", 1000):
            await comes.wait()

    task = asyncio.create_task(wait())
    await asyncio.sleep(0)
    patience.progressed()
    await later(900)
    comes.set()
    await task


@pytest.fixture
def release(engines: list[Any]) -> Iterator[list[threading.Event]]:
    """Lets the first engine's streams go on: the first one, one piece after the other; the second one's first piece."""
    events = [threading.Event(), threading.Event()]
    streams = iter(events)

    async def body() -> AsyncIterator[bytes]:
        own = next(streams)
        if own is events[0]:
            yield PIECE
        while not own.is_set():  # noqa: ASYNC110  # set by another thread's loop
            await asyncio.sleep(0.01)
        yield PIECE
        yield END

    engines[0].answer = body
    yield events
    for event in events:
        event.set()


async def test_a_long_batch_is_waited_for_while_it_writes(
    engines: list[Any], release: list[threading.Event], later: Any
) -> None:
    chat = OpenAIEndpoint(engines[0].url, SecretStr(""), "tiny", stall_seconds=3600.0, first_stall_seconds=10_800.0)
    said: dict[str, list[str]] = {"first": [], "second": []}

    async def ask(name: str) -> None:
        async for piece in chat.stream(ChatRequest(tuple(MESSAGES), "tiny", 9)):
            said[name].append(piece.text)

    tasks = [asyncio.create_task(ask("first"))]
    try:
        await wait_until_async(lambda: bool(said["first"]), what="the first answer writes")
        tasks.append(asyncio.create_task(ask("second")))
        await wait_until_async(lambda: len(engines[0].bodies) == 2, what="the second one waits")
        await later(3000)
        release[0].set()
        await asyncio.wait_for(tasks[0], 60)
        await later(3000)  # longer than the allowance for silence, were it for this answer alone
        assert not tasks[1].done()
        release[1].set()
        await asyncio.wait_for(tasks[1], 60)
    finally:
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        with contextlib.suppress(Exception):
            await chat.close()
    assert "".join(said["second"]) == "Sales "


async def test_an_adapter_is_waited_for_until_it_has_answered_once(engines: list[Any], later: Any) -> None:
    only = engines[0]
    only.listing = json.dumps({"data": [{"id": "tiny"}, {"id": "finance", "parent": "tiny"}]}).encode()
    gate = threading.Event()

    async def body() -> AsyncIterator[bytes]:
        while not gate.is_set():  # noqa: ASYNC110  # set by the test's thread
            await asyncio.sleep(0.01)
        yield PIECE
        yield END

    only.answer = body
    chat = OpenAIEndpoint(only.url, SecretStr(""), "tiny", stall_seconds=3600.0, first_stall_seconds=36_000.0)

    async def ask(model: str, seconds: float) -> str:
        gate.clear()
        before = len(only.bodies)

        async def read() -> str:
            pieces = chat.stream(ChatRequest(tuple(MESSAGES), model, 9))
            return "".join([piece.text async for piece in pieces])

        task = asyncio.create_task(read())
        await wait_until_async(lambda: len(only.bodies) > before, what="the engine is asked")
        await later(seconds)
        gate.set()
        return await asyncio.wait_for(task, 1e6)

    try:
        await chat.probe()
        assert await ask("finance", 30_000) == "Sales "
        chat._patience.forget()
        assert await ask("tiny", 0) == "Sales "
        with pytest.raises(DeadlineExceeded):
            await ask("tiny", 4000)
        assert await ask("finance", 30_000) == "Sales "  # each has a first time of its own
        only.listing = b"oops"
        with pytest.raises(Unavailable):
            await chat.check()
        assert await ask("tiny", 30_000) == "Sales "  # what comes back is cold again
    finally:
        gate.set()
        await chat.close()
