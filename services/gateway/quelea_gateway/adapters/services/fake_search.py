"""Search in memory."""

from __future__ import annotations

import asyncio
import hashlib
import uuid
from collections.abc import AsyncIterator
from typing import Any

from quelea.common.v1 import common_pb2
from quelea.search.v1 import search_pb2
from quelea_fintext.text import language_of
from quelea_kit import reach
from quelea_kit.errors import Conflict, NotFound, TooLarge
from quelea_kit.paging import page_of
from quelea_kit.reach import DEFAULT_COLLECTION

from quelea_gateway.adapters.services.fake_documents import Stored
from quelea_gateway.adapters.services.fake_web import FakeWeb, now
from quelea_gateway.adapters.services.fake_world import World, noting, stored_document, stored_original

_PIECE = 65_536


class FakeSearch(FakeWeb):
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
            id=uuid.uuid4().hex, filename=info.filename, state=search_pb2.JOB_STATE_QUEUED, created=now()
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
        async with noting(self._world, "WatchJob"):
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
        jobs = [job for job in self._world.jobs.values() if job.replayable or not request.replayable]
        page, token = page_of(jobs[::-1], lambda job: job.id, request.page_size or 100, request.page_token)
        return search_pb2.ListJobsResponse(jobs=page, next_page_token=token)

    async def GetPage(self, request: search_pb2.GetPageRequest, context: Any) -> search_pb2.GetPageResponse:  # noqa: N802  # the wire's name
        """One page."""
        stored = stored_document(self._world, request.document_id)
        if not 1 <= request.page <= len(stored.pages):
            raise NotFound(f"The document has {len(stored.pages)} pages.")
        return search_pb2.GetPageResponse(
            document_id=stored.id,
            page=request.page,
            pages=len(stored.pages),
            text=stored.pages[request.page - 1],
            metadata=stored.metadata,
        )

    async def GetOriginal(  # noqa: N802  # the wire's name
        self, request: search_pb2.GetOriginalRequest, context: Any
    ) -> search_pb2.GetOriginalResponse:
        """What it is."""
        found = stored_original(self._world, request.document_id)
        return search_pb2.GetOriginalResponse(
            filename=found.filename, media_type=found.media_type, size=len(found.data)
        )

    async def ReadOriginal(  # noqa: N802  # the wire's name
        self, request: search_pb2.ReadOriginalRequest, context: Any
    ) -> AsyncIterator[search_pb2.ReadOriginalResponse]:
        """In small pieces."""
        data = stored_original(self._world, request.document_id).data
        end = request.offset + request.length if request.length else len(data)
        for at in range(request.offset, min(end, len(data)), _PIECE):
            yield search_pb2.ReadOriginalResponse(chunk=data[at : min(at + _PIECE, end)])

    async def LocateSpan(  # noqa: N802  # the wire's name
        self, request: search_pb2.LocateSpanRequest, context: Any
    ) -> search_pb2.LocateSpanResponse:
        """Its boxes, whatever the span is."""
        found = stored_original(self._world, request.document_id)
        if found.media_type != "application/pdf":
            raise Conflict("The document is no PDF.")
        boxes = [search_pb2.Box(left=a, bottom=b, right=c, top=d) for a, b, c, d in found.boxes]
        return search_pb2.LocateSpanResponse(boxes=boxes, found=found.found if boxes else 0.0, no_text=not boxes)

    async def RenderOriginal(  # noqa: N802  # the wire's name
        self, request: search_pb2.RenderOriginalRequest, context: Any
    ) -> AsyncIterator[search_pb2.RenderOriginalResponse]:
        """Its HTML, whatever the span is."""
        found = stored_original(self._world, request.document_id)
        if found.media_type != "text/html":
            raise Conflict("The document is no HTML.")
        data = found.html.encode()
        for at in range(0, len(data), _PIECE):
            yield search_pb2.RenderOriginalResponse(chunk=data[at : at + _PIECE], found=0.0 if at else found.found)

    async def DeleteDocument(  # noqa: N802  # the wire's name
        self, request: search_pb2.DeleteDocumentRequest, context: Any
    ) -> search_pb2.DeleteDocumentResponse:
        """Gone at once."""
        stored = stored_document(self._world, request.document_id)
        del self._world.documents[request.document_id]
        return search_pb2.DeleteDocumentResponse(passages=len(list(stored.passages())))

    async def GetInfo(self, request: search_pb2.GetInfoRequest, context: Any) -> search_pb2.GetInfoResponse:  # noqa: N802  # the wire's name
        """Limits."""
        return search_pb2.GetInfoResponse(
            version="fake",
            max_document_bytes=self._world.max_document_bytes,
            max_document_pages=2000,
            formats=["pdf", "html", "docx", "xlsx", "pptx", "csv", "json", "md", "txt"],
            web_providers=self._world.web_providers,
            filing_sources=self._world.filing_sources,
        )

    async def ListCollections(  # noqa: N802  # the wire's name
        self, request: search_pb2.ListCollectionsRequest, context: Any
    ) -> search_pb2.ListCollectionsResponse:
        """Those within the reach of the call."""
        bounds = reach.current()
        every = {DEFAULT_COLLECTION: search_pb2.Collection(name=DEFAULT_COLLECTION), **self._world.collections}
        found = [every[name] for name in sorted(every) if bounds.holds(bounds.tenant, name)]
        return search_pb2.ListCollectionsResponse(collections=found)

    async def CreateCollection(  # noqa: N802  # the wire's name
        self, request: search_pb2.CreateCollectionRequest, context: Any
    ) -> search_pb2.CreateCollectionResponse:
        """One more."""
        if request.name in self._world.collections:
            raise Conflict(f"There is a collection {request.name!r} already.")
        made = search_pb2.Collection(name=request.name, title=request.title, created=now())
        self._world.collections[request.name] = made
        return search_pb2.CreateCollectionResponse(collection=made)

    async def DeleteCollection(  # noqa: N802  # the wire's name
        self, request: search_pb2.DeleteCollectionRequest, context: Any
    ) -> search_pb2.DeleteCollectionResponse:
        """One less."""
        if self._world.collections.pop(request.name, None) is None:
            raise NotFound(f"There is no collection {request.name!r}.")
        return search_pb2.DeleteCollectionResponse()

    async def FetchFilings(  # noqa: N802  # the wire's name
        self, request: search_pb2.FetchFilingsRequest, context: Any
    ) -> search_pb2.FetchFilingsResponse:
        """One filing that is on its way, and one that is stored."""
        self._world.fetches.append(request)
        if self._world.fetch_error:
            raise self._world.fetch_error
        job = search_pb2.Job(
            id=uuid.uuid4().hex, filename="tsla-20241231.htm", state=search_pb2.JOB_STATE_QUEUED, created=now()
        )
        self._world.jobs[job.id] = job
        info = search_pb2.DocumentInfo(filename=job.filename)
        info.metadata.company, info.metadata.document_type = "Tesla", "10-K"
        task = asyncio.create_task(self._walk(job, info, b"Tesla's total revenues were $97,690 million in 2024."))
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)
        filing = search_pb2.Filing(
            id="edgar:0001628280-25-003063",
            form="10-K",
            title="Tesla, Inc. 10-K, filed 2025-01-30",
            url="https://www.sec.gov/Archives/edgar/data/1318605/000162828025003063/tsla-20241231.htm",
            filed="2025-01-30",
            period_end="2024-12-31",
        )
        stored = search_pb2.Filing(
            id="edgar:0001628280-24-002390", form="10-K", document_id="d" * 32, filed="2024-01-29"
        )
        coming = search_pb2.Filing(job=job)
        coming.MergeFrom(filing)
        return search_pb2.FetchFilingsResponse(
            run_id="fetch-1", source="edgar", company="Tesla, Inc.", ticker="TSLA", filed_from="2022-11-25",
            filed_to="2025-11-25", filings=[coming, stored],
        )  # fmt: skip

    async def WatchCompany(  # noqa: N802  # the wire's name
        self, request: search_pb2.WatchCompanyRequest, context: Any
    ) -> search_pb2.WatchCompanyResponse:
        """A watch, and a fetch."""
        fetched = await self.FetchFilings(request.fetch, context)
        watch = search_pb2.Watch(
            id=f"w{len(self._world.watches)}", source="edgar", company=fetched.company, ticker=fetched.ticker,
            forms=request.fetch.forms, added=now(), looked=now(), due=now(),
        )  # fmt: skip
        self._world.watches[watch.id] = watch
        return search_pb2.WatchCompanyResponse(watch=watch, fetched=fetched)

    async def ListWatches(  # noqa: N802  # the wire's name
        self, request: search_pb2.ListWatchesRequest, context: Any
    ) -> search_pb2.ListWatchesResponse:
        """All."""
        return search_pb2.ListWatchesResponse(watches=self._world.watches.values())

    async def RemoveWatch(  # noqa: N802  # the wire's name
        self, request: search_pb2.RemoveWatchRequest, context: Any
    ) -> search_pb2.RemoveWatchResponse:
        """Gone at once."""
        if self._world.watches.pop(request.id, None) is None:
            raise NotFound(f"There is no watch {request.id!r}.")
        return search_pb2.RemoveWatchResponse()
