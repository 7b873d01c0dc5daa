"""The rpcs of SearchService for uploads, jobs and documents."""

from __future__ import annotations

import asyncio
import contextlib
import importlib.metadata
import uuid
from collections.abc import AsyncIterator
from typing import Any

import grpc
import stamina
from quelea.search.v1 import search_pb2 as pb
from quelea.search.v1 import search_pb2_grpc
from quelea_kit import reach
from quelea_kit.errors import Conflict, InvalidInput, NotFound, QueleaError, Unavailable
from quelea_kit.paging import check_page_size, decode_position, encode_position
from quelea_kit.reach import DEFAULT_COLLECTION, DEFAULT_TENANT, Reach, place_of, within

from quelea_search import wire
from quelea_search.adapters.formats import FORMATS
from quelea_search.adapters.job_events import JobEvents
from quelea_search.adapters.retriever import Retriever
from quelea_search.adapters.web.guard import Guard
from quelea_search.components import Components
from quelea_search.core.jobs import Job, JobState, document_name
from quelea_search.document_reach import is_reached, no_document, reached_header
from quelea_search.filings.rpcs import FilingRpcs
from quelea_search.filings.watching import Watching
from quelea_search.jobs.dead_letters import DeadLetters
from quelea_search.jobs.submission import Submission
from quelea_search.originals.originals import Originals
from quelea_search.originals.rpcs import OriginalRpcs
from quelea_search.web.page_review import PageReview
from quelea_search.web.refresh import Refresh
from quelea_search.web.refresh_service import RefreshRpcs
from quelea_search.web.search import WebSearch
from quelea_search.web.service import WebSearchRpcs

SERVICE = "quelea.search.v1.SearchService"
Context = grpc.aio.ServicerContext[Any, Any]
_READ_ON_SECONDS = 10.0
_RETRIEVER_BACK_SECONDS = 5.0
"""How long a deletion waits for a retriever that is just starting again."""
_LOOK_SECONDS = 1.0
"""A watcher looks this often even when nothing woke it."""


class SearchService(WebSearchRpcs, RefreshRpcs, FilingRpcs, OriginalRpcs, search_pb2_grpc.SearchServiceServicer):
    """The rpcs; those of the web are in web/service.py and web/refresh_service.py, of filings in filings/rpcs.py,
    of originals in originals/rpcs.py.

    What blocks runs in threads.
    """

    def __init__(
        self,
        shared: Components,
        retriever: Retriever,
        *,
        events: JobEvents,
        submission: Submission,
        refresh: Refresh,
        page_review: PageReview,
        dead_letters: DeadLetters,
        guard: Guard,
        web: WebSearch | None,
        watching: Watching,
    ) -> None:
        self._shared = shared
        self._retriever = retriever
        self._events = events
        self._submission = submission
        self._refresh = refresh
        self._deciding = page_review
        self._dead_letters = dead_letters
        self._guard = guard
        self.web = web
        self._watching = watching
        self.originals = Originals(shared.blobs, shared.settings)

    def register(self, server: grpc.aio.Server) -> None:
        """Add the service to a server."""
        search_pb2_grpc.add_SearchServiceServicer_to_server(self, server)

    async def SubmitDocument(  # noqa: N802  # gRPC name
        self, request_iterator: AsyncIterator[pb.SubmitDocumentRequest], context: Context
    ) -> pb.SubmitDocumentResponse:
        """Take a document in."""
        messages = aiter(request_iterator)
        try:
            job = await self._take(messages)
        except QueleaError:
            await self._read_on(messages)
            raise
        return pb.SubmitDocumentResponse(job=await self._show(job))

    async def _take(self, messages: AsyncIterator[pb.SubmitDocumentRequest]) -> Job:
        first = await anext(messages, None)
        if first is None or first.WhichOneof("part") != "info":
            raise InvalidInput("The first message of an upload must be its info.")

        async def pieces() -> AsyncIterator[bytes]:
            async for message in messages:
                if message.WhichOneof("part") != "chunk":
                    raise InvalidInput("After its info, an upload may only contain bytes.")
                yield message.chunk

        return await self._submission.take(first.info.filename, first.info.metadata, pieces())

    async def _read_on(self, messages: AsyncIterator[pb.SubmitDocumentRequest]) -> None:
        """Let a refused caller finish sending, for a while.

        gRPC tells a client that is cut off in the middle of a message of an internal error, not of the refusal.
        """
        rest = self._shared.settings.max_document_bytes
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(_READ_ON_SECONDS):
                async for message in messages:
                    rest -= len(message.chunk)
                    if rest < 0:
                        return

    async def GetJob(self, request: pb.GetJobRequest, context: Context) -> pb.GetJobResponse:  # noqa: N802  # gRPC name
        """One job."""
        return pb.GetJobResponse(job=await self._show(await asyncio.to_thread(self._shared.store.get, request.id)))

    async def WatchJob(  # noqa: N802  # gRPC name
        self, request: pb.WatchJobRequest, context: Context
    ) -> AsyncIterator[pb.WatchJobResponse]:
        """The job now, on every change, and for the last time when it has ended."""
        with self._events.of(request.id) as changed:
            shown: pb.Job | None = None
            while True:
                changed.clear()
                job = await asyncio.to_thread(self._shared.store.get, request.id)
                now = await self._show(job)
                if now != shown:
                    yield pb.WatchJobResponse(job=now)
                    shown = now
                if job.state.ended:
                    return
                try:
                    async with asyncio.timeout(_LOOK_SECONDS):
                        await changed.wait()
                except TimeoutError:
                    continue

    async def ListJobs(self, request: pb.ListJobsRequest, context: Context) -> pb.ListJobsResponse:  # noqa: N802  # gRPC name
        """Newest first."""
        page_size, after = check_page_size(request.page_size), decode_position(request.page_token)
        jobs, last = await asyncio.to_thread(self._shared.store.newest, page_size, after, replayable=request.replayable)
        workers = len(await asyncio.to_thread(self._shared.ledger.workers))
        shown = [wire.job_to_wire(job, workers=workers) for job in jobs]
        return pb.ListJobsResponse(jobs=shown, next_page_token=encode_position(last))

    async def GetPage(self, request: pb.GetPageRequest, context: Context) -> pb.GetPageResponse:  # noqa: N802  # gRPC name
        """The text of one page."""
        await asyncio.to_thread(reached_header, self._shared.blobs, request.document_id)
        header, text = await asyncio.to_thread(self._shared.blobs.page, request.document_id, request.page)
        return pb.GetPageResponse(
            document_id=request.document_id,
            page=request.page,
            pages=header["pages"],
            text=text,
            metadata=wire.metadata_from_dict(header["metadata"]),
        )

    async def DeleteDocument(  # noqa: N802  # gRPC name
        self, request: pb.DeleteDocumentRequest, context: Context
    ) -> pb.DeleteDocumentResponse:
        """Index first: what is no longer found needs no page to open."""
        return pb.DeleteDocumentResponse(passages=await self._delete(request.document_id))

    async def _delete(self, document_id: str) -> int:
        """Everywhere; how many passages it had."""
        token = f"delete {uuid.uuid4().hex}"
        is_ours, is_of_others = await asyncio.to_thread(self._whose, document_id)
        # Asked of what is somebody else's too, so that it takes as long to refuse as what is not there.
        if not is_ours and (not await self._is_indexed(document_id) or is_of_others):
            raise no_document()
        await asyncio.to_thread(self._shared.ledger.hold, document_id, token)
        try:
            header = await asyncio.to_thread(self._shared.blobs.header, document_id, stored=True)
            uri = header["metadata"]["uri"] if header else ""
            # First: a page of the web that is remembered would be read again and come back.
            await asyncio.to_thread(self._shared.pages.forget, uri, document_id)
            passages = await self._unindex(document_id, known=header is not None)
            await asyncio.to_thread(self._shared.blobs.delete_document, document_id)
            if header and uri:
                name = document_name(header["metadata"].get("uploader", ""), uri, _place(header))
                await asyncio.to_thread(self._shared.ledger.forget_under, name, document_id)
        finally:
            await asyncio.to_thread(self._shared.ledger.release, document_id, token)
        return passages

    def _whose(self, document_id: str) -> tuple[bool, bool]:
        """Whether it is within the reach of the call, and whether it is somebody else's; neither: it is not known here.

        Asked before anything of it is touched.
        """
        header = self._shared.blobs.header(document_id, stored=True)
        job = self._shared.store.find(self._shared.ledger.active_job(document_id))
        if header is not None:
            is_ours = is_reached(header)
        elif job is not None:
            is_ours = reach.current().holds(job.tenant, job.collection)
        else:
            return False, False
        return is_ours, not is_ours

    async def _is_indexed(self, document_id: str) -> bool:
        return await _while_away(self._retriever.get, document_id) is not None

    async def _unindex(self, document_id: str, *, known: bool) -> int:
        if not known and not await self._is_indexed(document_id):
            raise no_document()
        return await _while_away(self._retriever.delete, document_id)

    async def GetInfo(self, request: pb.GetInfoRequest, context: Context) -> pb.GetInfoResponse:  # noqa: N802  # gRPC name
        """Limits, formats, queue."""
        return pb.GetInfoResponse(
            version=importlib.metadata.version("quelea-search"),
            max_document_bytes=self._shared.settings.max_document_bytes,
            max_document_pages=self._shared.settings.max_document_pages,
            formats=FORMATS,
            queued=await asyncio.to_thread(self._shared.store.count, JobState.QUEUED),
            web_providers=self.web.providers if self.web else (),
            filing_sources=self._watching.fetch.sources,
        )

    async def ListCollections(  # noqa: N802  # gRPC name
        self, request: pb.ListCollectionsRequest, context: Context
    ) -> pb.ListCollectionsResponse:
        """Those within the reach of the call, by name."""
        bounds = reach.current()
        found = await asyncio.to_thread(self._shared.collections.all)
        return pb.ListCollectionsResponse(
            collections=[wire.collection_to_wire(one) for one in found if bounds.holds(bounds.tenant, one.name)]
        )

    async def CreateCollection(  # noqa: N802  # gRPC name
        self, request: pb.CreateCollectionRequest, context: Context
    ) -> pb.CreateCollectionResponse:
        """A new one, of the tenant that calls."""
        made = await asyncio.to_thread(self._shared.collections.create, request.name, request.title)
        return pb.CreateCollectionResponse(collection=wire.collection_to_wire(made))

    async def DeleteCollection(  # noqa: N802  # gRPC name
        self, request: pb.DeleteCollectionRequest, context: Context
    ) -> pb.DeleteCollectionResponse:
        """What is watched for it, every document, and then the name: one that was interrupted can be made again.

        A document that came in meanwhile goes too; one that is just being read ends by itself, with nothing.
        """
        collections = self._shared.collections
        await asyncio.to_thread(collections.check_removable, request.name)
        with within(Reach(reach.current().tenant, (request.name,))):
            for watch in await self._watching.watches():
                await self._watching.remove(watch.id)
            documents = await self._empty()
            await asyncio.to_thread(collections.remove, request.name)
            with contextlib.suppress(Conflict):  # its job finds no collection any more
                documents += await self._empty()
        return pb.DeleteCollectionResponse(documents=documents)

    async def _empty(self) -> int:
        """Delete every document within the reach of the call; how many. Raises Conflict while one is being indexed."""
        gone = 0
        for document_id in sorted(await self._retriever.document_ids()):
            with contextlib.suppress(NotFound):
                await self._delete(document_id)
                gone += 1
        return gone

    async def _show(self, job: Job) -> pb.Job:
        workers = 1
        if job.state is JobState.QUEUED:
            workers = len(await asyncio.to_thread(self._shared.ledger.workers))
        return wire.job_to_wire(job, workers=workers)


_while_away = stamina.AsyncRetryingCaller(
    attempts=None, timeout=_RETRIEVER_BACK_SECONDS, wait_initial=0.1, wait_max=1.0
).on(Unavailable)
"""Calls what it is given until the retriever answers."""


def _place(header: dict[str, Any]) -> str:
    return place_of(header.get("tenant", DEFAULT_TENANT), header["metadata"].get("collection") or DEFAULT_COLLECTION)
