"""Approves, rejects and rolls back web pages."""

from __future__ import annotations

import asyncio
import time
import uuid
from enum import StrEnum

from quelea_kit import reach
from quelea_kit.errors import Conflict, InvalidInput, Overloaded, QueleaError
from quelea_kit.logging import get_logger
from quelea_kit.paging import Position
from quelea_kit.reach import Reach, place_of, within

from quelea_search.adapters.retriever import Retriever
from quelea_search.adapters.web_pages_redis import Removal, WebPages
from quelea_search.components import Components
from quelea_search.core.jobs import Job, document_name
from quelea_search.core.web.pages import PageFilter, PageState, WebPage
from quelea_search.core.web.urls import host_matches
from quelea_search.web.refresh import Refresh

log = get_logger(__name__)
MAX_DECIDED = 10_000
_REMOVAL_SECONDS = 20.0
_LOOK_SECONDS = 0.1


class Decision(StrEnum):
    """What is to become of pages."""

    APPROVE = "approve"
    REJECT = "reject"
    ROLL_BACK = "roll back"


class Removals:
    """Takes pages out of the knowledge base whose removal has been noted. Any process may do it, at any time again."""

    def __init__(self, shared: Components, retriever: Retriever) -> None:
        self._shared = shared
        self._retriever = retriever

    async def all(self) -> list[str]:
        """Do what can be done now, of the tenant that calls; the addresses of the pages that have to wait."""
        return [
            removal.canonical_url
            for removal in await asyncio.to_thread(self._shared.pages.removals)
            if not await self._one(removal)
        ]

    async def of_all_tenants(self) -> None:
        """Do what can be done now."""
        for tenant in await asyncio.to_thread(self._shared.pages.tenants):
            with within(Reach(tenant)):
                await self.all()

    async def _one(self, removal: Removal) -> bool:
        url, name = removal.canonical_url, _name(removal)
        # Its job sees that it is not wanted any more, and ends.
        if await asyncio.to_thread(self._shared.store.next_in_line, name) is not None:
            return False
        found = {removal.document_id, await asyncio.to_thread(self._shared.ledger.stored_under, name)}
        for document_id in found - {""}:
            try:
                await self._remove(removal, document_id)
            except Conflict:  # another job is at the same bytes
                return False
        await asyncio.to_thread(self._shared.pages.taken_out, removal)
        log.info("page_taken_out", url=url, documents=sorted(found - {""}))
        return True

    async def _remove(self, removal: Removal, document_id: str) -> None:
        url = removal.canonical_url
        token = f"take out {url} {uuid.uuid4().hex}"
        await asyncio.to_thread(self._shared.ledger.hold, document_id, token)
        try:
            if not await asyncio.to_thread(self._shared.pages.is_noted, removal):
                return
            document = await self._retriever.get(document_id)
            # The same bytes may also have come in under another name, which stays.
            if document is None or document.metadata.uri == url:
                await self._retriever.delete(document_id)
                await asyncio.to_thread(self._shared.blobs.delete_document, document_id)
            await asyncio.to_thread(self._shared.ledger.forget_under, _name(removal), document_id)
        finally:
            await asyncio.to_thread(self._shared.ledger.release, document_id, token)


def _name(removal: Removal) -> str:
    return document_name("", removal.canonical_url, place_of(reach.current().tenant, removal.collection))


class PageReview:
    """Decisions over pages that a filter names.

    Args:
        pages: The records.
        refresh: Makes jobs of approved pages.
        removals: Takes rejected ones out.
    """

    def __init__(self, pages: WebPages, refresh: Refresh, removals: Removals) -> None:
        self._pages = pages
        self._refresh = refresh
        self._removals = removals

    async def select(
        self, wanted: PageFilter, page_size: int, after: Position | None = None
    ) -> tuple[list[WebPage], int, Position | None]:
        """As `WebPages.select`, with the hosts of the filter."""
        return await asyncio.to_thread(
            self._pages.select, wanted, lambda host: host_matches(host, wanted.hosts), page_size, after
        )

    async def decide(self, wanted: PageFilter, decision: Decision) -> tuple[list[WebPage], list[Job]]:
        """Approve, reject or roll back. A decision that was interrupted can be made again.

        Returns:
            The records of the pages that it was about, and the jobs that an approval started.

        Raises:
            InvalidInput: The filter is empty, or passes more than MAX_DECIDED pages.
            Conflict: Some pages are just being taken out, so they cannot be approved yet.
            Overloaded: The lane is full; the pages before are approved.
        """
        if wanted.empty:
            raise InvalidInput("Select pages by urls, hosts, states, or the time at which they were added.")
        found, total, _ = await self.select(wanted, MAX_DECIDED)
        if total > len(found):
            raise InvalidInput(f"The filter selects {total} pages; the limit is {MAX_DECIDED}.")
        if decision is Decision.APPROVE:
            return await self._approve(found)
        return await self._take_out(wanted, found, decision), []

    async def _approve(self, found: list[WebPage]) -> tuple[list[WebPage], list[Job]]:
        records: list[WebPage] = []
        jobs: list[Job] = []
        leaving: list[str] = await self._finish({page.canonical_url for page in found})
        for page in found:
            if page.canonical_url in leaving:
                continue
            try:
                record, job = await asyncio.to_thread(self._refresh.approve, page)
            except Overloaded as error:
                if not records:
                    raise
                error.message = f"{len(records)} of {len(found)} pages are approved. {error.message}"
                raise
            records.append(record)
            if job is not None:
                jobs.append(job)
        if leaving:
            raise Conflict(
                f"{len(leaving)} pages are being removed ({leaving[0]} …); approve them again in a moment. "
                f"The other {len(records)} are approved."
            )
        return records, jobs

    async def _take_out(self, wanted: PageFilter, found: list[WebPage], decision: Decision) -> list[WebPage]:
        reject = decision is Decision.REJECT
        reason = f"rejected {time.strftime('%Y-%m-%d', time.gmtime())}"
        records: list[WebPage] = []
        for page in found:
            if reject and page.state is PageState.REJECTED:
                records.append(page)
                continue
            record = await asyncio.to_thread(self._pages.take_out, page.canonical_url, reject=reject, reason=reason)
            if record is not None:
                records.append(record)
        left = await self._finish({page.canonical_url for page in found} | wanted.urls)
        if left:
            log.info("removals_go_on", waiting=len(left))
        return records

    async def _finish(self, urls: set[str]) -> list[str]:
        """Take out what has been noted, for a while; what is left is done by the server in the background."""
        end = time.monotonic() + _REMOVAL_SECONDS
        while True:
            try:
                left = [url for url in await self._removals.all() if url in urls]
            except QueleaError as error:
                log.warning("removal_failed", why=error.message)
                noted = await asyncio.to_thread(self._pages.removals)
                left = [removal.canonical_url for removal in noted if removal.canonical_url in urls]
            if not left or time.monotonic() > end:
                return left
            await asyncio.sleep(_LOOK_SECONDS)
