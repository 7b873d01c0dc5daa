"""Server-sent events: nothing lost, nothing late, nothing left running."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator

import pytest
from fastapi.sse import KEEPALIVE_COMMENT
from quelea_gateway.rest.streams import kept_alive


class Source:
    """Events that come when they are let, and whether the source was closed."""

    def __init__(self, items: list[bytes], error: Exception | None = None, hang: bool = False) -> None:
        self.items, self.error, self.hang = items, error, hang
        self.closed = False

    async def events(self) -> AsyncGenerator[bytes, None]:
        try:
            for item in self.items:
                yield item
            if self.error:
                raise self.error
            if self.hang:
                await asyncio.Event().wait()
        finally:
            self.closed = True


async def test_every_event_in_order_and_those_that_wait_go_out_together() -> None:
    items = [b"%d;" % number for number in range(300)]
    source = Source(items)
    pieces = []
    async for piece in kept_alive(source.events(), 5):
        pieces.append(piece)
        await asyncio.sleep(0)
    assert b"".join(pieces) == b"".join(items)
    assert len(pieces) < len(items)
    assert source.closed


async def test_a_comment_when_nothing_comes() -> None:
    source = Source([b"a"], hang=True)
    stream = kept_alive(source.events(), 0.01)
    assert await anext(stream) == b"a"
    assert await anext(stream) == KEEPALIVE_COMMENT
    assert await anext(stream) == KEEPALIVE_COMMENT
    await stream.aclose()
    assert source.closed


@pytest.mark.parametrize("count", [0, 1, 64, 65, 200])
async def test_an_error_comes_after_what_was_said_before_it(count: int) -> None:
    source = Source([b"x"] * count, error=ValueError("broken"))
    said = b""
    with pytest.raises(ValueError, match="broken"):
        async for piece in kept_alive(source.events(), 5):
            said += piece
    assert said == b"x" * count
    assert source.closed


async def test_a_caller_who_leaves_closes_the_source_behind_a_full_queue() -> None:
    source = Source([b"x"] * 1000)
    stream = kept_alive(source.events(), 5)
    assert await anext(stream)
    await asyncio.sleep(0)
    await stream.aclose()
    assert source.closed
