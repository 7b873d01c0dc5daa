"""The steps of an attempt that only web pages need: fetch, read, and record."""

from __future__ import annotations

import asyncio
import dataclasses
import functools
import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any

import stamina
from quelea.common.v1 import common_pb2
from quelea_fintext.times.periods import ReportingPeriod
from quelea_kit.errors import Conflict, PermissionDenied, QueleaError
from quelea_kit.logging import get_logger
from quelea_kit.reach import id_in

from quelea_search import wire
from quelea_search.build import time_to_live
from quelea_search.core import records
from quelea_search.core.jobs import JobState, Lane, Stage
from quelea_search.core.model import Chunk, DocumentFacts
from quelea_search.core.statements.model import Fact
from quelea_search.core.web import page_source
from quelea_search.core.web import pages as web_pages
from quelea_search.core.web.errors import BadStatus, FetchFailed, PageTimeout
from quelea_search.core.web.model import Fetched, Validators
from quelea_search.core.web.pages import PageState, WebPage
from quelea_search.core.web.urls import host_of
from quelea_search.jobs.attempt import Attempt

log = get_logger(__name__)
_SERVER_FAULT = 500
_TOO_MANY = 429
_NOTE_SECONDS = 5.0
POSTPONE_SECONDS = 3600.0
"""A page that is being brought in, or could not be read again for a passing reason, is looked at after this."""


class Rejected(PermissionDenied):
    """The page was rejected or removed while its job was waiting."""

    reason = "REJECTED"


@dataclass(frozen=True, slots=True)
class Content:
    """What is indexed of a document, wherever it is from."""

    filename: str
    pages: Sequence[str]
    chunks: Sequence[Chunk]
    facts: DocumentFacts
    provenance: common_pb2.Provenance.ValueType
    fetched: float
    """Seconds since 1970."""
    statement_facts: Sequence[Fact] = ()
    web: dict[str, Any] = field(default_factory=dict)
    """Of a page of the web: what its record needs, kept with the document's pages."""


def is_passing(error: Exception) -> bool:
    """Whether another try to read a page may succeed."""
    if isinstance(error, BadStatus):
        status = error.details.get("status", "")
        return status.isdigit() and (int(status) >= _SERVER_FAULT or int(status) == _TOO_MANY)
    return isinstance(error, (PageTimeout, FetchFailed))


class WebPageJob:
    """Of one attempt at one page.

    Args:
        attempt: Whose job has a url.
    """

    def __init__(self, attempt: Attempt) -> None:
        self._attempt = attempt
        self._parts = attempt.parts
        self._ttl = time_to_live(attempt.settings)
        self._web: dict[str, Any] = {}
        self._renew: float = 0.0

    async def read(self) -> Content | None:
        """The page's passages; None when there is nothing to index: it has not changed, or the job waits its turn."""
        job, parts = self._attempt.job, self._parts
        await self.still_wanted()
        has_bytes = bool(job.page) and await asyncio.to_thread(parts.blobs.has_incoming, job.id)
        if not has_bytes and not await self._fetch():
            return None
        job = self._attempt.job
        source = page_source.decode(job.page)
        self._renew = source.fetched
        data = await asyncio.to_thread(parts.blobs.read_incoming, job.id)
        await self._attempt.report(stage=Stage.PARSE)
        document = await parts.reader.read_page(source.with_bytes(data), source.title, source.published)
        await self._attempt.report(stage=Stage.CHUNK, total=len(document.parsed.pages))
        given = wire.facts_of(wire.given_from_text(job.given))
        facts = _merge(given, document.facts)
        self._web = {
            "kind": document.kind,
            "published_source": "user" if given.published else document.published_source,
            "fetched": source.fetched,
            "etag": source.etag,
            "last_modified": source.last_modified,
            "title": facts.title,
            "published": facts.published,
        }
        return Content(
            filename=document.filename,
            pages=[page.text for page in document.parsed.pages],
            chunks=document.chunks,
            facts=facts,
            provenance=common_pb2.PROVENANCE_WEB,
            fetched=source.fetched,
            statement_facts=document.statement_facts,
            web=self._web,
        )

    async def still_wanted(self) -> None:
        """Rejected when the page is to leave the knowledge base."""
        if await self._attempt.essential(self._parts.pages.is_leaving, self._attempt.job.uri):
            raise Rejected("The page was rejected or removed while its job was waiting.")

    async def _fetch(self) -> bool:
        """Store the page's bytes with the job; False when there is nothing to do with them now."""
        attempt, parts, job = self._attempt, self._parts, self._attempt.job
        known = await attempt.essential(parts.pages.find, job.uri)
        stored = await self._stored(known)
        validators = Validators(known.etag, known.last_modified) if known and stored else None
        page = await self._get(job.url, validators)
        self._renew = page.fetched
        document_id, uri, text = known.document_id if known else "", job.uri, ""
        if not page.not_modified:
            document_id = id_in(job.place, await asyncio.to_thread(self._keep_bytes, job.id, page))
            # A page that is read again keeps the name under which it is stored, wherever it leads by now.
            uri = job.uri if job.lane is Lane.REREAD else page.canonical_url
            text = records.encode(page_source.source_of(page))
        take = functools.partial(parts.store.take_id, job, document_id=document_id, uri=uri, page=text)
        taken = await attempt.essential(take)
        attempt.job = taken
        if taken.state is not JobState.RUNNING:
            attempt.ending = True
            log.info("job_waits_its_turn", job=job.id, document=document_id, uri=uri)
        if uri != job.uri:
            await asyncio.to_thread(parts.wake_next, job.name)
        if taken.state is not JobState.RUNNING or page.not_modified:
            return False
        await self.still_wanted()
        return True

    async def _stored(self, known: WebPage | None) -> bool:
        """Whether the version that is remembered is in the index, under the page's name."""
        if known is None or not known.indexed or not known.document_id:
            return False
        found = await self._attempt.patiently(lambda: self._parts.retriever.get(known.document_id))
        return found is not None and found.metadata.uri == self._attempt.job.uri

    async def _get(self, url: str, validators: Validators | None) -> Fetched:
        async for attempt in stamina.retry_context(
            on=is_passing, attempts=self._attempt.settings.max_attempts, wait_initial=0.5, wait_max=5.0, wait_jitter=1.0
        ):
            with attempt:
                if attempt.num > 1:
                    await self._attempt.report(note=f"attempt {attempt.num} to read the page")
                return await self._parts.fetcher.fetch(url, validators)
        raise AssertionError("retry_context ends with a result or an error")

    def _keep_bytes(self, job_id: str, page: Fetched) -> str:
        upload = self._parts.blobs.upload(job_id)
        try:
            upload.write(page.data)
            return upload.commit()
        except BaseException:
            upload.abort()
            raise

    # -- what is remembered ----------------------------------------------------------------------------------------

    async def remember(self, *, unchanged: bool) -> None:
        """The page is in the knowledge base: its record says so, and both know when it was read."""
        attempt, parts, job = self._attempt, self._parts, self._attempt.job
        if unchanged and self._renew:
            await self._renew_document(job.document_id, self._renew)
        web = self._web
        if not web and job.page:  # the attempt before died after its commit
            header = await asyncio.to_thread(parts.blobs.header, job.document_id, stored=True)
            web = (header or {}).get("web", {})
        if await attempt.essential(parts.pages.is_leaving, job.uri):
            return  # whoever takes it out waits for this job, and removes what it has brought in

        def write(page: WebPage | None) -> WebPage | None:
            if page is not None and page.state is PageState.REJECTED:
                return None
            if not web:
                return web_pages.renew(page, now=self._renew or time.time(), ttl=self._ttl) if page else None
            return web_pages.keep(
                page,
                web_pages.PageContent(**web),
                url=job.uri,
                host=host_of(job.uri),
                now=time.time(),
                ttl=self._ttl,
                document_id=job.document_id,
                collection=job.collection,
            )

        await attempt.essential(parts.pages.update, job.uri, write)

    async def _renew_document(self, document_id: str, fetched: float) -> None:
        """The stored document was read again just now, and is the same."""
        retriever = self._parts.retriever
        document = await self._attempt.patiently(lambda: retriever.get(document_id))
        if document is None or document.metadata.uri != self._attempt.job.uri:
            return
        if document.fetched.ToNanoseconds() / 1e9 >= fetched:
            return
        document.fetched.CopyFrom(wire.stamp(fetched))
        try:
            await self._attempt.patiently(lambda: retriever.upsert(document, [], commit=True))
        except Conflict:  # somebody has just deleted it
            log.warning("document_not_renewed", document=document_id)

    async def note_failure(self, reason: str, *, passing: bool, status: str) -> None:
        """Tell the page's record that this attempt has ended without it; a Redis that is away does not matter."""
        job = self._attempt.job
        now = time.time()

        def write(page: WebPage | None) -> WebPage | None:
            if page is None:
                return None
            if page.indexed:
                if reason == "GONE":
                    today = datetime.fromtimestamp(now, UTC).date().isoformat()
                    return web_pages.mark_vanished(page, now=now, ttl=self._ttl, status=status or "404", today=today)
                after = POSTPONE_SECONDS if passing else self._ttl.of(page.kind)
                return web_pages.postpone(page, now=now, seconds=after) if page.due else page
            return web_pages.mark_failed(page, job_id=job.id, reason=reason)

        try:
            async with asyncio.timeout(_NOTE_SECONDS):
                await asyncio.to_thread(self._parts.pages.update, job.uri, write)
        except (QueleaError, TimeoutError) as error:
            log.warning("page_not_noted", job=job.id, why=str(error))


def _merge(given: DocumentFacts, found: DocumentFacts) -> DocumentFacts:
    """What the user says wins over what the page says."""
    said = {
        item.name: value
        for item in dataclasses.fields(DocumentFacts)
        if (value := getattr(given, item.name)) and value != ReportingPeriod()
    }
    return dataclasses.replace(found, **said)
