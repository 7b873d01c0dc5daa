"""Settings to components, the same for the server and for the workers."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime

import redis

from quelea_search.adapters.blobs import Blobs
from quelea_search.adapters.jobs_redis import JobStore
from quelea_search.adapters.ledger_redis import Ledger
from quelea_search.adapters.redis_base import connect
from quelea_search.adapters.web_pages_redis import WebPages
from quelea_search.celery_app import Send
from quelea_search.components import Components
from quelea_search.core.jobs import Policy
from quelea_search.core.model import ParseLimits
from quelea_search.core.web import Fetched, WebDocument
from quelea_search.core.web_pages import TimeToLive
from quelea_search.file_parsing import clock as reading_clock  # pages are read under the same clock as files
from quelea_search.settings import SearchSettings
from quelea_search.web_page_parsing import parse_web_page

_DAY = 86_400


@dataclass(frozen=True)
class Records:
    """Everything that lies in Redis, on one connection pool."""

    client: redis.Redis
    store: JobStore
    ledger: Ledger
    pages: WebPages


def make_records(settings: SearchSettings) -> Records:
    """Connect; nothing is asked yet."""
    client = connect(settings.redis_url)
    store = JobStore(
        client,
        prefix=settings.redis_prefix,
        policy=Policy(max_attempts=settings.max_attempts, read_seconds=settings.read_seconds),
        lease_seconds=settings.lease_seconds,
        keep_seconds=settings.job_days * _DAY,
        dead_seconds=settings.dead_letter_days * _DAY,
    )
    return Records(
        client,
        store,
        Ledger(client, prefix=settings.redis_prefix, lease_seconds=settings.lease_seconds),
        WebPages(client, prefix=settings.redis_prefix, max_pending=settings.max_pending_pages),
    )


def share(settings: SearchSettings, records: Records, blobs: Blobs, send: Send) -> Components:
    """What everything needs that handles jobs or pages."""
    return Components(
        settings=settings, store=records.store, ledger=records.ledger, blobs=blobs, pages=records.pages, send=send
    )


def time_to_live(settings: SearchSettings) -> TimeToLive:
    """After which time a kept page is read again."""
    return TimeToLive(
        news=settings.news_days * _DAY,
        page=settings.page_days * _DAY,
        reference=settings.reference_days * _DAY,
        filing=settings.filing_days * _DAY,
    )


def page_parser(settings: SearchSettings) -> Callable[[Fetched, str, str], WebDocument]:
    """A function that reads a page within the same limits as an uploaded file; it blocks.

    The process ends when it takes longer than read_seconds, as with any file.
    """
    limits = parse_limits(settings)

    def read(page: Fetched, title: str, published: str) -> WebDocument:
        today = datetime.fromtimestamp(page.fetched, UTC).date().isoformat()
        with reading_clock(settings.read_seconds):
            return parse_web_page(page, limits, title=title, published=published, today=today)

    return read


def parse_limits(settings: SearchSettings) -> ParseLimits:
    """What a parser refuses."""
    return ParseLimits(max_bytes=settings.max_document_bytes, max_pages=settings.max_document_pages)
