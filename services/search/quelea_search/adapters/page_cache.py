"""Pages that were read for an answer: their citations open, and nothing is fetched twice.

    <prefix>:cached:<document id>    hash     what is known of the page
    <prefix>:cached-url:<hash>       string   canonical URL -> document id of the page last read there
    web/<document id>/               the bytes and the parsed pages, in the blob store (Blobs.cache_page)

Both kinds of keys expire; the files of the store are trimmed by age (Blobs.trim_cache).
"""

from __future__ import annotations

import dataclasses
import hashlib
import time
from dataclasses import dataclass
from typing import Any, Protocol

import redis
from quelea.common.v1 import common_pb2
from quelea_kit import reach

from quelea_search import wire
from quelea_search.adapters.redis_base import TenantRecords
from quelea_search.core.web.model import Fetched, WebDocument

_HOUR = 3600.0


@dataclass(frozen=True, slots=True)
class CachedPage:
    """What is remembered of a page."""

    document_id: str
    url: str
    """After redirects."""
    canonical_url: str
    filename: str
    media_type: str
    fetched: float
    """Seconds since 1970."""
    published_source: str
    kind: str
    etag: str
    last_modified: str
    title: str
    charset: str = ""
    """Of the Content-Type header: without it the bytes might be read otherwise the next time."""


class PageFiles(Protocol):
    """The part of the blob store that is used here."""

    def cache_page(self, document_id: str, header: dict[str, Any], pages: list[str], data: bytes) -> None:
        """Store a page for a while."""


class PageCache(TenantRecords):
    """The pages. Every method blocks and raises Unavailable when Redis or the store does not answer.

    Args:
        client: With decoded responses.
        prefix: Begins every key.
        blobs: Where bytes and parsed pages go.
        hours: How long a page can be opened.
    """

    def __init__(self, client: redis.Redis, prefix: str, blobs: PageFiles, hours: float) -> None:
        super().__init__(client, prefix)
        self._blobs = blobs
        self._seconds = hours * _HOUR

    def put(self, document: WebDocument, fetched: Fetched, metadata: common_pb2.DocumentMetadata) -> None:
        """Store a page that was read; its files first, so that what has a record can be opened."""
        page = CachedPage(
            document_id=document.document_id,
            url=fetched.final_url,
            canonical_url=fetched.canonical_url,
            filename=document.filename,
            media_type=fetched.media_type,
            fetched=fetched.fetched,
            published_source=document.published_source,
            kind=document.kind,
            etag=fetched.validators.etag,
            last_modified=fetched.validators.last_modified,
            title=document.facts.title,
            charset=fetched.charset,
        )
        header = {
            "id": page.document_id,
            "tenant": reach.current().tenant,
            "filename": page.filename,
            "metadata": wire.metadata_to_dict(metadata),
        }
        texts = [parsed.text for parsed in document.parsed.pages]
        self._blobs.cache_page(page.document_id, header, texts, fetched.data)
        record, name = self._key("cached", page.document_id), self._url(page.canonical_url)
        seconds = max(1, int(self._seconds))
        with self._answering(), self._redis.pipeline(transaction=True) as pipe:
            pipe.hset(record, mapping={k: str(v) for k, v in dataclasses.asdict(page).items()})
            pipe.expire(record, seconds)
            pipe.set(name, page.document_id, ex=seconds)
            pipe.execute()

    def get(self, document_id: str) -> CachedPage | None:
        """What is known of a page; None when it was never read, or too long ago."""
        with self._answering():
            held = self._redis.hgetall(self._key("cached", document_id))
        try:
            known = {field.name: held[field.name] for field in dataclasses.fields(CachedPage)}
            return CachedPage(**{**known, "fetched": float(known["fetched"])})
        except (KeyError, ValueError):
            return None

    def by_url(self, canonical_url: str, fresh_seconds: float) -> CachedPage | None:
        """The page last read at this address, when it was fetched within so many seconds."""
        with self._answering():
            document_id = self._redis.get(self._url(canonical_url))
        page = self.get(document_id) if document_id else None
        # The same bytes may have been read at another address since; then the record speaks of that one.
        if page is None or page.canonical_url != canonical_url or not 0 <= time.time() - page.fetched <= fresh_seconds:
            return None
        return page

    def _url(self, canonical_url: str) -> str:
        return self._key("cached-url", hashlib.sha256(canonical_url.encode()).hexdigest()[:32])
