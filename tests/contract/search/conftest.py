"""The service over real gRPC, with Redis and the retriever in memory and a reader that cannot fail by itself."""

from __future__ import annotations

import asyncio
import contextlib
import dataclasses
import time
from collections.abc import AsyncIterator, Iterator
from pathlib import Path

import fakeredis
import pytest
from quelea.search.v1 import search_pb2 as pb
from quelea.search.v1 import search_pb2_grpc
from quelea_kit.client import channel, unary
from quelea_kit.testing import running
from quelea_search.adapters.blobs import Blobs
from quelea_search.adapters.fake_retriever import SERVICE as RETRIEVER
from quelea_search.adapters.fake_retriever import FakeRetriever
from quelea_search.adapters.job_events import JobEvents
from quelea_search.adapters.jobs_redis import JobStore
from quelea_search.adapters.ledger_redis import Ledger
from quelea_search.adapters.retriever import Retriever
from quelea_search.core.errors import Encrypted
from quelea_search.core.jobs import Policy
from quelea_search.core.model import Chunk, DocumentFacts, Line, Page, ParsedDocument
from quelea_search.parts import Parts
from quelea_search.pipeline import run_job
from quelea_search.reading import Cut
from quelea_search.reaper import Reaper
from quelea_search.service import SERVICE, SearchService
from quelea_search.settings import SearchSettings
from quelea_search.submission import Submission

PREFIX = "test"


class Clock:
    """Time that passes when told."""

    def __init__(self) -> None:
        self.now = time.time()

    def __call__(self) -> float:
        return self.now


class PlainReader:
    """Form feeds end pages; a line is a passage."""

    def parse(self, data: bytes, filename: str) -> ParsedDocument:
        if data.startswith(b"locked"):
            raise Encrypted("The file wants a password; remove it and submit the file again.")
        if data.startswith(b"bug"):
            raise ZeroDivisionError("a parser's bug")
        texts = data.decode().split("\f")
        return ParsedDocument(tuple(Page(text, (Line(0, len(text)),)) for text in texts), "text")

    def cut(self, parsed: ParsedDocument, filename: str, given: DocumentFacts) -> Cut:
        chunks: list[Chunk] = []
        for number, page in enumerate(parsed.pages, start=1):
            at = 0
            for line in page.text.split("\n"):
                chunks.append(Chunk(len(chunks), number, at, at + len(line), line))
                at += len(line) + 1
        return Cut(dataclasses.replace(given, title=given.title or filename), chunks)


@dataclasses.dataclass
class Room:
    """Everything, and what a test needs to look behind it."""

    settings: SearchSettings
    redis: fakeredis.FakeRedis
    store: JobStore
    ledger: Ledger
    blobs: Blobs
    index: FakeRetriever
    parts: Parts
    reaper: Reaper
    stub: search_pb2_grpc.SearchServiceStub
    address: str
    folder: Path
    sent: list[str]

    async def submit(self, data: bytes, filename: str = "a.txt", *, uri: str = "", piece: int = 3) -> pb.Job:
        async def messages() -> AsyncIterator[pb.SubmitDocumentRequest]:
            info = pb.DocumentInfo(filename=filename)
            info.metadata.uri = uri
            yield pb.SubmitDocumentRequest(info=info)
            for at in range(0, len(data), piece):
                yield pb.SubmitDocumentRequest(chunk=data[at : at + piece])

        return (await unary(self.stub.SubmitDocument(messages(), timeout=10))).job

    async def work(self) -> None:
        """What a worker does with the messages that are there."""
        while self.sent:
            await run_job(self.parts, self.sent.pop(0))

    async def job(self, job_id: str) -> pb.Job:
        return (await self.stub.GetJob(pb.GetJobRequest(id=job_id), timeout=10)).job

    async def add(self, data: bytes, filename: str = "a.txt", *, uri: str = "") -> pb.Job:
        job = await self.submit(data, filename, uri=uri)
        await self.work()
        return await self.job(job.id)

    def files(self) -> list[str]:
        return sorted(str(path.relative_to(self.folder)) for path in self.folder.rglob("*") if path.is_file())


@pytest.fixture
def search_clock() -> Clock:
    return Clock()


@pytest.fixture
def search_redis() -> Iterator[fakeredis.FakeRedis]:
    yield fakeredis.FakeRedis(server=fakeredis.FakeServer(), decode_responses=True)


@pytest.fixture
def search_store(search_redis: fakeredis.FakeRedis, search_clock: Clock) -> JobStore:
    policy = Policy(max_attempts=3, read_seconds=30)
    return JobStore(search_redis, prefix=PREFIX, policy=policy, lease_seconds=15, keep_seconds=100, clock=search_clock)


@pytest.fixture
async def search_room(tmp_path: Path) -> AsyncIterator[Room]:
    server = fakeredis.FakeServer()
    client = fakeredis.FakeRedis(server=server, decode_responses=True)
    folder = tmp_path / "blobs"
    index = FakeRetriever()
    async with running(index.register, [RETRIEVER]) as target:
        settings = SearchSettings(
            redis_prefix=PREFIX,
            blobs_url=str(folder),
            retriever=target,
            max_document_bytes=2000,
            max_queued_jobs=3,
            batch_passages=2,
            beat_seconds=0.05,
            retriever_wait_seconds=1.0,
            resend_seconds=0.05,
            drain_seconds=0.5,
        )
        policy = Policy(max_attempts=3, read_seconds=30)
        store = JobStore(client, prefix=PREFIX, policy=policy, lease_seconds=15, keep_seconds=100)
        ledger = Ledger(client, prefix=PREFIX, lease_seconds=15)
        ledger.worker_lives("w")
        blobs, retriever = Blobs(str(folder)), Retriever(target)
        events = JobEvents(fakeredis.FakeAsyncRedis(server=server, decode_responses=True), PREFIX)
        sent: list[str] = []
        parts = Parts(settings, store, ledger, blobs, retriever, PlainReader(), sent.append)  # type: ignore[arg-type]  # stands in for the reader
        service = SearchService(
            settings,
            store=store,
            ledger=ledger,
            events=events,
            blobs=blobs,
            retriever=retriever,
            submission=Submission(settings, store, blobs, retriever, sent.append),
        )
        listening = asyncio.create_task(events.run())
        reaper = Reaper(settings, store, ledger, blobs, retriever, sent.append)
        async with (
            running(service.register, [SERVICE], settings=settings) as address,
            channel(address, SERVICE) as line,
        ):
            stub = search_pb2_grpc.SearchServiceStub(line)
            yield Room(settings, client, store, ledger, blobs, index, parts, reaper, stub, address, folder, sent)
        listening.cancel()
        with contextlib.suppress(asyncio.CancelledError):
            await listening
        await retriever.close()
