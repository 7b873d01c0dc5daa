"""The search service with nothing outside: a plain reader, a web of a few texts, all parts in reach."""

from __future__ import annotations

import asyncio
import dataclasses
import hashlib
import time
from collections.abc import AsyncIterator
from pathlib import Path

import fakeredis
from quelea.common.v1 import common_pb2
from quelea.search.v1 import search_pb2 as pb
from quelea.search.v1 import search_pb2_grpc
from quelea_kit.client import unary
from quelea_search.adapters.blobs import Blobs
from quelea_search.adapters.fake_retriever import FakeRetriever
from quelea_search.adapters.jobs_redis import JobStore
from quelea_search.adapters.ledger_redis import Ledger
from quelea_search.adapters.page_cache import PageCache
from quelea_search.adapters.web_pages_redis import WebPages
from quelea_search.components import WorkerComponents
from quelea_search.core.errors import Encrypted
from quelea_search.core.model import Chunk, DocumentFacts, Line, Page, ParsedDocument
from quelea_search.core.web import urls
from quelea_search.core.web.errors import PageGone
from quelea_search.core.web.model import Fetched, Validators, WebDocument
from quelea_search.filings.adapters.door import Door
from quelea_search.filings.fetch import FilingFetch
from quelea_search.filings.watching import Watching
from quelea_search.jobs.file_parsing import ReadDocument
from quelea_search.jobs.ingest_job import run_job
from quelea_search.jobs.reaper import Reaper
from quelea_search.originals.originals import Originals
from quelea_search.settings import SearchSettings
from quelea_search.web.page_review import Removals
from quelea_search.web.refresh import Refresh

PREFIX = "test"


def id_of(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()[:32]


class Clock:
    """Time that passes when told."""

    def __init__(self) -> None:
        self.now = time.time()

    def __call__(self) -> float:
        return self.now


class PlainReader:
    """Form feeds end pages; a line is a passage; pages are those of a web."""

    def __init__(self, web: PlainWeb | None = None) -> None:
        self._web = web
        self.slow = asyncio.Semaphore(0)
        """What begins with "slow" is read when this is released."""
        self.reading: list[str] = []
        """Names of such files, in the order in which they were begun."""

    async def read_page(self, page: Fetched, title: str, published: str) -> WebDocument:
        assert self._web is not None
        return self._web.read(page, title, published)

    async def read_file(self, data: bytes, filename: str, given: DocumentFacts) -> ReadDocument:
        if data.startswith(b"slow"):
            self.reading.append(filename)
            await self.slow.acquire()
        return self.read(data, filename, given)

    def read(self, data: bytes, filename: str, given: DocumentFacts) -> ReadDocument:
        parsed = self.parse(data)
        return ReadDocument(
            [page.text for page in parsed.pages],
            dataclasses.replace(given, title=given.title or filename),
            self.chunks_of(parsed),
        )

    def parse(self, data: bytes) -> ParsedDocument:
        if data.startswith(b"locked"):
            raise Encrypted("The file wants a password; remove it and submit the file again.")
        if data.startswith(b"bug"):
            raise ZeroDivisionError("a parser's bug")
        texts = data.decode().split("\f")
        return ParsedDocument(tuple(Page(text, (Line(0, len(text)),)) for text in texts), "text")

    def chunks_of(self, parsed: ParsedDocument) -> list[Chunk]:
        chunks: list[Chunk] = []
        for number, page in enumerate(parsed.pages, start=1):
            at = 0
            for line in page.text.split("\n"):
                chunks.append(Chunk(len(chunks), number, at, at + len(line), line))
                at += len(line) + 1
        return chunks


class PlainWeb:
    """A web of a few texts; a page is read as PlainReader reads a file."""

    def __init__(self) -> None:
        self.pages: dict[str, bytes | Exception] = {}
        self.moved: dict[str, str] = {}
        self.etags: dict[str, str] = {}
        self.failures: list[Exception] = []
        """Raised by the next fetches, first in first out."""
        self.fetched: list[tuple[str, Validators | None]] = []

    async def fetch(self, url: str, validators: Validators | None = None) -> Fetched:
        self.fetched.append((url, validators))
        if self.failures:
            raise self.failures.pop(0)
        final = self.moved.get(url, url)
        data = self.pages.get(final, PageGone("The page is gone (status 404).", details={"status": "404"}))
        if isinstance(data, Exception):
            raise data
        etag = self.etags.get(final, "")
        same = bool(etag) and validators is not None and validators.etag == etag
        return Fetched(
            url=url,
            final_url=final,
            canonical_url=urls.canonical(final),
            status=304 if same else 200,
            media_type="" if same else "text/plain",
            charset="utf-8",
            data=b"" if same else data,
            fetched=time.time(),
            validators=Validators(etag, ""),
            not_modified=same,
        )

    def read(self, page: Fetched, title: str, published: str) -> WebDocument:
        reader = PlainReader()
        parsed = reader.parse(page.data)
        facts = DocumentFacts(title=title or "title of the page", published=published or "2026-11-01", language="en")
        return WebDocument(
            document_id=hashlib.sha256(page.data).hexdigest()[:32],
            filename="page.txt",
            parsed=parsed,
            chunks=tuple(reader.chunks_of(parsed)),
            facts=facts,
            published_source="provider" if published else "page",
            kind="news" if b"news" in page.data else "page",
        )


@dataclasses.dataclass
class Room:
    """Everything, and what a test needs to look behind it."""

    settings: SearchSettings
    redis: fakeredis.FakeRedis
    store: JobStore
    ledger: Ledger
    blobs: Blobs
    index: FakeRetriever
    parts: WorkerComponents
    reaper: Reaper
    stub: search_pb2_grpc.SearchServiceStub
    address: str
    folder: Path
    sent: list[str]
    pages: WebPages
    cache: PageCache
    refresh: Refresh
    removals: Removals
    web: PlainWeb
    fetch: FilingFetch
    watching: Watching
    originals: Originals

    def fetch_through(self, door: Door, **settings: object) -> None:
        """From now on filings are fetched through a door, under these settings."""
        changed = self.settings.model_copy(update=settings)
        self.fetch._door = door
        self.fetch._shared = dataclasses.replace(self.fetch._shared, settings=changed)
        self.watching._shared = self.fetch._shared
        self.parts = dataclasses.replace(self.parts, settings=changed, door=door)

    def refresh_with(self, **settings: object) -> None:
        """From now on pages are kept and read again under these settings."""
        changed = self.settings.model_copy(update=settings)
        self.refresh._shared = dataclasses.replace(self.refresh._shared, settings=changed)

    async def submit(
        self, data: bytes, filename: str = "a.txt", *, uri: str = "", uploader: str = "", piece: int = 3
    ) -> pb.Job:
        async def messages() -> AsyncIterator[pb.SubmitDocumentRequest]:
            info = pb.DocumentInfo(filename=filename)
            info.metadata.uri = uri
            info.metadata.uploader = uploader
            yield pb.SubmitDocumentRequest(info=info)
            for at in range(0, len(data), piece):
                yield pb.SubmitDocumentRequest(chunk=data[at : at + piece])

        return (await unary(self.stub.SubmitDocument(messages(), timeout=60))).job

    async def work(self) -> None:
        """What a worker does with the messages that are there."""
        while self.sent:
            await run_job(self.parts, self.sent.pop(0))

    async def job(self, job_id: str) -> pb.Job:
        return (await self.stub.GetJob(pb.GetJobRequest(id=job_id), timeout=60)).job

    async def add(self, data: bytes, filename: str = "a.txt", *, uri: str = "", uploader: str = "") -> pb.Job:
        job = await self.submit(data, filename, uri=uri, uploader=uploader)
        await self.work()
        return await self.job(job.id)

    async def submit_url(self, url: str, **metadata: object) -> pb.Job:
        request = pb.SubmitUrlRequest(url=url)
        for name, value in metadata.items():
            setattr(request.metadata, name, value)
        return (await unary(self.stub.SubmitUrl(request, timeout=60))).job

    async def add_url(self, url: str, **metadata: object) -> pb.Job:
        job = await self.submit_url(url, **metadata)
        await self.work()
        return await self.job(job.id)

    def cached(self, url: str, data: bytes, **facts: str) -> str:
        """A page that was read for an answer; its document id."""
        fetched = Fetched(url, url, urls.canonical(url), 200, "text/plain", "utf-8", data, time.time())
        document = self.web.read(fetched, facts.get("title", ""), facts.get("published", ""))
        metadata = common_pb2.DocumentMetadata(
            title=document.facts.title, uri=fetched.canonical_url, published=document.facts.published
        )
        self.cache.put(document, fetched, metadata)
        return document.document_id

    async def keep(self, query: str, url: str, document_id: str, score: float = 0.9) -> pb.KeptPage:
        request = pb.KeepPagesRequest(query=query, provider="searxng")
        request.pages.add(document_id=document_id, url=url, score=score)
        return (await unary(self.stub.KeepPages(request, timeout=60))).pages[0]

    async def listed(self, **wanted: object) -> list[pb.WebPageRecord]:
        request = pb.ListWebPagesRequest(filter=pb.WebPageFilter(**wanted))
        return list((await unary(self.stub.ListWebPages(request, timeout=60))).pages)

    async def decide(self, decision: int, **wanted: object) -> pb.DecideWebPagesResponse:
        request = pb.DecideWebPagesRequest(filter=pb.WebPageFilter(**wanted), decision=decision)
        return await unary(self.stub.DecideWebPages(request, timeout=60))

    def files(self) -> list[str]:
        return sorted(str(path.relative_to(self.folder)) for path in self.folder.rglob("*") if path.is_file())
