"""The Celery task, in the child process of a worker."""

from __future__ import annotations

import asyncio
import signal
from dataclasses import dataclass

from celery import Celery
from quelea_kit.logging import get_logger

from quelea_search.adapters.blobs import Blobs
from quelea_search.adapters.jobs_redis import JobStore
from quelea_search.adapters.ledger_redis import Ledger
from quelea_search.adapters.retriever import Retriever
from quelea_search.build import make_store, parse_limits
from quelea_search.celery_app import TASK, sender
from quelea_search.parts import Parts
from quelea_search.pipeline import run_job
from quelea_search.reading import Reader
from quelea_search.settings import SearchSettings

log = get_logger(__name__)

DRAIN_SIGNAL = signal.SIGUSR2
"""The worker tells its children with it that it is shutting down."""


@dataclass
class _Child:
    """What a child process keeps from one job to the next. Made after the fork, so no connection is shared."""

    store: JobStore
    ledger: Ledger
    blobs: Blobs
    draining: bool = False


def register(app: Celery, settings: SearchSettings) -> None:
    """Add the task to the application of a worker."""
    child: _Child | None = None

    def index_document(job_id: str) -> None:
        nonlocal child
        if child is None:
            child = _Child(*make_store(settings), Blobs(settings.blobs_url))
        try:
            asyncio.run(_run(app, settings, child, job_id))
        except asyncio.CancelledError:
            log.info("drained", job=job_id)

    app.task(name=TASK, ignore_result=True)(index_document)


async def _run(app: Celery, settings: SearchSettings, child: _Child, job_id: str) -> None:
    loop, task = asyncio.get_running_loop(), asyncio.current_task()

    def drain() -> None:
        if task and not child.draining:
            child.draining = True
            # A short job may still end; a long one goes back into the queue.
            loop.call_later(settings.drain_seconds, task.cancel)

    loop.add_signal_handler(DRAIN_SIGNAL, drain)
    retriever = Retriever(settings.retriever, upsert_seconds=settings.upsert_seconds)
    try:
        parts = Parts(
            settings=settings,
            store=child.store,
            ledger=child.ledger,
            blobs=child.blobs,
            retriever=retriever,
            reader=Reader(parse_limits(settings), settings.read_seconds),
            send=sender(app, child.store),
        )
        await run_job(parts, job_id)
    finally:
        await retriever.close()
        loop.remove_signal_handler(DRAIN_SIGNAL)
        # Between two jobs there is nothing to drain, and the signal's default would end the process.
        signal.signal(DRAIN_SIGNAL, signal.SIG_IGN)
