"""What a job is done with."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Protocol

from quelea_search.adapters.blobs import Blobs
from quelea_search.adapters.jobs_redis import JobStore
from quelea_search.adapters.ledger_redis import Ledger
from quelea_search.adapters.retriever import Retriever
from quelea_search.adapters.web_pages_redis import WebPages
from quelea_search.celery_app import Send
from quelea_search.core.web import Fetched, Validators, WebDocument
from quelea_search.reading import Reader
from quelea_search.settings import SearchSettings


class PageFetcher(Protocol):
    """adapters/web/fetch.py, or a fake."""

    async def fetch(self, url: str, validators: Validators | None = None) -> Fetched:
        """The page; raises the errors of core/web_errors.py."""
        ...


ReadPage = Callable[[Fetched, str, str], WebDocument]
"""From a page, and the title and the date that a provider gave it, to its text, passages and facts; blocks."""


@dataclass(frozen=True)
class Parts:
    """Made anew in every child process, for every job's event loop."""

    settings: SearchSettings
    store: JobStore
    ledger: Ledger
    blobs: Blobs
    pages: WebPages
    retriever: Retriever
    reader: Reader
    fetcher: PageFetcher
    read_page: ReadPage
    send: Send

    def wake_next(self, uri: str) -> None:
        """Send for the job whose turn it is, now that one of the same uri has ended."""
        following = self.store.next_in_line(uri)
        if following:
            self.send(following)
