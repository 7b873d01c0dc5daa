"""Helpers for tests: a site on loopback; Redis, the server and workers as processes that a test may kill."""

from __future__ import annotations

import asyncio
import contextlib
import os
import signal
import subprocess
import sys
import threading
import zlib
from collections.abc import AsyncIterator, Mapping
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import redis
from quelea.search.v1 import search_pb2 as pb
from quelea.search.v1 import search_pb2_grpc
from quelea_kit.client import channel, stream, unary
from quelea_kit.errors import QueleaError
from quelea_kit.processes.redis_server import redis_command, redis_url
from quelea_kit.testing import free_port, wait_until_async

SERVICE = "quelea.search.v1.SearchService"
SECONDS = 60
"""For anything that has to happen; on a busy machine a process alone takes seconds to start."""


class Site:
    """A web site on loopback, in a thread; every page has an ETag.

    Attributes:
        HOST: A name for it, to be mapped to `address` by the setting web_test_hosts.
        pages: Path -> HTML; a test may change it at any time.
        asked: Every path that was asked for.
    """

    HOST = "site.example.com"

    def __init__(self, pages: Mapping[str, bytes] | None = None) -> None:
        site = self
        self.pages = dict(pages or {})
        self.asked: list[str] = []

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"
            disable_nagle_algorithm = True  # head and body are two packets: the second would wait for an ACK

            def do_GET(self) -> None:  # the standard library's name
                """Answer one question."""
                site.asked.append(self.path)
                data = site.pages.get(self.path)
                tag = f'"{zlib.crc32(data)}"' if data is not None else ""
                same = data is not None and self.headers.get("If-None-Match") == tag
                self.send_response(404 if data is None else 304 if same else 200)
                body = b"" if data is None or same else data
                if tag:
                    self.send_header("ETag", tag)
                    self.send_header("Content-Type", "text/html; charset=utf-8")
                self.send_header("Content-Length", str(len(body)))
                self.end_headers()
                self.wfile.write(body)

            def log_message(self, format: str, *args: object) -> None:  # noqa: A002  # the standard library's name
                """Say nothing."""

        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.address = f"127.0.0.1:{self._server.server_port}"
        self._thread = threading.Thread(target=self._server.serve_forever, args=(0.05,), daemon=True)
        self._thread.start()

    def close(self) -> None:
        """Answer no more."""
        self._server.shutdown()
        self._server.server_close()


class Stack:
    """The processes of the search service.

    Args:
        folder: For data, sockets and logs; a short path, since a unix socket's may have 107 bytes.
        settings: More of QUELEA_SEARCH_…, without the prefix.
    """

    def __init__(self, folder: Path, settings: Mapping[str, str] | None = None) -> None:
        self.folder = folder
        self.socket = folder / "redis.sock"
        self.retriever_port, self.port = free_port(), free_port()
        self.processes: dict[str, subprocess.Popen[bytes]] = {}
        told = {
            "REDIS_URL": redis_url(socket=self.socket),
            "BLOBS_URL": str(folder / "blobs"),
            "RETRIEVER": f"127.0.0.1:{self.retriever_port}",
            "LISTEN": f"127.0.0.1:{self.port}",
            "BEAT_SECONDS": "0.2",
            "LEASE_SECONDS": "4",
            "REAPER_SECONDS": "0.2",
            "RESEND_SECONDS": "0.5",
            "DRAIN_SECONDS": "0.2",
            "MAX_ATTEMPTS": "3",
            **(settings or {}),
        }
        self.environment = {**os.environ, **{f"QUELEA_SEARCH_{name}": value for name, value in told.items()}}

    # -- processes -------------------------------------------------------------------------------------------------

    def start(self, name: str, command: list[str]) -> None:
        """Start a process whose output goes to <folder>/<name>.log."""
        with (self.folder / f"{name}.log").open("ab") as log:
            self.processes[name] = subprocess.Popen(  # noqa: S603  # the test's own command
                command, env=self.environment, stdout=log, stderr=log, start_new_session=True
            )

    def start_redis(self) -> None:
        """Redis, with every write on the disk before it is answered."""
        self.start("redis", redis_command(self.folder, socket=self.socket))

    def start_server(self) -> None:
        """The gRPC server."""
        self.start("server", [sys.executable, "-m", "quelea_search"])

    def start_worker(self, name: str = "worker", script: Path | None = None) -> None:
        """A worker, or a script that makes one."""
        self.start(name, [sys.executable, *([str(script)] if script else ["-m", "quelea_search.worker"])])

    def start_beat(self) -> None:
        """The beat."""
        self.start("beat", [sys.executable, "-m", "quelea_search.beat"])

    def kill(self, name: str, how: signal.Signals = signal.SIGKILL) -> None:
        """End one process, not its children, and wait for it."""
        process = self.processes.pop(name)
        process.send_signal(how)
        process.wait(SECONDS)

    def children(self, name: str = "worker") -> list[int]:
        """Process ids of a worker's pool."""
        parent = self.processes[name].pid
        text = Path(f"/proc/{parent}/task/{parent}/children").read_text()
        return [int(pid) for pid in text.split()]

    def log(self, name: str) -> str:
        """What a process has written."""
        return (self.folder / f"{name}.log").read_text(errors="replace")

    def stop(self) -> None:
        """Kill everything that runs, with its children."""
        for name in ("beat", *(n for n in self.processes if n not in ("beat", "redis")), "redis"):
            if name in self.processes:
                with contextlib.suppress(ProcessLookupError):
                    os.killpg(self.processes[name].pid, signal.SIGKILL)
                self.processes.pop(name).wait(SECONDS)

    # -- asking ----------------------------------------------------------------------------------------------------

    def redis(self) -> redis.Redis:
        """A client of the test's own."""
        return redis.Redis(unix_socket_path=str(self.socket), decode_responses=True)

    @contextlib.asynccontextmanager
    async def line(self) -> AsyncIterator[search_pb2_grpc.SearchServiceAsyncStub]:
        """A stub of the service."""
        async with channel(f"127.0.0.1:{self.port}", SERVICE) as line:
            yield search_pb2_grpc.SearchServiceStub(line)

    async def healthy(self) -> bool:
        """Whether the server answers what needs Redis."""
        async with self.line() as stub:
            try:
                await unary(stub.GetInfo(pb.GetInfoRequest(), timeout=2))
            except QueleaError:
                return False
        return True

    async def until_healthy(self, wanted: bool = True) -> None:
        """Wait until the server is healthy, or is not; at once when its process has ended."""
        async with asyncio.timeout(SECONDS):
            while await self.healthy() is not wanted:
                server = self.processes.get("server")
                if wanted and server is not None and server.poll() is not None:
                    raise RuntimeError(f"the server has ended:\n{self.log('server')[-3000:]}")
                await asyncio.sleep(0.05)

    async def until_worker(self) -> None:
        """Wait until a worker has shown a sign of life."""
        client = self.redis()
        prefix = self.environment.get("QUELEA_SEARCH_REDIS_PREFIX", "quelea:search")
        await wait_until_async(
            lambda: bool(client.zcard(f"{prefix}:workers")), seconds=SECONDS, what="the worker is there"
        )

    async def submit(self, data: bytes, filename: str = "a.md", *, uri: str = "", uploader: str = "") -> pb.Job:
        """Upload a document; its job."""

        async def messages() -> AsyncIterator[pb.SubmitDocumentRequest]:
            info = pb.DocumentInfo(filename=filename)
            info.metadata.uri = uri
            info.metadata.uploader = uploader
            yield pb.SubmitDocumentRequest(info=info)
            yield pb.SubmitDocumentRequest(chunk=data)

        async with self.line() as stub:
            return (await unary(stub.SubmitDocument(messages(), timeout=20))).job

    async def job(self, job_id: str) -> pb.Job:
        """A job as it is now."""
        async with self.line() as stub:
            return (await unary(stub.GetJob(pb.GetJobRequest(id=job_id), timeout=10))).job

    async def ended(self, job_id: str, seen: list[pb.Job] | None = None) -> pb.Job:
        """A job when it has ended; every state on the way goes to `seen`."""
        last: pb.Job | None = None
        async with self.line() as stub:
            call = stub.WatchJob(pb.WatchJobRequest(id=job_id), timeout=SECONDS, wait_for_ready=True)
            async for event in stream(call):
                last = event.job
                if seen is not None:
                    seen.append(last)
        if last is None or last.state not in (pb.JOB_STATE_SUCCEEDED, pb.JOB_STATE_FAILED):
            raise RuntimeError(f"the watch of job {job_id} ended before the job: {last}")
        return last

    async def add(self, data: bytes, filename: str = "a.md", *, uri: str = "", uploader: str = "") -> pb.Job:
        """Upload a document and wait for the end of its job."""
        return await self.ended((await self.submit(data, filename, uri=uri, uploader=uploader)).id)

    def files_of(self, document_id: str) -> list[str]:
        """What the blob store has of a document."""
        return [path.name for path in (self.folder / "blobs" / "documents").glob(f"{document_id}/*")]

    def incoming(self) -> list[str]:
        """Bytes of jobs that have not ended, by job."""
        return [path.name for path in (self.folder / "blobs" / "incoming").iterdir()]
