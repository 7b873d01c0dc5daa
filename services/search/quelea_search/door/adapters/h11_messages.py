"""Messages of HTTP/1.1 on one connection, read and written with h11: a bound on every size and every wait.

What h11 lets pass and two readers could understand in two ways is refused here (`read_request`).
"""

from __future__ import annotations

import asyncio
import contextlib
import json
from datetime import UTC, datetime

import h11

from quelea_search.door.core.headers import COOKIE_NAMES
from quelea_search.door.core.model import Refused
from quelea_search.door.door import Asked, Given

HEAD_SECONDS = 10.0
IDLE_SECONDS = 60.0
BODY_SECONDS = 30.0
WRITE_SECONDS = 30.0
LINGER_SECONDS = 2.0
HEAD_BYTES = 64 * 1024
PIECE = 64 * 1024
_LINGER_BYTES = 16 * 1024 * 1024
_NO_BODY = frozenset({204, 304})
PROTOCOL = "PROTOCOL"
"""The reason of what is no HTTP."""
Reply = tuple[int, list[tuple[str, str]], bytes]
"""Status, headers, body."""


async def read_request(
    connection: h11.Connection, reader: asyncio.StreamReader, writer: asyncio.StreamWriter, limit: int
) -> Asked | None:
    """The next request; None when the peer has closed. Raises Refused, h11.RemoteProtocolError, TimeoutError."""
    request: h11.Request | None = None
    body = bytearray()
    begun = bool(connection.trailing_data[0])
    seconds = HEAD_SECONDS if begun else IDLE_SECONDS
    loop = asyncio.get_running_loop()
    end = loop.time() + seconds
    while True:
        event = connection.next_event()
        if event is h11.NEED_DATA or event is h11.PAUSED:
            async with asyncio.timeout_at(end):
                data = await reader.read(PIECE)
            if not data and request is None and not begun:
                return None
            if not begun:
                begun, end = True, loop.time() + HEAD_SECONDS
            connection.receive_data(data)
        elif isinstance(event, h11.Request):
            request = event
            _check(request)
            if connection.they_are_waiting_for_100_continue:
                writer.write(connection.send(h11.InformationalResponse(status_code=100, headers=[])) or b"")
            end = loop.time() + BODY_SECONDS
        elif isinstance(event, h11.Data):
            body += event.data
            if len(body) > limit:
                raise Refused(413, "TOO_LARGE", f"The request body is larger than {limit:,} bytes.")
        elif isinstance(event, h11.EndOfMessage) and request is not None:
            return _call_of(request, bytes(body))
        else:
            return None


def _check(request: h11.Request) -> None:
    """What h11 lets pass and two readers could understand in two ways."""
    names = [bytes(name) for name, _ in request.headers]
    if b"transfer-encoding" in names and b"content-length" in names:
        raise Refused(400, PROTOCOL, "A request must not have both Content-Length and Transfer-Encoding.")
    for name in (b"host", b"x-quelea-token", b"x-quelea-upstream"):
        if names.count(name) > 1:
            raise Refused(400, PROTOCOL, f"The header {name.decode()} appears more than once.")


def _call_of(request: h11.Request, body: bytes) -> Asked:
    headers = [(bytes(name).decode("latin-1"), bytes(value).decode("latin-1")) for name, value in request.headers]
    own = dict(headers)
    return Asked(
        own.get("x-quelea-token", ""),
        own.get("x-quelea-upstream", ""),
        bytes(request.method).decode("latin-1"),
        bytes(request.target).decode("latin-1"),
        headers,
        body,
    )


def reply_of(what: Given) -> Reply:
    """What the call gave, and what the door says of it."""
    headers = [(name, value) for name, value in what.answer.headers.items() if name != COOKIE_NAMES]
    headers += [("set-cookie", value) for value in what.cookies]
    fetched = datetime.fromtimestamp(what.answer.fetched, UTC).isoformat(timespec="milliseconds")
    headers += [("x-quelea-call", what.call_id), ("x-quelea-fetched", fetched.replace("+00:00", "Z"))]
    return what.answer.status, headers, what.body


def refusal(error: Refused) -> Reply:
    """The reason as JSON and in a header."""
    headers = [("content-type", "application/json"), ("x-quelea-refused", error.reason)]
    if error.retry_after is not None:
        headers.append(("retry-after", str(max(1, round(error.retry_after)))))
    return error.status, headers, json.dumps(error.body(), ensure_ascii=False).encode("utf-8", "replace")


async def send(
    connection: h11.Connection, writer: asyncio.StreamWriter, reply: Reply, *, head_only: bool = False
) -> None:
    """Write a reply, unless one has been begun. Raises TimeoutError when the peer does not read."""
    status, headers, body = reply
    if connection.our_state not in (h11.IDLE, h11.SEND_RESPONSE):
        return
    empty = head_only or status in _NO_BODY
    length = [] if status in _NO_BODY else [("content-length", str(len(body)))]
    head = h11.Response(status_code=status, headers=[*headers, *length])
    data = connection.send(head) or b""
    if not empty:
        data += connection.send(h11.Data(data=body)) or b""
    data += connection.send(h11.EndOfMessage()) or b""
    async with asyncio.timeout(WRITE_SECONDS):
        writer.write(data)
        await writer.drain()


async def linger(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> bool:
    """Let a refused peer finish sending, for a while: closed at once, it would see a broken connection, no reason."""
    rest = _LINGER_BYTES
    with contextlib.suppress(OSError, TimeoutError):
        writer.write_eof()
        async with asyncio.timeout(LINGER_SECONDS):
            while rest > 0 and (data := await reader.read(PIECE)):
                rest -= len(data)
    return False
