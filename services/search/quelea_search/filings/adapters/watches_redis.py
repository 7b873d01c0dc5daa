"""The list of watched companies, in Redis."""

from __future__ import annotations

from typing import Any

from quelea_kit.errors import NotFound, Overloaded

from quelea_search.adapters.redis_base import TenantRecords
from quelea_search.core import records
from quelea_search.filings.core import watch
from quelea_search.filings.core.watch import Watch


class Watches(TenantRecords):
    """Records of watches, by the tenant that calls."""

    def add(self, new: Watch, most: int) -> Watch:
        """Remember a watch; one that is there stays as it is. Raises Overloaded when there are too many."""
        key = self._key("watches")

        def decide(pipe: Any) -> Watch:
            known = pipe.hget(key, new.id)
            if known:
                return watch.decode(known)
            if pipe.hlen(key) >= most:
                raise Overloaded(
                    f"{most} companies are watched already (QUELEA_SEARCH_FILINGS_WATCHES); remove one first."
                )
            pipe.multi()
            self._note_tenant(pipe)
            pipe.hset(key, new.id, records.encode(new))
            return new

        return self._transact([key], decide)

    def update(self, changed: Watch) -> None:
        """Write a watch that is there; one that was removed meanwhile stays removed."""
        key = self._key("watches")

        def decide(pipe: Any) -> None:
            known = pipe.hexists(key, changed.id)
            pipe.multi()
            if known:
                pipe.hset(key, changed.id, records.encode(changed))

        self._transact([key], decide)

    def remove(self, watch_id: str) -> None:
        """Forget a watch. Raises NotFound."""
        with self._answering():
            if not self._redis.hdel(self._key("watches"), watch_id):
                raise no_watch(watch_id)

    def all(self) -> list[Watch]:
        """By name of the company."""
        with self._answering():
            found = self._redis.hvals(self._key("watches"))
        return sorted((watch.decode(text) for text in found), key=lambda one: (one.name, one.id))


def no_watch(watch_id: str) -> NotFound:
    """What is said of a watch that is not there."""
    return NotFound(f"There is no watch {watch_id[:64]!r}; `quelea watch list` shows them.")
