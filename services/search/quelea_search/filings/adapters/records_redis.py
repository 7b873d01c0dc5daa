"""Which filings are stored, in Redis: by address, for the same bytes may have come in under another name before."""

from __future__ import annotations

from collections.abc import Sequence

from quelea_search.adapters.redis_base import RedisBase


class FilingRecords(RedisBase):
    """Records of fetched filings."""

    def stored(self, urls: Sequence[str]) -> dict[str, str]:
        """Address -> document, of those that a job has brought in; the document may have been deleted since."""
        if not urls:
            return {}
        with self._answering():
            found = self._redis.hmget(self._key("filings"), list(urls))
        return {url: str(document) for url, document in zip(urls, found, strict=True) if document}

    def remember(self, url: str, document_id: str) -> None:
        """A filing is in the knowledge base."""
        with self._answering():
            self._redis.hset(self._key("filings"), url, document_id)
