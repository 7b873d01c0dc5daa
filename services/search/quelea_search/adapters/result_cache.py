"""Lists of results in Redis, for a while.

    <prefix>:results:<hash>    string   JSON: provider, time of the search, items; expires

The key is made of the query, its language, its time limits, the day and the providers: neither a key nor an address
of a provider is in it. A Redis that is away, or an entry that cannot be read, is a miss.
"""

from __future__ import annotations

import dataclasses
import hashlib
import json
from collections.abc import Sequence

import redis
from quelea_fintext.text import normalise
from quelea_kit.errors import QueleaError

from quelea_search.adapters.redis_base import TenantRecords
from quelea_search.core.web.model import Result, Results
from quelea_search.core.web.query import WebQuery

_VERSION = 1


class ResultCache(TenantRecords):
    """What providers answered lately.

    Args:
        client: With decoded responses.
        prefix: Begins every key.
        seconds: How long an answer is used again; 0 turns the cache off.
    """

    def __init__(self, client: redis.Redis, prefix: str, *, seconds: float) -> None:
        super().__init__(client, prefix)
        self._milliseconds = int(seconds * 1000)

    def get(self, query: WebQuery, providers: Sequence[str]) -> Results | None:
        """What was answered to this query, with `cached` set and `searched` as it was; None when nothing was."""
        if not self._milliseconds:
            return None
        try:
            with self._answering():
                text = self._redis.get(self._name(query, providers))
            if text is None:
                return None
            held = json.loads(text)
            items = tuple(Result(**item) for item in held["items"])
            return Results(str(held["provider"]), items, float(held["searched"]), cached=True)
        except (QueleaError, ValueError, TypeError, KeyError):
            return None

    def put(self, query: WebQuery, providers: Sequence[str], results: Results) -> bool:
        """Remember an answer; False when it could not be."""
        if not self._milliseconds:
            return False
        held = {
            "provider": results.provider,
            "searched": results.searched,
            "items": [dataclasses.asdict(item) for item in results.items],
        }
        try:
            with self._answering():
                name = self._name(query, providers)
                self._redis.set(name, json.dumps(held, ensure_ascii=False), px=self._milliseconds)
        except QueleaError:
            return False
        return True

    def _name(self, query: WebQuery, providers: Sequence[str]) -> str:
        parts = (
            _VERSION,
            list(providers),
            " ".join(normalise(query.text).split()),
            query.language,
            query.count,
            query.today.isoformat(),
            query.as_of.isoformat(),
            query.since.isoformat() if query.since else "",
        )
        return self._key("results", hashlib.sha256(json.dumps(parts).encode()).hexdigest()[:32])
