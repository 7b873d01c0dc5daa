"""The Celery task, in the child process of a worker."""

from __future__ import annotations

import asyncio
import os
import signal
from collections.abc import Callable
from dataclasses import dataclass

from celery import Celery
from quelea_kit.errors import QueleaError
from quelea_kit.logging import get_logger

from quelea_search.adapters.blobs import Blobs
from quelea_search.adapters.page_cache import PageCache
from quelea_search.adapters.retriever import Retriever
from quelea_search.adapters.web.fetch import Fetcher
from quelea_search.build import Records, make_door, make_records, parse_limits, share
from quelea_search.components import WorkerComponents
from quelea_search.filings.adapters.digest import make_digest
from quelea_search.filings.fetch import FilingFetch
from quelea_search.filings.watching import Watching
from quelea_search.jobs.celery_app import LOOK, LOOK_FOR_FILINGS, TASK, sender
from quelea_search.jobs.ingest_job import run_job
from quelea_search.jobs.reader import ProcessReader
from quelea_search.jobs.reading_process import NurseryLost, Reading
from quelea_search.settings import SearchSettings
from quelea_search.web.refresh import Refresh

log = get_logger(__name__)

DRAIN_SIGNAL = signal.SIGUSR2
"""The worker tells its children with it that it is shutting down."""


@dataclass
class _Child:
    """What a child process keeps from one job to the next. Made after the fork, so no connection is shared."""

    records: Records
    blobs: Blobs
    draining: bool = False


def register(app: Celery, settings: SearchSettings, reading: Callable[[], Reading]) -> None:
    """Add the tasks to the application of a worker.

    Args:
        reading: Gives the processes that read, of the child process that asks.
    """
    made: _Child | None = None

    def child() -> _Child:
        nonlocal made
        made = made or _Child(make_records(settings), Blobs(settings.blobs_url))
        return made

    def index_document(job_id: str) -> None:
        try:
            asyncio.run(_run(app, settings, child(), reading(), job_id))
        except asyncio.CancelledError:
            log.info("drained", job=job_id)
        except NurseryLost:
            # Only a new child can have a new one; the job is given to it as after any crash.
            log.error("nursery_lost", job=job_id)
            os._exit(1)

    def look_for_expired_pages() -> None:
        records, blobs = child().records, child().blobs
        cache = PageCache(records.client, settings.redis_prefix, blobs, settings.page_cache_hours)
        shared = share(settings, records, blobs, sender(settings, app, records.store))
        try:
            Refresh(shared, cache).look()
        except QueleaError as error:
            log.warning("look_failed", why=error.message)  # the next one makes up for it

    def look_for_new_filings() -> None:
        try:
            asyncio.run(_look_for_filings(app, settings, child()))
        except QueleaError as error:
            log.warning("look_failed", why=error.message)

    app.task(name=TASK, ignore_result=True)(index_document)
    app.task(name=LOOK_FOR_FILINGS, ignore_result=True)(look_for_new_filings)
    app.task(name=LOOK, ignore_result=True)(look_for_expired_pages)


async def _look_for_filings(app: Celery, settings: SearchSettings, child: _Child) -> None:
    shared = share(settings, child.records, child.blobs, sender(settings, app, child.records.store))
    retriever, door = Retriever(settings.retriever, upsert_seconds=settings.upsert_seconds), make_door(settings)
    try:
        await Watching(shared, FilingFetch(shared, retriever, door), make_digest(settings)).look()
    finally:
        await retriever.close()
        if door is not None:
            await door.close()


async def _run(app: Celery, settings: SearchSettings, child: _Child, reading: Reading, job_id: str) -> None:
    loop, task = asyncio.get_running_loop(), asyncio.current_task()

    def drain() -> None:
        if task and not child.draining:
            child.draining = True
            # A short job may still end; a long one goes back into the queue.
            loop.call_later(settings.drain_seconds, task.cancel)

    loop.add_signal_handler(DRAIN_SIGNAL, drain)
    retriever = Retriever(settings.retriever, upsert_seconds=settings.upsert_seconds)
    fetcher = Fetcher(settings)
    door = make_door(settings)
    shared = share(settings, child.records, child.blobs, sender(settings, app, child.records.store))
    try:
        parts = WorkerComponents(
            **vars(shared),
            retriever=retriever,
            reader=ProcessReader(reading, parse_limits(settings)),
            fetcher=fetcher,
            door=door,
        )
        await run_job(parts, job_id)
    finally:
        await fetcher.close()
        await retriever.close()
        if door is not None:
            await door.close()
        loop.remove_signal_handler(DRAIN_SIGNAL)
        # Between two jobs there is nothing to drain, and the signal's default would end the process.
        signal.signal(DRAIN_SIGNAL, signal.SIG_IGN)
