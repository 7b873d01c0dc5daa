"""One request, one answer, bounded: what lies between httpcore2 and the page reader or the market-data door.

httpcore2 is used without httpx2 on top, since everything that httpx2 adds is unwanted here: a second parser of
addresses, proxies from the environment, cookies, redirects, unpacking without a limit. HTTP/1.1 only: a question reads
one or two pages of a host, so HTTP/2 would gain nothing, and a request that is given up simply ends its connection.
"""

from __future__ import annotations

import re
import zlib
from collections.abc import AsyncIterable, AsyncIterator, Callable, Mapping
from contextlib import AsyncExitStack
from dataclasses import dataclass
from typing import Protocol

import httpcore2

from quelea_search.adapters.web.guard import PinnedBackend
from quelea_search.adapters.web.unpack import Unpacker
from quelea_search.core.web.errors import FetchFailed, PageTooLarge
from quelea_search.core.web.urls import WebUrl

CONNECTIONS = 32
"""Open at once, over all hosts; one more request waits for a place until its deadline."""
KEEP_SECONDS = 5.0
SNIFFED = 1024
"""Unpacked bytes after which the content may be judged."""
_CHARSET = re.compile(r"charset\s{0,8}+=\s{0,8}+[\"']?\s{0,8}+([A-Za-z0-9_.:-]{1,40})", re.I)
_MEDIA_TYPE = re.compile(r"\s*([\w!#$&^.+-]{1,80}/[\w!#$&^.+-]{1,80})\s*(?:;|,|$)", re.A)
_BROKEN = (httpcore2.NetworkError, httpcore2.RemoteProtocolError)


@dataclass(frozen=True, slots=True)
class Head:
    """Status and headers of an answer; names are lower case, of a repeated header the first counts."""

    status: int
    headers: Mapping[str, str]
    cookies: tuple[str, ...] = ()
    """Every Set-Cookie header."""

    @property
    def media_type(self) -> str:
        """Of the Content-Type header, lower case, without parameters; empty where there is none."""
        match = _MEDIA_TYPE.match(self.headers.get("content-type", ""))
        return match[1].lower() if match else ""

    @property
    def charset(self) -> str:
        """Of the Content-Type header, lower case; empty where there is none."""
        match = _CHARSET.search(self.headers.get("content-type", ""))
        return match[1].lower() if match else ""


@dataclass(frozen=True, slots=True)
class Answer:
    """An answer with what was read of its body, unpacked."""

    head: Head
    data: bytes = b""


class Reading(Protocol):
    """How much of an answer is wanted; both may raise to end it there."""

    def wants_body(self, head: Head) -> bool:
        """Whether the body is read at all."""

    def check_start(self, head: Head, start: bytes) -> None:
        """The first SNIFFED bytes of the body, or all of a shorter one."""


class Exchange:
    """Sends requests through the guard.

    Args:
        backend: Opens the connections.
        user_agent: Name told to the servers.
        seconds: Of each step; the caller holds the deadline of the whole.
        connect_seconds: Of the connection, when another than of the other steps.
    """

    def __init__(
        self, backend: PinnedBackend, user_agent: str, seconds: float, connect_seconds: float | None = None
    ) -> None:
        self._pool = httpcore2.AsyncConnectionPool(
            max_connections=CONNECTIONS,
            max_keepalive_connections=CONNECTIONS // 2,
            keepalive_expiry=KEEP_SECONDS,
            network_backend=backend,
        )
        self._agent = user_agent
        self._timeout = dict.fromkeys(("connect", "read", "write", "pool"), seconds)
        if connect_seconds is not None:
            self._timeout["connect"] = connect_seconds

    async def get(
        self,
        url: WebUrl,
        reading: Reading,
        *,
        headers: Mapping[str, str],
        limit: int,
        cut: bool = False,
        whole: bool = False,
    ) -> Answer:
        """GET an address; redirects are answers like any other.

        Args:
            limit: Bytes of the body, packed and unpacked.
            cut: Keep the first `limit` bytes of a longer body instead of raising.
            whole: Raise when the connection ends before the body does; else what came is kept.

        Raises:
            FetchFailed: There is no connection, or it broke off.
            PageTooLarge: The body is longer than the limit.
            httpcore2.TimeoutException: A step took too long.
        """
        return await self.send("GET", url, reading, headers=headers, limit=limit, cut=cut, whole=whole, again=True)

    async def send(
        self,
        method: str,
        url: WebUrl,
        reading: Reading,
        *,
        headers: Mapping[str, str],
        limit: int,
        body: bytes = b"",
        cut: bool = False,
        whole: bool = False,
        again: bool = False,
    ) -> Answer:
        """Like `get`, with any method and a body.

        Args:
            headers: "user-agent" among them replaces the exchange's own; names in lower case.
            again: Whether to send once more when the connection breaks before an answer begins; only for requests that
                change nothing.
        """
        sent = {"host": url.netloc, "user-agent": self._agent, "accept-encoding": "gzip, deflate"}
        sent |= {name.lower(): value for name, value in headers.items()}
        if body or method == "POST":
            sent["content-length"] = str(len(body))
        request = httpcore2.Request(
            method.encode(),
            httpcore2.URL(
                scheme=url.scheme.encode(), host=url.host.encode(), port=url.port, target=url.target.encode()
            ),
            headers=[(name.title().encode(), value.encode("latin-1")) for name, value in sent.items()],
            content=body or None,
            extensions={"timeout": self._timeout},
        )
        async with AsyncExitStack() as stack:
            response = await self._send_request(request, url, again)
            stack.push_async_callback(response.aclose)
            head = Head(response.status, _headers(response.headers), _cookies(response.headers))
            if not reading.wants_body(head):
                return Answer(head)
            if not cut:
                _check_length(head, limit)
            pieces = _unpack(response.aiter_stream(), head, limit, cut)
            data = await _collect(pieces, lambda start: reading.check_start(head, start), limit, cut, whole)
            return Answer(head, data)

    async def _send_request(self, request: httpcore2.Request, url: WebUrl, again: bool) -> httpcore2.Response:
        try:
            try:
                return await self._pool.handle_async_request(request)
            except _BROKEN:
                if not again:
                    raise
                # Once more: a kept connection that the server had closed, a lost packet.
                return await self._pool.handle_async_request(request)
        except (httpcore2.NetworkError, httpcore2.ProtocolError) as error:
            raise FetchFailed(f"{url.host} does not answer: {str(error) or type(error).__name__}.") from error

    async def close(self) -> None:
        """Close all connections."""
        await self._pool.aclose()


def _headers(raw: list[tuple[bytes, bytes]]) -> dict[str, str]:
    headers: dict[str, str] = {}
    for name, value in raw:
        headers.setdefault(name.decode("latin-1").lower(), _text(value))
    return headers


def _cookies(raw: list[tuple[bytes, bytes]]) -> tuple[str, ...]:
    return tuple(_text(value) for name, value in raw if name.lower() == b"set-cookie")


def _text(value: bytes) -> str:
    """Header values are Latin-1 by the letter; addresses in them are UTF-8 in practice."""
    try:
        return value.decode()
    except UnicodeDecodeError:
        return value.decode("latin-1")


def _check_length(head: Head, limit: int) -> None:
    length = head.headers.get("content-length", "")
    if length.isdigit() and (len(length) > 15 or int(length) > limit):
        raise PageTooLarge(f"The page has {length[:16]} bytes; the limit is {limit:,} (page_bytes).")


async def _collect(
    pieces: AsyncIterator[bytes], check_start: Callable[[bytes], None], limit: int, cut: bool, whole: bool
) -> bytes:
    data = bytearray()
    checked = False
    try:
        async for piece in pieces:
            data += piece
            if not checked and len(data) >= SNIFFED:
                check_start(bytes(data[:SNIFFED]))
                checked = True
            if len(data) > limit:
                if cut:
                    break
                raise PageTooLarge(f"The page is larger than {limit:,} bytes (page_bytes).")
    except (*_BROKEN, zlib.error) as error:
        if whole or not data:
            raise FetchFailed("The connection broke while the page was loading; try again later.") from error
    if not checked:
        check_start(bytes(data[:SNIFFED]))
    return bytes(data[:limit])


async def _unpack(stream: AsyncIterable[bytes], head: Head, limit: int, cut: bool) -> AsyncIterator[bytes]:
    """The body in pieces of bounded size, whatever it unpacks to."""
    encoding = head.headers.get("content-encoding", "").strip().lower()
    if encoding in ("", "identity"):
        async for packed in stream:
            yield packed
        return
    if encoding not in ("gzip", "x-gzip", "deflate"):
        raise FetchFailed(f"The server used the encoding {encoding[:40]!r}, which was not requested.")
    unpacker = Unpacker(bare_allowed=encoding == "deflate")
    arrived = 0
    async for packed in stream:
        arrived += len(packed)
        if arrived > limit and not cut:
            raise PageTooLarge(f"The page is larger than {limit:,} bytes, packed (page_bytes).")
        for piece in unpacker.feed(packed):
            yield piece
