"""The web step: search, rank together with what is known, keep what was useful. What fails leaves the local list."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Sequence
from dataclasses import dataclass, field, replace

from quelea_kit.errors import QueleaError

from quelea_gateway.core.model import (
    Kept,
    Passage,
    Question,
    Ranked,
    Retrieved,
    WebTrace,
)
from quelea_gateway.core.ports import Retriever
from quelea_gateway.core.web.merge import new_passages, order, useful_pages
from quelea_gateway.core.web.model import KeepOrder, Web, WebFound
from quelea_gateway.core.web.useful_page_reporter import UsefulPageReporter

_MOST_RANKED = 300
_MOST_PROBLEMS = 20


@dataclass
class Outcome:
    """What the web step led to."""

    passages: tuple[Passage, ...]
    """Best first: merged, or the local ones as they were."""
    trace: WebTrace
    merged: bool = False
    notices: tuple[str, ...] = ()
    """Names of notices: "web_failed", "web_empty", "rank_failed", "web_partial"."""
    waits: dict[str, float] = field(default_factory=dict)
    """Milliseconds spent waiting: web, rank."""
    stages: dict[str, float] = field(default_factory=dict)
    """Milliseconds of search's own stages: web_provider, web_fetch, web_parse, web_select."""
    keeping: asyncio.Future[tuple[Kept, ...]] | None = None


@dataclass(frozen=True)
class WebLimits:
    """How much of the web one question may cost."""

    pages: int = 5
    passages: int = 24
    seconds: float = 12.0


class WebRoute:
    """The web step over search and the retriever.

    Args:
        web: Finds pages.
        retriever: Ranks passages.
        reporter: Tells which pages were useful.
        cosine: Above it the best passage of a page makes the page useful.
        limits: What one question may cost.
    """

    def __init__(
        self, web: Web, retriever: Retriever, reporter: UsefulPageReporter, *, cosine: float, limits: WebLimits
    ) -> None:
        self._web = web
        self._retriever = retriever
        self._reporter = reporter
        self._cosine = cosine
        self._limits = limits

    async def providers(self) -> tuple[str, ...] | None:
        """Names of the providers in use, none where the deployment has no web; None while nobody can say."""
        return await self._web.providers()

    async def take(self, question: Question, retrieved: Retrieved) -> Outcome:
        """Search the web for the question and merge what was read with the local passages. Never raises."""
        waits: dict[str, float] = {}
        query = " ".join(question.query.split())
        try:
            started = time.perf_counter()
            try:
                found = await self._find(query, question.as_of)
            finally:
                waits["web"] = (time.perf_counter() - started) * 1000
        except (QueleaError, TimeoutError) as error:
            problem = f"web: {_reason(error, self._limits.seconds)}"
            return Outcome(retrieved.passages, WebTrace(problems=(problem,)), notices=("web_failed",), waits=waits)
        outcome = await self._merge(query, question, retrieved, found, waits)
        outcome.stages = {f"web_{stage}": value for stage, value in found.stages.items()}
        if found.problems:
            outcome.notices = (*outcome.notices, "web_partial")
        return outcome

    async def _find(self, query: str, as_of: str) -> WebFound:
        limits = self._limits
        async with asyncio.timeout(limits.seconds):
            return await self._web.find(
                query, as_of=as_of, pages=limits.pages, passages=limits.passages, seconds=limits.seconds
            )

    async def _merge(
        self, query: str, question: Question, retrieved: Retrieved, found: WebFound, waits: dict[str, float]
    ) -> Outcome:
        trace = WebTrace(
            provider=found.provider,
            pages_read=len(found.pages),
            problems=found.problems[:_MOST_PROBLEMS],
            cached=found.cached,
        )
        local = retrieved.passages
        fresh = new_passages(local, found.pages, question.as_of, question.filters)
        if not fresh:
            return Outcome(local, trace, notices=("web_empty",), waits=waits)
        known = local[: max(0, _MOST_RANKED - len(fresh))]
        candidates = (*known, *fresh[:_MOST_RANKED])
        started = time.perf_counter()
        try:
            ranked = await self._retriever.rank(query, candidates)
        except QueleaError as error:
            trace = replace(trace, problems=(*trace.problems, f"rank: {error.message}"))
            return Outcome(local, trace, notices=("rank_failed",), waits=waits)
        finally:
            waits["rank"] = (time.perf_counter() - started) * 1000
        merged = order(
            candidates, _whole(ranked, candidates), as_of=question.as_of, newer_first=retrieved.reading.asks_latest
        )
        useful = useful_pages(found.pages, merged, self._cosine)
        keeping = self._reporter.send(KeepOrder(query, found.provider, useful)) if useful else None
        shown = (*_best(merged, question.k), *local[len(known) :])
        return Outcome(shown, trace, merged=True, waits=waits, keeping=keeping)


def _best(merged: Sequence[Passage], k: int) -> tuple[Passage, ...]:
    """The local passages and the best k of the web's, in the order given."""
    web = [passage for passage in merged if passage.source == "web"][k:]
    return tuple(passage for passage in merged if passage not in web)


def _whole(ranked: Sequence[Ranked], candidates: Sequence[Passage]) -> tuple[Ranked, ...]:
    """Each candidate once, whatever came back: an unknown place is left out, a forgotten one comes last."""
    placed = {one.index: one for one in ranked if 0 <= one.index < len(candidates)}
    least = min((one.score for one in placed.values()), default=0.0)
    forgotten = (i for i in range(len(candidates)) if i not in placed)
    return (*placed.values(), *(Ranked(i, least, candidates[i].cosine, "") for i in forgotten))


def _reason(error: Exception, seconds: float) -> str:
    return error.message if isinstance(error, QueleaError) else f"no answer in {seconds:g} s"
