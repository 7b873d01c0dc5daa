"""The web half of search, in memory."""

from __future__ import annotations

import asyncio
import uuid
from typing import Any
from urllib.parse import urlsplit

from google.protobuf.timestamp_pb2 import Timestamp
from quelea.search.v1 import search_pb2, search_pb2_grpc
from quelea_fintext.text import terms
from quelea_kit.errors import Conflict, InvalidInput, NotFound
from quelea_kit.paging import page_of

from quelea_gateway.adapters.services.fake_documents import Stored
from quelea_gateway.adapters.services.fake_world import World, noting, score

_DECISIONS = {
    search_pb2.WEB_DECISION_APPROVE: search_pb2.WEB_PAGE_STATE_KEPT,
    search_pb2.WEB_DECISION_REJECT: search_pb2.WEB_PAGE_STATE_REJECTED,
}


def now() -> Timestamp:
    """The time as the wire has it."""
    stamp = Timestamp()
    stamp.GetCurrentTime()
    return stamp


class FakeWeb(search_pb2_grpc.SearchServiceServicer):
    """A web of a few pages; useful ones of trusted hosts become documents at once."""

    _world: World

    async def SearchWeb(  # noqa: N802  # the wire's name
        self, request: search_pb2.SearchWebRequest, context: Any
    ) -> search_pb2.SearchWebResponse:
        """The pages that share words with the query."""
        world = self._world
        world.web_searches.append(request)
        if not world.web_providers:
            raise Conflict("This deployment has no web.")
        if world.web_error:
            raise world.web_error
        async with noting(world, "SearchWeb"):
            if world.web_hangs:
                await asyncio.sleep(3600)
        query = set(terms(request.query))
        pages = [
            self._page(page, query)
            for page in world.web_pages
            if score(query, page.pages[0]) > 0.2 and not page.metadata.published > request.as_of
        ]
        return search_pb2.SearchWebResponse(
            pages=pages[: request.max_pages or 5],
            problems=world.web_problems,
            provider=world.web_providers[0],
            searched=now(),
            timings={"provider": 4.0, "fetch": 3.0, "parse": 2.0, "select": 1.0},
        )

    def _page(self, page: Stored, query: set[str]) -> search_pb2.WebPage:
        return search_pb2.WebPage(
            document_id=page.id,
            url=page.metadata.uri,
            canonical_url=page.metadata.uri,
            metadata=page.metadata,
            published_source="page",
            fetched=now(),
            pages=len(page.pages),
            passages=[
                search_pb2.WebPassage(
                    passage=passage, suspicious="gnore your" in passage.text, coverage=score(query, passage.text)
                )
                for passage in page.passages()
            ],
            trusted=urlsplit(page.metadata.uri).hostname in self._world.trusted_hosts,
        )

    async def KeepPages(  # noqa: N802  # the wire's name
        self, request: search_pb2.KeepPagesRequest, context: Any
    ) -> search_pb2.KeepPagesResponse:
        """Documents at once, or waiting."""
        world = self._world
        world.keep_requests.append(request)
        if world.keep_error:
            raise world.keep_error
        async with noting(world, "KeepPages"):
            if world.keep_hangs:
                await asyncio.sleep(3600)
        return search_pb2.KeepPagesResponse(pages=[self._keep(page, request.query) for page in request.pages])

    def _keep(self, page: search_pb2.UsefulPage, query: str) -> search_pb2.KeptPage:
        world, host = self._world, urlsplit(page.url).hostname or ""
        record = world.records.setdefault(
            page.url,
            search_pb2.WebPageRecord(
                canonical_url=page.url, host=host, document_id=page.document_id, score=page.score, added=now(),
                state=search_pb2.WEB_PAGE_STATE_PENDING,
            ),
        )  # fmt: skip
        record.queries.append(query)
        if host not in world.trusted_hosts:
            return search_pb2.KeptPage(url=page.url, state=record.state)
        return search_pb2.KeptPage(url=page.url, state=search_pb2.WEB_PAGE_STATE_KEPT, job_id=self._index(record))

    def _index(self, record: search_pb2.WebPageRecord) -> str:
        world = self._world
        record.state = search_pb2.WEB_PAGE_STATE_KEPT
        found = [page for page in world.web_pages if page.id == record.document_id]
        world.documents.update({page.id: page for page in found})
        job = search_pb2.Job(
            id=uuid.uuid4().hex, filename=record.canonical_url, state=search_pb2.JOB_STATE_SUCCEEDED, created=now(),
            document_id=record.document_id, lane=search_pb2.LANE_REFRESH, url=record.canonical_url,
        )  # fmt: skip
        world.jobs[job.id] = job
        return job.id

    async def SubmitUrl(  # noqa: N802  # the wire's name
        self, request: search_pb2.SubmitUrlRequest, context: Any
    ) -> search_pb2.SubmitUrlResponse:
        """A job; the page is a document at once when the fake web has it."""
        if not self._world.web_providers:
            raise Conflict("This deployment has no web.")
        url = urlsplit(request.url)
        if url.scheme not in ("http", "https") or not url.hostname:
            raise InvalidInput("The address is no http or https address.", details={"field": "url"})
        found = next((page for page in self._world.web_pages if page.metadata.uri == request.url), None)
        if found is not None:
            record = search_pb2.WebPageRecord(
                canonical_url=request.url, host=url.hostname, document_id=found.id, added=now()
            )
            self._world.records[request.url] = record
            return search_pb2.SubmitUrlResponse(job=self._world.jobs[self._index(record)])
        job = search_pb2.Job(
            id=uuid.uuid4().hex, filename=request.url[:200], state=search_pb2.JOB_STATE_FAILED, created=now(),
            lane=search_pb2.LANE_UPLOAD, url=request.url, error="The page is not there.", error_reason="GONE",
            replayable=True,
        )  # fmt: skip
        self._world.jobs[job.id] = job
        return search_pb2.SubmitUrlResponse(job=job)

    def _chosen(self, said: search_pb2.WebPageFilter) -> list[search_pb2.WebPageRecord]:
        return [
            record
            for url, record in self._world.records.items()
            if (not said.urls or url in said.urls)
            and (not said.hosts or record.host in said.hosts)
            and (not said.states or record.state in said.states)
            and (not said.HasField("added_from") or record.added.ToNanoseconds() >= said.added_from.ToNanoseconds())
            and (not said.HasField("added_to") or record.added.ToNanoseconds() <= said.added_to.ToNanoseconds())
        ]

    async def ListWebPages(  # noqa: N802  # the wire's name
        self, request: search_pb2.ListWebPagesRequest, context: Any
    ) -> search_pb2.ListWebPagesResponse:
        """Newest first."""
        found = self._chosen(request.filter)[::-1]
        page, token = page_of(found, lambda one: one.canonical_url, request.page_size or 100, request.page_token)
        return search_pb2.ListWebPagesResponse(pages=page, total=len(found), next_page_token=token)

    async def DecideWebPages(  # noqa: N802  # the wire's name
        self, request: search_pb2.DecideWebPagesRequest, context: Any
    ) -> search_pb2.DecideWebPagesResponse:
        """Approve, reject, roll back."""
        if not request.filter.ByteSize():
            raise InvalidInput("Say which pages: the filter is empty.")
        chosen = self._chosen(request.filter)
        jobs = []
        for record in chosen:
            if request.decision == search_pb2.WEB_DECISION_APPROVE:
                jobs.append(self._index(record))
                continue
            self._world.documents.pop(record.document_id, None)
            record.state = _DECISIONS.get(request.decision, record.state)
            if request.decision == search_pb2.WEB_DECISION_ROLL_BACK:
                del self._world.records[record.canonical_url]
        return search_pb2.DecideWebPagesResponse(pages=chosen, job_ids=jobs)

    async def ReplayJobs(  # noqa: N802  # the wire's name
        self, request: search_pb2.ReplayJobsRequest, context: Any
    ) -> search_pb2.ReplayJobsResponse:
        """Queued once more."""
        jobs = self._world.jobs
        for job_id in request.ids:
            if job_id not in jobs:
                raise NotFound(f"There is no job {job_id[:64]!r}.")
            if not jobs[job_id].replayable:
                raise Conflict(f"The job {job_id[:64]!r} cannot be replayed.")
        chosen = [job for job in jobs.values() if job.replayable and (not request.ids or job.id in request.ids)]
        for job in chosen:
            job.state, job.replayable, job.error, job.error_reason = search_pb2.JOB_STATE_QUEUED, False, "", ""
        return search_pb2.ReplayJobsResponse(jobs=chosen)
