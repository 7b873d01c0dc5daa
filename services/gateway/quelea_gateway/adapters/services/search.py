"""The search service: uploads, jobs, pages, the web."""

from __future__ import annotations

import asyncio
import contextlib
import time
from collections.abc import AsyncGenerator, AsyncIterator, Sequence

import grpc
from quelea.search.v1 import search_pb2, search_pb2_grpc
from quelea_kit.client import channel, stream, unary
from quelea_kit.errors import QueleaError

from quelea_gateway.adapters.services.downstream import Health, naming
from quelea_gateway.adapters.services.retriever import iso, passage_fields
from quelea_gateway.core.agent.ports import DocumentPage
from quelea_gateway.core.callers import audit
from quelea_gateway.core.model import Kept, Passage
from quelea_gateway.core.web.model import KeepOrder, WebFound, WebPage

SERVICE = "quelea.search.v1.SearchService"
PIECE = 1024 * 1024
"""Bytes of a document in one message."""

_INFO_SECONDS = 60.0
_PROVIDERS_SECONDS = 2.0
_STATES = {
    search_pb2.WEB_PAGE_STATE_PENDING: "pending",
    search_pb2.WEB_PAGE_STATE_KEPT: "kept",
    search_pb2.WEB_PAGE_STATE_REJECTED: "rejected",
    search_pb2.WEB_PAGE_STATE_VANISHED: "vanished",
}


class SearchClient:
    """Client of search.

    Args:
        target: gRPC address.
        call_seconds: Deadline of a short call.
        upload_seconds: Deadline of handing one document over.
        watch_seconds: Deadline of watching one job.
    """

    def __init__(
        self, target: str, *, call_seconds: float, upload_seconds: float, watch_seconds: float = 3600.0
    ) -> None:
        reads = [
            "GetJob",
            "WatchJob",
            "ListJobs",
            "GetPage",
            "GetOriginal",
            "LocateSpan",
            "GetInfo",
            "SearchWeb",
            "ListWebPages",
            "ListCollections",
            "ListWatches",
        ]
        self._channel: grpc.aio.Channel = channel(target, SERVICE, idempotent=reads)
        self._stub = search_pb2_grpc.SearchServiceStub(self._channel)
        self._call_seconds = call_seconds
        self._upload_seconds = upload_seconds
        self._watch_seconds = watch_seconds
        self._info: tuple[float, search_pb2.GetInfoResponse] | None = None
        self.health = Health(self._channel, SERVICE, "search")

    async def submit(self, info: search_pb2.DocumentInfo, pieces: AsyncIterator[bytes]) -> search_pb2.Job:
        """Hand a document over, piece by piece; its job.

        What the pieces raise is raised here. gRPC by itself drops an error of the sender and waits for the deadline.
        """
        failed: list[Exception] = []

        async def messages() -> AsyncIterator[search_pb2.SubmitDocumentRequest]:
            yield search_pb2.SubmitDocumentRequest(info=info)
            try:
                async for piece in pieces:
                    yield search_pb2.SubmitDocumentRequest(chunk=piece)
            except Exception as error:  # noqa: BLE001  # it is raised again below, whatever it is
                failed.append(error)
                call.cancel()

        with naming("search"):
            call = self._stub.SubmitDocument(messages(), timeout=self._upload_seconds)
            try:
                return _note_job((await unary(call)).job)
            except (asyncio.CancelledError, QueleaError):
                if failed:
                    raise failed[0] from None
                raise

    async def job(self, job_id: str) -> search_pb2.Job:
        """A job. Raises NotFound."""
        request = search_pb2.GetJobRequest(id=job_id)
        with naming("search"):
            return (await unary(self._stub.GetJob(request, timeout=self._call_seconds))).job

    async def jobs(
        self, page_size: int, page_token: str = "", *, replayable: bool = False
    ) -> search_pb2.ListJobsResponse:
        """A page of the jobs, newest first; with replayable only those of the dead-letter list."""
        request = search_pb2.ListJobsRequest(page_size=page_size, page_token=page_token, replayable=replayable)
        with naming("search"):
            return await unary(self._stub.ListJobs(request, timeout=self._call_seconds))

    async def watch(self, job_id: str) -> AsyncGenerator[search_pb2.Job, None]:
        """The job now and on every change, until it has ended."""
        with naming("search"):
            call = self._stub.WatchJob(search_pb2.WatchJobRequest(id=job_id), timeout=self._watch_seconds)
            async with contextlib.aclosing(stream(call)) as replies:
                async for reply in replies:
                    yield reply.job

    async def page(self, document_id: str, page: int) -> search_pb2.GetPageResponse:
        """The parsed text of a page. Raises NotFound."""
        request = search_pb2.GetPageRequest(document_id=document_id, page=page)
        with naming("search"):
            return await unary(self._stub.GetPage(request, timeout=self._call_seconds))

    async def original(self, document_id: str) -> search_pb2.GetOriginalResponse:
        """Name, type and size of a document as it came in. Raises NotFound."""
        request = search_pb2.GetOriginalRequest(document_id=document_id)
        with naming("search"):
            return await unary(self._stub.GetOriginal(request, timeout=self._call_seconds))

    async def read_original(self, document_id: str, offset: int, length: int) -> AsyncGenerator[bytes, None]:
        """Its bytes, as they come."""
        request = search_pb2.ReadOriginalRequest(document_id=document_id, offset=offset, length=length)
        with naming("search"):
            call = self._stub.ReadOriginal(request, timeout=self._upload_seconds)
            async with contextlib.aclosing(stream(call)) as replies:
                async for reply in replies:
                    yield reply.chunk

    async def locate(self, request: search_pb2.LocateSpanRequest) -> search_pb2.LocateSpanResponse:
        """Where a span is printed on the page of a PDF. Raises NotFound, InvalidInput, Conflict."""
        with naming("search"):
            return await unary(self._stub.LocateSpan(request, timeout=self._call_seconds))

    async def render(
        self, request: search_pb2.RenderOriginalRequest
    ) -> AsyncGenerator[search_pb2.RenderOriginalResponse, None]:
        """An HTML document that is safe to show, as it comes. Raises NotFound, InvalidInput, Conflict."""
        with naming("search"):
            call = self._stub.RenderOriginal(request, timeout=self._upload_seconds)
            async with contextlib.aclosing(stream(call)) as replies:
                async for reply in replies:
                    yield reply

    async def delete(self, document_id: str) -> int:
        """Remove a document everywhere; how many passages went. Raises NotFound."""
        request = search_pb2.DeleteDocumentRequest(document_id=document_id)
        with naming("search"):
            return (await unary(self._stub.DeleteDocument(request, timeout=self._call_seconds))).passages

    async def replay(self, ids: Sequence[str]) -> list[search_pb2.Job]:
        """Queue jobs of the dead-letter list once more, all of them when no id is given."""
        request = search_pb2.ReplayJobsRequest(ids=ids)
        with naming("search"):
            return list((await unary(self._stub.ReplayJobs(request, timeout=self._call_seconds))).jobs)

    async def search_web(self, request: search_pb2.SearchWebRequest, seconds: float) -> search_pb2.SearchWebResponse:
        """Pages of the web for a question, within the given seconds. Raises Conflict when there is no web."""
        with naming("search"):
            return await unary(self._stub.SearchWeb(request, timeout=seconds))

    async def keep_pages(self, request: search_pb2.KeepPagesRequest) -> list[search_pb2.KeptPage]:
        """Tell which pages were useful; what becomes of each."""
        with naming("search"):
            return list((await unary(self._stub.KeepPages(request, timeout=self._call_seconds))).pages)

    async def submit_url(self, request: search_pb2.SubmitUrlRequest) -> search_pb2.Job:
        """Have a page fetched and made a document; its job."""
        with naming("search"):
            return _note_job((await unary(self._stub.SubmitUrl(request, timeout=self._call_seconds))).job)

    async def web_pages(self, request: search_pb2.ListWebPagesRequest) -> search_pb2.ListWebPagesResponse:
        """What is remembered of pages of the web."""
        with naming("search"):
            return await unary(self._stub.ListWebPages(request, timeout=self._call_seconds))

    async def decide_web_pages(self, request: search_pb2.DecideWebPagesRequest) -> search_pb2.DecideWebPagesResponse:
        """Approve, reject or roll back pages of the web."""
        with naming("search"):
            return await unary(self._stub.DecideWebPages(request, timeout=self._upload_seconds))

    async def providers(self) -> tuple[str, ...] | None:
        """The web providers in use, at most a minute old; the last known ones, else None, while search is away."""
        if self._info is not None and time.monotonic() - self._info[0] <= _INFO_SECONDS:
            return tuple(self._info[1].web_providers)
        try:
            async with asyncio.timeout(_PROVIDERS_SECONDS):
                return tuple((await self.info()).web_providers)
        except (QueleaError, TimeoutError):
            return None if self._info is None else tuple(self._info[1].web_providers)

    async def filing_sources(self) -> tuple[str, ...]:
        """Sources that filings are fetched from, at most a minute old; empty while search is away."""
        try:
            async with asyncio.timeout(_PROVIDERS_SECONDS):
                return tuple((await self.info()).filing_sources)
        except (QueleaError, TimeoutError):
            return ()

    async def fetch_filings(self, request: search_pb2.FetchFilingsRequest) -> search_pb2.FetchFilingsResponse:
        """Have a company's filings looked up and queued."""
        with naming("search"):
            return await unary(self._stub.FetchFilings(request, timeout=self._upload_seconds))

    async def watch_company(self, request: search_pb2.FetchFilingsRequest) -> search_pb2.WatchCompanyResponse:
        """Have a company's filings fetched, now and whenever there are new ones."""
        wanted = search_pb2.WatchCompanyRequest(fetch=request)
        with naming("search"):
            return await unary(self._stub.WatchCompany(wanted, timeout=self._upload_seconds))

    async def watches(self) -> list[search_pb2.Watch]:
        """The watched companies."""
        with naming("search"):
            reply = await unary(self._stub.ListWatches(search_pb2.ListWatchesRequest(), timeout=self._call_seconds))
        return list(reply.watches)

    async def remove_watch(self, watch_id: str) -> None:
        """Watch a company no more. Raises NotFound."""
        request = search_pb2.RemoveWatchRequest(id=watch_id)
        with naming("search"):
            await unary(self._stub.RemoveWatch(request, timeout=self._call_seconds))

    async def collections(self) -> list[search_pb2.Collection]:
        """Those that the call may read, by name."""
        with naming("search"):
            reply = await unary(
                self._stub.ListCollections(search_pb2.ListCollectionsRequest(), timeout=self._call_seconds)
            )
        return list(reply.collections)

    async def create_collection(self, name: str, title: str) -> search_pb2.Collection:
        """A new one. Raises Conflict when there is one of this name."""
        request = search_pb2.CreateCollectionRequest(name=name, title=title)
        with naming("search"):
            return (await unary(self._stub.CreateCollection(request, timeout=self._call_seconds))).collection

    async def delete_collection(self, name: str) -> int:
        """Remove a collection with its documents; how many there were. Raises NotFound."""
        request = search_pb2.DeleteCollectionRequest(name=name)
        with naming("search"):
            return (await unary(self._stub.DeleteCollection(request, timeout=self._upload_seconds))).documents

    async def find(self, query: str, *, as_of: str, pages: int, passages: int, seconds: float) -> WebFound:
        """Pages of the web for a query, within the given seconds."""
        request = search_pb2.SearchWebRequest(query=query, as_of=as_of, max_pages=pages, max_passages=passages)
        return web_found_from_wire(await self.search_web(request, seconds))

    async def keep(self, order: KeepOrder) -> tuple[Kept, ...]:
        """Tell which pages were useful; what becomes of each."""
        pages = [search_pb2.UsefulPage(document_id=p.document_id, url=p.url, score=p.score) for p in order.pages]
        request = search_pb2.KeepPagesRequest(query=order.query, provider=order.provider, pages=pages)
        return tuple(Kept(p.url, _STATES.get(p.state, ""), p.job_id) for p in await self.keep_pages(request))

    async def info(self) -> search_pb2.GetInfoResponse:
        """Limits and formats, at most a minute old."""
        now = time.monotonic()
        if self._info is None or now - self._info[0] > _INFO_SECONDS:
            with naming("search"):
                reply = await unary(self._stub.GetInfo(search_pb2.GetInfoRequest(), timeout=self._call_seconds))
            self._info = (now, reply)
        return self._info[1]

    async def close(self) -> None:
        """Close the channel."""
        await self._channel.close()


def web_found_from_wire(reply: search_pb2.SearchWebResponse) -> WebFound:
    """What a web search brought, as the core has it."""
    return WebFound(
        pages=tuple(_page_from_wire(page) for page in reply.pages),
        provider=reply.provider,
        cached=reply.cached,
        problems=tuple(_problem(problem) for problem in reply.problems),
        stages=dict(reply.timings),
    )


def _page_from_wire(page: search_pb2.WebPage) -> WebPage:
    return WebPage(
        document_id=page.document_id,
        url=page.canonical_url or page.url,
        passages=tuple(_passage_from_wire(page, selected) for selected in page.passages),
        trusted=page.trusted,
    )


def _passage_from_wire(page: search_pb2.WebPage, selected: search_pb2.WebPassage) -> Passage:
    fields = passage_fields(selected.passage, page.metadata)
    place = {"document_id": page.document_id, "title": fields["title"] or page.url, "uri": fields["uri"] or page.url}
    return Passage(
        **{**fields, **place},
        source="web",
        from_web=True,
        fetched=iso(page.fetched) if page.HasField("fetched") else "",
        suspicious=selected.suspicious,
    )


def _problem(problem: search_pb2.WebProblem) -> str:
    """One line: where, what kind, what happened."""
    return f"{problem.where}: {problem.message or problem.reason} ({problem.reason})"


class PageReader:
    """The pages of stored documents, for the agent."""

    def __init__(self, search: SearchClient) -> None:
        self._search = search

    async def read(self, document_id: str, page: int) -> DocumentPage:
        """A page. Raises NotFound."""
        found = await self._search.page(document_id, page)
        return DocumentPage(found.text, found.pages, found.metadata.published)


def _note_job(job: search_pb2.Job) -> search_pb2.Job:
    audit.note("jobs", job.id)
    return job
