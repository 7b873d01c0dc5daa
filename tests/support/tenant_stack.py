"""A small stack of two tenants in one process: real gateway, search, worker and retriever over gRPC and HTTP.

Redis, the encoder, the generator, the sandbox and the market-data door are in memory.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
from collections.abc import AsyncIterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import fakeredis
import httpx2
from quelea_gateway import keys
from quelea_kit.reach import Reach, within
from quelea_kit.testing import running
from quelea_retriever.adapters.qdrant import QdrantStore
from quelea_retriever.settings import Settings as RetrieverSettings
from quelea_retriever.testing import running_retriever
from quelea_search.adapters.blobs import Blobs
from quelea_search.adapters.collections_redis import Collections
from quelea_search.adapters.job_events import JobEvents
from quelea_search.adapters.jobs_redis import JobStore
from quelea_search.adapters.ledger_redis import Ledger
from quelea_search.adapters.page_cache import PageCache
from quelea_search.adapters.retriever import Retriever
from quelea_search.adapters.web_pages_redis import WebPages
from quelea_search.components import Components, WorkerComponents
from quelea_search.core.jobs import Job
from quelea_search.core.model import DocumentFacts, ParseLimits
from quelea_search.core.web.pages import PageState, WebPage
from quelea_search.filings.adapters.records_redis import FilingRecords
from quelea_search.filings.adapters.watches_redis import Watches
from quelea_search.filings.core.model import Company, Source
from quelea_search.filings.core.watch import watch_of
from quelea_search.jobs.file_parsing import ReadDocument, read_file
from quelea_search.jobs.ingest_job import run_job
from quelea_search.service import SERVICE
from quelea_search.service_build import build_service
from quelea_search.settings import SearchSettings
from support.agent_stand import Parts, agent_standing
from support.search_room import PREFIX, PlainWeb

DEFAULT, BONDS = "default", "bonds"
TENANTS = (DEFAULT, BONDS)
SECONDS = 120
_LIMITS = ParseLimits(max_bytes=10**6, max_pages=100, max_scanned_pages=0)


class HereReader:
    """Reads files in a thread: what the tests upload hurts nobody."""

    async def read_file(self, data: bytes, filename: str, given: DocumentFacts) -> ReadDocument:
        return await asyncio.to_thread(read_file, data, filename, given, _LIMITS)


@dataclass
class TenantStack:
    """What a test needs."""

    parts: Parts
    shared: Components
    worker: WorkerComponents
    sent: list[str]
    grpc: str
    keys: dict[str, str] = field(default_factory=dict)

    def client(self, key: str) -> httpx2.AsyncClient:
        """Somebody with a key, over HTTP."""
        headers = {"Authorization": f"Bearer {self.keys[key]}"}
        return httpx2.AsyncClient(base_url=self.parts.url, headers=headers, trust_env=False, timeout=SECONDS)

    async def work(self) -> None:
        """Do the jobs that wait."""
        while self.sent:
            await run_job(self.worker, self.sent.pop(0))

    async def upload(self, key: str, name: str, text: str, *, collection: str = "", **metadata: Any) -> tuple[str, str]:
        """Have a document indexed; the ids of its job and of itself."""
        form = {"metadata": json.dumps(metadata), **({"collection": collection} if collection else {})}
        async with self.client(key) as http:
            taken = await http.post("/v1/documents", files={"files": (name, text.encode())}, data=form)
            assert taken.status_code == 202, taken.text
            job = taken.json()["jobs"][0]["id"]
            await self.work()
            done = (await http.get(f"/v1/jobs/{job}")).json()
        assert done["state"] == "succeeded", done
        return job, done["document_id"]

    def remember(self, tenant: str, secret: str) -> str:
        """A page of the web in quarantine and a watched company of a tenant; the watch's id."""
        url = f"https://{secret}.example/page"
        page = WebPage(url, f"{secret}.example", PageState.PENDING, 1.0, title=secret, queries=(secret,))
        with within(Reach(tenant)):
            self.shared.pages.update(url, lambda _: page)
            company = Company(Source.EDGAR, "0000000001", secret.upper(), secret)
            return self.shared.watches.add(watch_of(company, ("10-K",), now=1.0), 100).id


@contextlib.asynccontextmanager
async def tenant_stack(folder: Path, *, store: str = "qdrant_edge", **settings: Any) -> AsyncIterator[TenantStack]:
    """The stack, with keys of both tenants: administrator, everything, a reader, one of another collection, and
    an administrator of that one.

    Args:
        folder: For everything that lies in files.
        store: "qdrant_edge", or "qdrant": the server's store, its client in local mode.
        settings: More of the gateway's.
    """
    data = folder / "retriever"
    at = RetrieverSettings(data_dir=data, sync_writes=False)
    index = (
        QdrantStore(RetrieverSettings(qdrant_url=":memory:", catalogue_ttl_seconds=0)) if store == "qdrant" else None
    )
    server = fakeredis.FakeServer()
    client = fakeredis.FakeRedis(server=server, decode_responses=True)
    key_file = folder / "keys.json"
    made = {
        f"{tenant} all": keys.create(key_file, f"{tenant} all", tenant=tenant, rights={"*": "manage"})
        for tenant in TENANTS
    }
    made["operator"] = keys.create(key_file, "operator")
    for tenant in TENANTS:
        for who, rights in (("reader", {"default": "read"}), ("other", {"hk": "manage"})):
            made[f"{tenant} {who}"] = keys.create(key_file, f"{tenant} {who}", tenant=tenant, rights=rights)
        name, rights = f"{tenant} operator", {"hk": "manage"}
        made[name] = keys.create(key_file, name, tenant=tenant, rights=rights, administrator=True)
    async with running_retriever(data, settings=at, store=index) as retriever_:
        search_settings = SearchSettings(
            redis_prefix=PREFIX,
            blobs_url=str(folder / "blobs"),
            retriever=retriever_.address,
            max_queued_jobs=100,
            batch_passages=8,
            beat_seconds=0.5,
            web=True,
        )
        jobs = JobStore(client, prefix=PREFIX, max_attempts=3, lease_seconds=60, keep_seconds=1000, dead_seconds=1000)
        ledger = Ledger(client, prefix=PREFIX, lease_seconds=60)
        ledger.worker_lives("w")
        blobs, retriever = Blobs(str(folder / "blobs")), Retriever(retriever_.address)
        events = JobEvents(fakeredis.FakeAsyncRedis(server=server, decode_responses=True), PREFIX)
        sent: list[str] = []

        def send(job: Job) -> None:
            sent.append(job.id)

        shared = Components(
            settings=search_settings,
            store=jobs,
            ledger=ledger,
            blobs=blobs,
            pages=WebPages(client, prefix=PREFIX),
            filings=FilingRecords(client, PREFIX),
            watches=Watches(client, PREFIX),
            collections=Collections(client, PREFIX),
            send=send,
        )
        with_reader: dict[str, Any] = {"retriever": retriever, "reader": HereReader(), "fetcher": PlainWeb()}
        worker = WorkerComponents(**vars(shared), **with_reader)
        built = build_service(shared, retriever, events, PageCache(client, PREFIX, blobs, 24), web=None)
        listening = asyncio.create_task(events.run())
        async with (
            running(built.service.register, [SERVICE], settings=search_settings) as address,
            agent_standing(
                retriever=retriever_.address, search=address, auth="keys", keys_file=str(key_file), **settings
            ) as parts,
        ):
            yield TenantStack(parts, shared, worker, sent, parts.stand.grpc, made)
        listening.cancel()
        with contextlib.suppress(asyncio.CancelledError):
            await listening
        built.guard.close()
        await retriever.close()
