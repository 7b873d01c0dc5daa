"""Server-sent events and callers who leave."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncGenerator, Coroutine
from typing import Any, TypeVar

from fastapi import Request
from fastapi.sse import KEEPALIVE_COMMENT, EventSourceResponse, format_sse_event
from quelea_kit.errors import Cancelled

T = TypeVar("T")

_HEADERS = {"Cache-Control": "no-cache", "X-Accel-Buffering": "no"}

_AHEAD = 64
"""Events read ahead of a caller that takes them more slowly than they come."""

EVENTS: dict[str, Any] = {
    "text/event-stream": {
        "itemSchema": {"type": "object", "properties": {"event": {"type": "string"}, "data": {"type": "string"}}}
    }
}
"""What a stream of events is in OpenAPI (3.2's itemSchema; older readers pass over it)."""


def event(name: str | None, data: str) -> bytes:
    """One event on the wire; data is JSON already."""
    return format_sse_event(event=name, data_str=data)


def with_id(name: str, data: str, number: str) -> bytes:
    """One event that a stream can be taken up behind."""
    return format_sse_event(event=name, data_str=data, id=number)


async def while_there(request: Request, work: Coroutine[Any, Any, T]) -> T:
    """Do the work; when the caller leaves, cancel it (down to the services) and raise Cancelled."""
    task = asyncio.ensure_future(work)
    gone = asyncio.ensure_future(_left(request))
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


async def _left(request: Request) -> None:
    while (await request.receive())["type"] != "http.disconnect":
        pass


async def kept_alive(events: AsyncGenerator[bytes, None], seconds: float) -> AsyncGenerator[bytes, None]:
    """The events, with a comment whenever nothing came for a while; closes them when the caller leaves.

    Events that came while the last piece was being sent go out together: a slow caller, or a busy gateway, costs
    fewer writes and no event more delay.
    """
    waiting: asyncio.Queue[bytes] = asyncio.Queue(_AHEAD)
    reading = asyncio.create_task(_read(events, waiting))
    try:
        while not (reading.done() and waiting.empty()):
            try:
                async with asyncio.timeout(seconds):
                    pieces = [await waiting.get()]
            except TimeoutError:
                yield KEEPALIVE_COMMENT
                continue
            while not waiting.empty():
                pieces.append(waiting.get_nowait())
            yield b"".join(pieces)
        reading.result()
    finally:
        reading.cancel()
        await asyncio.gather(reading, return_exceptions=True)
        await events.aclose()


async def _read(events: AsyncGenerator[bytes, None], waiting: asyncio.Queue[bytes]) -> None:
    """Put every event into the queue; at the end an empty one, so that the writer looks up."""
    try:
        async for item in events:
            await waiting.put(item)
    finally:
        if not waiting.full():  # a full one has the writer's eye anyway
            waiting.put_nowait(b"")


def respond(events: AsyncGenerator[bytes, None], keep_alive_seconds: float) -> EventSourceResponse:
    """The response that streams the events."""
    return EventSourceResponse(kept_alive(events, keep_alive_seconds), headers=_HEADERS)
