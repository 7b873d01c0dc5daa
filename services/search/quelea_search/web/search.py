"""From a question to passages of the web within a time budget: provider, pages, paragraphs, preselection."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from datetime import UTC, date, datetime

from quelea_kit.errors import Conflict, Overloaded, Unavailable
from quelea_kit.logging import get_logger

from quelea_search.adapters.result_cache import ResultCache
from quelea_search.core.model import SECTION, Chunk
from quelea_search.core.web.candidates import Candidate, line_up
from quelea_search.core.web.failover import AllFailed, Failover
from quelea_search.core.web.model import Problem, Results
from quelea_search.core.web.preselect import Paragraph
from quelea_search.core.web.query import WebQuery, web_query
from quelea_search.web import metrics as web_metrics
from quelea_search.web.admission import Admission
from quelea_search.web.page_loader import LoadedPage, PageLoader
from quelea_search.web.parsing_pool import PageParser
from quelea_search.web.settings import WebSettings

log = get_logger(__name__)
MAX_SEARCHES = 8
"""Web searches under way at once in one server; one more is refused."""

_PROVIDER_SHARE = 0.6
"""Of the budget: what finding takes at most, so that there is time to read."""
_RESERVE_SHARE, _RESERVE_SECONDS = 0.15, 0.75
"""Of the budget, and at most: what is kept for choosing and storing when pages are slow."""
_LEAST_SECONDS = 0.1
_REDIS_SECONDS = 1.0
_OFF = "Web search is off; set QUELEA_SEARCH_WEB=true."
_NO_PROVIDER = (
    "Web search is on, but no provider is configured: set QUELEA_SEARCH_SEARXNG_URL or the key of another provider, "
    "or name ddgs, which needs none, in QUELEA_SEARCH_WEB_PROVIDERS."
)
Closing = Callable[[], Awaitable[None]]


@dataclass(frozen=True, slots=True)
class ChosenPassage:
    """A passage worth encoding."""

    chunk: Chunk
    suspicious: bool
    coverage: float


@dataclass(frozen=True, slots=True)
class FoundPage:
    """A page that was read, with its chosen passages in its own order."""

    page: LoadedPage
    passages: tuple[ChosenPassage, ...]
    trusted: bool


@dataclass(frozen=True, slots=True)
class WebAnswer:
    """What the web has for a question."""

    pages: tuple[FoundPage, ...]
    """In the order of the provider's list."""
    problems: tuple[Problem, ...]
    provider: str
    cached: bool
    searched: float
    """Seconds since 1970."""
    timings: dict[str, float]
    """Stage to milliseconds: provider, fetch, parse (what was left to do when the last page had come), select, store,
    total."""


class WebSearch:
    """The web half's one entry.

    Args:
        settings: Defaults and limits.
        failover: The providers.
        results: Lists of results, cached.
        readings: Fetches, parses, stores.
        reader: Chooses, in its processes.
        admission: What may be used.
        closing: What close() ends, in order.
        today: The day in UTC.
    """

    def __init__(
        self,
        settings: WebSettings,
        *,
        failover: Failover,
        results: ResultCache,
        readings: PageLoader,
        reader: PageParser,
        admission: Admission,
        closing: Sequence[Closing] = (),
        today: Callable[[], date] = lambda: datetime.now(UTC).date(),
    ) -> None:
        self._settings = settings
        self._failover = failover
        self._results = results
        self._readings = readings
        self._reader = reader
        self._admission = admission
        self._closing = closing
        self._today = today
        self._under_way = 0

    @property
    def providers(self) -> tuple[str, ...]:
        """Those in use, in order; empty when this deployment has no web."""
        return self._failover.names if self._settings.web else ()

    @property
    def seconds(self) -> float:
        """Budget of a whole search."""
        return self._settings.web_seconds

    async def warm(self) -> None:
        """Start the processes that read pages, so that the first question does not wait for them."""
        if self.providers:
            await self._reader.warm()

    async def close(self) -> None:
        """End connections and processes."""
        for close in self._closing:
            await close()

    async def search(
        self,
        query: str,
        *,
        as_of: date | None = None,
        max_pages: int = 0,
        max_passages: int = 0,
        seconds: float | None = None,
    ) -> WebAnswer:
        """Search, read, choose.

        Args:
            query: The question.
            as_of: Nothing published later is given; None: today.
            max_pages: Pages to read; 0: the setting.
            max_passages: Passages to give; 0: the setting.
            seconds: What is left of the caller's time; the setting web_seconds holds when it is shorter.

        Raises:
            Conflict: There is no web here.
            Overloaded: Too many searches at once.
            Unavailable: Every provider failed; the details name each.
        """
        if not self._settings.web:
            raise Conflict(_OFF)
        if not self.providers:
            raise Conflict(_NO_PROVIDER)
        if self._under_way >= MAX_SEARCHES:
            raise Overloaded(
                f"{MAX_SEARCHES} web searches are already running; try again in a second.", retry_after=1.0
            )
        budget = max(_LEAST_SECONDS, self.seconds if seconds is None else min(seconds, self.seconds))
        asked = web_query(query, count=self._settings.provider_results, today=self._today(), as_of=as_of)
        self._under_way += 1
        outcome = "failed"
        try:
            answer = await self._search(
                query,
                asked,
                max_pages or self._settings.web_pages,
                max_passages or self._settings.web_passages,
                budget,
            )
            outcome = "nothing" if not answer.pages else "partial" if answer.problems else "ok"
            return answer
        finally:
            self._under_way -= 1
            web_metrics.SEARCHES.labels(outcome).inc()

    async def _search(
        self, question: str, asked: WebQuery, max_pages: int, max_passages: int, budget: float
    ) -> WebAnswer:
        stages = web_metrics.Stages()
        end = stages.began + budget

        def left() -> float:
            return max(_LEAST_SECONDS, end - time.monotonic())

        results, problems = await self._find(asked, budget * _PROVIDER_SHARE)
        candidates, more = await self._candidates(results)
        problems += more
        stages.lap("provider")
        reserve = min(budget * _RESERVE_SHARE, _RESERVE_SECONDS)
        reading = await self._readings.read(candidates, wanted=max_pages, query=asked, end=end - reserve)
        problems += reading.problems
        stages.lap("fetch")
        stages.seconds["parse"] = min(reading.parse_seconds, stages.seconds["fetch"])
        stages.seconds["fetch"] -= stages.seconds["parse"]
        found, more = await self._choose(question, reading.pages, max_passages, left())
        problems += more
        stages.lap("select")
        problems += await self._readings.store([one.page for one in found], left())
        stages.lap("store")
        return WebAnswer(
            tuple(found), tuple(problems), results.provider, results.cached, results.searched, stages.finish()
        )

    async def _find(self, asked: WebQuery, seconds: float) -> tuple[Results, list[Problem]]:
        held = await self._find_cached(asked)
        web_metrics.CACHE.labels("results", "hit" if held else "miss").inc()
        if held:
            return held, []
        try:
            results, problems = await self._failover.search(asked, seconds)
        except AllFailed as error:
            for problem in error.problems:
                log.warning("provider_failed", provider=problem.where, reason=problem.reason, why=problem.message)
            details = {problem.where: f"{problem.reason}: {problem.message}" for problem in error.problems}
            raise Unavailable(f"No search provider gave results ({error}).", details=details) from None
        for problem in problems:
            log.warning("provider_failed", provider=problem.where, reason=problem.reason, why=problem.message)
        if results.items:  # an empty list may be a provider's bad moment
            await self._remember(asked, results)
        return results, problems

    async def _find_cached(self, asked: WebQuery) -> Results | None:
        try:
            async with asyncio.timeout(_REDIS_SECONDS):
                return await asyncio.to_thread(self._results.get, asked, self._failover.names)
        except TimeoutError:
            return None

    async def _remember(self, asked: WebQuery, results: Results) -> None:
        try:
            async with asyncio.timeout(_REDIS_SECONDS):
                await asyncio.to_thread(self._results.put, asked, self._failover.names, results)
        except TimeoutError:
            log.warning("results_not_cached")

    async def _candidates(self, results: Results) -> tuple[list[Candidate], list[Problem]]:
        found = line_up(results.items)
        usable, problems = await self._admission.usable([one.canonical_url for one in found])
        # Once more, so that a host's places are not taken by pages that may not be used.
        return line_up(results.items, allowed=lambda one: one.canonical_url in usable), problems

    async def _choose(
        self, question: str, pages: Sequence[LoadedPage], max_passages: int, seconds: float
    ) -> tuple[list[FoundPage], list[Problem]]:
        chunks = [(number, chunk) for number, page in enumerate(pages) for chunk in page.document.chunks]
        paragraphs = [Paragraph(number, chunk.text, _context(pages[number], chunk)) for number, chunk in chunks]
        selected = await self._reader.select(question, paragraphs, max_passages, seconds=seconds) if paragraphs else []
        problems: list[Problem] = []
        if selected is None:
            why = "the passages could not be selected in the remaining time"
            problems, selected = [Problem("passages", "TIMEOUT", why)], []
        chosen: dict[int, list[ChosenPassage]] = {}
        for one in sorted(selected, key=lambda one: one.index):
            number, chunk = chunks[one.index]
            suspicious = chunk.ordinal in pages[number].document.suspicious
            chosen.setdefault(number, []).append(ChosenPassage(chunk, suspicious, one.coverage))
        found = [
            FoundPage(page, tuple(chosen.get(number, ())), self._admission.trusted(page.fetched.canonical_url))
            for number, page in enumerate(pages)
        ]
        return found, problems


def _context(page: LoadedPage, chunk: Chunk) -> str:
    return SECTION.join(part for part in (page.document.facts.title, chunk.section, chunk.table_head) if part)
