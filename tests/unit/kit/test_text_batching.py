"""Pieces of text are batched: nothing lost, the first at once, what is no text at once, nothing left running."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncGenerator

import pytest
from quelea_kit.testing import wait_until_async
from quelea_kit.text_batching import batch_text

LONG = 3600.0
"""A time to gather in that no test waits for."""
Event = str | int
"""A string is text, a number is none."""
QUOTE, DONE = 1, 2


def batches(source: AsyncGenerator[Event, None], seconds: float) -> AsyncGenerator[list[Event], None]:
    return batch_text(source, seconds, lambda event: event if isinstance(event, str) else None, str)


async def gathered(source: AsyncGenerator[Event, None], seconds: float) -> AsyncGenerator[Event, None]:
    """One event after another."""
    async with contextlib.aclosing(batches(source, seconds)) as found:
        async for batch in found:
            for event in batch:
                yield event


class Source:
    """Events as they are put in; None ends it, an error is raised."""

    def __init__(self) -> None:
        self.queue: asyncio.Queue[Event | Exception | None] = asyncio.Queue()
        self.taken = 0
        self.closed = False

    def put(self, *events: Event | Exception | None) -> None:
        for event in events:
            self.queue.put_nowait(event)

    async def events(self) -> AsyncGenerator[Event, None]:
        try:
            while (event := await self.queue.get()) is not None:
                if isinstance(event, Exception):
                    raise event
                self.taken += 1
                yield event
        finally:
            self.closed = True


@pytest.fixture
def source() -> Source:
    return Source()


async def test_the_first_piece_goes_at_once_and_later_ones_together(source: Source) -> None:
    events = gathered(source.events(), 0.01)
    source.put("a")
    assert await anext(events) == "a"
    source.put("b", "c", "d")
    assert await anext(events) == "bcd"
    await events.aclose()
    assert source.closed


async def test_what_is_no_text_waits_for_nothing_and_keeps_its_place(source: Source) -> None:
    events = gathered(source.events(), LONG)
    source.put("a")
    assert await anext(events) == "a"
    source.put("b", "c", QUOTE, "d", DONE, None)
    rest = [event async for event in events]
    assert "".join(e for e in rest if isinstance(e, str)) == "bcd"
    assert rest.index(QUOTE) > [isinstance(e, str) for e in rest].index(True)
    assert rest[-1] == DONE
    assert source.closed


async def test_what_comes_together_is_given_together(source: Source) -> None:
    source.put("a", "b", QUOTE, DONE, None)
    assert [batch async for batch in batches(source.events(), LONG)] == [["ab", QUOTE, DONE]]


async def test_a_piece_after_a_pause_waits_for_no_other(source: Source) -> None:
    events = gathered(source.events(), 0.01)
    source.put("a")
    assert await anext(events) == "a"
    await asyncio.sleep(0.05)
    waiting = asyncio.ensure_future(anext(events))
    source.put("b")  # the next one never comes
    async with asyncio.timeout(60):
        assert await waiting == "b"
    await events.aclose()


async def test_the_end_waits_for_nothing(source: Source) -> None:
    events = gathered(source.events(), LONG)
    source.put("a")
    assert await anext(events) == "a"
    source.put("b", None)
    assert [event async for event in events] == ["b"]


async def test_an_empty_source_ends(source: Source) -> None:
    source.put(None)
    assert [event async for event in gathered(source.events(), LONG)] == []
    assert source.closed


async def test_an_error_comes_after_the_text_before_it(source: Source) -> None:
    source.put("a", "b", ValueError("broken"))
    said = ""
    with pytest.raises(ValueError, match="broken"):
        async for event in gathered(source.events(), LONG):
            assert isinstance(event, str)
            said += event
    assert said == "ab"


async def test_no_more_is_read_ahead_than_a_bound(source: Source) -> None:
    events = gathered(source.events(), 0.0)
    source.put(*["x"] * 2000, None)
    first = await anext(events)
    assert isinstance(first, str)
    await wait_until_async(lambda: source.taken >= 256)
    for _ in range(50):
        await asyncio.sleep(0)
    assert source.taken < 1000
    rest = [event async for event in events if isinstance(event, str)]
    assert first + "".join(rest) == "x" * 2000


async def test_one_who_leaves_in_the_middle_closes_the_source(source: Source) -> None:
    events = gathered(source.events(), LONG)
    source.put("a")
    assert await anext(events) == "a"
    waiting = asyncio.ensure_future(anext(events))
    await asyncio.sleep(0)
    waiting.cancel()
    with pytest.raises(asyncio.CancelledError):
        await waiting
    await events.aclose()
    assert source.closed
