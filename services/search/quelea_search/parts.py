"""What a job is done with."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from quelea_search.adapters.blobs import Blobs
from quelea_search.adapters.jobs_redis import JobStore
from quelea_search.adapters.ledger_redis import Ledger
from quelea_search.adapters.retriever import Retriever
from quelea_search.reading import Reader
from quelea_search.settings import SearchSettings


@dataclass(frozen=True)
class Parts:
    """Made anew in every child process, for every job's event loop."""

    settings: SearchSettings
    store: JobStore
    ledger: Ledger
    blobs: Blobs
    retriever: Retriever
    reader: Reader
    send: Callable[[str], None]
    """Puts a message for a job into the queue."""

    def wake_next(self, uri: str) -> None:
        """Send for the job whose turn it is, now that one of the same uri has ended."""
        following = self.store.next_in_line(uri)
        if following:
            self.send(following)
