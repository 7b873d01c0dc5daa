"""A web server on loopback whose every answer a test writes down to the byte, and a fetcher that may read it."""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import AsyncExitStack

import pytest_asyncio
from quelea_search.adapters.web.fake_web import FakeResolver
from quelea_search.adapters.web.fetch import Fetcher
from quelea_search.settings import SearchSettings

Handler = Callable[["Asked", asyncio.StreamWriter], Awaitable[None]]
HOST = "site.localhost:8123"
OTHER = "other.localhost:8123"


class Asked:
    """A request."""

    def __init__(self, raw: bytes) -> None:
        first, *rest = raw.decode("latin-1").split("\r\n")
        self.method, self.path, _ = first.split(" ", 2)
        self.headers = dict(line.lower().split(": ", 1) for line in rest if ": " in line)


def answer(
    body: bytes = b"",
    *,
    status: str = "200 OK",
    media_type: str = "text/html",
    length: int | None = None,
    **headers: str,
) -> bytes:
    """An answer; headers with underscores for hyphens. length: what it says instead of the truth."""
    said = {"Content-Type": media_type, "Content-Length": str(len(body) if length is None else length)}
    said |= {name.replace("_", "-"): value for name, value in headers.items()}
    lines = "".join(f"{name}: {value}\r\n" for name, value in said.items() if value)
    return f"HTTP/1.1 {status}\r\n{lines}\r\n".encode() + body


class Site:
    """Answers by path; what has none is 404. Counts what was asked for and how many were at it at once."""

    def __init__(self) -> None:
        self.answers: dict[str, bytes | Handler] = {}
        self.asked: Counter[str] = Counter()
        self.requests: list[Asked] = []
        self.at_once = 0
        self.most_at_once = 0
        self.gone = asyncio.Event()
        """Set when a client closed its connection in the middle of a handler's writing."""
        self.release = asyncio.Event()
        """For handlers that hang; set at the end of a test."""
        self.port = 0

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """One connection, which may carry several requests."""
        try:
            while True:
                asked = Asked(await reader.readuntil(b"\r\n\r\n"))
                self.asked[asked.path] += 1
                self.requests.append(asked)
                self.at_once += 1
                self.most_at_once = max(self.at_once, self.most_at_once)
                try:
                    given = self.answers.get(asked.path, answer(b"none", status="404 Not Found"))
                    if callable(given):
                        await given(asked, writer)
                        return
                    writer.write(given)
                    await writer.drain()
                finally:
                    self.at_once -= 1
        except asyncio.IncompleteReadError:
            pass
        except ConnectionError:
            self.gone.set()
        finally:
            writer.close()

    answer = staticmethod(answer)

    async def hang(self, _asked: Asked, _writer: asyncio.StreamWriter) -> None:
        """Say nothing until the test is over."""
        await self.release.wait()


@pytest_asyncio.fixture
async def site() -> AsyncIterator[Site]:
    """The server, running."""
    site = Site()
    server = await asyncio.start_server(site.serve, "127.0.0.1", 0, limit=1 << 20)
    site.port = server.sockets[0].getsockname()[1]
    yield site
    site.release.set()
    server.close()


@pytest_asyncio.fixture
async def open_fetcher(site: Site) -> AsyncIterator[Callable[..., Fetcher]]:
    """Makes fetchers that may read the site under two names; settings by keyword."""
    async with AsyncExitStack() as stack:

        def make(**more: object) -> Fetcher:
            hosts = dict.fromkeys((HOST, OTHER), f"127.0.0.1:{site.port}")
            values = {"environment": "test", "web_test_hosts": hosts, "page_seconds": 60.0, **more}
            known = SearchSettings.model_validate(values)
            fetcher = Fetcher(known, resolver=FakeResolver(default=["127.0.0.1"]))
            stack.push_async_callback(fetcher.close)
            return fetcher

        yield make
