"""Settings to parts, the same for the server and for the workers."""

from __future__ import annotations

from quelea_search.adapters.jobs_redis import JobStore
from quelea_search.adapters.ledger_redis import Ledger
from quelea_search.adapters.redis_base import connect
from quelea_search.core.jobs import Policy
from quelea_search.core.model import ParseLimits
from quelea_search.settings import SearchSettings

_DAY = 86_400


def make_store(settings: SearchSettings) -> tuple[JobStore, Ledger]:
    """The job records and the ledger, on one connection pool."""
    client = connect(settings.redis_url)
    store = JobStore(
        client,
        prefix=settings.redis_prefix,
        policy=Policy(max_attempts=settings.max_attempts, read_seconds=settings.read_seconds),
        lease_seconds=settings.lease_seconds,
        keep_seconds=settings.job_days * _DAY,
    )
    return store, Ledger(client, prefix=settings.redis_prefix, lease_seconds=settings.lease_seconds)


def parse_limits(settings: SearchSettings) -> ParseLimits:
    """What a parser refuses."""
    return ParseLimits(max_bytes=settings.max_document_bytes, max_pages=settings.max_document_pages)
