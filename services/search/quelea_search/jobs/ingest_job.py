"""Runs one job in a worker's child process: claim, fetch, parse, chunk, index."""

from __future__ import annotations

import asyncio
import dataclasses
import functools
import time
from collections.abc import Sequence

from quelea.common.v1 import common_pb2
from quelea_kit.errors import DeadlineExceeded, DiskFull, Overloaded, QueleaError, Unavailable
from quelea_kit.logging import get_logger
from quelea_kit.processes import process_identity
from quelea_kit.reach import within

from quelea_search import wire
from quelea_search.adapters.jobs_redis import LeaseLost
from quelea_search.components import WorkerComponents
from quelea_search.core import jobs
from quelea_search.core.errors import ReaderKilled
from quelea_search.core.jobs import Job, JobState, Stage
from quelea_search.filings.job import FilingJob
from quelea_search.jobs.attempt import Attempt
from quelea_search.jobs.leftovers import remove_leftovers
from quelea_search.jobs.reading_process import NurseryLost
from quelea_search.web.page_job import Content, WebPageJob, is_passing

log = get_logger(__name__)
_CLEANUP_SECONDS = 10.0
_SPACE_SECONDS = 60.0
_LOOK_SECONDS = 2.0


async def run_job(parts: WorkerComponents, job_id: str) -> None:
    """Do a job if there is anything to do. A message that is late, doubled or for a job in other hands ends at once.

    A message says that work waits in a lane. Which job it is, the turn of its uploader says: so a flood of one key's
    files does not hold up another's.

    Cancelling puts the job back into the queue.
    """
    if not await _has_space(parts):
        return  # the reaper sends another message
    job = await asyncio.to_thread(_take, parts, job_id)
    if job is None:
        log.info("job_not_claimed", job=job_id)
        return
    with within(job.reach):
        await _run(parts, job)


async def _run(parts: WorkerComponents, job: Job) -> None:
    if job.state.ended:
        log.warning("job_failed", job=job.id, reason=job.error_reason, error=job.error)
        await asyncio.to_thread(parts.pages.job_failed, job)
        await asyncio.to_thread(parts.wake_next, job.name)
        return
    log.info("job_begins", job=job.id, document=job.document_id, attempt=job.attempts)
    await _Run(parts, job).run()


def _take(parts: WorkerComponents, job_id: str) -> Job | None:
    """The job that is begun for a message of a job."""
    named = parts.store.find(job_id)
    if named is None:
        return None
    if named.state is JobState.RUNNING:  # its worker may have vanished
        job = parts.store.claim(job_id, process_identity.this_process(), process_identity.has_ended)
        if job is not None:
            return job
    share = parts.share()
    for candidate in parts.next_jobs(named.lane):
        job = parts.store.claim(candidate, process_identity.this_process(), process_identity.has_ended, share)
        if job is not None:
            return job
    return None


async def _has_space(parts: WorkerComponents) -> bool:
    """Wait for space before a job is begun; False when there is none in a minute."""
    end = time.monotonic() + _SPACE_SECONDS
    while True:
        try:
            await asyncio.to_thread(parts.check_disk)
        except DiskFull as error:
            if time.monotonic() > end:
                log.warning("worker_waits_for_space", why=error.message)
                return False
        else:
            return True
        await asyncio.sleep(_LOOK_SECONDS)


class _Run(Attempt):
    """One attempt."""

    def __init__(self, parts: WorkerComponents, job: Job) -> None:
        super().__init__(parts, job)
        self._staged = job.attempts > 1
        self._committing = job.committing
        self._page = WebPageJob(self) if job.url else None
        self._filing = FilingJob(self) if job.filing else None

    async def run(self) -> None:
        beat = asyncio.create_task(self.beat())
        work = asyncio.create_task(self._work())
        try:
            limit = self.settings.job_seconds
            done, _ = await asyncio.wait({work, beat}, timeout=limit, return_when=asyncio.FIRST_COMPLETED)
            if work in done:
                await self._conclude(work)
            elif beat in done:
                beat.result()
            else:
                work.cancel()
                await self._fail("TIMEOUT", f"Indexing took longer than {limit:g} s; replay the job, or split it.")
        except LeaseLost:
            log.warning("job_lost", job=self.job.id)
        except asyncio.CancelledError:
            try:
                await self.essential(self.end, jobs.give_back)
                log.info("job_given_back", job=self.job.id)
            except LeaseLost:  # its end was written while the worker was told to stop
                log.info("job_had_ended", job=self.job.id)
            raise
        finally:
            for task in (work, beat):
                task.cancel()
            await asyncio.gather(work, beat, return_exceptions=True)

    async def _conclude(self, work: asyncio.Task[None]) -> None:
        try:
            work.result()
        except DiskFull as error:
            log.warning("job_waits_for_space", job=self.job.id, why=error.message)
            await asyncio.sleep(
                min(error.retry_after or _SPACE_SECONDS, _SPACE_SECONDS)
            )  # its message is there at once
            await self.essential(self.end, jobs.give_back)
        except ReaderKilled as error:
            if self.job.attempts < self.settings.max_attempts:
                log.warning("job_read_again", job=self.job.id, why=error.message)
                await self.essential(self.end, functools.partial(jobs.lost, max_attempts=self.settings.max_attempts))
            else:
                await self._fail(error.reason, error.message)
        except QueleaError as error:
            passing = is_passing(error)
            status = error.details.get("status", "")
            await self._fail(error.reason, error.message, replayable=True if passing else None, status=status)
        except MemoryError:
            limit = self.settings.worker_memory_mb
            await self._fail("TOO_LARGE", f"Reading the file needs more than {limit} MB of memory; split it.")
        except (LeaseLost, NurseryLost, asyncio.CancelledError):
            raise
        except Exception as error:
            log.exception("job_failed", job=self.job.id)
            kind = type(error).__name__
            await self._fail("INTERNAL", f"Internal error while indexing the file ({kind}); the worker's log has it.")

    # -- the stages ------------------------------------------------------------------------------------------------

    async def _work(self) -> None:
        # An earlier attempt may have died between its commit and its end.
        if self._committing and await self._stored():
            await self._succeed(self.job.total, unchanged=False, replaced="")
            return
        content = await (self._page.read() if self._page else self._read_upload())
        if content is None:
            if self.job.state is JobState.RUNNING:  # else it waits its turn, with what was read
                await self._succeed(self.job.total, unchanged=True, replaced="")
            return
        await self.report(stage=Stage.INDEX)
        if await self._stored():
            await self._succeed(len(content.pages), unchanged=True, replaced="")
            return
        replaced = await self._index(self._document(content), content)
        await self._succeed(len(content.pages), unchanged=False, replaced=replaced)

    async def _read_upload(self) -> Content | None:
        if self._filing and not await self._filing.fetch():
            return None
        job, parts = self.job, self.parts
        data = await asyncio.to_thread(parts.blobs.read_incoming, job.id)
        await self.report(stage=Stage.PARSE)
        given = wire.given_from_text(job.given)
        read = await parts.reader.read_file(data, job.filename, wire.facts_of(given))
        del data
        await self.report(stage=Stage.CHUNK, total=len(read.pages))
        return Content(
            filename=job.filename,
            pages=read.pages,
            chunks=read.chunks,
            facts=self._filing.complete(read.facts) if self._filing else read.facts,
            statement_facts=read.statement_facts,
            provenance=given.provenance,
            fetched=job.created,
        )

    async def _stored(self) -> bool:
        return await self.patiently(lambda: self.parts.retriever.get(self.job.document_id)) is not None

    def _document(self, content: Content) -> common_pb2.Document:
        metadata = wire.metadata_of(
            content.facts,
            uri=self.job.uri,
            uploader=self.job.uploader,
            collection=self.job.collection,
            provenance=content.provenance,
        )
        if self._filing:
            metadata.filing_id = wire.given_from_text(self.job.given).filing_id
        return common_pb2.Document(
            id=self.job.document_id,
            metadata=metadata,
            pages=len(content.pages),
            passages=len(content.chunks),
            fetched=wire.stamp(content.fetched),
        )

    async def _index(self, document: common_pb2.Document, content: Content) -> str:
        """Embed and store every passage, then commit; the document that was replaced."""
        retriever, size, pages = self.parts.retriever, self.settings.batch_passages, len(content.pages)
        self._staged = True
        # What a failed submission of the same bytes may have left behind.
        await self.patiently(lambda: retriever.delete(document.id))
        passages = wire.passages_of(document.id, content.chunks, content.statement_facts)
        batches = [passages[first : first + size] for first in range(0, len(passages), size)]
        await self._send(document, batches[:-1], [batch[-1].page for batch in batches], pages)
        await self._prepare_commit(document, content)
        # The last batch carries the commit, so that a document of one batch costs one call.
        return await self._upsert(document, batches[-1], commit=True)

    async def _upsert(self, document: common_pb2.Document, batch: Sequence[common_pb2.Passage], *, commit: bool) -> str:
        """One batch; what is not done in time is sent in halves: a retriever that is slow is not one that is away."""

        async def send() -> str:
            return await self.parts.retriever.upsert(document, batch, commit=commit)

        if len(batch) > 1:
            try:
                return await self.patiently(send, passing=(Unavailable, Overloaded))
            except DeadlineExceeded:
                half = len(batch) // 2
            await self._upsert(document, batch[:half], commit=False)
            return await self._upsert(document, batch[half:], commit=commit)
        return await self.patiently(send)

    async def _send(
        self,
        document: common_pb2.Document,
        batches: Sequence[Sequence[common_pb2.Passage]],
        last_pages: Sequence[int],
        pages: int,
    ) -> None:
        finished = [False] * len(last_pages)
        slots = asyncio.Semaphore(self.settings.batches_in_flight)
        errors: list[Exception] = []

        async def send(number: int) -> None:
            try:
                await self._upsert(document, batches[number], commit=False)
                finished[number] = True
                await self.report(done=jobs.pages_done(last_pages, finished, pages))
            except Exception as error:  # noqa: BLE001  # raised below, when the other batches have landed
                # A call that is cancelled here may still write over there, after the leftovers were removed.
                errors.append(error)
            finally:
                slots.release()

        async with asyncio.TaskGroup() as group:
            for number in range(len(batches)):
                await slots.acquire()
                if errors:
                    break
                group.create_task(send(number))
        if errors:
            raise errors[0]

    async def _prepare_commit(self, document: common_pb2.Document, content: Content) -> None:
        """Pages first: from the commit on a citation may open them."""
        if self._page:
            await self._page.still_wanted()
        await self.essential(self.parts.collections.check, self.job.collection)
        before = await self.essential(self.parts.ledger.stored_under, self.job.name)
        mark = functools.partial(dataclasses.replace, committing=True, replaces=before, passages=document.passages)
        # Fenced: from here on nobody else works on this document, or this worker stops.
        self.job = await self.essential(self.parts.store.change, self.job, mark)
        self._committing = True
        header = {
            "id": document.id,
            "tenant": self.job.tenant,
            "filename": content.filename,
            "metadata": wire.metadata_to_dict(document.metadata),
            **({"web": content.web} if content.web else {}),
        }
        await asyncio.to_thread(self.parts.blobs.keep, self.job.id, document.id, header, content.pages)

    # -- the end ---------------------------------------------------------------------------------------------------

    async def _succeed(self, pages: int, *, unchanged: bool, replaced: str) -> None:
        job, parts = self.job, self.parts
        if self._page:
            await self._page.remember(unchanged=unchanged)
        if self._filing:
            await self._filing.remember()
        for old in {replaced, job.replaces} - {"", job.document_id}:
            if await asyncio.to_thread(parts.ledger.is_active, old):
                continue
            # An attempt that is replayed much later may name a version that has come back since.
            if old == replaced or await self.patiently(functools.partial(parts.retriever.get, old)) is None:
                await asyncio.to_thread(parts.blobs.delete_document, old)
        await self.essential(
            self.end, functools.partial(jobs.succeed, pages=pages, unchanged=unchanged, replaced=replaced)
        )
        await asyncio.to_thread(parts.blobs.delete_incoming, job.id)
        log.info("job_succeeded", job=job.id, document=job.document_id, pages=pages, unchanged=unchanged)

    async def _fail(self, reason: str, error: str, *, replayable: bool | None = None, status: str = "") -> None:
        job, leftovers = self.job, True
        retriever = self.parts.retriever if self._staged else None
        ended = jobs.fail(job, now=0.0, reason=reason, error=error, replayable=replayable)
        try:
            async with asyncio.timeout(_CLEANUP_SECONDS):
                stored = await remove_leftovers(
                    self.parts.blobs, retriever, job.id, job.document_id, keep_bytes=ended.replayable
                )
            leftovers = False
            if stored and self._committing:  # the commit's answer was lost, the commit was not
                await self._succeed(job.total, unchanged=False, replaced="")
                return
        except (QueleaError, OSError, TimeoutError) as problem:
            log.warning("leftovers_remain", job=job.id, why=str(problem))
        if self._page:
            await self._page.note_failure(reason, passing=ended.replayable, status=status)
        failed = functools.partial(jobs.fail, reason=reason, error=error, replayable=ended.replayable)
        await self.essential(functools.partial(self.end, leftovers=leftovers), failed)
        log.info("job_failed", job=job.id, reason=reason, error=error, replayable=ended.replayable)
