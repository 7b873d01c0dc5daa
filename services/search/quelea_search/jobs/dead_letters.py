"""Replays jobs that failed for a reason outside their document."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence

from quelea_kit.errors import Conflict, NotFound, Overloaded, Unavailable
from quelea_kit.logging import get_logger

from quelea_search.adapters.job_moves import check_replayable
from quelea_search.adapters.retriever import Retriever
from quelea_search.components import Components
from quelea_search.core.jobs import Job

log = get_logger(__name__)


class DeadLetters:
    """The dead-letter list."""

    def __init__(self, shared: Components, retriever: Retriever) -> None:
        self._shared = shared
        self._retriever = retriever

    async def replay(self, ids: Sequence[str]) -> list[Job]:
        """Queue jobs once more, their attempts counted from zero.

        Args:
            ids: Empty: every job of the list that can be replayed and finds room.

        Raises:
            NotFound: An id that is not known; nothing is queued then.
            Conflict: A job that cannot be replayed, and why; nothing is queued then.
            Overloaded: The queue is full; nothing was queued.
        """
        if ids:
            wanted = [await asyncio.to_thread(self._shared.store.get, job_id) for job_id in dict.fromkeys(ids)]
            for job in wanted:
                await self._check(job)
        else:
            most = self._shared.settings.max_jobs_kept
            newest, _ = await asyncio.to_thread(self._shared.store.newest, most, replayable=True)
            wanted = newest[::-1]
        queued: list[Job] = []
        for job in wanted:
            try:
                if not ids:
                    await self._check(job)
                queued.append(await asyncio.to_thread(self._replay, job.id))
            except (Conflict, NotFound) as error:
                if ids and not queued:
                    raise
                log.info("not_replayed", job=job.id, why=error.message)
            except Overloaded:
                if not queued:
                    raise
                break
        return queued

    async def _check(self, job: Job) -> None:
        check_replayable(job)
        is_fetched = bool(job.url or job.filing)
        if not is_fetched and not await asyncio.to_thread(self._shared.blobs.has_incoming, job.id):
            raise Conflict(f"The bytes of job {job.id} are no longer kept; submit the file again.")
        current = await asyncio.to_thread(self._shared.ledger.stored_under, job.name)
        if current and current != job.document_id:
            document = await self._retriever.get(current)
            if document is not None and document.fetched.ToNanoseconds() / 1e9 > job.created:
                raise Conflict(
                    f"A newer version of {job.uri} has come in since job {job.id} failed; "
                    "submit the file again if the old one is wanted."
                )

    def _replay(self, job_id: str) -> Job:
        job = self._shared.store.replay(job_id, max_queued=self._shared.settings.max_queued_jobs)
        try:
            self._shared.send(job)
        except Unavailable as error:
            # The record is safe, and the reaper sends a message for it.
            log.warning("message_not_sent", job=job_id, why=error.message)
        return job
