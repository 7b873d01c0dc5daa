"""The job records as they lie in Redis (jobs_redis.py tells the keys): reading, and what writes them."""

from __future__ import annotations

import hashlib
import itertools
import time
from collections.abc import Callable
from typing import Any

import redis
from quelea_kit import reach
from quelea_kit.errors import NotFound, Overloaded
from quelea_kit.paging import Position
from quelea_kit.reach import DEFAULT_TENANT

from quelea_search.adapters.redis_base import RedisBase
from quelea_search.core import jobs
from quelea_search.core.jobs import Job, JobState, Lane, Waiting

_MOST_IN_TURN = 20
"""Jobs that are looked at for one slot: the next few may be taken by others meanwhile."""


class LeaseLost(Exception):
    """The job is in other hands now; whoever gets this must stop at once."""


class JobRecords(RedisBase):
    """What can be asked of the job records.

    Args:
        client: With decoded responses.
        prefix: Begins every key.
        max_attempts: At a job whose worker vanishes.
        lease_seconds: How long a worker may be silent.
        keep_seconds: How long an ended job is remembered.
        dead_seconds: How long a job that can be replayed is.
    """

    def __init__(
        self,
        client: redis.Redis,
        *,
        prefix: str,
        max_attempts: int,
        lease_seconds: float,
        keep_seconds: float,
        dead_seconds: float,
        clock: Callable[[], float] = time.time,
    ) -> None:
        super().__init__(client, prefix)
        self._max_attempts = max_attempts
        self._lease_ms = int(lease_seconds * 1000)
        self._keep_seconds = int(keep_seconds)
        self._dead_seconds = int(dead_seconds)
        self._now = clock

    def get(self, job_id: str) -> Job:
        """One job within the reach of the call, or NotFound."""
        job = self.find(job_id)
        if job is None or not reach.current().holds(job.tenant, job.collection):
            raise NotFound("There is no job with this id; finished jobs are removed after some days.")
        return job

    def find(self, job_id: str) -> Job | None:
        """One job, or None."""
        with self._answering():
            return self._read(self._redis, job_id)

    def newest(
        self, page_size: int, after: Position | None = None, *, replayable: bool = False
    ) -> tuple[list[Job], Position | None]:
        """A page of jobs within the reach of the call, newest first.

        Or of those that can be replayed, the last to fail first.

        Args:
            page_size: At most so many.
            after: The position of the last job of the page before.
            replayable: Only jobs that can be replayed.

        Returns:
            The jobs, and the position behind which the next page begins; None on the last page.
        """
        bounds = reach.current()
        index = self._key("dead" if replayable else "jobs")
        if not replayable and bounds.tenant != DEFAULT_TENANT:
            index = self._key("jobs", "of", bounds.tenant)
        found: list[tuple[Job, Position]] = []
        with self._answering():
            more = True
            while more and len(found) <= page_size:
                entries = self._entries(index, after, page_size + 1)
                jobs_by_id = {job.id: job for job in self._read_all([job_id for job_id, _ in entries])}
                # Some of the ids may be of records that have expired, which are trimmed once a minute.
                for job_id, score in entries:
                    job = jobs_by_id.get(job_id)
                    after = score, job_id
                    if job is None or not bounds.holds(job.tenant, job.collection):
                        continue
                    if job.replayable or not replayable:
                        found.append((job, (score, job_id)))
                more = len(entries) > page_size
        page = found[:page_size]
        return [job for job, _ in page], page[-1][1] if len(found) > page_size else None

    def _entries(self, index: str, after: Position | None, count: int) -> list[tuple[str, float]]:
        start = 0
        if after is not None:
            rank = self._redis.zrevrank(index, after[1])
            # A job that has left the index meanwhile: go on behind all that are newer than it was.
            start = self._redis.zcount(index, f"({after[0]!r}", "+inf") if rank is None else rank + 1
        return list(self._redis.zrevrange(index, start, start + count - 1, withscores=True))

    def in_state(self, state: JobState) -> list[Job]:
        """Every queued or running job, oldest first."""
        with self._answering():
            return self._read_all(self._redis.zrange(self._key(state.value), 0, -1))

    def waiting(self, lane: Lane) -> list[Job]:
        """Every queued job of a lane, oldest first."""
        with self._answering():
            return self._read_all(self._redis.zrange(self._key("queued", lane.value), 0, -1))

    def in_turn(self, lane: Lane, share: int) -> list[str]:
        """Some queued jobs of a lane that may begin, in their turn (core.jobs.in_turn); each the first of its line."""
        with self._answering():
            ids = self._redis.zrange(self._key("queued", lane.value), 0, -1)
            known = {
                job_id: told.partition(" ")
                for job_id, told in self._redis.hgetall(self._key("turns", lane.value)).items()
            }
            running = [job.uploader for job in self._read_all(self._redis.zrange(self._key("running"), 0, -1))]
            waiting = (Waiting(job_id, known[job_id][2]) for job_id in ids if job_id in known)
            turns = jobs.in_turn(waiting, running, share)
            found: list[str] = []
            while len(found) < _MOST_IN_TURN and (some := list(itertools.islice(turns, _MOST_IN_TURN))):
                pipe = self._redis.pipeline(transaction=False)
                for job_id in some:
                    pipe.lindex(known[job_id][0], 0)
                found += [job_id for job_id, first in zip(some, pipe.execute(), strict=True) if job_id == first]
            # Jobs that an earlier version queued have no turn: they come last.
            return [*found, *(job_id for job_id in ids if job_id not in known)][:_MOST_IN_TURN]

    def count(self, state: JobState) -> int:
        """How many jobs are queued or running."""
        with self._answering():
            return int(self._redis.zcard(self._key(state.value)))

    def count_dead(self) -> int:
        """How many jobs can be replayed; those whose record has just expired count until they are trimmed."""
        with self._answering():
            return int(self._redis.zcard(self._key("dead")))

    def count_waiting(self, lane: Lane) -> int:
        """How many jobs of a lane are queued."""
        with self._answering():
            return int(self._redis.zcard(self._key("queued", lane.value)))

    def next_in_line(self, name: str) -> Job | None:
        """The job that may begin now for a uri."""
        with self._answering():
            job_id = self._redis.lindex(self._line(name), 0)
            return self._read(self._redis, job_id) if job_id else None

    def check_room(self, lane: Lane, uploader: str, max_queued: int) -> None:
        """Raise Overloaded when no further job of an uploader may wait in a lane."""
        with self._answering():
            self._check_room(self._redis, lane, uploader, max_queued)

    # -- inside ----------------------------------------------------------------------------------------------------

    def _check_room(self, source: Any, lane: Lane, uploader: str, max_queued: int) -> None:
        if source.zcard(self._key("queued", lane.value)) >= max_queued:
            raise Overloaded(f"{max_queued} documents are already waiting; try again later.", retry_after=10.0)
        most = jobs.most_waiting(max_queued)
        if uploader and most < max_queued:
            waiting = source.hvals(self._key("turns", lane.value))
            if sum(told.partition(" ")[2] == uploader for told in waiting) >= most:
                raise Overloaded(
                    f"{most} documents of this key are already waiting; try again when some of them are done.",
                    retry_after=10.0,
                )

    def _line(self, name: str) -> str:
        return self._key("line", hashlib.sha256(name.encode("utf-8", "surrogatepass")).hexdigest()[:32])

    def _read(self, source: Any, job_id: str) -> Job | None:
        record = source.hgetall(self._key("job", job_id))
        return jobs.decode(record) if record else None

    def _read_all(self, ids: list[str]) -> list[Job]:
        pipe = self._redis.pipeline(transaction=False)
        for job_id in ids:
            pipe.hgetall(self._key("job", job_id))
        return [jobs.decode(record) for record in pipe.execute() if record]

    def _document_keys(self, job: Job) -> tuple[str, str, str]:
        return self._key("lease", job.document_id), self._line(job.name), self._key("active", job.document_id)

    def _own(self, pipe: Any, job: Job) -> Job:
        old = self._read(pipe, job.id)
        if old is None or old.token != job.token:
            raise LeaseLost
        return old

    def _in_other_hands(self, pipe: Any, lease: str, job: Job, owner_gone: Callable[[str], bool]) -> bool:
        holder = pipe.get(lease)
        return bool(holder) and not (holder == job.token and owner_gone(job.owner))

    def _write(self, pipe: Any, job: Job) -> None:
        """Queue the commands that store a job in its state."""
        key, dead = self._key("job", job.id), self._key("dead")
        pipe.hset(key, mapping=jobs.encode(job))
        lists = {
            self._key("queued"): job.state is JobState.QUEUED,
            self._key("queued", job.lane.value): job.state is JobState.QUEUED,
            self._key("running"): job.state is JobState.RUNNING,
        }
        turns = self._key("turns", job.lane.value)
        if job.state is JobState.QUEUED:
            pipe.hset(turns, job.id, f"{self._line(job.name)} {job.uploader}")
        else:
            pipe.hdel(turns, job.id)
        for name, belongs in lists.items():
            if belongs:
                pipe.zadd(name, {job.id: job.created})
            else:
                pipe.zrem(name, job.id)
        if job.replayable:
            pipe.zadd(dead, {job.id: job.finished})
        else:
            pipe.zrem(dead, job.id)
        if job.state.ended:
            pipe.expire(key, self._dead_seconds if job.replayable else self._keep_seconds)
        else:
            pipe.persist(key)
        pipe.publish(self._key("changed"), job.id)

    def _write_end(self, pipe: Any, job: Job, active_id: str | None, *, leftovers: bool) -> None:
        """Queue the commands that take an ended job out of everything that waits for it."""
        _, line, active = self._document_keys(job)
        pipe.lrem(line, 0, job.id)
        if active_id == job.id:  # else a later job for the same bytes is the active one
            pipe.delete(active)
        totals = self._key("totals")
        pipe.hincrby(totals, f"jobs:{'unchanged' if job.unchanged else job.state.value}", 1)
        if job.state is JobState.SUCCEEDED and not job.unchanged:
            pipe.hincrby(totals, "pages", job.total)
            pipe.hincrby(totals, "passages", job.passages)
            pipe.hset(self._key("uris"), job.name, job.document_id)
        if leftovers:
            pipe.hset(self._key("cleanup"), job.id, f"{job.place}{job.document_id}")

    def _count_stage(self, pipe: Any, old: Job, new: Job) -> None:
        if old.stage and (new.stage != old.stage or new.state is not JobState.RUNNING):
            pipe.hincrbyfloat(self._key("totals"), f"stage_seconds:{old.stage}", self._now() - old.stage_started)
