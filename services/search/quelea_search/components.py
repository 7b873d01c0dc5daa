"""The objects that jobs and pages are handled with: records, files, clients and parsers."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

from quelea_kit.files.disk import Disk, local_folder

from quelea_search.adapters.blobs import Blobs
from quelea_search.adapters.collections_redis import Collections
from quelea_search.adapters.jobs_redis import JobStore
from quelea_search.adapters.ledger_redis import Ledger
from quelea_search.adapters.retriever import Retriever
from quelea_search.adapters.web_pages_redis import WebPages
from quelea_search.core import jobs
from quelea_search.core.jobs import Job, Lane
from quelea_search.core.model import DocumentFacts
from quelea_search.core.web.model import Fetched, Validators, WebDocument
from quelea_search.filings.adapters.door import Door
from quelea_search.filings.adapters.records_redis import FilingRecords
from quelea_search.filings.adapters.watches_redis import Watches
from quelea_search.jobs.celery_app import Send, queue_name
from quelea_search.jobs.file_parsing import ReadDocument
from quelea_search.settings import SearchSettings


class PageFetcher(Protocol):
    """adapters/web/fetch.py, or a fake."""

    async def fetch(self, url: str, validators: Validators | None = None) -> Fetched:
        """The page; raises the errors of core/web/errors.py."""
        ...


class Reader(Protocol):
    """jobs/reader.py, or a stand-in."""

    async def read_file(self, data: bytes, filename: str, given: DocumentFacts) -> ReadDocument:
        """file_parsing.read_file; raises the errors of core/errors.py."""
        ...

    async def read_page(self, page: Fetched, title: str, published: str) -> WebDocument:
        """A page, with the title and the date that a provider gave it; raises the errors of core/errors.py."""
        ...


@dataclass(frozen=True, kw_only=True)
class Components:
    """What everything needs that handles jobs or pages, in the server as in the workers.

    Attributes:
        settings: All.
        store: Job records.
        ledger: Documents: who is at them, under which uri they are stored, what is left over of them.
        blobs: Originals, parsed pages, and pages that were read for an answer.
        pages: Records of pages of the web.
        filings: Records of fetched filings.
        watches: Companies whose new filings are to come.
        collections: Of each tenant.
        send: Puts a message for a job into the queue.
    """

    settings: SearchSettings
    store: JobStore
    ledger: Ledger
    blobs: Blobs
    pages: WebPages
    filings: FilingRecords
    watches: Watches
    collections: Collections
    send: Send

    def next_jobs(self, lane: Lane) -> list[str]:
        """Some queued jobs of a lane that may begin now, in their turn."""
        return self.store.in_turn(lane, self.share())

    def share(self) -> int:
        """How many jobs of one uploader may run at once."""
        return jobs.share_of(self.settings.worker_concurrency * max(1, len(self.ledger.workers())))

    def check_disk(self) -> None:
        """Raise DiskFull while the disk of the originals, where there is one, takes nothing new."""
        folder = local_folder(self.settings.blobs_url)
        if folder:
            Disk(folder, self.settings).check()


@dataclass(frozen=True, kw_only=True)
class WorkerComponents(Components):
    """What a job is done with; made anew in every child process, for every job's event loop."""

    retriever: Retriever
    reader: Reader
    fetcher: PageFetcher
    door: Door | None = None
    """The way to the sources of filings; None where they are not fetched."""

    def wake_next(self, name: str) -> Job | None:
        """Send for the job whose turn it is, now that one of the same uri has ended."""
        following = self.store.next_in_line(name)
        if following:
            self.send(following)
        return following

    def wake_lane(self, lane: Lane) -> None:
        """Send for the job whose turn it is, now that a place is free.

        While others had it, the messages of an uploader who had his share were taken and nothing was begun.
        """
        if not self.ledger.messages(queue_name(self.settings, lane)):
            for job_id in self.next_jobs(lane)[:1]:
                waiting = self.store.find(job_id)
                if waiting:
                    self.send(waiting)
