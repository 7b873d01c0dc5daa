"""Finds what a company has filed, and makes a job of every document that is not stored."""

from __future__ import annotations

import asyncio
import hashlib
import time
import uuid
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import UTC, date, datetime

from quelea.common.v1 import common_pb2
from quelea_kit import reach
from quelea_kit.errors import Conflict, DeadlineExceeded, NotFound, Overloaded, Unavailable
from quelea_kit.logging import get_logger
from quelea_kit.reach import bound_id, id_in, place_of

from quelea_search import wire
from quelea_search.adapters.retriever import Retriever
from quelea_search.components import Components
from quelea_search.core import records
from quelea_search.core.jobs import Job, Lane
from quelea_search.core.web.page_source import provisional_id
from quelea_search.filings.adapters.door import Door, NotRecorded, Session
from quelea_search.filings.adapters.edgar_index import read_index
from quelea_search.filings.core import cninfo, edgar
from quelea_search.filings.core.company_match import CompanyNames
from quelea_search.filings.core.forms import REPORTS, WITH_EXHIBITS, cik, stock_code
from quelea_search.filings.core.model import (
    PLACES,
    Company,
    Filing,
    NothingFiled,
    Source,
    Span,
    Wanted,
    no_such_company,
    years_back,
)
from quelea_search.filings.order import FilingOrder

log = get_logger(__name__)
_LOOKUPS = 8
"""Questions to the retriever at once."""
_MORE_CALLS = 20
"""Of a session beside one for each document: lists, and pages of announcements."""
_OFFERED = 10
"""A recording with at most so many companies offers them all."""
_MOST_PAGES = 10
"""Of one kind of announcement; each has thirty."""


@dataclass(frozen=True, slots=True)
class Found:
    """One document, and what becomes of it."""

    filing: Filing
    document_id: str = ""
    """Where it is stored already."""
    job: Job | None = None
    """Else the job that brings it in."""


@dataclass(frozen=True, slots=True)
class Fetched:
    """What a fetch found and started."""

    run_id: str
    """Under which the door keeps its calls."""
    company: Company
    span: Span
    filings: tuple[Found, ...]
    """Newest first."""
    left_out: int
    """Older documents beyond filings_per_fetch."""


class FilingFetch:
    """Fetches filings; one for each process.

    Args:
        shared: The parts of all.
        retriever: Says whether a document is still stored.
        door: The way to the sources; None: filings are not fetched here.
        today: The day (UTC) up to which filings are looked for.
    """

    def __init__(
        self,
        shared: Components,
        retriever: Retriever,
        door: Door | None,
        today: Callable[[], date] = lambda: datetime.now(UTC).date(),
    ) -> None:
        self._shared = shared
        self._retriever = retriever
        self._door = door
        self._today = today
        self._names: dict[Source, tuple[bytes, CompanyNames]] = {}

    @property
    def years(self) -> int:
        """Years back that a fetch reaches when it does not say."""
        return self._shared.settings.filings_years

    @property
    def sources(self) -> list[str]:
        """Those that are asked for new filings; empty where only recordings are replayed, or nothing."""
        if self._door is None:
            return []
        return [source.value for source in Source if source is Source.CNINFO or self._shared.settings.filings_contact]

    async def fetch(self, wanted: Wanted, lane: Lane = Lane.UPLOAD) -> Fetched:
        """Look a company's filings up and queue those that are not stored. Calling it again queues nothing twice.

        Raises:
            Conflict: Filings are not fetched here, or the SEC would refuse calls without a contact, or the door does.
            NotFound: No such collection, company (with suggestions) or filing, or nothing of it in the recording.
            Overloaded: The queue is full, or a budget is used up.
            Unavailable, DeadlineExceeded: The door or the source does not answer.
        """
        settings = self._shared.settings
        door = self._door
        if door is None:
            raise Conflict(
                "Fetching filings is off; start Quelea with `quelea up --fetch`, or set "
                "QUELEA_SEARCH_FILINGS_DOOR and QUELEA_SEARCH_FILINGS_DOOR_DATA.",
                details={"setting": "QUELEA_SEARCH_FILINGS_DOOR"},
            )
        if wanted.source is Source.EDGAR and not wanted.bundle_ids and not settings.filings_contact:
            raise Conflict(
                "The SEC asks every caller for a contact: set QUELEA_SEARCH_FILINGS_CONTACT to a name and a mail "
                'address, such as "Example Ltd admin@example.com", and start the search service again.',
                details={"setting": "QUELEA_SEARCH_FILINGS_CONTACT"},
            )
        await asyncio.to_thread(self._shared.collections.check, wanted.collection)
        await asyncio.to_thread(self._shared.check_disk)
        run_id = f"fetch-{bound_id(reach.current().tenant, uuid.uuid4().hex)}"
        seconds, calls = settings.filings_list_seconds, settings.filings_per_fetch + _MORE_CALLS
        try:
            async with asyncio.timeout(seconds):
                today = await door.recorded_day(wanted.bundle_ids) if wanted.bundle_ids else self._today()
                span = years_back(today, wanted.years)
                async with door.session(run_id, wanted.bundle_ids, seconds=seconds, calls=calls) as session:
                    look = self._edgar if wanted.source is Source.EDGAR else self._cninfo
                    company, filings = await look(session, wanted, span)
        except TimeoutError:
            raise DeadlineExceeded(
                f"The filings of {wanted.company[:80]!r} could not be listed within {seconds:g} s; ask for fewer "
                "years or forms, or try again later.",
                details={"behind": wanted.source.value},
            ) from None
        except NotRecorded as error:
            raise NotRecorded(
                f"The recording does not have what a fetch of {wanted.company[:80]!r} asks {PLACES[wanted.source]} "
                "for: it answers only for the companies, forms and years that it was made of."
            ) from error
        filings.sort(key=lambda filing: (filing.filed, filing.accession), reverse=True)
        most = settings.filings_per_fetch
        found = await self._queue(filings[:most], company, wanted, run_id, lane)
        return Fetched(run_id, company, span, tuple(found), max(0, len(filings) - most))

    async def names(self, source: Source, data: bytes, read: Callable[[bytes], list[Company]]) -> CompanyNames:
        """The companies of a source's list; read once for as long as the list is the same."""
        digest = hashlib.sha256(data).digest()
        known = self._names.get(source)
        if known is None or known[0] != digest:
            known = (digest, await asyncio.to_thread(lambda: CompanyNames(read(data))))
            self._names[source] = known
        return known[1]

    @staticmethod
    async def _near(names: CompanyNames, wanted: Wanted) -> Sequence[Company]:
        """Whom to offer in place of a company that is not there; of a small recording all that it has."""
        if wanted.bundle_ids and len(names.companies) <= _OFFERED:
            return names.companies
        return await asyncio.to_thread(names.nearest, wanted.company)

    # -- EDGAR -----------------------------------------------------------------------------------------------------

    async def _edgar(self, session: Session, wanted: Wanted, span: Span) -> tuple[Company, list[Filing]]:
        number = cik(wanted.company)
        if not number:
            names = await self.names(Source.EDGAR, await session.get(edgar.TICKERS_CALL), edgar.read_tickers)
            known = names.find(wanted.company)
            if known is None:
                raise no_such_company(wanted.company, wanted, await self._near(names, wanted))
            number = known.id
        call = edgar.submissions(number)
        try:
            data = await session.get(call)
        except NotFound as error:
            if error.reason == NotFound.reason and cik(wanted.company):
                raise no_such_company(wanted.company, wanted, ()) from error
            raise
        company, filings, older = edgar.read_submissions(data, call.url)
        for more, days in older[: edgar.MOST_OLDER]:
            if days.last >= span.first:
                filings += edgar.read_older(await session.get(more), more.url, company)
        of_form = [filing for filing in filings if edgar.is_wanted(filing, wanted.forms)]
        in_span = [filing for filing in of_form if span.has(filing.filed)]
        if not in_span:
            raise _nothing(company, wanted, span, of_form)
        in_span.sort(key=lambda filing: filing.filed, reverse=True)
        exhibits: list[Filing] = []
        for filing in in_span[: self._shared.settings.filings_per_fetch]:
            if filing.form.removesuffix("/A") in WITH_EXHIBITS:
                exhibits += read_index(await session.get(edgar.index_of(company, filing)), filing)
        return company, [*in_span, *exhibits]

    # -- cninfo ----------------------------------------------------------------------------------------------------

    async def _cninfo(self, session: Session, wanted: Wanted, span: Span) -> tuple[Company, list[Filing]]:
        names = await self.names(Source.CNINFO, await session.get(cninfo.STOCKS_CALL), cninfo.read_stocks)
        asked = stock_code(wanted.company) or wanted.company
        company = names.find(asked)
        if company is None:
            raise no_such_company(wanted.company, wanted, await self._near(names, wanted))
        filings: list[Filing] = []
        for report in wanted.forms:
            for page in range(1, _MOST_PAGES + 1):
                data = await session.get(cninfo.query(company, report, span, page))
                more, has_more = cninfo.read_announcements(data, company, report)
                filings += more
                if not has_more:
                    break
        if not filings:
            raise _nothing(company, wanted, span, ())
        return company, filings

    # -- jobs ------------------------------------------------------------------------------------------------------

    async def _queue(
        self, filings: Sequence[Filing], company: Company, wanted: Wanted, run_id: str, lane: Lane
    ) -> list[Found]:
        stored = await self._stored([filing.url for filing in filings], wanted.collection)
        found = []
        for filing in filings:
            if document_id := stored.get(filing.url):
                found.append(Found(filing, document_id=document_id))
                continue
            job = self._job(filing, company, wanted, run_id, lane)
            try:
                queued = await asyncio.to_thread(self._submit, job)
            except Overloaded:
                if not found:
                    raise
                log.warning("fetch_ends_early", run=run_id, queued=len(found), of=len(filings))
                break
            found.append(Found(filing, job=queued))
        return found

    async def _stored(self, urls: Sequence[str], collection: str) -> dict[str, str]:
        """Address -> document, of those that a job has brought in and nobody has deleted since."""
        known = await asyncio.to_thread(self._shared.filings.stored, urls, collection)
        places = asyncio.Semaphore(_LOOKUPS)

        async def is_there(document_id: str) -> bool:
            async with places:
                return await self._retriever.get(document_id) is not None

        there = await asyncio.gather(*(is_there(document_id) for document_id in known.values()))
        return {url: document for (url, document), is_stored in zip(known.items(), there, strict=True) if is_stored}

    def _job(self, filing: Filing, company: Company, wanted: Wanted, run_id: str, lane: Lane) -> Job:
        now, tenant = time.time(), reach.current().tenant
        is_exhibit = filing.form.startswith("EX-")
        kind = REPORTS[filing.form][1] if filing.form in REPORTS else filing.form.removesuffix("/A")
        said = common_pb2.DocumentMetadata(
            uri=filing.url,
            ticker=company.ticker,
            # An exhibit says better what it is: a release, a call.
            document_type="" if is_exhibit else kind,
            title=filing.title if filing.source is Source.CNINFO else "",
            published=filing.filed.isoformat(),
            provenance=common_pb2.PROVENANCE_WEB,
            filing_id=filing.filing_id,
        )
        if filing.period_end and not is_exhibit and kind not in WITH_EXHIBITS:
            said.period.end_date = filing.period_end
        how = FilingOrder(
            url=filing.url,
            run_id=run_id,
            bundle_ids=wanted.bundle_ids,
            company=company.name,
            document_type=kind if is_exhibit else "",
            title=filing.title,
        )
        return Job(
            id=uuid.uuid4().hex,
            filename=filing.filename,
            document_id=id_in(place_of(tenant, wanted.collection), provisional_id(filing.url)),
            uri=filing.url,
            created=now,
            updated=now,
            given=wire.given_to_text(said),
            lane=lane,
            filing=records.encode(how),
            tenant=tenant,
            collection=wanted.collection,
        )

    def _submit(self, new: Job) -> Job:
        store, most = self._shared.store, self._shared.settings.max_queued_jobs
        job = store.submit(new, stored_pages=None, max_queued=most)
        if job.id == new.id:
            try:
                self._shared.send(job)
            except Unavailable as error:
                # The record is safe, and the reaper sends a message for it.
                log.warning("message_not_sent", job=job.id, why=error.message)
        return job


def _nothing(company: Company, wanted: Wanted, span: Span, others: Sequence[Filing]) -> NothingFiled:
    kinds = " or ".join(wanted.forms)
    message = f"{company.name} ({company.ticker or company.id}) filed no {kinds} from {span.first} to {span.last}."
    newest = max(others, key=lambda filing: filing.filed, default=None)
    if newest is not None:
        message += f" The newest {newest.form} is of {newest.filed}; ask for more years."
    return NothingFiled(message, company, span)
