"""HTTP on the socket: uvicorn's protocol on httptools, with bounds of ours, and fewer writes.

httptools reads a request in C, for a fraction of what h11 takes, and bounds nothing; so what h11 refuses is refused
here: a head that is too long, and a Host header that is missing or comes twice. A head that is never finished is given
up as well.
"""

from __future__ import annotations

import asyncio
import json
from typing import Any, cast

import httptools
from uvicorn.protocols.http.httptools_impl import STATUS_LINE, HttpToolsProtocol

MOST_HEAD_BYTES = 64 * 1024
"""Of a request's first line and headers; also of anything else that is no body: trailers, what stands before a
chunk."""
HEAD_SECONDS = 30.0
"""From the first byte of a head to its end."""
_MOST_WAITING = 64 * 1024
_BAD = 400
_LATE = 408
_TOO_LARGE = 431
_REFUSALS = {
    _BAD: ("INVALID_INPUT", "This is no well-formed HTTP request."),
    _LATE: ("DEADLINE_EXCEEDED", f"The request's head was not complete after {HEAD_SECONDS:.0f} s."),
    _TOO_LARGE: ("TOO_LARGE", f"The request's head is longer than {MOST_HEAD_BYTES // 1024} KiB."),
}


class HttpProtocol(HttpToolsProtocol):
    """One connection."""

    def __init__(self, *given: Any, **named: Any) -> None:
        super().__init__(*given, **named)
        self._unread = 0
        """Bytes since the parser last had something to tell."""
        self._head = 0
        """Bytes of the request's line and headers, trailers among them."""
        self._in_head = False
        self._refused = _BAD
        """With what a request is refused that the parser does not take."""
        self._late: asyncio.TimerHandle | None = None

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """A caller is there; one that says nothing is no better than one that says nothing more."""
        super().connection_made(OneWrite(cast("asyncio.Transport", transport), self.loop))
        self.timeout_keep_alive_task = self.loop.call_later(self.timeout_keep_alive, self.timeout_keep_alive_handler)

    def data_received(self, data: bytes) -> None:
        """Bytes of the caller."""
        self._unread += len(data)
        super().data_received(data)
        if self.transport.is_closing():
            return
        if self._unread > MOST_HEAD_BYTES:
            self._refuse(_TOO_LARGE)
        elif self._in_head and self._late is None:  # a whole head comes at once as a rule, and needs no timer
            self._late = self.loop.call_later(HEAD_SECONDS, self._give_up)

    def connection_lost(self, exc: Exception | None) -> None:
        """The caller has left."""
        self._on_time()
        super().connection_lost(exc)

    def on_message_begin(self) -> None:
        """The first byte of a request."""
        self._head, self._in_head = 0, True
        super().on_message_begin()

    def on_url(self, url: bytes) -> None:
        """A piece of the request's line."""
        self._measure(len(url))
        super().on_url(url)

    def on_header(self, name: bytes, value: bytes) -> None:
        """A header, or a trailer."""
        self._measure(len(name) + len(value) + 4)
        super().on_header(name, value)

    def on_headers_complete(self) -> None:
        """The end of a head."""
        self._unread, self._in_head = 0, False
        self._on_time()
        hosts = sum(name == b"host" for name, _ in self.headers)
        if hosts > 1 or (not hosts and self.parser.get_http_version() == "1.1"):
            raise httptools.HttpParserError("a Host header, and one only (RFC 9112, 3.2)")
        super().on_headers_complete()

    def on_body(self, body: bytes) -> None:
        """A piece of the body, which the middleware bounds."""
        self._unread = 0
        super().on_body(body)

    def on_message_complete(self) -> None:
        """The end of a request."""
        self._unread = 0
        super().on_message_complete()

    def send_400_response(self, msg: str) -> None:
        """What uvicorn wants sent when the parser does not take a request."""
        self._refuse(self._refused)

    def _measure(self, size: int) -> None:
        self._head += size
        if self._head > MOST_HEAD_BYTES:
            self._refused = _TOO_LARGE
            raise httptools.HttpParserError("too long")  # ends the parser; send_400_response is next

    def _refuse(self, status: int) -> None:
        """Answer, where no other answer is under way, and close."""
        if self._is_idle() or self._breaks_off():
            code, message = _REFUSALS[status]
            body = json.dumps({"error": {"code": code, "message": message, "details": {}}}).encode()
            head = f"content-type: application/json\r\ncontent-length: {len(body)}\r\nconnection: close\r\n\r\n"
            self.transport.write(STATUS_LINE[status] + head.encode() + body)
        self.transport.close()

    def _is_idle(self) -> bool:
        return self.cycle is None or self.cycle.response_complete

    def _breaks_off(self) -> bool:
        """Whether it is the body of the one request under way that is refused, and nothing of its answer is out."""
        return not (self._in_head or self.pipeline or self.cycle is None or self.cycle.response_started)

    def _give_up(self) -> None:
        """The head is late; but it is no reason to end the answer before it."""
        self._late = None
        if self.transport.is_closing():
            return
        if self._is_idle():
            self._refuse(_LATE)
        else:
            self._late = self.loop.call_later(HEAD_SECONDS, self._give_up)

    def _on_time(self) -> None:
        if self._late is not None:
            self._late.cancel()
            self._late = None


class OneWrite(asyncio.Transport):
    """A transport that writes once a turn of the loop: a response's head goes out with what follows at once.

    Each write costs a system call, and at the other end one more turn.

    Args:
        inner: The socket's transport.
        loop: The loop of the connection.
    """

    def __init__(self, inner: asyncio.Transport, loop: asyncio.AbstractEventLoop) -> None:
        super().__init__()
        self._inner = inner
        self._loop = loop
        self._waiting: list[bytes | bytearray | memoryview] = []
        self._size = 0

    def write(self, data: bytes | bytearray | memoryview) -> None:
        """Keep until the end of this turn."""
        if not self._waiting:
            self._loop.call_soon(self.flush)
        self._waiting.append(data)
        self._size += len(data)
        if self._size > _MOST_WAITING:
            self.flush()

    def flush(self) -> None:
        """Write what waits."""
        waiting, self._waiting, self._size = self._waiting, [], 0
        if waiting and not self._inner.is_closing():
            self._inner.write(waiting[0] if len(waiting) == 1 else b"".join(waiting))

    def close(self) -> None:
        """As the inner one, behind what waits."""
        self.flush()
        self._inner.close()

    def abort(self) -> None:
        """As the inner one; what waits is lost."""
        self._waiting = []
        self._inner.abort()

    def is_closing(self) -> bool:
        """As the inner one."""
        return self._inner.is_closing()

    def pause_reading(self) -> None:
        """As the inner one."""
        self._inner.pause_reading()

    def resume_reading(self) -> None:
        """As the inner one."""
        self._inner.resume_reading()

    def get_extra_info(self, name: str, default: Any = None) -> Any:
        """As the inner one."""
        return self._inner.get_extra_info(name, default)
