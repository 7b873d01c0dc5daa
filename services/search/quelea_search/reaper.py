"""What the server looks after: lost jobs, lost messages, leftovers, old records."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Callable

from quelea_kit.errors import Conflict, QueleaError
from quelea_kit.logging import get_logger

from quelea_search.adapters import owner
from quelea_search.adapters.blobs import Blobs
from quelea_search.adapters.jobs_redis import JobStore
from quelea_search.adapters.ledger_redis import Ledger
from quelea_search.adapters.retriever import Retriever
from quelea_search.celery_app import queue_name
from quelea_search.core.jobs import JobState
from quelea_search.settings import SearchSettings
from quelea_search.tidy import tidy

log = get_logger(__name__)
_TIDY_SECONDS = 30.0
_TRIM_SECONDS = 60.0
_ABANDONED_SECONDS = 3600.0


class Reaper:
    """Several servers may each have one: every step is a transaction that only one of them wins."""

    def __init__(
        self,
        settings: SearchSettings,
        store: JobStore,
        ledger: Ledger,
        blobs: Blobs,
        retriever: Retriever,
        send: Callable[[str], None],
    ) -> None:
        self._settings = settings
        self._store = store
        self._ledger = ledger
        self._blobs = blobs
        self._retriever = retriever
        self._send = send

    async def run(self) -> None:
        """Until cancelled."""
        every = self._settings.reaper_seconds
        async with asyncio.TaskGroup() as group:
            group.create_task(self._repeat("jobs", every, self.look_after_jobs))
            # Apart from the others, because it waits for the retriever.
            group.create_task(self._repeat("leftovers", every, self.tidy))
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
        for job in self._store.in_state(JobState.RUNNING):
            changed = self._store.recover(job.id, owner.gone)
            if changed is None:
                continue
            log.warning("job_recovered", job=job.id, state=changed.state, attempts=changed.attempts, was_at=job.stage)
            following = self._store.next_in_line(job.uri)
            if following:
                self._send(following)

    def _resend(self) -> None:
        """Jobs that wait although no message waits: their messages were lost."""
        if self._ledger.messages(queue_name(self._settings)):
            return
        limit = time.time() - self._settings.resend_seconds
        for job in self._store.in_state(JobState.QUEUED):
            if max(job.sent, job.created) < limit and self._store.next_in_line(job.uri) == job.id:
                log.warning("message_sent_again", job=job.id)
                self._send(job.id)

    async def tidy(self) -> None:
        """Remove what failed jobs could not remove themselves."""
        for job_id, document_id in (await asyncio.to_thread(self._ledger.leftovers)).items():
            try:
                await asyncio.to_thread(self._ledger.hold, document_id, job_id)
            except Conflict:
                continue  # a newer job for the same bytes clears up first itself
            try:
                async with asyncio.timeout(min(_TIDY_SECONDS, self._settings.lease_seconds)):
                    await tidy(self._blobs, self._retriever, job_id, document_id)
                await asyncio.to_thread(self._ledger.no_leftovers, job_id)
            finally:
                await asyncio.to_thread(self._ledger.release, document_id, job_id)

    async def trim(self) -> None:
        """Forget what is old."""
        await asyncio.to_thread(self._trim)

    def _trim(self) -> None:
        forgotten = self._ledger.trim(self._settings.max_jobs_kept)
        for job_id, age in self._blobs.uploads().items():
            job = self._store.find(job_id)
            # A young upload without a record is just being submitted.
            if (job is None and age > _ABANDONED_SECONDS) or (job is not None and job.state.ended):
                self._blobs.delete_incoming(job_id)
        if forgotten:
            log.info("jobs_forgotten", number=forgotten)
