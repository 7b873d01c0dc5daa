"""Reading the job records; jobs_redis.py tells the keys and writes them."""

from __future__ import annotations

import hashlib
from typing import Any

from quelea_kit.errors import NotFound

from quelea_search.adapters.redis_base import RedisBase
from quelea_search.core import jobs
from quelea_search.core.jobs import Job, JobState


class JobRecords(RedisBase):
    """What can be asked of the job records."""

    def get(self, job_id: str) -> Job:
        """One job, or NotFound."""
        job = self.find(job_id)
        if job is None:
            raise NotFound("There is no job with this id; ended jobs are forgotten after some days.")
        return job

    def find(self, job_id: str) -> Job | None:
        """One job, or None."""
        with self._answering():
            return self._read(self._redis, job_id)

    def newest(self, limit: int) -> list[Job]:
        """The newest jobs first."""
        with self._answering():
            return self._read_all(self._redis.zrevrange(self._key("jobs"), 0, limit - 1))

    def in_state(self, state: JobState) -> list[Job]:
        """Every queued or running job, oldest first."""
        with self._answering():
            return self._read_all(self._redis.zrange(self._key(state.value), 0, -1))

    def count(self, state: JobState) -> int:
        """How many jobs are queued or running."""
        with self._answering():
            return int(self._redis.zcard(self._key(state.value)))

    def next_in_line(self, uri: str) -> str:
        """The job that may begin now for a uri; empty when there is none."""
        with self._answering():
            return str(self._redis.lindex(self._line(uri), 0) or "")

    def _line(self, uri: str) -> str:
        return self._key("line", hashlib.sha256(uri.encode("utf-8", "surrogatepass")).hexdigest()[:32])

    def _read(self, source: Any, job_id: str) -> Job | None:
        record = source.hgetall(self._key("job", job_id))
        return jobs.decode(record) if record else None

    def _read_all(self, ids: list[str]) -> list[Job]:
        pipe = self._redis.pipeline(transaction=False)
        for job_id in ids:
            pipe.hgetall(self._key("job", job_id))
        return [jobs.decode(record) for record in pipe.execute() if record]
