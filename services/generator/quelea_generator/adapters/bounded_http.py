"""HTTP that takes only so much from a server: no endless line, no endless body, nothing compressed to unpack."""

from __future__ import annotations

from collections.abc import AsyncIterator

import httpx2

_LINE_BYTES = 1 << 20
"""Longest line of an event stream."""
_STREAM_BYTES = 8 << 20
"""Largest event stream: some thirty thousand tokens."""
_BODY_BYTES = 8 << 20
"""Largest other body: the tokens of a prompt of a million as JSON."""

HEADERS = {"accept-encoding": "identity"}
"""For every request of a client that has bound_response among its hooks."""


async def bound_response(response: httpx2.Response) -> None:
    """A response hook of the client: past a bound, reading the answer raises httpx2.ReadError."""
    if response.headers.get("content-encoding", "identity") != "identity":
        raise httpx2.ReadError("The server compresses its answer although it was asked not to.")
    if isinstance(response.stream, httpx2.AsyncByteStream):
        lines = response.headers.get("content-type", "").startswith("text/event-stream")
        response.stream = _Bounded(response.stream, lines=lines)


class _Bounded(httpx2.AsyncByteStream):
    def __init__(self, inner: httpx2.AsyncByteStream, *, lines: bool) -> None:
        self._inner = inner
        self._lines = lines
        self._most = _STREAM_BYTES if lines else _BODY_BYTES

    async def __aiter__(self) -> AsyncIterator[bytes]:
        body = line = 0
        async for chunk in self._inner:
            body += len(chunk)
            end = max(chunk.rfind(b"\n"), chunk.rfind(b"\r"))
            line = line + len(chunk) if end < 0 else len(chunk) - end - 1
            if body > self._most:
                raise httpx2.ReadError(f"The server's answer is larger than {self._most} bytes.")
            if self._lines and line > _LINE_BYTES:
                raise httpx2.ReadError(f"A line of the server's stream is longer than {_LINE_BYTES} bytes.")
            yield chunk

    async def aclose(self) -> None:
        await self._inner.aclose()
