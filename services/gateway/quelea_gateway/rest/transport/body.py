"""Request bodies within their limits: refused early, and in a way that the caller can read the refusal."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Awaitable, Callable, MutableMapping
from typing import Any

from quelea_kit.errors import InvalidInput, TooLarge
from starlette.datastructures import Headers
from starlette.requests import ClientDisconnect

Message = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[Message]]

_DRAIN_BYTES = 32 * 1024 * 1024
_DRAIN_SECONDS = 5.0
_READ_SECONDS = 60.0


def _length(headers: Headers) -> int | None:
    value = headers.get("content-length")
    if value is None:
        return None
    if not value.isdigit():
        raise InvalidInput("Content-Length must be a number.")
    return int(value)


def _too_large(limit: int) -> TooLarge:
    return TooLarge(f"The request body is larger than {limit:,} bytes.", details={"limit": str(limit)})


async def drain(headers: Headers, receive: Receive) -> None:
    """Take and drop what the caller still sends, within bounds.

    Most clients read the answer only after they have sent everything, and see a broken connection otherwise. One that
    waits for "100 Continue" sends nothing and needs no draining.
    """
    if headers.get("expect", "").lower() == "100-continue" or (_length(headers) or 0) > _DRAIN_BYTES:
        return
    if headers.get("content-length") in (None, "0") and "transfer-encoding" not in headers:
        return
    taken = 0
    with contextlib.suppress(TimeoutError):
        async with asyncio.timeout(_DRAIN_SECONDS):
            while taken < _DRAIN_BYTES:
                message = await receive()
                taken += len(message.get("body", b""))
                if message["type"] == "http.disconnect" or not message.get("more_body", False):
                    return


async def read_whole(headers: Headers, receive: Receive, limit: int) -> bytes:
    """The whole body. Raises TooLarge, ClientDisconnect, or InvalidInput when it does not come within a minute."""
    if (_length(headers) or 0) > limit:
        await drain(headers, receive)
        raise _too_large(limit)
    pieces: list[bytes] = []
    size = 0
    try:
        async with asyncio.timeout(_READ_SECONDS):
            while True:
                message = await receive()
                if message["type"] == "http.disconnect":
                    raise ClientDisconnect
                pieces.append(message.get("body", b""))
                size += len(pieces[-1])
                if size > limit:
                    if message.get("more_body", False):
                        await drain(headers, receive)
                    raise _too_large(limit)
                if not message.get("more_body", False):
                    return b"".join(pieces)
    except TimeoutError as error:
        raise InvalidInput(f"The request body did not arrive within {_READ_SECONDS:.0f} s.") from error


def replay(body: bytes, receive: Receive) -> Receive:
    """A receive that gives the body once, and then what the server says (that the caller has left)."""
    given = False

    async def again() -> Message:
        nonlocal given
        if given:
            return await receive()
        given = True
        return {"type": "http.request", "body": body, "more_body": False}

    return again


async def within(headers: Headers, receive: Receive, limit: int) -> Receive:
    """A receive that raises TooLarge when more than `limit` bytes have come. Raises it at once for a declared size."""
    if (_length(headers) or 0) > limit:
        await drain(headers, receive)
        raise _too_large(limit)
    size = 0

    async def bounded() -> Message:
        nonlocal size
        message = await receive()
        size += len(message.get("body", b""))
        if size > limit:
            raise _too_large(limit)
        return message

    return bounded
