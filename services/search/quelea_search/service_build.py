"""Builds the server from its components, for the process and for tests."""

from __future__ import annotations

from dataclasses import dataclass

from quelea_search.adapters.job_events import JobEvents
from quelea_search.adapters.page_cache import PageCache
from quelea_search.adapters.retriever import Retriever
from quelea_search.adapters.web.guard import Guard
from quelea_search.components import Components
from quelea_search.filings.adapters.digest import make_digest
from quelea_search.filings.adapters.door import Door
from quelea_search.filings.fetch import FilingFetch
from quelea_search.filings.watching import Watching
from quelea_search.jobs.dead_letters import DeadLetters
from quelea_search.jobs.reaper import Reaper
from quelea_search.jobs.submission import Submission
from quelea_search.service import SearchService
from quelea_search.web.page_review import PageReview, Removals
from quelea_search.web.refresh import Refresh
from quelea_search.web.search import WebSearch


@dataclass(frozen=True)
class Built:
    """The service, and those of its parts that somebody else runs, asks or closes."""

    service: SearchService
    reaper: Reaper
    refresh: Refresh
    removals: Removals
    guard: Guard
    filings: FilingFetch
    watching: Watching


def build_service(
    shared: Components,
    retriever: Retriever,
    events: JobEvents,
    cache: PageCache,
    web: WebSearch | None,
    door: Door | None = None,
) -> Built:
    """Wire it; nothing is started.

    Args:
        shared: The parts of all.
        retriever: The index. The caller closes it.
        events: What tells of changes of jobs. The caller runs it.
        cache: What is known of pages that were read for an answer.
        web: The web search; None where this deployment has none. The caller closes it.
        door: The way to the sources of filings; None where they are not fetched. The caller closes it.
    """
    refresh = Refresh(shared, cache)
    removals = Removals(shared, retriever)
    guard = Guard(shared.settings)
    filings = FilingFetch(shared, retriever, door)
    watching = Watching(shared, filings, make_digest(shared.settings))
    service = SearchService(
        shared,
        retriever,
        events=events,
        submission=Submission(shared, retriever),
        refresh=refresh,
        page_review=PageReview(shared.pages, refresh, removals),
        dead_letters=DeadLetters(shared, retriever),
        guard=guard,
        web=web,
        watching=watching,
    )
    return Built(service, Reaper(shared, retriever, removals), refresh, removals, guard, filings, watching)
