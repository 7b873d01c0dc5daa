"""The collections of each tenant, in Redis: <prefix>:collections, hash, name -> title and time, as JSON."""

from __future__ import annotations

import json
import time
from collections.abc import Callable
from typing import Any

import redis
from quelea_kit import reach
from quelea_kit.errors import Conflict, InvalidInput, NotFound, Overloaded
from quelea_kit.reach import DEFAULT_COLLECTION, MOST_COLLECTIONS, check_name

from quelea_search.adapters.redis_base import TenantRecords
from quelea_search.core.collections import Collection

_TITLE = 200


class Collections(TenantRecords):
    """Collections of the tenant that calls. Every method blocks.

    Args:
        client: With decoded responses.
        prefix: Begins every key.
        clock: Seconds since 1970.
    """

    def __init__(self, client: redis.Redis, prefix: str, clock: Callable[[], float] = time.time) -> None:
        super().__init__(client, prefix)
        self._now = clock

    def all(self) -> list[Collection]:
        """By name; the default one is always there."""
        with self._answering():
            found = {name: _decode(name, text) for name, text in self._redis.hgetall(self._key("collections")).items()}
        found.setdefault(DEFAULT_COLLECTION, Collection(DEFAULT_COLLECTION))
        return [found[name] for name in sorted(found)]

    def check(self, name: str) -> None:
        """Raises NotFound when there is no such collection within the reach of the call, InvalidInput for no name."""
        bounds = reach.current()
        if not bounds.holds(bounds.tenant, check_name(name, "collection")):
            raise no_collection(name)
        if name == DEFAULT_COLLECTION:
            return
        with self._answering():
            known = self._redis.hexists(self._key("collections"), name)
        if not known:
            raise no_collection(name)

    def create(self, name: str, title: str) -> Collection:
        """Make a collection.

        Raises:
            InvalidInput: The name is none, or the title too long.
            Conflict: There is one of this name.
            Overloaded: The tenant has as many as it may.
        """
        check_name(name, "name")
        if len(title) > _TITLE or not (title.isprintable() or not title):
            raise InvalidInput(f"title must have at most {_TITLE} printable characters.", details={"field": "title"})
        made, key = Collection(name, title.strip(), self._now()), self._key("collections")

        def decide(pipe: Any) -> Collection:
            if name == DEFAULT_COLLECTION or pipe.hexists(key, name):
                raise Conflict(f"There is a collection {name!r} already.", details={"collection": name})
            if pipe.hlen(key) + 1 >= MOST_COLLECTIONS:
                raise Overloaded(f"A tenant may have {MOST_COLLECTIONS} collections; remove one first.")
            pipe.multi()
            self._note_tenant(pipe)
            pipe.hset(key, name, json.dumps({"title": made.title, "created": made.created}, ensure_ascii=False))
            return made

        return self._transact([key], decide)

    def check_removable(self, name: str) -> None:
        """As `check`; the default one stays. Raises Conflict too."""
        self.check(name)
        if name == DEFAULT_COLLECTION:
            raise Conflict(f"Every tenant has the collection {name!r}; remove the documents in it instead.")

    def remove(self, name: str) -> None:
        """Forget a collection, if it is there; its documents are removed by whoever calls."""
        with self._answering():
            self._redis.hdel(self._key("collections"), name)


def no_collection(name: str) -> NotFound:
    """What is said of a collection that is not there, as the gateway says it of one that a caller may not see."""
    return NotFound(f"There is no collection {name!r}.", details={"collection": name})


def _decode(name: str, text: str) -> Collection:
    said = json.loads(text)
    return Collection(name, said["title"], float(said["created"]))
