"""Redis, the gRPC server and the Celery worker as processes; the retriever is a fake in the test's own process."""

from __future__ import annotations

import asyncio
import json
import tempfile
from collections.abc import AsyncIterator, Mapping
from pathlib import Path

import grpc
import pytest_asyncio
from grpc_health.v1 import health_pb2, health_pb2_grpc
from quelea_kit.client import channel
from quelea_kit.server import Server
from quelea_kit.settings import ServiceSettings
from quelea_search.adapters.fake_retriever import SERVICE as RETRIEVER
from quelea_search.adapters.fake_retriever import FakeRetriever
from quelea_search.testing import SERVICE, Site, Stack
from support.s3 import Bucket, new_bucket

CRASHING = Path(__file__).parent / "crashing_worker.py"


class FakedStack(Stack):
    """With a retriever whose every answer the test decides, and a worker whose reader can be made to crash."""

    def __init__(self, folder: Path, more: Mapping[str, str] | None = None) -> None:
        self.site = Site()
        super().__init__(
            folder,
            {
                "BATCH_PASSAGES": "1",
                # Code that holds the interpreter stops the heartbeat too: the clock strikes before the lease ends.
                "READ_SECONDS": "3",
                "LEASE_SECONDS": "8",
                "WEB": "true",
                "WEB_PROVIDERS": "[]",
                "ALLOW_HOSTS": '["example.com"]',
                "ENVIRONMENT": "test",
                "WEB_TEST_HOSTS": json.dumps({"example.com": self.site.address}),
                "REREAD_SECONDS": "1",
                "MAX_QUEUED_JOBS": "300",
                **(more or {}),
            },
        )
        self.index = FakeRetriever()
        self._retriever: Server | None = None

    def start_crashing_worker(self) -> None:
        self.start_worker(script=CRASHING)

    @property
    def retriever_runs(self) -> bool:
        return self._retriever is not None

    async def start_retriever(self) -> None:
        settings = ServiceSettings(listen=f"127.0.0.1:{self.retriever_port}", drain_seconds=0.1)
        self._retriever = Server(settings, [RETRIEVER], self.index.register)
        await self._retriever.start()

    async def stop_retriever(self) -> None:
        if self._retriever:
            await self._retriever.stop()
            self._retriever = None

    async def healthy(self) -> bool:
        async with channel(f"127.0.0.1:{self.port}", SERVICE) as line:
            try:
                answer = await health_pb2_grpc.HealthStub(line).Check(
                    health_pb2.HealthCheckRequest(service=SERVICE), timeout=2
                )
            except grpc.RpcError:  # the server is not there
                return False
        return bool(answer.status == health_pb2.HealthCheckResponse.SERVING)


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def search_stack() -> AsyncIterator[FakedStack]:
    # A short path: a unix socket's may have 107 bytes.
    with tempfile.TemporaryDirectory(prefix="quelea-") as folder:
        stack = FakedStack(Path(folder))
        try:
            stack.start_redis()
            stack.start_server()
            stack.start_crashing_worker()
            await stack.start_retriever()
            await stack.until_healthy()
            await stack.until_worker()
            yield stack
        finally:
            await stack.stop_retriever()
            stack.stop()
            stack.site.close()


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def search_on_s3(s3_endpoint: str) -> AsyncIterator[tuple[FakedStack, Bucket]]:
    """Its server and a real worker, with their files in a bucket."""
    bucket = new_bucket(s3_endpoint)
    with tempfile.TemporaryDirectory(prefix="quelea-") as folder:
        stack = FakedStack(Path(folder), {"BLOBS_URL": bucket.url})
        stack.environment.update(bucket.environment)
        try:
            stack.start_redis()
            stack.start_server()
            stack.start_worker()
            await stack.start_retriever()
            await stack.until_healthy()
            await stack.until_worker()
            yield stack, bucket
        finally:
            await stack.stop_retriever()
            stack.stop()
            stack.site.close()


@pytest_asyncio.fixture(loop_scope="module")
async def search_whole(search_stack: FakedStack) -> AsyncIterator[FakedStack]:
    """The stack with every process running and no fault set, whatever the test before did."""
    index = search_stack.index
    index.delay, index.failures = 0.0, []
    index.gate = asyncio.Event()  # a test may have put one of its own there
    index.gate.set()
    if "redis" not in search_stack.processes:
        search_stack.start_redis()
    if "server" not in search_stack.processes:
        search_stack.start_server()
    if "worker" not in search_stack.processes:
        search_stack.start_crashing_worker()
    if not search_stack.retriever_runs:
        await search_stack.start_retriever()
    await search_stack.until_healthy()
    yield search_stack
