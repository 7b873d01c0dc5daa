"""Server-sent events and callers who leave."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncGenerator, Coroutine
from typing import Any, TypeVar

from fastapi import Request, Response
from fastapi.sse import KEEPALIVE_COMMENT, format_sse_event
from quelea_kit.errors import Cancelled
from starlette.types import Receive, Scope, Send

T = TypeVar("T")

_STUCK = 6
"""Times of silence in which one write was not taken: then the stream ends, and its place goes to others."""
_HEADERS = {"Cache-Control": "no-cache", "X-Accel-Buffering": "no"}

EVENTS: dict[str, Any] = {
    "text/event-stream": {
        "itemSchema": {"type": "object", "properties": {"event": {"type": "string"}, "data": {"type": "string"}}}
    }
}
"""What a stream of events is in OpenAPI (3.2's itemSchema; older readers pass over it)."""


def event(name: str | None, data: str) -> bytes:
    """One event on the wire; data is JSON already, and so has no line's end in it."""
    return f"event: {name}\ndata: {data}\n\n".encode() if name else f"data: {data}\n\n".encode()


def with_id(name: str, data: str, number: str) -> bytes:
    """One event that a stream can be taken up behind."""
    return format_sse_event(event=name, data_str=data, id=number)


async def while_there(request: Request, work: Coroutine[Any, Any, T]) -> T:
    """Do the work; when the caller leaves, cancel it (down to the services) and raise Cancelled."""
    task = asyncio.ensure_future(work)
    gone = asyncio.ensure_future(_wait_until_left(request.receive))
    try:
        await asyncio.wait({task, gone}, return_when=asyncio.FIRST_COMPLETED)
        if not task.done():
            raise Cancelled("The caller has left.")
        return task.result()
    finally:
        for pending in (task, gone):
            if not pending.done():
                pending.cancel()
                with contextlib.suppress(asyncio.CancelledError):
                    await pending


async def _wait_until_left(receive: Receive) -> None:
    while (await receive())["type"] != "http.disconnect":
        pass


class EventStream(Response):
    """A response of server-sent events, with a comment whenever nothing went out for a while.

    Closes the events when the caller leaves or takes nothing any more, and at the end. Each item is one write to the
    socket.

    Args:
        events: Bytes of one or more events each.
        keep_alive_seconds: Without an event, until a comment.
    """

    media_type = "text/event-stream"

    def __init__(self, events: AsyncGenerator[bytes, None], keep_alive_seconds: float) -> None:
        super().__init__(headers=_HEADERS)
        del self.headers["content-length"]
        self._events = events
        self._seconds = keep_alive_seconds
        self._sent = 0
        self._sending = False

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Send until the end, or until the caller leaves."""
        writing = asyncio.ensure_future(self._write(send))
        gone = asyncio.ensure_future(_wait_until_left(receive))
        try:
            stuck = 0
            while not (writing.done() or gone.done()) and stuck < _STUCK:
                before = self._sent
                await asyncio.wait({writing, gone}, timeout=self._seconds, return_when=asyncio.FIRST_COMPLETED)
                # One who takes more slowly than there is to send is busy enough; one who takes nothing is gone.
                stuck = stuck + 1 if self._sending and self._sent == before else 0
                if self._sent == before and not (writing.done() or gone.done() or self._sending):
                    await send({"type": "http.response.body", "body": KEEPALIVE_COMMENT, "more_body": True})
            if writing.done():
                writing.result()
        finally:
            for task in (writing, gone):
                task.cancel()
            await asyncio.gather(writing, gone, return_exceptions=True)
            await self._events.aclose()

    async def _write(self, send: Send) -> None:
        await send({"type": "http.response.start", "status": self.status_code, "headers": self.raw_headers})
        async for events in self._events:
            self._sending = True
            await send({"type": "http.response.body", "body": events, "more_body": True})
            self._sending = False
            self._sent += 1
        await send({"type": "http.response.body", "body": b"", "more_body": False})


def respond(events: AsyncGenerator[bytes, None], keep_alive_seconds: float) -> EventStream:
    """The response that streams the events."""
    return EventStream(events, keep_alive_seconds)
