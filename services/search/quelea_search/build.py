"""Builds components from settings, the same for the server and the workers."""

from __future__ import annotations

from dataclasses import dataclass

import redis

from quelea_search.adapters.blobs import Blobs
from quelea_search.adapters.collections_redis import Collections
from quelea_search.adapters.jobs_redis import JobStore
from quelea_search.adapters.ledger_redis import Ledger
from quelea_search.adapters.redis_base import connect
from quelea_search.adapters.web_pages_redis import WebPages
from quelea_search.components import Components
from quelea_search.core.model import ParseLimits
from quelea_search.core.web.pages import TimeToLive
from quelea_search.filings.adapters.door import Door
from quelea_search.filings.adapters.records_redis import FilingRecords
from quelea_search.filings.adapters.watches_redis import Watches
from quelea_search.jobs.celery_app import Send
from quelea_search.jobs.reading_process import ReadingBounds
from quelea_search.settings import SearchSettings

_DAY = 86_400


@dataclass(frozen=True)
class Records:
    """Everything that lies in Redis, on one connection pool."""

    client: redis.Redis
    store: JobStore
    ledger: Ledger
    pages: WebPages
    filings: FilingRecords
    watches: Watches
    collections: Collections


def make_records(settings: SearchSettings) -> Records:
    """Connect; nothing is asked yet."""
    client = connect(settings.redis_url)
    store = JobStore(
        client,
        prefix=settings.redis_prefix,
        max_attempts=settings.max_attempts,
        lease_seconds=settings.lease_seconds,
        keep_seconds=settings.job_days * _DAY,
        dead_seconds=settings.dead_letter_days * _DAY,
    )
    return Records(
        client,
        store,
        Ledger(client, prefix=settings.redis_prefix, lease_seconds=settings.lease_seconds),
        WebPages(client, prefix=settings.redis_prefix, max_pending=settings.max_pending_pages),
        FilingRecords(client, settings.redis_prefix),
        Watches(client, settings.redis_prefix),
        Collections(client, settings.redis_prefix),
    )


def share(settings: SearchSettings, records: Records, blobs: Blobs, send: Send) -> Components:
    """What everything needs that handles jobs or pages."""
    return Components(
        settings=settings,
        store=records.store,
        ledger=records.ledger,
        blobs=blobs,
        pages=records.pages,
        filings=records.filings,
        watches=records.watches,
        collections=records.collections,
        send=send,
    )


def make_door(settings: SearchSettings) -> Door | None:
    """The way to the sources of filings; None where they are not fetched."""
    if not settings.filings_door:
        return None
    return Door(settings.filings_door, settings.filings_door_data, settings.filings_user_agent)


def time_to_live(settings: SearchSettings) -> TimeToLive:
    """After which time a kept page is read again."""
    return TimeToLive(
        news=settings.news_days * _DAY,
        page=settings.page_days * _DAY,
        reference=settings.reference_days * _DAY,
        filing=settings.filing_days * _DAY,
    )


def reading_bounds(settings: SearchSettings) -> ReadingBounds:
    """What reading one file may cost."""
    return ReadingBounds(
        seconds=settings.read_processor_seconds,
        seconds_per_mb=settings.read_processor_seconds_per_mb,
        most_seconds=settings.read_seconds,
        memory_mb=settings.worker_memory_mb,
    )


def parse_limits(settings: SearchSettings) -> ParseLimits:
    """What a parser refuses."""
    return ParseLimits(
        max_bytes=settings.max_document_bytes,
        max_pages=settings.max_document_pages,
        max_scanned_pages=settings.max_scanned_pages,
    )
