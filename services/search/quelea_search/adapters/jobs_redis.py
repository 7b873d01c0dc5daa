"""Job records in Redis: the one truth about what is queued, running and ended.

    <prefix>:job:<id>            hash    the record (core/jobs.py)
    <prefix>:jobs                zset    every job, by time of submission
    <prefix>:jobs:of:<tenant>    zset    those of one tenant that is not the default one
    <prefix>:tenants             set     the tenants, without the default one
    <prefix>:queued, :running    zset    the jobs in that state
    <prefix>:queued:<lane>       zset    the queued jobs of one lane
    <prefix>:turns:<lane>        hash    a queued job -> its line and its uploader
    <prefix>:dead                zset    failed jobs that can be replayed, by time of failure
    <prefix>:active:<document>   string  the job that is to bring this document in
    <prefix>:line:<uri's hash>   list    jobs of one uri, in order: versions of a document never overtake each other
    <prefix>:lease:<document>    string  token of who works on the document; expires when nobody says that he lives
    <prefix>:changed             channel a job id for every change

The other keys are told in ledger_redis.py. Every change is one optimistic transaction (WATCH, decide in Python,
MULTI), so the rules stay in core/jobs.py.
"""

from __future__ import annotations

import uuid
from collections.abc import Callable
from typing import Any

from quelea_kit.reach import DEFAULT_TENANT

from quelea_search.adapters.job_moves import JobMoves
from quelea_search.adapters.job_records import LeaseLost
from quelea_search.core import jobs
from quelea_search.core.jobs import Job, JobState

__all__ = ["JobStore", "LeaseLost"]


class JobStore(JobMoves):
    """All job records of one knowledge base."""

    # -- submitting ------------------------------------------------------------------------------------------------

    def submit(self, job: Job, *, stored_pages: int | None, max_queued: int) -> Job:
        """Record a submission; the answer is the job to watch, which may be an earlier one for the same bytes.

        Args:
            job: New.
            stored_pages: Pages of the document when the index already holds it, else None.
            max_queued: Overloaded is raised when so many of the same lane are waiting.
        """
        _, line, active = self._document_keys(job)
        waiting = self._key("queued", job.lane.value)

        def decide(pipe: Any) -> Job:
            before = pipe.lrange(line, 0, -1)
            active_id = pipe.get(active)
            earlier = self._read(pipe, active_id) if active_id else None
            # The same bytes are on their way in. Only when another version has been submitted in between must they
            # come in once more, after it.
            if earlier and (earlier.name != job.name or before[-1:] == [earlier.id]):
                return earlier
            new = job
            if stored_pages is not None and not before:
                new = jobs.succeed(job, now=self._now(), pages=stored_pages, unchanged=True)
            else:
                self._check_room(pipe, job.lane, job.uploader, max_queued)
            pipe.multi()
            self._write(pipe, new)
            pipe.zadd(self._key("jobs"), {new.id: new.created})
            if new.tenant != DEFAULT_TENANT:
                pipe.sadd(self._key("tenants"), new.tenant)
                pipe.zadd(self._key("jobs", "of", new.tenant), {new.id: new.created})
            if new.state.ended:
                pipe.hincrby(self._key("totals"), "jobs:unchanged", 1)
            else:
                pipe.set(active, new.id)
                pipe.rpush(line, new.id)
            return new

        return self._transact([line, active, waiting], decide)

    def mark_sent(self, job_id: str) -> None:
        """A message for the job is in the queue."""
        with self._answering():
            # Only on a record that exists: a bare field would be no record.
            if self._redis.exists(self._key("job", job_id)):
                self._redis.hset(self._key("job", job_id), "sent", str(self._now()))

    # -- working ---------------------------------------------------------------------------------------------------

    def claim(self, job_id: str, owner: str, owner_gone: Callable[[str], bool], share: int | None = None) -> Job | None:
        """Take a job; None when there is nothing to do: it has ended, is in other hands, or must wait its turn.

        Args:
            job_id: From a message.
            owner: Who takes it.
            owner_gone: Whether an owner has surely ended, so that its lease need not be waited for.
            share: How many jobs of its uploader may run, with this one; None sets no bound.

        Returns:
            The job, running; or failed just now, because its workers vanished too often.
        """
        seen = self.find(job_id)
        if seen is None or seen.state.ended:
            return None
        lease, line, active = self._document_keys(seen)

        def decide(pipe: Any) -> Job | None:
            job = self._read(pipe, job_id)
            if job is None or job.state.ended or pipe.lindex(line, 0) != job_id:
                return None
            if job.document_id != seen.document_id:  # its page has been read meanwhile: other keys are to be watched
                return None
            if self._in_other_hands(pipe, lease, job, owner_gone):
                return None
            if share is not None and job.state is JobState.QUEUED and self._running_of(pipe, job.uploader) >= share:
                return None
            active_id = pipe.get(active)
            if job.state is JobState.RUNNING:
                if not owner_gone(job.owner):  # its lease is over, perhaps by a clock that jumped: the reaper decides
                    return None
                job = jobs.lost(job, self._max_attempts, now=self._now())
            if not job.state.ended:
                job = jobs.claim(job, owner=owner, token=uuid.uuid4().hex, now=self._now())
            pipe.multi()
            self._write(pipe, job)
            if job.state.ended:
                pipe.delete(lease)
                self._write_end(pipe, job, active_id, leftovers=True)
                return job
            pipe.set(lease, job.token, px=self._lease_ms)
            return job

        running = [] if share is None else [self._key("running")]
        return self._transact([self._key("job", job_id), lease, line, active, *running], decide)

    def _running_of(self, pipe: Any, uploader: str) -> int:
        ids = pipe.zrange(self._key("running"), 0, -1)
        return sum(pipe.hget(self._key("job", job_id), "uploader") == uploader for job_id in ids)

    def beat(self, job: Job) -> None:
        """Say that the worker lives; LeaseLost when the job is no longer its own."""
        key, lease = self._key("job", job.id), self._document_keys(job)[0]

        def decide(pipe: Any) -> None:
            token, document_id = pipe.hmget(key, "token", "document_id")
            if token == job.token and document_id != job.document_id:
                return  # it set out before take_id: the lease is another by now, and the old one is to stay free
            if token != job.token or pipe.get(lease) not in (None, job.token):
                raise LeaseLost
            pipe.multi()
            pipe.set(lease, job.token, px=self._lease_ms)

        self._transact([key, lease], decide)

    def change(self, job: Job, how: Callable[[Job], Job]) -> Job:
        """Apply a function of core/jobs.py to a job that the caller runs; LeaseLost when it no longer does."""

        def decide(pipe: Any) -> Job:
            old = self._own(pipe, job)
            new = how(old)
            pipe.multi()
            self._write(pipe, new)
            self._count_stage(pipe, old, new)
            return new

        return self._transact([self._key("job", job.id)], decide)

    def end(self, job: Job, how: Callable[[Job], Job], *, leftovers: bool = False) -> Job:
        """End or give back a job that the caller runs; LeaseLost when it no longer does.

        Args:
            job: As claimed.
            how: Makes the job succeed, fail or wait again.
            leftovers: Something of the failed document could not be removed yet.
        """
        lease, _, active = self._document_keys(job)

        def decide(pipe: Any) -> Job:
            old = self._own(pipe, job)
            new = how(old)
            active_id = pipe.get(active)
            pipe.multi()
            self._write(pipe, new)
            self._count_stage(pipe, old, new)
            pipe.delete(lease)
            if new.state.ended:
                self._write_end(pipe, new, active_id, leftovers=leftovers)
            return new

        return self._transact([self._key("job", job.id), active], decide)

    def recover(self, job_id: str, owner_gone: Callable[[str], bool]) -> Job | None:
        """Put a running job whose worker has vanished back into the queue, or fail it; None when its worker lives."""
        seen = self.find(job_id)
        if seen is None or seen.state is not JobState.RUNNING:
            return None
        lease, _, active = self._document_keys(seen)

        def decide(pipe: Any) -> Job | None:
            old = self._read(pipe, job_id)
            if old is None or old.state is not JobState.RUNNING or old.document_id != seen.document_id:
                return None
            if self._in_other_hands(pipe, lease, old, owner_gone):
                return None
            active_id = pipe.get(active)
            new = jobs.lost(old, self._max_attempts, now=self._now())
            pipe.multi()
            self._write(pipe, new)
            pipe.delete(lease)
            if new.state.ended:
                self._write_end(pipe, new, active_id, leftovers=True)
            return new

        return self._transact([self._key("job", job_id), lease, active], decide)
