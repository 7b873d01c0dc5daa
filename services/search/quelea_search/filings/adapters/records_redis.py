"""Which filings are stored, in Redis: by address, for the same bytes may have come in under another name before."""

from __future__ import annotations

from collections.abc import Sequence

from quelea_kit.reach import DEFAULT_COLLECTION

from quelea_search.adapters.redis_base import TenantRecords


class FilingRecords(TenantRecords):
    """Records of fetched filings."""

    def stored(self, urls: Sequence[str], collection: str) -> dict[str, str]:
        """Address -> document, of those that a job has brought into a collection of the tenant that calls.

        The document may have been deleted since.
        """
        if not urls:
            return {}
        with self._answering():
            found = self._redis.hmget(self._filings(collection), list(urls))
        return {url: str(document) for url, document in zip(urls, found, strict=True) if document}

    def remember(self, url: str, document_id: str, collection: str) -> None:
        """A filing is in the knowledge base."""
        with self._answering():
            self._redis.hset(self._filings(collection), url, document_id)

    def _filings(self, collection: str) -> str:
        return self._key("filings", *([] if collection == DEFAULT_COLLECTION else [collection]))
