"""A market-data door for tests: as a process, with the sample bundle, and a client that speaks its data side."""

from __future__ import annotations

import asyncio
import http.client
import os
import signal
import socket
import subprocess
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import grpc
from grpc_health.v1 import health_pb2, health_pb2_grpc
from quelea.market.v1 import market_pb2 as pb
from quelea.market.v1 import market_pb2_grpc
from quelea_kit.client import channel
from quelea_kit.testing import free_port, wait_until_async

SERVICE = "quelea.market.v1.MarketDoorService"
SECONDS = 60


@dataclass
class Reply:
    status: int
    headers: http.client.HTTPMessage
    body: bytes

    @property
    def refused(self) -> str:
        return self.headers.get("X-Quelea-Refused", "")


class _UnixConnection(http.client.HTTPConnection):
    def __init__(self, path: str) -> None:
        super().__init__("door", timeout=SECONDS)
        self._path = path

    def connect(self) -> None:
        self.sock = socket.socket(socket.AF_UNIX)
        self.sock.settimeout(SECONDS)
        self.sock.connect(self._path)


def call(
    path: Path,
    token: str,
    url: str,
    *,
    method: str = "GET",
    headers: Mapping[str, str] | None = None,
    body: bytes = b"",
) -> Reply:
    """One call through a door's socket."""
    scheme, _, rest = url.partition("://")
    host, slash, target = rest.partition("/")
    connection = _UnixConnection(str(path))
    told = {"X-Quelea-Token": token, "X-Quelea-Upstream": f"{scheme}://{host}", **(headers or {})}
    connection.request(method, slash + target or "/", body=body or None, headers=told)
    answer = connection.getresponse()
    reply = Reply(answer.status, answer.headers, answer.read())
    connection.close()
    return reply


class DoorProcess:
    """`python -m quelea_search.door` on a folder; may be killed and started again.

    Args:
        folder: For data, socket and log; a short path, since a unix socket's may have 107 bytes.
        settings: More of QUELEA_MARKET_…, without the prefix.
    """

    def __init__(self, folder: Path, settings: Mapping[str, str] | None = None) -> None:
        self.folder = folder
        self.socket = folder / "sock" / "door.sock"
        self.port = free_port()
        told = {
            "DATA_DIR": str(folder / "data"),
            "SOCKET": str(self.socket),
            "LISTEN": f"127.0.0.1:{self.port}",
            "DRAIN_SECONDS": "5",
            **(settings or {}),
        }
        self._environment = {**os.environ, **{f"QUELEA_MARKET_{name}": value for name, value in told.items()}}
        self.process: subprocess.Popen[bytes] | None = None

    @property
    def log(self) -> str:
        return (self.folder / "door.log").read_text()

    async def start(self) -> None:
        with (self.folder / "door.log").open("ab") as log:
            self.process = subprocess.Popen(  # noqa: ASYNC220  # returns at once
                [sys.executable, "-m", "quelea_search.door"],
                env=self._environment,
                stdout=log,
                stderr=log,
                start_new_session=True,
            )
        end = asyncio.get_running_loop().time() + SECONDS
        while not await self.healthy():
            assert self.process.poll() is None, self.log
            assert asyncio.get_running_loop().time() < end, self.log
            await asyncio.sleep(0.1)

    async def healthy(self) -> bool:
        async with channel(f"127.0.0.1:{self.port}", SERVICE) as line:
            try:
                asked = health_pb2.HealthCheckRequest(service=SERVICE)
                answer = await health_pb2_grpc.HealthStub(line).Check(asked, timeout=2)
            except grpc.RpcError:  # it is not there
                return False
        return bool(answer.status == health_pb2.HealthCheckResponse.SERVING)

    async def stop(self, number: int = signal.SIGTERM) -> int:
        if self.process is None or self.process.poll() is not None:
            return 0
        os.kill(self.process.pid, number)
        await wait_until_async(lambda: self.process is None or self.process.poll() is not None, seconds=SECONDS)
        return self.process.returncode

    def client(self) -> grpc.aio.Channel:
        return channel(f"127.0.0.1:{self.port}", SERVICE)

    async def open(self, run: str, **more: object) -> str:
        """A session's token."""
        facts = {"run_id": run, "mode": pb.MODE_LIVE, **more}
        async with self.client() as line:
            stub = market_pb2_grpc.MarketDoorServiceStub(line)
            return str((await stub.OpenSession(pb.OpenSessionRequest(**facts), timeout=SECONDS)).token)

    async def calls(self, run: str) -> list[pb.Call]:
        async with self.client() as line:
            stub = market_pb2_grpc.MarketDoorServiceStub(line)
            return list((await stub.ListCalls(pb.ListCallsRequest(run_id=run), timeout=SECONDS)).calls)

    async def take_bundle(self, data: bytes) -> pb.ImportBundleResponse:
        async def pieces():  # type: ignore[no-untyped-def]  # an iterator of requests
            for start in range(0, len(data), 65536):
                yield pb.ImportBundleRequest(chunk=data[start : start + 65536])

        async with self.client() as line:
            return await market_pb2_grpc.MarketDoorServiceStub(line).ImportBundle(pieces(), timeout=SECONDS)

    async def give_bundle(self, run: str) -> bytes:
        async with self.client() as line:
            stub = market_pb2_grpc.MarketDoorServiceStub(line)
            chunks = stub.ExportBundle(pb.ExportBundleRequest(run_id=run), timeout=SECONDS)
            return b"".join([each.chunk async for each in chunks])

    async def body(self, sha256: str) -> bytes:
        async with self.client() as line:
            stub = market_pb2_grpc.MarketDoorServiceStub(line)
            return b"".join(
                [each.chunk async for each in stub.GetBody(pb.GetBodyRequest(sha256=sha256), timeout=SECONDS)]
            )
