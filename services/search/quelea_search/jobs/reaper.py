"""The reaper: recovers lost jobs and messages, removes leftovers and old records."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Callable

from quelea_kit.errors import Conflict, QueleaError, Unavailable
from quelea_kit.logging import get_logger
from quelea_kit.processes import process_identity
from quelea_kit.reach import Reach, within

from quelea_search.adapters.retriever import Retriever
from quelea_search.components import Components
from quelea_search.core.jobs import JobState, Lane
from quelea_search.jobs.celery_app import queue_name
from quelea_search.jobs.leftovers import remove_leftovers
from quelea_search.web.page_review import Removals

log = get_logger(__name__)
_TIDY_SECONDS = 30.0
_TRIM_SECONDS = 60.0
_ABANDONED_SECONDS = 600.0
"""Complete bytes get their record within seconds; those that have none after this were given up."""
_HOUR = 3600.0
_JUMP_SECONDS = 5.0


class Reaper:
    """Several servers may each have one: every step is a transaction that only one of them wins."""

    def __init__(self, shared: Components, retriever: Retriever, removals: Removals) -> None:
        self._shared = shared
        self._retriever = retriever
        self._removals = removals
        self._offset = time.time() - time.monotonic()
        self._leases_count_from = 0.0

    async def run(self) -> None:
        """Until cancelled."""
        every = self._shared.settings.reaper_seconds
        async with asyncio.TaskGroup() as group:
            group.create_task(self._repeat("jobs", every, self.look_after_jobs))
            # Apart from the others, because it waits for the retriever.
            group.create_task(self._repeat("leftovers", every, self.remove_leftovers))
            group.create_task(self._repeat("pages", every, self.take_out))
            group.create_task(self._repeat("records", _TRIM_SECONDS, self.trim))

    async def _repeat(self, what: str, seconds: float, step: Callable[[], Awaitable[None]]) -> None:
        said = ""
        while True:
            try:
                await step()
                said = ""
            except (QueleaError, OSError, TimeoutError) as error:
                why = f"{type(error).__name__}: {error}"
                if why != said:  # once, not every second
                    log.warning("reaper_failed", what=what, why=why)
                said = why
            await asyncio.sleep(seconds)

    async def look_after_jobs(self) -> None:
        """Lost jobs and lost messages."""
        await asyncio.to_thread(self._recover)
        await asyncio.to_thread(self._resend)

    def _recover(self) -> None:
        """Jobs whose worker has vanished go back into the queue, or fail."""
        began = time.monotonic()
        try:
            running = self._shared.store.in_state(JobState.RUNNING)
        except Unavailable:
            self._give_time("Redis did not answer")
            raise
        if time.monotonic() - began > self._shared.settings.beat_seconds:
            self._give_time("Redis was slow")
        leases_count = self._leases_count()
        for job in running:
            if not leases_count and not process_identity.has_ended(job.owner):
                continue
            changed = self._shared.store.recover(job.id, process_identity.has_ended)
            if changed is None:
                continue
            log.warning("job_recovered", job=job.id, state=changed.state, attempts=changed.attempts, was_at=job.stage)
            with within(changed.reach):
                self._shared.pages.job_failed(changed)
            following = self._shared.store.next_in_line(job.name)
            if following:
                self._shared.send(following)

    def _leases_count(self) -> bool:
        """Whether a lease that is over says that its worker vanished.

        Leases end by the clock. When that has jumped, as after a laptop's sleep, all of them are over at once; while
        Redis does not answer, nobody can renew his. Their workers then get the time that one lasts.
        """
        now, offset = time.monotonic(), time.time() - time.monotonic()
        if abs(offset - self._offset) > _JUMP_SECONDS:
            self._give_time(f"the clock jumped by {offset - self._offset:.0f} s")
        self._offset = offset
        return now >= self._leases_count_from

    def _give_time(self, why: str) -> None:
        now = time.monotonic()
        if now >= self._leases_count_from:
            log.warning("leases_do_not_count", why=why, seconds=self._shared.settings.lease_seconds)
        self._leases_count_from = now + self._shared.settings.lease_seconds

    def _resend(self) -> None:
        """Jobs whose turn it is, and that wait although no message waits in their lane: their messages were lost."""
        now = time.time()
        limit = now - self._shared.settings.resend_seconds
        for lane in Lane:
            if self._shared.ledger.messages(queue_name(self._shared.settings, lane)):
                continue
            for job_id in self._shared.next_jobs(lane):
                job = self._shared.store.find(job_id)
                # A time that is still to come says nothing: the clock was set back.
                if job is None or limit <= max(job.sent, job.created) <= now:
                    continue
                first = self._shared.store.next_in_line(job.name)
                if first is not None and first.id == job.id:
                    log.warning("message_sent_again", job=job.id, lane=lane)
                    self._shared.send(job)

    async def remove_leftovers(self) -> None:
        """Remove what failed jobs could not remove themselves."""
        for job_id, (reach, document_id) in (await asyncio.to_thread(self._shared.ledger.leftovers)).items():
            try:
                await asyncio.to_thread(self._shared.ledger.hold, document_id, job_id)
            except Conflict:
                continue  # a newer job for the same bytes clears up first itself
            try:
                job = await asyncio.to_thread(self._shared.store.find, job_id)
                keep = job is not None and job.replayable
                seconds = min(_TIDY_SECONDS, self._shared.settings.lease_seconds)
                with within(reach):
                    async with asyncio.timeout(seconds):
                        await remove_leftovers(
                            self._shared.blobs, self._retriever, job_id, document_id, keep_bytes=keep
                        )
                await asyncio.to_thread(self._shared.ledger.no_leftovers, job_id)
            finally:
                await asyncio.to_thread(self._shared.ledger.release, document_id, job_id)

    async def take_out(self) -> None:
        """Finish what decisions over pages of the web have begun."""
        await self._removals.of_all_tenants()

    async def trim(self) -> None:
        """Forget what is old."""
        await asyncio.to_thread(self._trim)

    def _trim(self) -> None:
        forgotten = self._shared.ledger.trim(self._shared.settings.max_jobs_kept)
        for job_id, age in self._shared.blobs.uploads().items():
            job = self._shared.store.find(job_id)
            # A young upload without a record is just being submitted.
            ended = job is not None and job.state.ended and not job.replayable
            if ended or (job is None and age > _ABANDONED_SECONDS):
                self._shared.blobs.delete_incoming(job_id)
        for tenant in self._shared.pages.tenants():
            with within(Reach(tenant)):
                self._shared.pages.trim()
        pages = self._shared.blobs.trim_cache(self._shared.settings.page_cache_hours * _HOUR)
        if pages:
            log.info("cached_pages_forgotten", number=pages)
        if forgotten:
            log.info("jobs_forgotten", number=forgotten)
