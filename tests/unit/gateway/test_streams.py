"""Server-sent events: nothing lost, nothing late, nothing left running."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncGenerator
from typing import Any

import pytest
from fastapi.sse import KEEPALIVE_COMMENT, format_sse_event
from quelea_gateway.rest.transport.streams import event, respond
from quelea_kit.testing import wait_until_async

SCOPE: dict[str, Any] = {"type": "http", "method": "GET", "path": "/"}


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


class Caller:
    """What a response sent; it leaves when told, and takes nothing more while it is slow."""

    def __init__(self, slow: bool = False) -> None:
        self.sent: list[dict[str, Any]] = []
        self.leaves = asyncio.Event()
        self.takes = asyncio.Event()
        if not slow:
            self.takes.set()

    async def receive(self) -> dict[str, Any]:
        await self.leaves.wait()
        return {"type": "http.disconnect"}

    async def send(self, message: Any) -> None:
        self.sent.append(message)
        if message.get("body"):
            await self.takes.wait()

    def pieces(self) -> list[bytes]:
        return [message["body"] for message in self.sent if message.get("body")]


async def test_every_event_in_order_and_an_end() -> None:
    source, caller = Source([b"%d;" % number for number in range(300)]), Caller()
    await respond(source.events(), 5)(SCOPE, caller.receive, caller.send)
    assert caller.pieces() == source.items
    start, end = caller.sent[0], caller.sent[-1]
    assert (start["type"], start["status"], end["more_body"]) == ("http.response.start", 200, False)
    headers = dict(start["headers"])
    assert headers[b"content-type"].startswith(b"text/event-stream")
    assert b"content-length" not in headers
    assert source.closed


async def test_a_comment_when_nothing_comes_and_the_end_of_a_caller_who_leaves() -> None:
    source, caller = Source([b"a"], hang=True), Caller()
    serving = asyncio.create_task(respond(source.events(), 0.01)(SCOPE, caller.receive, caller.send))
    await wait_until_async(lambda: caller.pieces()[:3] == [b"a", KEEPALIVE_COMMENT, KEEPALIVE_COMMENT])
    caller.leaves.set()
    await asyncio.wait_for(serving, 60)
    assert source.closed


async def test_no_comment_for_one_who_has_yet_to_take_what_was_sent() -> None:
    source, caller = Source([b"a", b"b"], hang=True), Caller(slow=True)
    serving = asyncio.create_task(respond(source.events(), 0.05)(SCOPE, caller.receive, caller.send))
    await asyncio.sleep(0.1)  # twice the time for a comment
    assert caller.pieces() == [b"a"]
    caller.takes.set()
    await wait_until_async(lambda: caller.pieces()[:2] == [b"a", b"b"])
    caller.leaves.set()
    await asyncio.wait_for(serving, 60)


async def test_one_who_takes_nothing_any_more_keeps_its_place_no_longer() -> None:
    source, caller = Source([b"a", b"b"], hang=True), Caller(slow=True)
    await asyncio.wait_for(respond(source.events(), 0.01)(SCOPE, caller.receive, caller.send), 60)
    assert caller.pieces() == [b"a"]
    assert source.closed


@pytest.mark.parametrize("count", [0, 1, 65])
async def test_an_error_comes_after_what_was_said_before_it(count: int) -> None:
    source, caller = Source([b"x"] * count, error=ValueError("broken")), Caller()
    with pytest.raises(ValueError, match="broken"):
        await respond(source.events(), 5)(SCOPE, caller.receive, caller.send)
    assert caller.pieces() == [b"x"] * count
    assert source.closed


async def test_a_server_that_is_stopped_closes_the_source() -> None:
    source, caller = Source([b"a"], hang=True), Caller()
    serving = asyncio.create_task(respond(source.events(), 5)(SCOPE, caller.receive, caller.send))
    await wait_until_async(lambda: bool(caller.pieces()))
    serving.cancel()
    with pytest.raises(asyncio.CancelledError):
        await serving
    assert source.closed


@pytest.mark.parametrize("name", ["delta", None])
def test_an_event_is_written_as_the_library_writes_it(name: str | None) -> None:
    data = json.dumps({"text": "one\ntwo\r\n三\u2028"}, ensure_ascii=False)
    assert event(name, data) == format_sse_event(event=name, data_str=data)
