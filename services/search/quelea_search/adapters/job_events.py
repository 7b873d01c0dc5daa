"""Who waits for a change of a job is woken: one subscription to Redis for a whole process."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Iterator

import redis.asyncio
from quelea_kit.logging import get_logger
from redis.exceptions import RedisError

log = get_logger(__name__)
_AGAIN_SECONDS = 1.0


def connect_events(url: str) -> redis.asyncio.Redis:
    """A client that may wait for the next change as long as it takes."""
    return redis.asyncio.Redis.from_url(
        url, decode_responses=True, socket_timeout=None, socket_connect_timeout=5.0, health_check_interval=30
    )


class JobEvents:
    """Changes of jobs, as events.

    A change while the subscription is broken is missed: who waits must look by himself every few seconds too.

    Args:
        client: With decoded responses; closed when `run` ends.
        prefix: As in JobStore.
    """

    def __init__(self, client: redis.asyncio.Redis, prefix: str) -> None:
        self._redis = client
        self._channel = f"{prefix}:changed"
        self._waiting: dict[str, set[asyncio.Event]] = {}

    @contextlib.contextmanager
    def of(self, job_id: str) -> Iterator[asyncio.Event]:
        """An event that is set at every change of one job; the caller clears it."""
        event = asyncio.Event()
        self._waiting.setdefault(job_id, set()).add(event)
        try:
            yield event
        finally:
            events = self._waiting[job_id]
            events.discard(event)
            if not events:
                del self._waiting[job_id]

    async def run(self) -> None:
        """Listen until cancelled, and again after every loss of the connection."""
        try:
            while True:
                try:
                    await self._listen()
                except (RedisError, OSError) as error:
                    log.warning("job_events_broken", why=str(error))
                await asyncio.sleep(_AGAIN_SECONDS)
        finally:
            await self._redis.aclose()

    async def _listen(self) -> None:
        async with self._redis.pubsub(ignore_subscribe_messages=True) as subscription:
            await subscription.subscribe(self._channel)
            async for message in subscription.listen():
                for event in self._waiting.get(str(message["data"]), ()):
                    event.set()
