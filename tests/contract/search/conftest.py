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
from quelea_search.adapters.fake_retriever import SERVICE as RETRIEVER
from quelea_search.adapters.fake_retriever import FakeRetriever
from quelea_search.adapters.job_events import JobEvents
from quelea_search.adapters.jobs_redis import JobStore
from quelea_search.adapters.ledger_redis import Ledger
from quelea_search.adapters.page_cache import PageCache
from quelea_search.adapters.retriever import Retriever
from quelea_search.adapters.web.guard import Guard
from quelea_search.adapters.web_pages_redis import WebPages
from quelea_search.core.jobs import Job, Policy
from quelea_search.dead_letters import DeadLetters
from quelea_search.deciding import Deciding, Removals
from quelea_search.parts import Parts
from quelea_search.reaper import Reaper
from quelea_search.refresh import Refresh
from quelea_search.service import SERVICE, SearchService
from quelea_search.settings import SearchSettings
from quelea_search.submission import Submission
from support.search_room import PREFIX, Clock, PlainReader, PlainWeb, Room


@pytest.fixture
def search_clock() -> Clock:
    return Clock()


@pytest.fixture
def search_redis() -> Iterator[fakeredis.FakeRedis]:
    yield fakeredis.FakeRedis(server=fakeredis.FakeServer(), decode_responses=True)


@pytest.fixture
def search_store(search_redis: fakeredis.FakeRedis, search_clock: Clock) -> JobStore:
    policy = Policy(max_attempts=3, read_seconds=30)
    return JobStore(
        search_redis,
        prefix=PREFIX,
        policy=policy,
        lease_seconds=15,
        keep_seconds=100,
        dead_seconds=1000,
        clock=search_clock,
    )


@pytest.fixture
async def search_room(tmp_path: Path) -> AsyncIterator[Room]:
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
            max_queued_jobs=3,
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
        policy = Policy(max_attempts=3, read_seconds=30)
        store = JobStore(client, prefix=PREFIX, policy=policy, lease_seconds=15, keep_seconds=100, dead_seconds=1000)
        ledger = Ledger(client, prefix=PREFIX, lease_seconds=15)
        ledger.worker_lives("w")
        blobs, retriever = Blobs(str(folder)), Retriever(target)
        events = JobEvents(fakeredis.FakeAsyncRedis(server=server, decode_responses=True), PREFIX)
        sent: list[str] = []
        pages, web = WebPages(client, prefix=PREFIX, max_pending=settings.max_pending_pages), PlainWeb()
        cache = PageCache(client, PREFIX, blobs, settings.page_cache_hours)

        def send(job: Job) -> None:
            sent.append(job.id)

        reader: Any = PlainReader()
        parts = Parts(settings, store, ledger, blobs, pages, retriever, reader, web, web.read, send)
        refresh = Refresh(settings, store, ledger, blobs, pages, cache, send)
        removals, guard = Removals(store, ledger, blobs, retriever, pages), Guard(settings)
        service = SearchService(
            settings,
            store=store,
            ledger=ledger,
            events=events,
            blobs=blobs,
            retriever=retriever,
            submission=Submission(settings, store, blobs, retriever, send),
            pages=pages,
            refresh=refresh,
            deciding=Deciding(pages, refresh, removals),
            dead_letters=DeadLetters(settings, store, ledger, blobs, retriever, send),
            guard=guard,
            web=None,
        )
        listening = asyncio.create_task(events.run())
        reaper = Reaper(settings, store, ledger, blobs, retriever, pages, removals, send)
        async with (
            running(service.register, [SERVICE], settings=settings) as address,
            channel(address, SERVICE) as line,
        ):
            stub = search_pb2_grpc.SearchServiceStub(line)
            known = (settings, client, store, ledger, blobs, index, parts, reaper, stub, address, folder, sent)
            yield Room(*known, pages, cache, refresh, removals, web)
        listening.cancel()
        with contextlib.suppress(asyncio.CancelledError):
            await listening
        guard.close()
        await retriever.close()
