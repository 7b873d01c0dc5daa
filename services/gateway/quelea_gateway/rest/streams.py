"""Server-sent events and callers who leave."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncGenerator, AsyncIterator, Coroutine
from typing import Any, TypeVar

from fastapi import Request
from fastapi.sse import KEEPALIVE_COMMENT, EventSourceResponse, format_sse_event
from quelea_kit.errors import Cancelled

T = TypeVar("T")

_HEADERS = {"Cache-Control": "no-cache", "X-Accel-Buffering": "no"}


EVENTS: dict[str, Any] = {
    "text/event-stream": {
        "itemSchema": {"type": "object", "properties": {"event": {"type": "string"}, "data": {"type": "string"}}}
    }
}
"""What a stream of events is in OpenAPI (3.2's itemSchema; older readers pass over it)."""


def event(name: str | None, data: str) -> bytes:
    """One event on the wire; data is JSON already."""
    return format_sse_event(event=name, data_str=data)


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


async def kept_alive(events: AsyncGenerator[bytes, None], seconds: float) -> AsyncIterator[bytes]:
    """The events, with a comment whenever nothing came for a while; closes them when the caller leaves."""
    pending: asyncio.Task[bytes] | None = None
    try:
        while True:
            pending = pending or asyncio.create_task(_next(events))
            await asyncio.wait({pending}, timeout=seconds)
            if not pending.done():
                yield KEEPALIVE_COMMENT
                continue
            try:
                item = pending.result()
            except StopAsyncIteration:
                return
            pending = None
            yield item
    finally:
        if pending is not None and not pending.done():
            pending.cancel()
            with contextlib.suppress(asyncio.CancelledError, StopAsyncIteration):
                await pending
        await events.aclose()


async def _next(events: AsyncGenerator[bytes, None]) -> bytes:
    return await anext(events)


def respond(events: AsyncGenerator[bytes, None], keep_alive_seconds: float) -> EventSourceResponse:
    """The response that streams the events."""
    return EventSourceResponse(kept_alive(events, keep_alive_seconds), headers=_HEADERS)
