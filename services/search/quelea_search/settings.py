"""Settings of the search service and its workers: QUELEA_SEARCH_<FIELD>."""

from __future__ import annotations

import os
from typing import Literal

from pydantic import Field
from quelea_kit.settings import settings_config

from quelea_search.filings.settings import FilingSettings
from quelea_search.web.settings import WebSettings

_LEAST_PLACES, _MOST_PLACES = 3, 8
_PLACE_BYTES = 4 << 30


def default_concurrency() -> int:
    """Places of a worker: one for each processor and for every 4 GiB of memory, three at least and eight at most."""
    memory = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    return min(max(_LEAST_PLACES, min(os.cpu_count() or 1, memory // _PLACE_BYTES)), _MOST_PLACES)


LaneName = Literal["upload", "refresh", "reread"]


class SearchSettings(FilingSettings, WebSettings):
    """Settings of the gRPC server and of the workers; both read the same variables."""

    model_config = settings_config("search")

    max_deadline_seconds: float = 3600.0
    """Longest deadline of a call; only watching a long job needs it."""

    redis_url: str = "redis://127.0.0.1:6379/0"
    """Jobs and messages: redis://[:password@]host:port/db or unix:///path/to/socket?db=0."""

    redis_prefix: str = "quelea:search"
    """Begins every key, so that several knowledge bases can share one Redis."""

    blobs_url: str = ".quelea/blobs"
    """Originals and parsed pages: a folder, or s3://bucket/prefix (quelea_kit.files.storage)."""

    retriever: str = "127.0.0.1:50052"
    """Address of the retriever."""

    max_document_bytes: int = Field(100 * 1024 * 1024, gt=0)
    """Largest file; a longer upload is refused while it streams in."""

    max_document_pages: int = Field(2000, gt=0)
    """A document with more pages, sheets or slides fails."""

    max_queued_jobs: int = Field(1000, gt=0)
    """Jobs that may wait. Further ones are refused with RESOURCE_EXHAUSTED."""

    worker_lanes: tuple[LaneName, ...] = ("upload", "refresh", "reread")
    """Queues that this worker takes jobs from, in turn, as JSON; workers of their own for each keep one flood from
    slowing another."""

    worker_concurrency: int = Field(default_factory=default_concurrency, gt=0)
    """Documents that one worker process indexes at once, each in a child process of its own. Of all such places one is
    kept free of whoever has the others, so three let each key have two. The default goes by processors and memory."""

    worker_tasks_per_child: int = Field(50, gt=0)
    """A child is replaced after this many documents, so that a leak in a parser stays small."""

    worker_memory_mb: int = Field(2048, ge=0)
    """Private memory that reading a file may take; one that needs more fails instead of filling the machine. Likewise
    the address space of a process that reads a page for an answer. 0 sets no limit."""

    batch_passages: int = Field(16, gt=0, le=1024)
    """Passages in one Upsert. With batches_in_flight it keeps every core of a CPU encoder busy; a GPU wants 64 or more.
    Smaller ones show finer progress."""

    batches_in_flight: int = Field(2, gt=0, le=16)
    """Upserts in flight: while one is embedded, the next one is already queued at the encoder."""

    upsert_seconds: float = Field(120.0, gt=0)
    """Deadline of one Upsert."""

    retriever_wait_seconds: float = Field(120.0, gt=0)
    """How long a job waits for a retriever that is down or overloaded before it fails."""

    read_seconds: float = Field(300.0, gt=0)
    """Longest time for reading one file, by the clock and of the processor; then its process is ended, whatever its
    parser is doing."""

    max_scanned_pages: int = Field(100, ge=0)
    """Pages of a PDF without a text layer that are read by OCR, where the extra `ocr` is installed; each takes some
    seconds of one processor. Of a document that is all scans more are refused; of another the first ones are read."""

    read_processor_seconds: float = Field(30.0, gt=0)
    """Processor time for reading any file, however small."""

    read_processor_seconds_per_mb: float = Field(10.0, ge=0)
    """Processor time for each MB of a file, beside that."""

    original_seconds: float = Field(25.0, gt=0)
    """Longest time for finding a quote in an original, a PDF or an HTML page, and for making the latter safe to show;
    then its process is ended and the caller told to try again. A scanned page is read by OCR first, and the first one
    loads its models. Less than the gateway's call_seconds. Its address space is bounded by worker_memory_mb."""

    job_seconds: float = Field(3600.0, gt=0)
    """Longest time for one attempt at one document."""

    beat_seconds: float = Field(2.0, gt=0)
    """Seconds between heartbeats of a worker."""

    lease_seconds: float = Field(15.0, gt=0)
    """A running job without a heartbeat for this long is given to another worker."""

    max_attempts: int = Field(3, gt=0)
    """Attempts at a document whose worker vanishes; then the job fails."""

    reaper_seconds: float = Field(1.0, gt=0)
    """How often the server looks for lost jobs and lost messages."""

    resend_seconds: float = Field(5.0, gt=0)
    """A job that still waits after this, while no message is in the queue, gets a new message."""

    job_days: float = Field(7.0, gt=0)
    """Ended jobs are forgotten after this many days."""

    dead_letter_days: float = Field(14.0, gt=0)
    """How long the bytes of a job that failed for a reason outside its document are kept for a replay."""

    max_jobs_kept: int = Field(10_000, gt=0)
    """Ended jobs beyond this number are forgotten, oldest first."""
