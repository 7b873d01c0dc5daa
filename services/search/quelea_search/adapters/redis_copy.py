"""All of one knowledge base's keys, as they are at one moment, out of Redis and back.

A script of Redis's own reads them: nothing else runs meanwhile, so a job is in one list and no other, as its record
says. (The append-only file would do too, but only by hand, on the server's disk, and with all else that is in it.)
What is a hint or a sign of life stays out, and comes again by itself: messages, leases, workers, results of searches.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import redis
from quelea_kit.errors import Conflict, InvalidInput, Unavailable

_SECONDS = 300.0
_PASSING = ("messages:", "unacked", "lease:", "workers", "ready", "first:", "results:")
_TENANT = re.compile(r"^tenant:[^:]*:")
_READ = """
local found, cursor = {}, '0'
repeat
  local page = redis.call('SCAN', cursor, 'MATCH', ARGV[1], 'COUNT', 1000)
  cursor = page[1]
  for _, key in ipairs(page[2]) do
    found[#found + 1] = key
    found[#found + 1] = redis.call('PTTL', key)
    found[#found + 1] = redis.call('DUMP', key)
  end
until cursor == '0'
return {redis.call('TIME'), found}
"""


@dataclass(frozen=True, slots=True)
class Key:
    """A key and what it holds."""

    name: str
    """Without the knowledge base's prefix."""
    expires: int
    """Milliseconds since 1970; 0 for never."""
    value: bytes
    """As Redis's DUMP gives it."""


class RedisCopy:
    """Reading and writing everything.

    Args:
        url: Of Redis.
        prefix: Begins every key of the knowledge base.
    """

    def __init__(self, url: str, prefix: str) -> None:
        self._redis: Any = redis.Redis.from_url(url, socket_timeout=_SECONDS, socket_connect_timeout=5.0)
        self._prefix = f"{prefix}:".encode()

    def read(self) -> list[Key]:
        """Every key that is worth keeping, as of one moment; all else waits meanwhile."""
        pattern = b"".join(b"\\" + bytes([c]) if c in b"*?[]\\^-" else bytes([c]) for c in self._prefix) + b"*"
        try:
            (seconds, microseconds), found = self._redis.eval(_READ, 0, pattern)
        except redis.RedisError as error:
            raise Unavailable(f"Cannot read the keys from Redis: {error}") from error
        now = int(seconds) * 1000 + int(microseconds) // 1000
        keys = {}
        for name, left, value in zip(found[::3], found[1::3], found[2::3], strict=True):
            short = self._short(name)
            if value is not None and not _TENANT.sub("", short).startswith(_PASSING):
                keys[short] = Key(short, now + int(left) if int(left) > 0 else 0, value)
        return list(keys.values())

    def write(self, keys: list[Key], *, replace: bool) -> int:
        """Make the knowledge base's keys these, in one transaction; how many were taken (some have expired since).

        Raises:
            Conflict: There are keys already, and they are not to be replaced.
            InvalidInput: This Redis is older than the one that they come from.
        """
        try:
            there = list(self._names())
            worth = [name for name in there if not _TENANT.sub("", self._short(name)).startswith(_PASSING)]
            if worth and not replace:
                raise Conflict(
                    f"This Redis holds {len(worth)} keys of a knowledge base; nothing was changed. Restore into an "
                    "empty one, or pass --replace to remove them."
                )
            with self._redis.pipeline(transaction=True) as pipe:
                for name in there:
                    pipe.unlink(name)
                for key in keys:
                    pipe.restore(self._prefix + key.name.encode("utf-8", "surrogateescape"), key.expires, key.value,
                                 absttl=bool(key.expires))  # fmt: skip
                pipe.execute()
            return len(keys)
        except redis.ResponseError as error:
            raise InvalidInput(
                f"Redis does not accept the keys: {error}. Its version must not be older than the "
                "one that was backed up."
            ) from error
        except redis.RedisError as error:
            raise Unavailable(f"Redis does not answer: {error}") from error

    def _names(self) -> Iterator[bytes]:
        cursor = 0
        while True:
            cursor, page = self._redis.scan(cursor, count=1000)
            yield from (name for name in page if name.startswith(self._prefix))
            if not cursor:
                return

    def _short(self, name: bytes) -> str:
        return name[len(self._prefix) :].decode("utf-8", "surrogateescape")
