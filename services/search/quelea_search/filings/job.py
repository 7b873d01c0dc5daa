"""The steps of an attempt that only filings need: fetch through the door, and remember."""

from __future__ import annotations

import asyncio
import functools

import stamina
from quelea_kit.errors import Conflict, DeadlineExceeded, Overloaded, Unavailable
from quelea_kit.logging import get_logger
from quelea_kit.reach import id_in

from quelea_search.core.jobs import JobState
from quelea_search.core.model import DocumentFacts
from quelea_search.filings import order
from quelea_search.filings.core.model import Call
from quelea_search.jobs.attempt import Attempt

log = get_logger(__name__)
_CALLS = 10
"""Of one attempt; each try takes one."""


class FilingJob:
    """Of one attempt at one document of a filing.

    Args:
        attempt: Whose job has a filing.
    """

    def __init__(self, attempt: Attempt) -> None:
        self._attempt = attempt
        self._order = order.decode(attempt.job.filing)

    async def fetch(self) -> bool:
        """See that the job has its bytes; False when it waits its turn for them.

        Raises:
            Conflict: This deployment fetches no filings any more, or the door lets no call through.
            NotFound: The source, or the recording, no longer has it.
            TooLarge: The file is over the door's limit, or over max_document_bytes.
            Unavailable, Overloaded, DeadlineExceeded: The source does not answer for now.
        """
        attempt, parts, job = self._attempt, self._attempt.parts, self._attempt.job
        if await asyncio.to_thread(parts.blobs.has_incoming, job.id):
            return True
        data = await self._get()
        document_id = id_in(job.place, await asyncio.to_thread(self._keep, data))
        take = functools.partial(parts.store.take_id, job, document_id=document_id, uri=job.uri, page="")
        attempt.job = await attempt.essential(take)
        if attempt.job.state is not JobState.RUNNING:
            attempt.ending = True
            log.info("job_waits_its_turn", job=job.id, document=document_id)
            return False
        return True

    async def _get(self) -> bytes:
        settings, door = self._attempt.settings, self._attempt.parts.door
        if door is None:
            raise Conflict("Fetching filings has been turned off: QUELEA_SEARCH_FILINGS_DOOR is not set.")
        seconds = settings.filings_fetch_seconds
        try:
            async with asyncio.timeout(seconds):
                async for attempt in stamina.retry_context(
                    on=(Unavailable, Overloaded),
                    attempts=settings.max_attempts,
                    timeout=seconds,
                    wait_initial=1.0,
                    wait_max=10.0,
                    wait_jitter=1.0,
                ):
                    with attempt:
                        if attempt.num > 1:
                            await self._attempt.report(note=f"attempt {attempt.num} to fetch the filing")
                        async with door.session(
                            self._order.run_id, self._order.bundle_ids, seconds=seconds, calls=_CALLS
                        ) as session:
                            return await session.get(Call(self._order.url))
        except TimeoutError:
            raise DeadlineExceeded(
                f"{self._order.url} could not be fetched within {seconds:g} s; replay the job."
            ) from None
        raise AssertionError("retry_context ends with a result or an error")

    def _keep(self, data: bytes) -> str:
        upload = self._attempt.parts.blobs.upload(self._attempt.job.id)
        try:
            upload.write(data)
            return upload.commit()
        except BaseException:
            upload.abort()
            raise

    def complete(self, facts: DocumentFacts) -> DocumentFacts:
        """What the document says of itself, and where it says nothing, what its source says."""
        return self._order.complete(facts)

    async def remember(self) -> None:
        """The document is in the knowledge base, through this job or before it."""
        job = self._attempt.job
        await self._attempt.essential(self._attempt.parts.filings.remember, job.uri, job.document_id, job.collection)
