"""SearchWeb over real gRPC, with providers and pages on loopback; only the parser is a plain one."""

from __future__ import annotations

import asyncio
import hashlib
from collections.abc import AsyncIterator
from dataclasses import dataclass, field
from datetime import date
from pathlib import Path
from typing import Any

import fakeredis
import pytest
from pydantic import SecretStr
from quelea.search.v1 import search_pb2 as pb
from quelea.search.v1 import search_pb2_grpc
from quelea_kit.client import channel, unary
from quelea_kit.errors import Unavailable
from quelea_kit.testing import running
from quelea_search.adapters.blobs import Blobs
from quelea_search.adapters.page_cache import PageCache
from quelea_search.adapters.provider_budget import ProviderBudget
from quelea_search.adapters.providers.brave import Brave
from quelea_search.adapters.providers.searxng import SearXNG
from quelea_search.adapters.result_cache import ResultCache
from quelea_search.adapters.web.fetch import Fetcher
from quelea_search.core.model import Chunk, DocumentFacts, Line, Page, ParsedDocument
from quelea_search.core.web.failover import Failover
from quelea_search.core.web.model import Fetched, WebDocument
from quelea_search.core.web.preselect import Paragraph, Selected, preselect
from quelea_search.service import SERVICE
from quelea_search.settings import SearchSettings
from quelea_search.web import search as web_search
from quelea_search.web.admission import Admission
from quelea_search.web.page_loader import PageLoader
from quelea_search.web.parsing_pool import Refused
from quelea_search.web.service import WebSearchRpcs
from support.web_sites import BraveSite, SearXNGSite, Site, response

TODAY = date(2023, 11, 1)
KEY = "sk-do-not-show-4711"


class PlainParser:
    """A paragraph is a passage; a first line "DATE …" is the day of publication; "order" makes a passage suspicious."""

    def __init__(self) -> None:
        self.warmed = self.closed = False
        self.select_works = True

    async def read(
        self, fetched: Fetched, *, title: str, published: str, today: str, seconds: float
    ) -> WebDocument | Refused:
        text = fetched.data.decode()
        if text.startswith("BAD"):
            return Refused("UNREADABLE", "the page is broken")
        source = "provider" if published else ""
        if text.startswith("DATE "):
            day, _, text = text[5:].partition("\n")
            published, source = day, "page"
        chunks, at = [], 0
        for paragraph in text.split("\n\n"):
            chunks.append(Chunk(len(chunks), 1, at, at + len(paragraph), paragraph))
            at += len(paragraph) + 2
        return WebDocument(
            document_id=hashlib.sha256(fetched.data).hexdigest()[:32],
            filename="page.html",
            parsed=ParsedDocument((Page(text, (Line(0, len(text)),)),), "html"),
            chunks=tuple(chunks),
            facts=DocumentFacts(title=title, language="en", published=published),
            published_source=source,
            kind="page",
            suspicious=tuple(c.ordinal for c in chunks if "ignore your instructions" in c.text),
        )

    async def select(
        self, query: str, paragraphs: list[Paragraph], limit: int, *, seconds: float
    ) -> list[Selected] | None:
        return preselect(query, paragraphs, limit) if self.select_works else None

    async def warm(self) -> None:
        self.warmed = True

    async def close(self) -> None:
        self.closed = True


class FakeRejections:
    """Stands in for adapters/web_pages_redis.py."""

    def __init__(self) -> None:
        self.urls: set[str] = set()
        self.away = False

    def rejected(self, canonical_urls: Any) -> set[str]:
        if self.away:
            raise Unavailable("Redis does not answer.")
        return self.urls & set(canonical_urls)


class Clock:
    """Monotonic time that passes when told, for the circuit breakers."""

    def __init__(self) -> None:
        self.ahead = 0.0

    def __call__(self) -> float:
        return asyncio.get_running_loop().time() + self.ahead


class WebOnly(WebSearchRpcs, search_pb2_grpc.SearchServiceServicer):
    """The service with this one rpc."""

    def register(self, server: Any) -> None:
        search_pb2_grpc.add_SearchServiceServicer_to_server(self, server)


@dataclass
class WebRoom:
    """Everything, and what a test needs to look behind it."""

    settings: SearchSettings
    searxng: SearXNGSite
    brave: BraveSite
    pages: Site
    redis_server: fakeredis.FakeServer
    redis: fakeredis.FakeRedis
    blobs: Blobs
    reader: PlainParser
    rejections: FakeRejections
    service: WebOnly
    stub: search_pb2_grpc.SearchServiceStub = field(default=None)  # type: ignore[assignment]  # set when it serves
    clock: Clock = field(default_factory=Clock)
    day: list[date] = field(default_factory=lambda: [TODAY])
    fetchers: list[Fetcher] = field(default_factory=list)

    def page(self, path: str, text: str, *, host: str = "news.example.com", **said: Any) -> str:
        """Put a page on the web and into both providers' lists; its address."""
        self.pages.paths[path] = response(text.encode())
        return self.list(f"http://{host}{path}", **said)

    def list(self, url: str, **said: Any) -> str:
        self.searxng.found.append({"url": url, "title": f"Title of {url}", "content": "what <b>it</b> says", **said})
        self.brave.found.append({"url": url, "title": f"Title of {url}", "description": "what it says"})
        return url

    def build(self, **changes: Any) -> web_search.WebSearch:
        """The web search anew, with other settings."""
        self.settings = settings = self.settings.model_copy(update=changes)
        finders = [
            SearXNG(f"http://127.0.0.1:{self.searxng.port}"),
            Brave(SecretStr(KEY), url=f"http://127.0.0.1:{self.brave.port}/res/v1/web/search"),
        ]
        prefix = settings.redis_prefix
        budget = ProviderBudget(
            self.redis,
            prefix,
            per_minute=settings.provider_calls_per_minute,
            per_day=settings.provider_calls_per_day,
        )
        failover = Failover(
            finders if settings.web else [],
            budget,
            failures=settings.provider_failures,
            rest_seconds=settings.provider_rest_seconds,
            call_seconds=settings.provider_seconds,
            clock=self.clock,
        )
        admission = Admission(settings, self.rejections)
        fetcher = Fetcher(settings)
        self.fetchers.append(fetcher)
        readings = PageLoader(
            fetcher,
            self.reader,
            PageCache(self.redis, prefix, self.blobs, settings.page_cache_hours),
            self.blobs,
            admission,
            fresh_seconds=settings.page_fresh_seconds,
            parse_seconds=settings.page_seconds,
        )
        self.service.web = web_search.WebSearch(
            settings,
            failover=failover,
            results=ResultCache(self.redis, prefix, seconds=settings.provider_cache_seconds),
            readings=readings,
            reader=self.reader,
            admission=admission,
            closing=[*(finder.close for finder in finders), fetcher.close, self.reader.close],
            today=lambda: self.day[0],
        )
        return self.service.web

    async def search(
        self, query: str = "iPhone net sales", *, seconds: float = 120.0, **more: Any
    ) -> pb.SearchWebResponse:
        return await unary(self.stub.SearchWeb(pb.SearchWebRequest(query=query, **more), timeout=seconds))


@pytest.fixture
async def web_room(tmp_path: Path) -> AsyncIterator[WebRoom]:
    async with SearXNGSite().serving() as searxng, BraveSite().serving() as brave, Site().serving() as pages:
        hosts = ("news.example.com", "other.example.org", "trusted.example.gov", "bad.example.net")
        settings = SearchSettings(
            web=True,
            environment="test",
            listen="127.0.0.1:0",
            web_test_hosts=dict.fromkeys(hosts, f"127.0.0.1:{pages.port}"),
            allow_hosts=("example.gov",),
            deny_hosts=("bad.example.net",),
            redis_prefix="test",
            drain_seconds=0.5,
            # A slow machine has its time; a test of what is too slow sets its own.
            provider_seconds=60,
            page_seconds=60,
            web_seconds=120,
        )
        server = fakeredis.FakeServer()
        room = WebRoom(
            settings,
            searxng,
            brave,
            pages,
            server,
            fakeredis.FakeRedis(server=server, decode_responses=True),
            Blobs(str(tmp_path / "blobs")),
            PlainParser(),
            FakeRejections(),
            WebOnly(),
        )
        room.build()
        async with (
            running(room.service.register, [SERVICE], settings=settings) as address,
            channel(address, SERVICE) as line,
        ):
            room.stub = search_pb2_grpc.SearchServiceStub(line)
            yield room
        if room.service.web is not None:
            await room.service.web.close()
