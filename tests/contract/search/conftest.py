"""The service over real gRPC, with Redis and the retriever in memory and a reader that cannot fail by itself."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncIterator, Iterator
from pathlib import Path
from typing import Any

import fakeredis
import pytest
from quelea.search.v1 import search_pb2_grpc
from quelea_kit.client import channel
from quelea_kit.testing import running
from quelea_search.adapters.blobs import Blobs
from quelea_search.adapters.collections_redis import Collections
from quelea_search.adapters.fake_retriever import SERVICE as RETRIEVER
from quelea_search.adapters.fake_retriever import FakeRetriever
from quelea_search.adapters.job_events import JobEvents
from quelea_search.adapters.jobs_redis import JobStore
from quelea_search.adapters.ledger_redis import Ledger
from quelea_search.adapters.page_cache import PageCache
from quelea_search.adapters.retriever import Retriever
from quelea_search.adapters.web_pages_redis import WebPages
from quelea_search.components import Components, WorkerComponents
from quelea_search.core.jobs import Job
from quelea_search.filings.adapters.records_redis import FilingRecords
from quelea_search.filings.adapters.watches_redis import Watches
from quelea_search.service import SERVICE
from quelea_search.service_build import build_service
from quelea_search.settings import SearchSettings
from support.search_room import PREFIX, Clock, PlainReader, PlainWeb, Room


@pytest.fixture
def search_clock() -> Clock:
    return Clock()


@pytest.fixture
def search_redis() -> Iterator[fakeredis.FakeRedis]:
    yield fakeredis.FakeRedis(server=fakeredis.FakeServer(), decode_responses=True)


@pytest.fixture
def search_store(search_redis: fakeredis.FakeRedis, search_clock: Clock) -> JobStore:
    return JobStore(
        search_redis,
        prefix=PREFIX,
        max_attempts=3,
        lease_seconds=15,
        keep_seconds=100,
        dead_seconds=1000,
        clock=search_clock,
    )


@pytest.fixture
async def search_room(tmp_path: Path, request: pytest.FixtureRequest) -> AsyncIterator[Room]:
    """A test may want another number of jobs that may wait: parametrize it with that, indirectly."""
    server = fakeredis.FakeServer()
    client = fakeredis.FakeRedis(server=server, decode_responses=True)
    folder = tmp_path / "blobs"
    index = FakeRetriever()
    async with running(index.register, [RETRIEVER]) as target:
        settings = SearchSettings(
            redis_prefix=PREFIX,
            blobs_url=str(folder),
            retriever=target,
            max_document_bytes=2000,
            max_queued_jobs=getattr(request, "param", 3),
            worker_concurrency=3,
            batch_passages=2,
            beat_seconds=0.05,
            retriever_wait_seconds=1.0,
            resend_seconds=0.05,
            drain_seconds=0.5,
            web=True,
            allow_hosts=("good.example",),
            deny_hosts=("bad.example",),
            max_pending_pages=5,
        )
        store = JobStore(client, prefix=PREFIX, max_attempts=3, lease_seconds=15, keep_seconds=100, dead_seconds=1000)
        ledger = Ledger(client, prefix=PREFIX, lease_seconds=15)
        ledger.worker_lives("w")
        blobs, retriever = Blobs(str(folder)), Retriever(target)
        events = JobEvents(fakeredis.FakeAsyncRedis(server=server, decode_responses=True), PREFIX)
        sent: list[str] = []
        pages, web = WebPages(client, prefix=PREFIX, max_pending=settings.max_pending_pages), PlainWeb()
        cache = PageCache(client, PREFIX, blobs, settings.page_cache_hours)

        def send(job: Job) -> None:
            sent.append(job.id)

        shared = Components(
            settings=settings,
            store=store,
            ledger=ledger,
            blobs=blobs,
            pages=pages,
            filings=FilingRecords(client, PREFIX),
            watches=Watches(client, PREFIX),
            collections=Collections(client, PREFIX),
            send=send,
        )
        worker: dict[str, Any] = {"retriever": retriever, "reader": PlainReader(web), "fetcher": web}
        parts = WorkerComponents(**vars(shared), **worker)
        built = build_service(shared, retriever, events, cache, web=None)
        listening = asyncio.create_task(events.run())
        async with (
            running(built.service.register, [SERVICE], settings=settings) as address,
            channel(address, SERVICE) as line,
        ):
            stub = search_pb2_grpc.SearchServiceStub(line)
            known = (settings, client, store, ledger, blobs, index, parts, built.reaper, stub, address, folder, sent)
            yield Room(*known, pages, cache, built.refresh, built.removals, web, built.filings, built.watching)
        listening.cancel()
        with contextlib.suppress(asyncio.CancelledError):
            await listening
        built.guard.close()
        await retriever.close()
