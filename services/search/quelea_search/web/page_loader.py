"""Reads candidate pages concurrently within a time budget, and keeps them so that their citations open."""

from __future__ import annotations

import asyncio
import dataclasses
import time
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

from quelea.common.v1 import common_pb2
from quelea_kit import reach
from quelea_kit.errors import QueleaError
from quelea_kit.logging import get_logger
from quelea_kit.reach import DEFAULT_COLLECTION, id_in, place_of

from quelea_search import wire
from quelea_search.adapters.page_cache import CachedPage, PageCache
from quelea_search.core.web.candidates import Candidate
from quelea_search.core.web.model import Fetched, Problem, Validators, WebDocument
from quelea_search.core.web.query import WebQuery
from quelea_search.web import metrics as web_metrics
from quelea_search.web.admission import Admission
from quelea_search.web.parsing_pool import PageParser, Refused

log = get_logger(__name__)
_ATTEMPTS = 2
"""Candidates tried for each page that is wanted: where one fails, the next in line is read."""
_CACHE_SECONDS = 1.0


class Fetching(Protocol):
    """adapters/web/fetch.py."""

    async def fetch(self, url: str, validators: Validators | None = None) -> Fetched:
        """A page. Raises the errors of core/web/errors.py."""


class Originals(Protocol):
    """The part of the blob store that is used here."""

    def cached_original(self, document_id: str) -> bytes | None:
        """The bytes of a page that was read for an answer. Blocks."""


@dataclass(frozen=True, slots=True)
class LoadedPage:
    """A page, fetched and read."""

    candidate: Candidate
    fetched: Fetched
    document: WebDocument
    from_cache: bool

    @property
    def metadata(self) -> common_pb2.DocumentMetadata:
        """As it would be stored; its uri is the canonical URL."""
        return wire.metadata_of(
            self.document.facts, uri=self.fetched.canonical_url, provenance=common_pb2.PROVENANCE_WEB
        )


@dataclass(slots=True)
class LoadedPages:
    """What came of reading."""

    pages: list[LoadedPage]
    """In the order of the provider's list."""
    problems: list[Problem]
    parse_seconds: float
    """From the moment when the last page had come to the end."""


class _PageFailed(Exception):
    def __init__(self, outcome: str, problem: Problem | None) -> None:
        super().__init__(outcome)
        self.outcome = outcome
        self.problem = problem


class PageLoader:
    """Reads pages.

    Args:
        fetcher: Over the guarded network.
        reader: In its processes.
        cache: What was read lately.
        originals: Their bytes.
        admission: What may be used.
        fresh_seconds: A page that was fetched so recently is not fetched again.
        parse_seconds: Longest time for parsing one page.
    """

    def __init__(
        self,
        fetcher: Fetching,
        reader: PageParser,
        cache: PageCache,
        originals: Originals,
        admission: Admission,
        *,
        fresh_seconds: float,
        parse_seconds: float,
    ) -> None:
        self._fetcher = fetcher
        self._reader = reader
        self._cache = cache
        self._originals = originals
        self._admission = admission
        self._fresh_seconds = fresh_seconds
        self._parse_seconds = parse_seconds

    async def read(self, candidates: Sequence[Candidate], *, wanted: int, query: WebQuery, end: float) -> LoadedPages:
        """Up to `wanted` pages, all at once; what has not come by `end` (monotonic) is left out and named."""
        run = _Run(self, candidates[: wanted * _ATTEMPTS], wanted, query, end)
        return await run.run()

    async def store(self, pages: Sequence[LoadedPage], seconds: float) -> list[Problem]:
        """Keep pages so that their citations open; a problem for each that could not be kept."""
        return [p for p in await asyncio.gather(*(self._store(page, seconds) for page in pages)) if p is not None]

    async def _store(self, page: LoadedPage, seconds: float) -> Problem | None:
        try:
            async with asyncio.timeout(seconds):
                await asyncio.to_thread(self._cache.put, page.document, page.fetched, page.metadata)
        except (QueleaError, OSError, TimeoutError) as error:
            log.warning("page_not_stored", url=page.fetched.canonical_url, why=str(error) or type(error).__name__)
            return Problem(page.fetched.canonical_url, "NOT_STORED", "the page was read, but cannot be opened later")
        return None

    async def fetched(self, candidate: Candidate) -> tuple[Fetched, bool]:
        """The bytes of a candidate: from the cache when they are fresh, else from the web."""
        held = await self._held(candidate.canonical_url) if self._fresh_seconds else None
        web_metrics.CACHE.labels("pages", "hit" if held else "miss").inc()
        return (held, True) if held else (await self._fetcher.fetch(candidate.result.url), False)

    async def _held(self, canonical_url: str) -> Fetched | None:
        try:
            async with asyncio.timeout(_CACHE_SECONDS):
                return await asyncio.to_thread(self._from_cache, canonical_url)
        except (QueleaError, OSError, TimeoutError):
            return None

    def _from_cache(self, canonical_url: str) -> Fetched | None:
        page = self._cache.by_url(canonical_url, self._fresh_seconds)
        data = self._originals.cached_original(page.document_id) if page else None
        return _as_fetched(page, data) if page and data else None

    async def one(self, candidate: Candidate, fetched: Fetched, query: WebQuery, seconds: float) -> WebDocument:
        """The page read; raises _PageFailed."""
        if fetched.canonical_url != candidate.canonical_url:  # it was redirected
            usable, _ = await self._admission.usable([fetched.canonical_url])
            if not usable:
                raise _PageFailed("denied", None)
        document = await self._reader.read(
            fetched,
            title=candidate.result.title,
            published=candidate.result.published,
            today=query.today.isoformat(),
            seconds=min(seconds, self._parse_seconds),
        )
        if isinstance(document, Refused):
            problem = Problem(fetched.canonical_url, document.reason, document.message)
            raise _PageFailed(document.reason.lower(), problem)
        if document.facts.published > query.as_of.isoformat():
            raise _PageFailed("newer", None)
        place = place_of(reach.current().tenant, DEFAULT_COLLECTION)
        return dataclasses.replace(document, document_id=id_in(place, document.document_id))


class _Run:
    """One list of candidates."""

    def __init__(
        self, readings: PageLoader, candidates: Sequence[Candidate], wanted: int, query: WebQuery, end: float
    ) -> None:
        self._readings = readings
        self._waiting = list(candidates)
        self._wanted = wanted
        self._query = query
        self._end = end
        self._under_way: dict[asyncio.Task[None], Candidate] = {}
        self._pages: list[LoadedPage] = []
        self._problems: list[Problem] = []
        self._ids: set[str] = set()
        self._last_arrival = time.monotonic()

    async def run(self) -> LoadedPages:
        try:
            while True:
                while self._waiting and len(self._pages) + len(self._under_way) < self._wanted:
                    candidate = self._waiting.pop(0)
                    self._under_way[asyncio.create_task(self._try(candidate))] = candidate
                left = self._end - time.monotonic()
                if not self._under_way or left <= 0:
                    break
                done, _ = await asyncio.wait(self._under_way, timeout=left, return_when=asyncio.FIRST_COMPLETED)
                for task in done:
                    del self._under_way[task]
                    task.result()
        finally:
            late = list(self._under_way.items())
            for task, _ in late:
                task.cancel()
            await asyncio.gather(*(task for task, _ in late), return_exceptions=True)
        for _, candidate in late:
            self._fail("timeout", Problem(candidate.canonical_url, "TIMEOUT", "the page did not load in time"))
        self._pages.sort(key=lambda page: page.candidate.position)
        return LoadedPages(self._pages, self._problems, max(0.0, time.monotonic() - self._last_arrival))

    async def _try(self, candidate: Candidate) -> None:
        try:
            fetched, from_cache = await self._readings.fetched(candidate)
            self._last_arrival = time.monotonic()
            left = self._end - time.monotonic()
            document = await self._readings.one(candidate, fetched, self._query, left)
        except _PageFailed as error:
            self._fail(error.outcome, error.problem)
        except QueleaError as error:
            self._fail(error.reason.lower(), Problem(candidate.canonical_url, error.reason, error.message))
        except Exception as error:
            log.exception("page_failed", url=candidate.canonical_url)
            why = f"reading the page failed ({type(error).__name__})"
            self._fail("internal", Problem(candidate.canonical_url, "INTERNAL", why))
        else:
            if document.document_id in self._ids:
                self._fail("duplicate", None)
                return
            self._ids.add(document.document_id)
            self._pages.append(LoadedPage(candidate, fetched, document, from_cache))
            web_metrics.PAGES.labels("cached" if from_cache else "read").inc()

    def _fail(self, outcome: str, problem: Problem | None) -> None:
        web_metrics.PAGES.labels(outcome).inc()
        if problem is not None:
            self._problems.append(problem)


def _as_fetched(page: CachedPage, data: bytes) -> Fetched:
    return Fetched(
        url=page.url,
        final_url=page.url,
        canonical_url=page.canonical_url,
        status=200,
        media_type=page.media_type,
        charset=page.charset,
        data=data,
        fetched=page.fetched,
        validators=Validators(page.etag, page.last_modified),
    )
