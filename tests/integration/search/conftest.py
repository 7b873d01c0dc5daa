"""Redis, the gRPC server and the Celery worker as processes; the retriever is a fake in the test's own process."""

from __future__ import annotations

import asyncio
import contextlib
import os
import signal
import subprocess
import sys
import tempfile
from collections.abc import AsyncIterator
from pathlib import Path

import grpc
import pytest_asyncio
import redis
from grpc_health.v1 import health_pb2, health_pb2_grpc
from quelea.search.v1 import search_pb2 as pb
from quelea.search.v1 import search_pb2_grpc
from quelea_kit.client import channel, stream
from quelea_kit.redis_server import redis_command, redis_url
from quelea_kit.server import Server
from quelea_kit.settings import ServiceSettings
from quelea_kit.testing import free_port, wait_until_async
from quelea_search.adapters.fake_retriever import SERVICE as RETRIEVER
from quelea_search.adapters.fake_retriever import FakeRetriever
from quelea_search.service import SERVICE

HERE = Path(__file__).parent
SECONDS = 60
"""For anything that has to happen; on a busy machine a process alone takes seconds to start."""


class Stack:
    """The processes, each of which a test may kill and start again."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.index = FakeRetriever()
        self.socket = folder / "redis.sock"
        self.retriever_port, self.port = free_port(), free_port()
        self.processes: dict[str, subprocess.Popen[bytes]] = {}
        self.environment = {
            **os.environ,
            "QUELEA_SEARCH_REDIS_URL": redis_url(socket=self.socket),
            "QUELEA_SEARCH_BLOBS_URL": str(folder / "blobs"),
            "QUELEA_SEARCH_RETRIEVER": f"127.0.0.1:{self.retriever_port}",
            "QUELEA_SEARCH_LISTEN": f"127.0.0.1:{self.port}",
            "QUELEA_SEARCH_BATCH_PASSAGES": "1",
            "QUELEA_SEARCH_BEAT_SECONDS": "0.2",
            "QUELEA_SEARCH_LEASE_SECONDS": "4",
            "QUELEA_SEARCH_REAPER_SECONDS": "0.2",
            "QUELEA_SEARCH_RESEND_SECONDS": "0.5",
            "QUELEA_SEARCH_READ_SECONDS": "3",
            "QUELEA_SEARCH_DRAIN_SECONDS": "0.2",
            "QUELEA_SEARCH_MAX_ATTEMPTS": "3",
        }
        self._retriever: Server | None = None

    # -- processes -------------------------------------------------------------------------------------------------

    def start(self, name: str, command: list[str]) -> None:
        with (self.folder / f"{name}.log").open("ab") as log:
            self.processes[name] = subprocess.Popen(
                command, env=self.environment, stdout=log, stderr=log, start_new_session=True
            )

    def start_redis(self) -> None:
        self.start("redis", redis_command(self.folder, socket=self.socket))

    def start_server(self) -> None:
        self.start("server", [sys.executable, "-m", "quelea_search"])

    def start_worker(self, script: str = "") -> None:
        self.start("worker", [sys.executable, *([str(HERE / script)] if script else ["-m", "quelea_search.worker"])])

    def kill(self, name: str, how: signal.Signals = signal.SIGKILL) -> None:
        """End one process, not its children, and wait for it."""
        process = self.processes.pop(name)
        process.send_signal(how)
        process.wait(SECONDS)

    def children(self) -> list[int]:
        """Process ids of the worker's pool."""
        parent = self.processes["worker"].pid
        text = Path(f"/proc/{parent}/task/{parent}/children").read_text()
        return [int(pid) for pid in text.split()]

    def log(self, name: str) -> str:
        return (self.folder / f"{name}.log").read_text(errors="replace")

    async def start_retriever(self) -> None:
        settings = ServiceSettings(listen=f"127.0.0.1:{self.retriever_port}", drain_seconds=0.1)
        self._retriever = Server(settings, [RETRIEVER], self.index.register)
        await self._retriever.start()

    async def stop_retriever(self) -> None:
        if self._retriever:
            await self._retriever.stop()
            self._retriever = None

    def stop(self) -> None:
        for name in ("worker", "server", "redis"):
            if name in self.processes:
                with contextlib.suppress(ProcessLookupError):
                    os.killpg(self.processes[name].pid, signal.SIGKILL)
                self.processes.pop(name).wait(SECONDS)

    # -- asking ----------------------------------------------------------------------------------------------------

    @contextlib.asynccontextmanager
    async def line(self) -> AsyncIterator[search_pb2_grpc.SearchServiceStub]:
        async with channel(f"127.0.0.1:{self.port}", SERVICE) as line:
            yield search_pb2_grpc.SearchServiceStub(line)

    async def healthy(self) -> bool:
        async with channel(f"127.0.0.1:{self.port}", SERVICE) as line:
            try:
                answer = await health_pb2_grpc.HealthStub(line).Check(
                    health_pb2.HealthCheckRequest(service=SERVICE), timeout=2
                )
            except grpc.RpcError:  # the server is not there
                return False
        return bool(answer.status == health_pb2.HealthCheckResponse.SERVING)

    async def until_healthy(self, wanted: bool = True) -> None:
        async with asyncio.timeout(SECONDS):
            while await self.healthy() is not wanted:  # noqa: ASYNC110  # another process, there is no event to wait for
                await asyncio.sleep(0.05)

    async def submit(self, data: bytes, filename: str = "a.md", *, uri: str = "") -> pb.Job:
        async def messages() -> AsyncIterator[pb.SubmitDocumentRequest]:
            info = pb.DocumentInfo(filename=filename)
            info.metadata.uri = uri
            yield pb.SubmitDocumentRequest(info=info)
            yield pb.SubmitDocumentRequest(chunk=data)

        async with self.line() as stub:
            return (await stub.SubmitDocument(messages(), timeout=20)).job

    async def job(self, job_id: str) -> pb.Job:
        async with self.line() as stub:
            return (await stub.GetJob(pb.GetJobRequest(id=job_id), timeout=10)).job

    async def ended(self, job_id: str, seen: list[pb.Job] | None = None) -> pb.Job:
        async with self.line() as stub:
            call = stub.WatchJob(pb.WatchJobRequest(id=job_id), timeout=SECONDS, wait_for_ready=True)
            async for event in stream(call):
                last = event.job
                if seen is not None:
                    seen.append(last)
        assert last.state in (pb.JOB_STATE_SUCCEEDED, pb.JOB_STATE_FAILED)
        return last

    async def add(self, data: bytes, filename: str = "a.md", *, uri: str = "") -> pb.Job:
        return await self.ended((await self.submit(data, filename, uri=uri)).id)

    async def until_indexing(self, document_id: str) -> None:
        """The job is in its long part, and held there when the gate is shut."""
        await wait_until_async(lambda: document_id in self.index.staged, seconds=SECONDS, what="indexing has begun")

    def files_of(self, document_id: str) -> list[str]:
        return [p.name for p in (self.folder / "blobs" / "documents").glob(f"{document_id}/*")]

    def incoming(self) -> list[str]:
        return [p.name for p in (self.folder / "blobs" / "incoming").iterdir()]


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def search_stack() -> AsyncIterator[Stack]:
    # A short path: a unix socket's may have 107 bytes.
    with tempfile.TemporaryDirectory(prefix="quelea-") as folder:
        stack = Stack(Path(folder))
        try:
            stack.start_redis()
            stack.start_server()
            stack.start_worker("crashing_worker.py")
            await stack.start_retriever()
            await stack.until_healthy()
            client = redis.Redis(unix_socket_path=str(stack.socket))
            await wait_until_async(
                lambda: client.zcard("quelea:search:workers") > 0, seconds=SECONDS, what="the worker is there"
            )
            yield stack
        finally:
            await stack.stop_retriever()
            stack.stop()


@pytest_asyncio.fixture(loop_scope="module")
async def search_whole(search_stack: Stack) -> AsyncIterator[Stack]:
    """The stack with every process running and no fault set, whatever the test before did."""
    index = search_stack.index
    index.delay, index.failures = 0.0, []
    index.gate.set()
    if "redis" not in search_stack.processes:
        search_stack.start_redis()
    if "server" not in search_stack.processes:
        search_stack.start_server()
    if "worker" not in search_stack.processes:
        search_stack.start_worker("crashing_worker.py")
    await search_stack.start_retriever() if search_stack._retriever is None else None
    await search_stack.until_healthy()
    yield search_stack
