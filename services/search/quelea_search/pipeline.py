"""One job from claim to end: fetch, parse, chunk, index. Runs in a worker's child process."""

from __future__ import annotations

import asyncio
import dataclasses
import functools
import time
from collections.abc import Awaitable, Callable, Sequence
from typing import TypeVar

import stamina
from quelea.common.v1 import common_pb2
from quelea_kit.errors import DeadlineExceeded, Overloaded, QueleaError, Unavailable
from quelea_kit.logging import get_logger

from quelea_search import wire
from quelea_search.adapters import owner
from quelea_search.adapters.jobs_redis import LeaseLost
from quelea_search.core import jobs
from quelea_search.core.jobs import Job, Stage
from quelea_search.parts import Parts
from quelea_search.reading import Cut
from quelea_search.tidy import tidy

log = get_logger(__name__)
T = TypeVar("T")
_TIDY_SECONDS = 10.0
_REDIS_WAIT_SECONDS = 60.0
_PASSING = (Unavailable, Overloaded, DeadlineExceeded)
"""What another try may heal."""


async def run_job(parts: Parts, job_id: str) -> None:
    """Do a job if there is anything to do. A message that is late, doubled or for a job in other hands ends at once.

    Cancelling puts the job back into the queue.
    """
    job = await asyncio.to_thread(parts.store.claim, job_id, owner.me(), owner.gone)
    if job is None:
        log.info("job_not_claimed", job=job_id)
        return
    if job.state.ended:
        log.warning("job_failed", job=job_id, reason=job.error_reason, error=job.error)
        await asyncio.to_thread(parts.wake_next, job.uri)
        return
    log.info("job_begins", job=job_id, document=job.document_id, attempt=job.attempts)
    await _Run(parts, job).run()


class _Run:
    """One attempt."""

    def __init__(self, parts: Parts, job: Job) -> None:
        self._parts = parts
        self._settings = parts.settings
        self._job = job
        self._staged = job.attempts > 1
        self._committing = job.committing
        self._noted = self._ending = False

    async def run(self) -> None:
        beat = asyncio.create_task(self._beat())
        work = asyncio.create_task(self._work())
        try:
            limit = self._settings.job_seconds
            done, _ = await asyncio.wait({work, beat}, timeout=limit, return_when=asyncio.FIRST_COMPLETED)
            if work in done:
                await self._conclude(work)
            elif beat in done:
                beat.result()
            else:
                work.cancel()
                await self._fail("TIMEOUT", f"Indexing took longer than {limit:g} s; split the document.")
        except LeaseLost:
            log.warning("job_lost", job=self._job.id)
        except asyncio.CancelledError:
            await self._essential(self._end, jobs.give_back)
            log.info("job_given_back", job=self._job.id)
            raise
        finally:
            for task in (work, beat):
                task.cancel()
            await asyncio.gather(work, beat, return_exceptions=True)

    async def _conclude(self, work: asyncio.Task[None]) -> None:
        try:
            work.result()
        except QueleaError as error:
            await self._fail(error.reason, error.message)
        except MemoryError:
            limit = self._settings.worker_memory_mb
            await self._fail("TOO_LARGE", f"Reading the file needs more than {limit} MB of memory; split it.")
        except (LeaseLost, asyncio.CancelledError):
            raise
        except Exception as error:
            log.exception("job_failed", job=self._job.id)
            kind = type(error).__name__
            await self._fail("INTERNAL", f"Internal error while indexing the file ({kind}); the worker's log has it.")

    # -- the stages ------------------------------------------------------------------------------------------------

    async def _work(self) -> None:
        job, parts = self._job, self._parts
        # An earlier attempt may have died between its commit and its end.
        if self._committing and await self._stored():
            await self._succeed(job.total, unchanged=False, replaced="")
            return
        data = await asyncio.to_thread(parts.blobs.read_incoming, job.id)
        await self._report(stage=Stage.PARSE)
        parsed = await asyncio.to_thread(parts.reader.parse, data, job.filename)
        del data
        await self._report(stage=Stage.CHUNK, total=len(parsed.pages))
        given = wire.given_from_text(job.given)
        cut = await asyncio.to_thread(parts.reader.cut, parsed, job.filename, wire.facts_of(given))
        await self._report(stage=Stage.INDEX)
        pages = [page.text for page in parsed.pages]
        if await self._stored():
            await self._succeed(len(pages), unchanged=True, replaced="")
            return
        replaced = await self._index(self._document(cut, given, len(pages)), cut, pages)
        await self._succeed(len(pages), unchanged=False, replaced=replaced)

    async def _stored(self) -> bool:
        return await self._patiently(lambda: self._parts.retriever.get(self._job.document_id)) is not None

    def _document(self, cut: Cut, given: common_pb2.DocumentMetadata, pages: int) -> common_pb2.Document:
        return common_pb2.Document(
            id=self._job.document_id,
            metadata=wire.metadata_of(cut.facts, uri=self._job.uri, provenance=given.provenance),
            pages=pages,
            passages=len(cut.chunks),
            fetched=wire.stamp(self._job.created),
        )

    async def _index(self, document: common_pb2.Document, cut: Cut, pages: Sequence[str]) -> str:
        """Embed and store every passage, then commit; the document that was replaced."""
        retriever, size = self._parts.retriever, self._settings.batch_passages
        self._staged = True
        # What a failed submission of the same bytes may have left behind.
        await self._patiently(lambda: retriever.delete(document.id))
        passages = wire.passages_of(document.id, cut.chunks)
        batches = [passages[first : first + size] for first in range(0, len(passages), size)]
        last_pages = [batch[-1].page for batch in batches]
        finished = [False] * len(batches)
        slots = asyncio.Semaphore(self._settings.batches_in_flight)

        errors: list[Exception] = []

        async def send(number: int) -> None:
            try:
                await self._patiently(lambda: retriever.upsert(document, batches[number], commit=False))
                finished[number] = True
                await self._report(done=jobs.pages_done(last_pages, finished, len(pages)))
            except Exception as error:  # noqa: BLE001  # raised below, when the other batches have landed
                # A call that is cancelled here may still write over there, after the leftovers were removed.
                errors.append(error)
            finally:
                slots.release()

        async with asyncio.TaskGroup() as group:
            for number in range(len(batches) - 1):
                await slots.acquire()
                if errors:
                    break
                group.create_task(send(number))
        if errors:
            raise errors[0]
        await self._prepare_commit(document, pages)
        # The last batch carries the commit, so that a document of one batch costs one call.
        return await self._patiently(lambda: retriever.upsert(document, batches[-1], commit=True))

    async def _prepare_commit(self, document: common_pb2.Document, pages: Sequence[str]) -> None:
        """Pages first: from the commit on a citation may open them."""
        before = await self._essential(self._parts.ledger.stored_under, self._job.uri)
        mark = functools.partial(dataclasses.replace, committing=True, replaces=before, passages=document.passages)
        # Fenced: from here on nobody else works on this document, or this worker stops.
        self._job = await self._essential(self._parts.store.change, self._job, mark)
        self._committing = True
        header = {
            "id": document.id,
            "filename": self._job.filename,
            "metadata": wire.metadata_to_dict(document.metadata),
        }
        await asyncio.to_thread(self._parts.blobs.keep, self._job.id, document.id, header, pages)

    # -- the end ---------------------------------------------------------------------------------------------------

    async def _succeed(self, pages: int, *, unchanged: bool, replaced: str) -> None:
        job, parts = self._job, self._parts
        for old in {replaced, job.replaces} - {"", job.document_id}:
            if not await asyncio.to_thread(parts.ledger.is_active, old):
                await asyncio.to_thread(parts.blobs.delete_document, old)
        await self._essential(self._end, functools.partial(jobs.succeed, pages=pages, unchanged=unchanged))
        await asyncio.to_thread(parts.blobs.delete_incoming, job.id)
        log.info("job_succeeded", job=job.id, document=job.document_id, pages=pages, unchanged=unchanged)

    async def _fail(self, reason: str, error: str) -> None:
        job, leftovers = self._job, True
        retriever = self._parts.retriever if self._staged else None
        try:
            async with asyncio.timeout(_TIDY_SECONDS):
                stored = await tidy(self._parts.blobs, retriever, job.id, job.document_id)
            leftovers = False
            if stored and self._committing:  # the commit's answer was lost, the commit was not
                await self._succeed(job.total, unchanged=False, replaced="")
                return
        except (QueleaError, OSError, TimeoutError) as problem:
            log.warning("leftovers_remain", job=job.id, why=str(problem))
        failed = functools.partial(jobs.fail, reason=reason, error=error)
        await self._essential(functools.partial(self._end, leftovers=leftovers), failed)
        log.info("job_failed", job=job.id, reason=reason, error=error)

    def _end(self, how: Callable[..., Job], *, leftovers: bool = False) -> None:
        self._ending = True
        self._parts.store.end(self._job, lambda job: how(job, now=time.time()), leftovers=leftovers)
        self._parts.wake_next(self._job.uri)

    # -- keeping in touch ------------------------------------------------------------------------------------------

    async def _beat(self) -> None:
        while not self._ending:
            await asyncio.sleep(self._settings.beat_seconds)
            try:
                await asyncio.to_thread(self._parts.store.beat, self._job)
            except LeaseLost:
                if not self._ending:
                    raise
            except (Unavailable, Overloaded) as error:
                log.warning("beat_failed", job=self._job.id, why=error.message)
        # The end itself is fenced; whatever is left to clear up after it must not be cut short.
        await asyncio.get_running_loop().create_future()

    async def _report(self, **what: object) -> None:
        """Tell the job record; a Redis that is away for a moment must not stop the work."""
        how = functools.partial(_advance, what)
        try:
            await asyncio.to_thread(self._parts.store.change, self._job, how)
        except (Unavailable, Overloaded) as error:
            log.warning("report_failed", job=self._job.id, why=error.message)

    async def _essential(self, call: Callable[..., T], *args: object) -> T:
        """Call the job store until it answers, within a minute."""
        async for attempt in stamina.retry_context(
            on=(Unavailable, Overloaded), attempts=None, timeout=_REDIS_WAIT_SECONDS, wait_max=2.0
        ):
            with attempt:
                return await asyncio.to_thread(call, *args)
        raise AssertionError("retry_context ends with a result or an error")

    async def _patiently(self, call: Callable[[], Awaitable[T]]) -> T:
        """Call the retriever until it answers, and say so in the job while it does not."""
        wait, since = self._settings.retriever_wait_seconds, 0.0

        def try_again(error: Exception) -> bool:
            nonlocal since
            since = since or time.monotonic()  # from the first refusal: a slow call alone must not use the time up
            return isinstance(error, _PASSING) and time.monotonic() - since < wait

        try:
            async for attempt in stamina.retry_context(
                on=try_again, attempts=None, timeout=None, wait_initial=0.2, wait_max=5.0, wait_jitter=0.3
            ):
                with attempt:
                    if attempt.num > 1 and not self._noted:
                        self._noted = True
                        await self._report(note="waiting for the retriever")
                    result = await call()
                    if self._noted:
                        self._noted = False
                        await self._report(note="")
                    return result
        except _PASSING as error:
            raise Unavailable(
                f"The retriever did not take the document within {wait:g} s ({error.message.rstrip('.')}); "
                "submit the file again when it is back."
            ) from error
        raise AssertionError("retry_context ends with a result or an error")


def _advance(what: dict[str, object], job: Job) -> Job:
    return jobs.advance(job, now=time.time(), **what)  # type: ignore[arg-type]  # _report passes on advance's own names
