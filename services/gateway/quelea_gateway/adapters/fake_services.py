"""Retriever, search and generator as small gRPC servers in memory: for tests, and to look at the page by itself.

python -m quelea_gateway.adapters.fake_services      a gateway on them, at http://127.0.0.1:8089/
"""

from __future__ import annotations

import asyncio
import contextlib
import hashlib
import uuid
from collections.abc import AsyncIterator
from dataclasses import dataclass, field
from typing import Any

import grpc
from google.protobuf.timestamp_pb2 import Timestamp
from quelea.common.v1 import common_pb2
from quelea.generator.v1 import generator_pb2, generator_pb2_grpc
from quelea.retriever.v1 import retriever_pb2, retriever_pb2_grpc
from quelea.search.v1 import search_pb2, search_pb2_grpc
from quelea_kit.errors import NotFound, QueleaError, TooLarge, Unavailable
from quelea_kit.server import Server
from quelea_kit.settings import ServiceSettings
from quelea_kit.text import language_of, terms

from quelea_gateway.adapters import generator, retriever, search
from quelea_gateway.adapters.fake_documents import DOCUMENTS, Stored

_UNABLE = {
    "en": "Unable to answer the question based on the information provided.",
    "zh": "根据已知信息无法回答该问题。",
}


def _now() -> Timestamp:
    stamp = Timestamp()
    stamp.GetCurrentTime()
    return stamp


@dataclass
class World:
    """What the fake services know and how they behave; tests change it while it runs."""

    documents: dict[str, Stored] = field(default_factory=dict)
    jobs: dict[str, search_pb2.Job] = field(default_factory=dict)
    uploads: list[tuple[search_pb2.DocumentInfo, bytes, int]] = field(default_factory=list)
    searches: list[retriever_pb2.SearchRequest] = field(default_factory=list)
    asked: list[generator_pb2.GenerateRequest] = field(default_factory=list)
    reading: retriever_pb2.Reading | None = None
    retriever_error: QueleaError | None = None
    generator_error: QueleaError | None = None
    error_after_deltas: int = 0
    generator_hangs: bool = False
    retriever_hangs: bool = False
    cancelled: list[str] = field(default_factory=list)
    finished: list[str] = field(default_factory=list)
    max_document_bytes: int = 64 * 1024 * 1024
    page_seconds: float = 0.0
    word_seconds: float = 0.0
    events: list[generator_pb2.GenerateResponse] | None = None
    evidence_tokens: int = 3000

    @classmethod
    def with_samples(cls) -> World:
        """A world with a few filings and news items."""
        return cls(documents={stored.id: stored for stored in DOCUMENTS})


@contextlib.asynccontextmanager
async def _noting(world: World, name: str) -> AsyncIterator[None]:
    try:
        yield
        world.finished.append(name)
    except (asyncio.CancelledError, GeneratorExit):
        world.cancelled.append(name)
        raise


def _score(query: set[str], text: str) -> float:
    found = set(terms(text))
    return len(query & found) / (1 + len(query))


class FakeRetriever(retriever_pb2_grpc.RetrieverServiceServicer):
    """Ranks by shared words."""

    def __init__(self, world: World) -> None:
        self._world = world

    async def Search(self, request: retriever_pb2.SearchRequest, context: Any) -> retriever_pb2.SearchResponse:  # noqa: N802  # the wire's name
        """The k best passages."""
        world = self._world
        world.searches.append(request)
        if world.retriever_error:
            raise world.retriever_error
        async with _noting(world, "Search"):
            if world.retriever_hangs:
                await asyncio.sleep(3600)
        query = set(terms(request.query))
        companies = {c.lower() for c in request.filters.companies}
        scored = [
            retriever_pb2.ScoredPassage(
                passage=passage,
                metadata=stored.metadata,
                score=score,
                cosine=0.8 + score / 10,
                header=stored.header,
            )
            for stored in world.documents.values()
            if not companies or stored.metadata.company.lower() in companies
            for passage in stored.passages()
            if (score := _score(query, stored.header + " " + passage.text)) > 0.1
        ]
        scored.sort(key=lambda found: -found.score)
        best = scored[: request.k or 20]
        return retriever_pb2.SearchResponse(
            passages=best,
            reading=world.reading or _reading(world, request.query),
            best_cosine=max((found.cosine for found in best), default=0.0),
            timings=retriever_pb2.SearchTimings(embed_ms=21, store_ms=3, rank_ms=2, total_ms=26),
        )

    async def GetDocument(  # noqa: N802  # the wire's name
        self, request: retriever_pb2.GetDocumentRequest, context: Any
    ) -> retriever_pb2.GetDocumentResponse:
        """One document."""
        return retriever_pb2.GetDocumentResponse(document=_stored(self._world, request.document_id).document())

    async def ListDocuments(  # noqa: N802  # the wire's name
        self, request: retriever_pb2.ListDocumentsRequest, context: Any
    ) -> retriever_pb2.ListDocumentsResponse:
        """All, by offset."""
        size = request.page_size or 100
        offset = int(request.page_token) if request.page_token.isdigit() else 0
        companies = {c.lower() for c in request.filters.companies}
        every = [
            stored.document()
            for stored in self._world.documents.values()
            if not companies or stored.metadata.company.lower() in companies
        ]
        end = offset + size
        return retriever_pb2.ListDocumentsResponse(
            documents=every[offset:end], next_page_token=str(end) if end < len(every) else "", total=len(every)
        )


def _reading(world: World, query: str) -> retriever_pb2.Reading:
    said = [stored.metadata for stored in world.documents.values()]
    companies = sorted({m.company for m in said if m.company and m.company.lower() in query.lower()})
    return retriever_pb2.Reading(companies=companies, text=" · ".join(companies))


def _stored(world: World, document_id: str) -> Stored:
    stored = world.documents.get(document_id)
    if stored is None:
        raise NotFound(f"There is no document {document_id[:64]!r}.")
    return stored


class FakeSearch(search_pb2_grpc.SearchServiceServicer):
    """Takes documents in and walks their jobs to the end."""

    def __init__(self, world: World) -> None:
        self._world = world
        self._tasks: set[asyncio.Task[None]] = set()

    async def SubmitDocument(  # noqa: N802  # the wire's name
        self, requests: AsyncIterator[search_pb2.SubmitDocumentRequest], context: Any
    ) -> search_pb2.SubmitDocumentResponse:
        """One job."""
        info, data, pieces = search_pb2.DocumentInfo(), b"", 0
        async for request in requests:
            if request.WhichOneof("part") == "info":
                info = request.info
            else:
                data += request.chunk
                pieces += 1
        if len(data) > self._world.max_document_bytes:
            raise TooLarge("too large")
        self._world.uploads.append((info, data, pieces))
        job = search_pb2.Job(
            id=uuid.uuid4().hex, filename=info.filename, state=search_pb2.JOB_STATE_QUEUED, created=_now()
        )
        self._world.jobs[job.id] = job
        task = asyncio.create_task(self._walk(job, info, data))
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)
        return search_pb2.SubmitDocumentResponse(job=job)

    async def _walk(self, job: search_pb2.Job, info: search_pb2.DocumentInfo, data: bytes) -> None:
        await asyncio.sleep(self._world.page_seconds)
        job.state, job.stage, job.total = search_pb2.JOB_STATE_RUNNING, "parse", 5
        for done in range(1, 6):
            await asyncio.sleep(self._world.page_seconds)
            job.done, job.stage = done, "index" if done > 2 else "parse"
            job.updated.GetCurrentTime()
        job.finished.GetCurrentTime()
        if not data or b"\0" in data[:64]:
            job.state, job.error_reason = search_pb2.JOB_STATE_FAILED, "EMPTY" if not data else "MISTYPED"
            job.error = "The file is empty." if not data else "The file is not what its name says; save it again."
            return
        text = data.decode("utf-8", "replace")
        metadata = common_pb2.DocumentMetadata(title=info.filename, uri=f"upload:{info.filename}")
        metadata.MergeFrom(info.metadata)
        metadata.language = metadata.language or language_of(text)
        job.document_id = hashlib.sha256(data).hexdigest()[:32]
        self._world.documents[job.document_id] = Stored(job.document_id, metadata, (text,))
        job.state = search_pb2.JOB_STATE_SUCCEEDED

    def _job(self, job_id: str) -> search_pb2.Job:
        job = self._world.jobs.get(job_id)
        if job is None:
            raise NotFound(f"There is no job {job_id[:64]!r}.")
        return job

    async def GetJob(self, request: search_pb2.GetJobRequest, context: Any) -> search_pb2.GetJobResponse:  # noqa: N802  # the wire's name
        """One job."""
        return search_pb2.GetJobResponse(job=self._job(request.id))

    async def WatchJob(  # noqa: N802  # the wire's name
        self, request: search_pb2.WatchJobRequest, context: Any
    ) -> AsyncIterator[search_pb2.WatchJobResponse]:
        """On every change."""
        last, job = b"", self._job(request.id)
        async with _noting(self._world, "WatchJob"):
            while True:
                now = job.SerializeToString()
                if now != last:
                    last = now
                    yield search_pb2.WatchJobResponse(job=job)
                if job.state in (search_pb2.JOB_STATE_SUCCEEDED, search_pb2.JOB_STATE_FAILED):
                    return
                await asyncio.sleep(0.01)

    async def ListJobs(self, request: search_pb2.ListJobsRequest, context: Any) -> search_pb2.ListJobsResponse:  # noqa: N802  # the wire's name
        """Newest first."""
        return search_pb2.ListJobsResponse(jobs=list(reversed(self._world.jobs.values()))[: request.limit or 100])

    async def GetPage(self, request: search_pb2.GetPageRequest, context: Any) -> search_pb2.GetPageResponse:  # noqa: N802  # the wire's name
        """One page."""
        stored = _stored(self._world, request.document_id)
        if not 1 <= request.page <= len(stored.pages):
            raise NotFound(f"The document has {len(stored.pages)} pages.")
        return search_pb2.GetPageResponse(
            document_id=stored.id,
            page=request.page,
            pages=len(stored.pages),
            text=stored.pages[request.page - 1],
            metadata=stored.metadata,
        )

    async def DeleteDocument(  # noqa: N802  # the wire's name
        self, request: search_pb2.DeleteDocumentRequest, context: Any
    ) -> search_pb2.DeleteDocumentResponse:
        """Gone at once."""
        stored = _stored(self._world, request.document_id)
        del self._world.documents[request.document_id]
        return search_pb2.DeleteDocumentResponse(passages=len(list(stored.passages())))

    async def GetInfo(self, request: search_pb2.GetInfoRequest, context: Any) -> search_pb2.GetInfoResponse:  # noqa: N802  # the wire's name
        """Limits."""
        return search_pb2.GetInfoResponse(
            version="fake",
            max_document_bytes=self._world.max_document_bytes,
            max_document_pages=2000,
            formats=["pdf", "html", "docx", "xlsx", "pptx", "csv", "json", "md", "txt"],
        )


class FakeGenerator(generator_pb2_grpc.GeneratorServiceServicer):
    """Quotes the line of each of the best two passages that shares most words with the question."""

    def __init__(self, world: World) -> None:
        self._world = world

    async def Generate(  # noqa: N802  # the wire's name
        self, request: generator_pb2.GenerateRequest, context: Any
    ) -> AsyncIterator[generator_pb2.GenerateResponse]:
        """Quotes, deltas, finished."""
        world = self._world
        world.asked.append(request)
        async with _noting(world, "Generate"):
            if world.generator_error and not world.error_after_deltas:
                raise world.generator_error
            sent = 0
            for event in world.events if world.events is not None else self._events(request):
                yield event
                sent += event.HasField("delta")
                if world.generator_error and sent >= world.error_after_deltas:
                    raise world.generator_error
                if world.generator_hangs and sent:
                    await asyncio.sleep(3600)
                if world.word_seconds:
                    await asyncio.sleep(world.word_seconds)

    def _events(self, request: generator_pb2.GenerateRequest) -> list[generator_pb2.GenerateResponse]:
        question = set(terms(request.question))
        events: list[generator_pb2.GenerateResponse] = []
        for evidence in request.evidence[:2]:
            lines = [line for line in evidence.text.split("\n") if line.strip()]
            line = max(lines, key=lambda piece: _score(question, piece))
            if _score(question, line + " " + evidence.header) < 0.3:
                continue
            start = evidence.text.index(line)
            events.append(
                generator_pb2.GenerateResponse(
                    quote=generator_pb2.Quote(
                        number=evidence.number, start=start, end=start + len(line), text=line, score=evidence.score
                    )
                )
            )
            label = " · ".join(part for part in (evidence.company, evidence.period_label or evidence.published) if part)
            statement = f"{label}: {line} [{evidence.number}]\n"
            events.extend(
                generator_pb2.GenerateResponse(delta=generator_pb2.TextDelta(text=word + " "))
                for word in statement.split(" ")
            )
        reason = "stop" if events else "declined"
        if not events:
            text = _UNABLE[language_of(request.question)]
            events.append(generator_pb2.GenerateResponse(delta=generator_pb2.TextDelta(text=text)))
        events.append(
            generator_pb2.GenerateResponse(
                finished=generator_pb2.Finished(
                    reason=reason, reader="extractive", model="extractive-1", prompt_version="1", prompt_tokens=120,
                    completion_tokens=30, total_ms=2,
                )
            )
        )  # fmt: skip
        return events

    async def GetInfo(  # noqa: N802  # the wire's name
        self, request: generator_pb2.GetInfoRequest, context: Any
    ) -> generator_pb2.GetInfoResponse:
        """The reader."""
        return generator_pb2.GetInfoResponse(
            version="fake", reader="extractive", model="extractive-1", evidence_tokens=self._world.evidence_tokens,
            prompt_version="1",
        )  # fmt: skip


class FakeServices:
    """The three servers of a world, which can be stopped one by one."""

    def __init__(self, world: World) -> None:
        self.world = world
        self.addresses: dict[str, str] = {}
        self._servers: dict[str, Server] = {}

    async def start(self) -> None:
        """Start what does not run, under the address that it had."""
        adders: dict[str, tuple[str, Any, Any]] = {
            "retriever": (
                retriever.SERVICE, retriever_pb2_grpc.add_RetrieverServiceServicer_to_server, FakeRetriever),
            "search": (search.SERVICE, search_pb2_grpc.add_SearchServiceServicer_to_server, FakeSearch),
            "generator": (
                generator.SERVICE, generator_pb2_grpc.add_GeneratorServiceServicer_to_server, FakeGenerator),
        }  # fmt: skip
        for name, (service, add, servicer) in adders.items():
            if name in self._servers:
                continue

            def register(server: grpc.aio.Server, add: Any = add, servicer: Any = servicer) -> None:
                add(servicer(self.world), server)

            listen = self.addresses.get(name, "127.0.0.1:0")
            server = Server(ServiceSettings(listen=listen, drain_seconds=0.2), [service], register)
            await server.start()
            self._servers[name] = server
            self.addresses[name] = f"127.0.0.1:{server.port}"

    async def stop(self, name: str) -> None:
        """Take one away, as a crash would."""
        if name not in self._servers:
            raise Unavailable(f"{name} does not run")
        await self._servers.pop(name).stop()

    async def close(self) -> None:
        """Stop them all."""
        await asyncio.gather(*(self.stop(name) for name in list(self._servers)))


async def _main() -> None:
    from quelea_gateway.gateway import build  # noqa: PLC0415  # only the demonstration needs the gateway
    from quelea_gateway.runner import run  # noqa: PLC0415  # only the demonstration needs the gateway
    from quelea_gateway.settings import Settings  # noqa: PLC0415  # only the demonstration needs the gateway

    world = World.with_samples()
    world.page_seconds, world.word_seconds = 0.6, 0.03
    services = FakeServices(world)
    await services.start()
    at = services.addresses
    settings = Settings(
        auth="off",
        http_listen="127.0.0.1:8089",
        retriever=at["retriever"],
        search=at["search"],
        generator=at["generator"],
    )
    await run(build(settings))
    await services.close()


if __name__ == "__main__":
    asyncio.run(_main())
