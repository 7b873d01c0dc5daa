"""Server-sent events and callers who leave."""

from __future__ import annotations

import asyncio
import contextlib
import json
from collections.abc import AsyncGenerator, Coroutine
from typing import Any, TypeVar

from fastapi import Request, Response
from fastapi.sse import KEEPALIVE_COMMENT, format_sse_event
from quelea_kit.errors import Cancelled, QueleaError, Unauthenticated
from starlette.types import Receive, Scope, Send

from quelea_gateway.access import RENEW_SECONDS, Caller
from quelea_gateway.rest.transport.errors import OPENAI_PATHS, body_of

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


async def _wait_until_revoked(caller: Caller | None) -> Unauthenticated:
    while True:
        await asyncio.sleep(RENEW_SECONDS)
        try:
            if caller:
                caller.renew()
        except Unauthenticated as error:
            return error


def _error_event(error: QueleaError, path: str) -> bytes:
    """The last event of a stream, in the form of its route."""
    data = json.dumps(body_of(error, path), ensure_ascii=False)
    return event(None if path.startswith(OPENAI_PATHS) else "error", data)


class EventStream(Response):
    """A response of server-sent events, with a comment whenever nothing went out for a while.

    Closes the events when the caller leaves or takes nothing any more, when his key is revoked, and at the end. Each
    item is one write to the socket.

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
        """Send until the end, until the caller leaves, or until his key is revoked."""
        writing = asyncio.ensure_future(self._write(send))
        gone = asyncio.ensure_future(_wait_until_left(receive))
        revoked = asyncio.ensure_future(_wait_until_revoked(scope.get("state", {}).get("caller")))
        tasks = {writing, gone, revoked}
        try:
            stuck = 0
            while not any(task.done() for task in tasks) and stuck < _STUCK:
                before = self._sent
                await asyncio.wait(tasks, timeout=self._seconds, return_when=asyncio.FIRST_COMPLETED)
                # One who takes more slowly than there is to send is busy enough; one who takes nothing is gone.
                stuck = stuck + 1 if self._sending and self._sent == before else 0
                if self._sent == before and not (any(task.done() for task in tasks) or self._sending):
                    await send({"type": "http.response.body", "body": KEEPALIVE_COMMENT, "more_body": True})
            if writing.done():
                writing.result()
            elif revoked.done():
                writing.cancel()
                await asyncio.wait({writing})
                last = _error_event(revoked.result(), scope["path"])
                await send({"type": "http.response.body", "body": last, "more_body": False})
        finally:
            for task in tasks:
                task.cancel()
            await asyncio.gather(*tasks, return_exceptions=True)
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
