"""Servers on loopback for the tests of the web half: a site, SearXNG, Brave."""

from __future__ import annotations

import asyncio
import contextlib
import json
from collections.abc import AsyncIterator, Awaitable, Callable
from typing import Any
from urllib.parse import parse_qs, urlsplit

Writer = asyncio.StreamWriter
Behaviour = Callable[[str, Writer], Awaitable[None]]


def response(
    body: bytes, *, status: int = 200, kind: str = "text/html", headers: dict[str, str] | None = None
) -> bytes:
    lines = [f"HTTP/1.1 {status} X", f"Content-Type: {kind}", f"Content-Length: {len(body)}", "Connection: close"]
    lines += [f"{name}: {value}" for name, value in (headers or {}).items()]
    return "\r\n".join(lines).encode() + b"\r\n\r\n" + body


class Site:
    """A web server of a few lines that can misbehave in ways that no library allows.

    Attributes:
        paths: Path -> what to send, or what to do.
        asked: Targets of the requests, in order.
        sent: Bytes that the peer took.
        left: Connections that the peer closed while something was still going on.
    """

    def __init__(self) -> None:
        self.paths: dict[str, bytes | Behaviour] = {}
        self.default: bytes | Behaviour = response(b"not here", status=404)
        self.asked: list[str] = []
        self.sent = 0
        self.left = 0
        self.port = 0
        self._open: set[asyncio.Task[None]] = set()

    @contextlib.asynccontextmanager
    async def serving(self) -> AsyncIterator[Site]:
        server = await asyncio.start_server(self._serve, "127.0.0.1", 0)
        self.port = server.sockets[0].getsockname()[1]
        try:
            yield self
        finally:
            server.close()
            for task in list(self._open):
                task.cancel()

    async def _serve(self, reader: asyncio.StreamReader, writer: Writer) -> None:
        task = asyncio.current_task()
        assert task is not None
        self._open.add(task)
        try:
            head = await reader.readuntil(b"\r\n\r\n")
            target = head.split(b" ", 2)[1].decode()
            path = urlsplit(target).path
            if path != "/robots.txt":
                self.asked.append(target)
            answer = self.paths.get(path, self.default if path != "/robots.txt" else response(b"", status=404))
            if isinstance(answer, bytes):
                writer.write(answer)
                await writer.drain()
            else:
                gone = asyncio.create_task(reader.read())
                act = asyncio.create_task(answer(target, writer))
                await asyncio.wait([gone, act], return_when=asyncio.FIRST_COMPLETED)
                self.left += not act.done()
                for one in (gone, act):
                    one.cancel()
                await asyncio.gather(gone, act, return_exceptions=True)
        except (ConnectionError, asyncio.IncompleteReadError):
            pass
        finally:
            self._open.discard(task)
            writer.close()

    # -- behaviours --------------------------------------------------------------------------------------------------

    async def hang(self, _target: str, _writer: Writer) -> None:
        await asyncio.sleep(3600)

    async def gigabyte(self, _target: str, writer: Writer) -> None:
        writer.write(b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nConnection: close\r\n\r\n")
        piece = b'{"results": [' + b" " * 65_536
        for _ in range(2**30 // len(piece)):
            writer.write(piece)
            await writer.drain()
            self.sent += len(piece)


class SearXNGSite(Site):
    """Answers as SearXNG does with format=json; `found` is its list."""

    def __init__(self, *found: dict[str, Any]) -> None:
        super().__init__()
        self.found = list(found)
        self.paths["/search"] = self.answer

    async def answer(self, target: str, writer: Writer) -> None:
        assert parse_qs(urlsplit(target).query)["format"] == ["json"]
        writer.write(response(json.dumps({"results": self.found}).encode(), kind="application/json"))
        await writer.drain()


class BraveSite(Site):
    def __init__(self) -> None:
        super().__init__()
        self.found: list[dict[str, Any]] = []
        self.paths["/res/v1/web/search"] = self.answer

    async def answer(self, _target: str, writer: Writer) -> None:
        writer.write(response(json.dumps({"web": {"results": self.found}}).encode(), kind="application/json"))
        await writer.drain()
