"""Two ways in which a job changes its place: a fetched page takes the id of its bytes, a dead letter is replayed."""

from __future__ import annotations

import dataclasses
from typing import Any

from quelea_kit.errors import Conflict, NotFound, Overloaded

from quelea_search.adapters.job_records import JobRecords
from quelea_search.core import jobs
from quelea_search.core.jobs import Job, JobState


class JobMoves(JobRecords):
    """Transactions over more than one document or uri."""

    def take_id(self, job: Job, *, document_id: str, uri: str, page: str) -> Job:
        """The page of a job that the caller runs has been read, and its bytes are stored with the job.

        From here on the job works on the document of these bytes. When another job does so just now, or comes before
        it in the line of the page's final address, it goes back into the queue, with what was read.

        Args:
            job: As claimed.
            document_id: Of the bytes.
            uri: Canonical address after redirects.
            page: How the bytes came, as JSON.

        Returns:
            The job, running with a lease on the document; or queued, and no longer the caller's.

        Raises:
            LeaseLost: The job is in other hands.
        """
        old_lease, old_line, old_active = self._document_keys(job)
        moved = dataclasses.replace(job, document_id=document_id, uri=uri)
        lease, line, active = self._document_keys(moved)

        def decide(pipe: Any) -> Job:
            old = self._own(pipe, job)
            moves, first = line != old_line, pipe.lindex(line, 0)
            holder, active_id, old_active_id = pipe.get(lease), pipe.get(active), pipe.get(old_active)
            waits = (moves and first not in (None, job.id)) or holder not in (None, job.token)
            new = jobs.fetched(old, now=self._now(), document_id=document_id, uri=uri, page=page, waits=waits)
            pipe.multi()
            self._write(pipe, new)
            if moves:
                pipe.lrem(old_line, 0, job.id)
                pipe.lrem(line, 0, job.id)
                pipe.rpush(line, job.id)
            if old_active != active and old_active_id == job.id:
                pipe.delete(old_active)
            if active_id is None:
                pipe.set(active, job.id)
            if waits or old_lease != lease:
                pipe.delete(old_lease)
            if not waits:
                pipe.set(lease, job.token, px=self._lease_ms)
            return new

        keys = [self._key("job", job.id), lease, line, active, old_active]
        return self._transact(keys, decide)

    def replay(self, job_id: str, *, max_queued: int) -> Job:
        """Queue a job of the dead-letter list once more.

        Raises:
            NotFound: There is no such job.
            Conflict: It cannot be replayed; the message says why.
            Overloaded: So many of its lane are waiting already.
        """
        job = self.get(job_id)
        _, line, active = self._document_keys(job)
        waiting = self._key("queued", job.lane.value)

        def decide(pipe: Any) -> Job:
            old = self._read(pipe, job_id)
            if old is None:
                raise NotFound("There is no job with this id; finished jobs are removed after some days.")
            check_replayable(old)
            if pipe.zcard(waiting) >= max_queued:
                raise Overloaded(f"{max_queued} documents are already waiting; try again later.", retry_after=10.0)
            active_id = pipe.get(active)
            new = jobs.replay(old, now=self._now())
            pipe.multi()
            self._write(pipe, new)
            pipe.rpush(line, job_id)
            if active_id is None:
                pipe.set(active, job_id)
            pipe.hdel(self._key("cleanup"), job_id)
            return new

        return self._transact([self._key("job", job_id), line, active, waiting], decide)


def check_replayable(job: Job) -> None:
    """Conflict with the reason unless the job can be replayed."""
    if not job.state.ended:
        raise Conflict(f"Job {job.id} has not ended; there is nothing to replay.")
    if job.state is JobState.SUCCEEDED:
        raise Conflict(f"Job {job.id} has succeeded; there is nothing to replay.")
    if not job.replayable:
        raise Conflict(
            f"Job {job.id} failed because of its document ({job.error_reason}), so its bytes were not kept. "
            "Correct the document and submit it again."
        )
