"""What the service knows beside the job records, in the same Redis.

<prefix>:uris                hash    name of a document (Job.name) -> the one that is stored under it
<prefix>:cleanup             hash    failed job -> place and document whose leftovers are still to be removed
<prefix>:totals              hash    counters for the metrics
<prefix>:workers             zset    workers, by their last sign of life
<prefix>:ready               string  written to find out whether Redis takes writes
<prefix>:first:<what>        string  something that only one process is to do has been begun
"""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

import redis
from quelea_kit.errors import Conflict
from quelea_kit.reach import Reach, split_place

from quelea_search.adapters.redis_base import RedisBase


class Ledger(RedisBase):
    """Documents, leftovers, counters and workers.

    Args:
        client: With decoded responses.
        prefix: Begins every key, as in JobStore.
        lease_seconds: How long `hold` holds, and how long a silent worker counts as alive.
    """

    def __init__(
        self, client: redis.Redis, *, prefix: str, lease_seconds: float, clock: Callable[[], float] = time.time
    ) -> None:
        super().__init__(client, prefix)
        self._lease_seconds = lease_seconds
        self._now = clock

    def check(self) -> None:
        """Unavailable unless Redis takes a write (a full disk lets it answer pings and refuse these)."""
        with self._answering():
            self._redis.set(self._key("ready"), "1", ex=60)

    def messages(self, *queues: str) -> int:
        """Messages that no worker has taken yet (kombu keeps a queue as a list of its name)."""
        with self._answering():
            return sum(int(self._redis.llen(queue)) for queue in queues)

    def first(self, what: str, seconds: float) -> bool:
        """Whether the caller is the first to ask for something within the given seconds, of all processes."""
        with self._answering():
            return bool(self._redis.set(self._key("first", what), "1", nx=True, px=max(1, int(seconds * 1000))))

    # -- documents -------------------------------------------------------------------------------------------------

    def hold(self, document_id: str, token: str) -> None:
        """Keep workers away from a document for a lease's time; Conflict when one is at it or will be."""
        lease, active = self._key("lease", document_id), self._key("active", document_id)

        def decide(pipe: Any) -> None:
            if pipe.get(lease) or pipe.get(active):
                raise Conflict("The document is being indexed; try again when its job has finished.")
            pipe.multi()
            pipe.set(lease, token, px=int(self._lease_seconds * 1000))

        self._transact([lease, active], decide)

    def release(self, document_id: str, token: str) -> None:
        """The end of `hold`."""
        lease = self._key("lease", document_id)

        def decide(pipe: Any) -> None:
            mine = pipe.get(lease) == token
            pipe.multi()
            if mine:
                pipe.delete(lease)

        self._transact([lease], decide)

    def is_active(self, document_id: str) -> bool:
        """Whether a job is to bring this document in."""
        with self._answering():
            return bool(self._redis.exists(self._key("active", document_id)))

    def active_job(self, document_id: str) -> str:
        """The job that is to bring this document in; empty when there is none."""
        with self._answering():
            return str(self._redis.get(self._key("active", document_id)) or "")

    def stored_under(self, name: str) -> str:
        """The document that was last stored under a name; empty when there is none."""
        with self._answering():
            return str(self._redis.hget(self._key("uris"), name) or "")

    def forget_under(self, name: str, document_id: str) -> None:
        """A document is gone."""
        uris = self._key("uris")

        def decide(pipe: Any) -> None:
            mine = pipe.hget(uris, name) == document_id
            pipe.multi()
            if mine:
                pipe.hdel(uris, name)

        self._transact([uris], decide)

    def leftovers(self) -> dict[str, tuple[Reach, str]]:
        """Failed job -> where its document lies, and the document, where something is still to be removed."""
        with self._answering():
            found = self._redis.hgetall(self._key("cleanup"))
        split = {job_id: split_place(text) for job_id, text in found.items()}
        return {job_id: (Reach(tenant, (name,)), document) for job_id, (tenant, name, document) in split.items()}

    def no_leftovers(self, job_id: str) -> None:
        """All that a failed job left is removed."""
        with self._answering():
            self._redis.hdel(self._key("cleanup"), job_id)

    # -- counters and workers --------------------------------------------------------------------------------------

    def totals(self) -> dict[str, float]:
        """The counters since this Redis was new: jobs:<outcome>, pages, passages, stage_seconds:<stage>."""
        with self._answering():
            return {name: float(value) for name, value in self._redis.hgetall(self._key("totals")).items()}

    def worker_lives(self, name: str) -> None:
        """A sign of life of a worker."""
        with self._answering():
            self._redis.zadd(self._key("workers"), {name: self._now()})

    def worker_leaves(self, name: str) -> None:
        """A worker has shut down."""
        with self._answering():
            self._redis.zrem(self._key("workers"), name)

    def workers(self) -> dict[str, float]:
        """Seconds since each living worker's last sign of life."""
        with self._answering():
            now = self._now()
            found = self._redis.zrangebyscore(self._key("workers"), now - self._lease_seconds, "+inf", withscores=True)
        return {name: max(0.0, now - seen) for name, seen in found}

    # -- forgetting ------------------------------------------------------------------------------------------------

    def trim(self, keep: int) -> int:
        """Forget ended jobs beyond the newest `keep`, ids whose record has expired, and dead workers.

        Jobs that can be replayed are counted apart: the many that succeed do not push them out.

        Returns:
            How many jobs were forgotten.
        """
        with self._answering():
            self._redis.zremrangebyscore(self._key("workers"), "-inf", self._now() - 86_400)
            ids = self._redis.zrange(self._key("jobs"), 0, -1)
            pipe = self._redis.pipeline(transaction=False)
            for job_id in ids:
                pipe.hget(self._key("job", job_id), "state")
            states = dict(zip(ids, pipe.execute(), strict=True))
            dead = self._redis.zrange(self._key("dead"), 0, -1)
            others = set(dead)
            drop = {job_id for job_id, state in states.items() if state is None}
            plain = [job_id for job_id in ids if job_id not in others]
            for group in (plain, dead):
                surplus = group[: max(0, len(group) - keep)]
                drop.update(job_id for job_id in surplus if states.get(job_id) in ("succeeded", "failed", None))
            if drop:
                self._redis.delete(*(self._key("job", job_id) for job_id in drop))
                self._redis.zrem(self._key("jobs"), *drop)
                for tenant in self._redis.smembers(self._key("tenants")):
                    self._redis.zrem(self._key("jobs", "of", tenant), *drop)
                self._redis.zrem(self._key("dead"), *drop)
        return len(drop)
