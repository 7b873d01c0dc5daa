"""The gRPC server: python -m quelea_search."""

from __future__ import annotations

import asyncio
import contextlib

from opentelemetry.instrumentation.celery import CeleryInstrumentor
from prometheus_client import REGISTRY
from quelea_kit.errors import Unavailable
from quelea_kit.files.disk import Disk, local_folder
from quelea_kit.logging import get_logger, setup_logging
from quelea_kit.metrics import start_metrics
from quelea_kit.server import Server, serve
from quelea_kit.server import run as run_service
from quelea_kit.tracing import setup_tracing

from quelea_search.adapters.blobs import Blobs
from quelea_search.adapters.job_events import JobEvents, connect_events
from quelea_search.adapters.page_cache import PageCache
from quelea_search.adapters.retriever import Retriever
from quelea_search.build import make_door, make_records, share
from quelea_search.jobs.celery_app import make_app, sender
from quelea_search.metrics import IngestionCollector
from quelea_search.service import SERVICE
from quelea_search.service_build import build_service
from quelea_search.settings import SearchSettings
from quelea_search.web.build import make_web

log = get_logger(__name__)


async def run(settings: SearchSettings) -> None:
    """Serve until SIGTERM or SIGINT."""
    records = make_records(settings)
    store, ledger, pages = records.store, records.ledger, records.pages
    REGISTRY.register(IngestionCollector(store, ledger, pages))
    blobs = await _blobs(settings)
    retriever = Retriever(settings.retriever, upsert_seconds=settings.upsert_seconds)
    events = JobEvents(connect_events(settings.redis_url), settings.redis_prefix)
    shared = share(settings, records, blobs, sender(settings, make_app(settings), store))
    cache = PageCache(records.client, settings.redis_prefix, blobs, settings.page_cache_hours)
    web = make_web(settings, records.client, blobs, pages) if settings.web else None
    door = make_door(settings)
    built = build_service(shared, retriever, events, cache, web, door)
    originals = built.service.originals
    background = [asyncio.create_task(work) for work in (events.run(), built.reaper.run(), originals.warm())]
    if web is not None:
        background.append(asyncio.create_task(web.warm()))

    async def ready() -> None:
        await asyncio.to_thread(ledger.check)

    async def stop() -> None:
        for task in background:
            task.cancel()
        for task in background:
            with contextlib.suppress(asyncio.CancelledError, Exception):  # one that failed is in the log
                await task
        if web is not None:
            await web.close()
        await originals.close()
        built.guard.close()
        await retriever.close()
        if door is not None:
            await door.close()

    folder = local_folder(settings.blobs_url)
    disk = Disk(folder, settings) if folder else None
    await serve(Server(settings, [SERVICE], built.service.register, ready, disk=disk), stop, background)


async def _blobs(settings: SearchSettings) -> Blobs:
    """InvalidInput when there is no such store; one that does not answer may come back."""
    blobs = await asyncio.to_thread(Blobs, settings.blobs_url)
    try:
        await asyncio.to_thread(blobs.check)
    except Unavailable as error:
        log.warning("blob_store_away", why=error.message)
    return blobs


def main() -> None:
    """Read the settings and serve."""
    settings = SearchSettings()
    setup_logging("search", settings)
    setup_tracing("search", settings)
    CeleryInstrumentor().instrument()
    start_metrics(settings)
    run_service(run(settings))


if __name__ == "__main__":
    main()
