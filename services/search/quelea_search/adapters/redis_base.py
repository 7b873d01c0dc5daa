"""Redis as this service uses it: keys under one prefix, optimistic transactions, errors of ours."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, TypeVar

import redis
from quelea_kit import reach
from quelea_kit.errors import Overloaded, Unavailable
from quelea_kit.reach import DEFAULT_TENANT
from redis.backoff import ExponentialBackoff
from redis.retry import Retry

T = TypeVar("T")
_TRIES = 100
"""A transaction that others disturb this often in a row is given up."""


def connect(url: str) -> redis.Redis:
    """A client that is never stuck: five seconds for any answer, three tries when the connection breaks."""
    return redis.Redis.from_url(
        url,
        decode_responses=True,
        socket_timeout=5.0,
        socket_connect_timeout=5.0,
        health_check_interval=30,
        retry=Retry(ExponentialBackoff(cap=0.5, base=0.05), 2),
    )


class RedisBase:
    """Keys and transactions. All methods of the classes built on it block; the server calls them in threads.

    Args:
        client: With decoded responses.
        prefix: Begins every key.
    """

    def __init__(self, client: redis.Redis, prefix: str) -> None:
        self._redis: Any = client  # redis-py types every answer as perhaps awaitable; this one never is
        self.prefix = prefix

    def _key(self, *parts: str) -> str:
        return ":".join((self.prefix, *parts))

    def _transact(self, keys: list[str], decide: Callable[[Any], T]) -> T:
        """Run decide(pipe) until nobody has touched the keys meanwhile.

        decide reads through the pipe at once, then may call pipe.multi() and queue what is to be written.
        """
        with self._answering():
            for _ in range(_TRIES):
                with self._redis.pipeline() as pipe:
                    try:
                        pipe.watch(*keys)
                        result = decide(pipe)
                        pipe.execute()
                    except redis.WatchError:
                        continue
                    return result
        raise Overloaded("Too many concurrent changes to the same jobs; try again.", retry_after=1.0)

    @contextmanager
    def _answering(self) -> Iterator[None]:
        try:
            yield
        except redis.RedisError as error:
            raise Unavailable(f"Redis, which stores the jobs, does not answer: {error}.", retry_after=2.0) from error


class TenantRecords(RedisBase):
    """Records of which each tenant has its own: all keys are of the tenant of the call (quelea_kit.reach).

    Those of the default tenant are as they were before there were tenants; of another one `<prefix>:tenant:<name>:…`.
    """

    def _key(self, *parts: str) -> str:
        tenant = reach.current().tenant
        return super()._key(*parts) if tenant == DEFAULT_TENANT else super()._key("tenant", tenant, *parts)

    def tenants(self) -> list[str]:
        """Those that have something here; the default one first."""
        with self._answering():
            others = self._redis.smembers(super()._key("tenants"))
        return [DEFAULT_TENANT, *sorted(others)]

    def _note_tenant(self, pipe: Any) -> None:
        """To be called where a record is written, so that the background knows of the tenant."""
        tenant = reach.current().tenant
        if tenant != DEFAULT_TENANT:
            pipe.sadd(super()._key("tenants"), tenant)
