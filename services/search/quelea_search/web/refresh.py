"""Turns web pages into documents: useful pages, pages that users submit, pages due for a refresh."""

from __future__ import annotations

import asyncio
import dataclasses
import time
import uuid
from collections.abc import Sequence
from dataclasses import dataclass

from quelea.common.v1 import common_pb2
from quelea_kit import reach
from quelea_kit.errors import Conflict, InvalidInput, Overloaded, Unavailable
from quelea_kit.logging import get_logger
from quelea_kit.reach import DEFAULT_COLLECTION, Reach, id_in, place_of, within

from quelea_search import wire
from quelea_search.adapters.page_cache import CachedPage, PageCache
from quelea_search.components import Components
from quelea_search.core import records
from quelea_search.core.jobs import Job, Lane
from quelea_search.core.web import pages as web_pages
from quelea_search.core.web.page_source import PageSource, name_of, provisional_id
from quelea_search.core.web.pages import PageState, Use, WebPage
from quelea_search.core.web.urls import canonical, host_matches, host_of
from quelea_search.web.page_job import POSTPONE_SECONDS

log = get_logger(__name__)
_URI_CHARACTERS = 2048
_MAX_PAGES = 100
_QUERY_CHARACTERS = 4000


@dataclass(frozen=True, slots=True)
class Useful:
    """A page that was useful for an answer."""

    document_id: str
    url: str
    score: float


@dataclass(frozen=True, slots=True)
class Kept:
    """What became of it."""

    url: str
    state: PageState
    job_id: str


class Refresh:
    """Makes jobs of pages, and remembers why.

    Args:
        shared: The parts of all.
        cache: What is known of pages that were read for an answer.
    """

    def __init__(self, shared: Components, cache: PageCache) -> None:
        self._shared = shared
        self._cache = cache

    def check_web(self) -> None:
        """Conflict unless this deployment may use the web."""
        if not self._shared.settings.web:
            raise Conflict("Web search is off; set QUELEA_SEARCH_WEB=true for the search service.")

    async def check_disk(self) -> None:
        """DiskFull while the disk takes nothing new."""
        await asyncio.to_thread(self._shared.check_disk)

    async def keep(self, query: str, provider: str, useful: Sequence[Useful]) -> list[Kept]:
        """Take note of useful pages; those that need not wait become jobs. Calling it again changes nothing more.

        Raises:
            Conflict: This deployment has no web.
            InvalidInput: No query, too many pages, or an address that is none.
            Overloaded: The lane is full; the pages before are noted.
        """
        self.check_web()
        if not query.strip():
            raise InvalidInput("question is required: the one for which the pages were useful.")
        if len(useful) > _MAX_PAGES:
            raise InvalidInput(f"pages has {len(useful)} items; the limit is {_MAX_PAGES}.")
        addresses = [canonical(page.url) for page in useful]
        return [
            await asyncio.to_thread(self._keep, query[:_QUERY_CHARACTERS], provider, page, url)
            for page, url in zip(useful, addresses, strict=True)
        ]

    def _keep(self, query: str, provider: str, page: Useful, url: str) -> Kept:
        cached = self._cache.get(page.document_id)
        url = cached.canonical_url if cached else url
        host = host_of(url)
        if self._shared.pages.is_leaving(url):
            return Kept(page.url, PageState.REJECTED, "")
        metadata = self._metadata(page.document_id) if cached else common_pb2.DocumentMetadata()
        use = Use(
            query=query,
            provider=provider,
            score=page.score,
            document_id=cached.document_id if cached else "",
            now=time.time(),
            title=cached.title if cached else "",
            published=metadata.published,
            published_source=cached.published_source if cached else "",
            kind=cached.kind if cached else "page",
            fetched=cached.fetched if cached else 0.0,
        )
        wanted = False

        def write(before: WebPage | None) -> WebPage:
            nonlocal wanted
            after, wanted = web_pages.record_use(before, use, url=url, host=host, trusted=self._trusted(host))
            # Until its job has ended it is looked at again soon: should the job never come to be, the look makes it.
            return web_pages.postpone(after, now=use.now, seconds=POSTPONE_SECONDS) if wanted else after

        record = self._shared.pages.update(url, write)
        if record is None:  # it cannot be: write always gives a record
            raise Unavailable("The page could not be recorded; try again.")
        job_id = self._bring_in(url, Lane.REFRESH, cached=cached).id if wanted else ""
        return Kept(page.url, record.state, job_id)

    def _trusted(self, host: str) -> str:
        if host_matches(host, self._shared.settings.allow_hosts):
            return "host on the allow-list"
        return "" if self._shared.settings.quarantine else "quarantine off"

    def _metadata(self, document_id: str) -> common_pb2.DocumentMetadata:
        header = self._shared.blobs.header(document_id)
        return wire.metadata_from_dict(header["metadata"]) if header else common_pb2.DocumentMetadata()

    async def submit_url(self, url: str, metadata: common_pb2.DocumentMetadata) -> Job:
        """Have a page fetched and made a document.

        Args:
            url: Checked by the caller: an address that may be read.
            metadata: What the user says of it.

        Raises:
            Conflict: No web, or the page was rejected.
            InvalidInput: Not an address of a page, one that is too long, or a day that does not exist.
            Overloaded: Too many jobs are waiting.
        """
        self.check_web()
        wire.check_days(metadata)
        address = canonical(url)
        if len(address) > _URI_CHARACTERS:
            raise InvalidInput(f"The address has more than {_URI_CHARACTERS} characters.")
        if await asyncio.to_thread(self._shared.pages.is_leaving, address):
            raise Conflict(f"{address} was rejected; approve it before you submit it.")
        given = wire.given_to_text(metadata)
        collection = metadata.collection or DEFAULT_COLLECTION
        await asyncio.to_thread(self._shared.collections.check, collection)
        return await asyncio.to_thread(self._bring_in, address, Lane.UPLOAD, given=given, collection=collection)

    def approve(self, page: WebPage) -> tuple[WebPage, Job | None]:
        """A page enters the knowledge base; nothing happens to one that is in it."""
        now = time.time()

        def write(before: WebPage | None) -> WebPage | None:
            if before is None or before.indexed:
                return None
            kept = before if before.state is PageState.KEPT else dataclasses.replace(before, reason="approved")
            return dataclasses.replace(kept, state=PageState.KEPT, due=now + POSTPONE_SECONDS)

        record = self._shared.pages.update(page.canonical_url, write)
        if record is None or record.indexed:
            return record or page, None
        cached = self._cache.get(record.document_id) if record.document_id else None
        if cached is not None and cached.canonical_url != record.canonical_url:
            cached = None  # the same bytes were read at another address since
        job = self._bring_in(record.canonical_url, Lane.REFRESH, cached=cached, collection=record.collection)
        return self._shared.pages.find(page.canonical_url) or record, job

    def look(self) -> list[Job]:
        """Queue the pages whose time to live has run out; only one of several callers does."""
        settings = self._shared.settings
        if not settings.web or not self._shared.ledger.first("look", settings.reread_seconds / 2):
            return []
        jobs: list[Job] = []
        for tenant in self._shared.pages.tenants():
            with within(Reach(tenant)):
                jobs += self._look()
        log.info("looked_for_expired_pages", queued=len(jobs))
        return jobs

    def _look(self) -> list[Job]:
        """Of the tenant that calls."""
        settings, jobs = self._shared.settings, list[Job]()
        for page in self._shared.pages.due(settings.rereads_per_look):
            try:
                job = self._bring_in(page.canonical_url, Lane.REREAD, collection=page.collection)
            except Overloaded as error:
                log.warning("look_ends_early", why=error.message, queued=len(jobs))
                break
            jobs.append(job)

            def later(before: WebPage | None) -> WebPage | None:
                return web_pages.postpone(before, now=time.time(), seconds=POSTPONE_SECONDS) if before else None

            self._shared.pages.update(page.canonical_url, later)
        return jobs

    def _bring_in(
        self,
        url: str,
        lane: Lane,
        *,
        given: str = "",
        cached: CachedPage | None = None,
        collection: str = DEFAULT_COLLECTION,
    ) -> Job:
        """A job for a page, from the bytes that were read for an answer where they are still there."""
        job_id, now, tenant = uuid.uuid4().hex, time.time(), reach.current().tenant
        place = place_of(tenant, collection)
        data = self._shared.blobs.cached_original(cached.document_id) if cached else None
        document_id, page, name = id_in(place, provisional_id(url)), "", name_of(url)
        if cached is not None and data is not None:
            upload = self._shared.blobs.upload(job_id)
            upload.write(data)
            document_id, name = id_in(place, upload.commit()), cached.filename
            page = records.encode(_source(cached, self._metadata(cached.document_id)))
        new = Job(
            id=job_id,
            filename=name,
            document_id=document_id,
            uri=url,
            created=now,
            updated=now,
            given=given,
            lane=lane,
            url=cached.url if cached else url,
            page=page,
            tenant=tenant,
            collection=collection,
        )
        try:
            job = self._shared.store.submit(new, stored_pages=None, max_queued=self._shared.settings.max_queued_jobs)
        except Overloaded:  # after Unavailable the record may be there all the same, and its job needs the bytes
            if page:
                self._shared.blobs.delete_incoming(job_id)
            raise
        if lane is not Lane.UPLOAD:
            self._shared.pages.update(
                url, lambda before: dataclasses.replace(before, job_id=job.id) if before else None
            )
        if job.id != job_id:
            if page:
                self._shared.blobs.delete_incoming(job_id)
            return job
        try:
            self._shared.send(job)
        except Unavailable as error:
            # The record is safe, and the reaper sends a message for it.
            log.warning("message_not_sent", job=job_id, why=error.message)
        return job


def _source(page: CachedPage, metadata: common_pb2.DocumentMetadata) -> PageSource:
    return PageSource(
        url=page.url,
        final_url=page.url,
        canonical_url=page.canonical_url,
        media_type=page.media_type,
        charset=page.charset,
        fetched=page.fetched,
        etag=page.etag,
        last_modified=page.last_modified,
        title=page.title,
        published=metadata.published if page.published_source == "provider" else "",
    )
