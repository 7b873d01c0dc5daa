"""The sandbox as its callers see it: a real service in this process, on an ephemeral port, over any backend."""

from __future__ import annotations

import asyncio
import contextlib
import os
import tempfile
import time
from collections.abc import AsyncIterator
from dataclasses import dataclass, field
from pathlib import Path

import docker
from docker.errors import DockerException
from grpc_health.v1 import health_pb2, health_pb2_grpc
from quelea.sandbox.v1 import sandbox_pb2 as pb
from quelea.sandbox.v1 import sandbox_pb2_grpc as pb_grpc
from quelea_kit.client import channel, stream
from quelea_kit.testing import running, wait_until_async
from quelea_sandbox.adapters.backend import Backend
from quelea_sandbox.adapters.docker import DockerBackend
from quelea_sandbox.adapters.kubernetes import KubernetesBackend
from quelea_sandbox.service import NAME, SandboxService
from quelea_sandbox.settings import SandboxSettings
from support.fake_cluster import FakeCluster

FORGE = """
import os, sys, threading, time
def frame(kind, data): return kind + len(data).to_bytes(4, 'big') + data
protocol = sys._getframe(3).f_globals['_OUT']
"""
"""What code needs to write frames of its own to the keeper."""

FORK = """
import os, errno, time
n = 0
try:
    while True:
        if os.fork() == 0:
            time.sleep(60); os._exit(0)
        n += 1
except OSError as error:
    print(errno.errorcode[error.errno], n)
"""
"""Code that forks until it may not, and prints why and how often it did."""

IMAGE = os.environ.get("QUELEA_SANDBOX_IMAGE", "quelea-runner:latest")
ENGINE = os.environ.get("QUELEA_SANDBOX_DOCKER_HOST", "unix:///var/run/docker.sock")
"""The engine that all these tests talk to, as the service reads it from the same variable."""


@dataclass
class Ran:
    """All that one Execute gave back."""

    started: pb.Started | None = None
    stdout: bytes = b""
    stderr: bytes = b""
    files: dict[str, pb.File] = field(default_factory=dict)
    finished: pb.Finished = field(default_factory=pb.Finished)
    seconds: float = 0.0

    @property
    def reason(self) -> str:
        """OK, ERROR, TIMEOUT, MEMORY, CANCELLED, DIED, PROTOCOL or ENGINE."""
        return pb.ExitReason.Name(self.finished.reason).removeprefix("EXIT_REASON_")

    @property
    def text(self) -> str:
        """stdout as text."""
        return self.stdout.decode("utf-8", "replace")


@dataclass
class SandboxClient:
    """A stub, and the usual calls in one line."""

    stub: pb_grpc.SandboxServiceStub
    target: str
    service: SandboxService

    async def run(
        self,
        code: str,
        *,
        timeout: float = 120.0,  # noqa: ASYNC109  # it is the rpc's
        into: Ran | None = None,
        **fields: object,
    ) -> Ran:
        """Execute and collect, into what can be looked at meanwhile; checks the order of events.

        Errors of the rpc come as QueleaError.
        """
        ran, began, ended = into or Ran(), time.perf_counter(), 0
        async for event in stream(self.stub.Execute(pb.ExecuteRequest(code=code, **fields), timeout=timeout)):
            assert not ended, "an event after finished"
            kind = event.WhichOneof("event")
            if kind == "started":
                assert ran.started is None
                ran.started = event.started
            elif kind == "output":
                if event.output.stream == pb.Output.STREAM_STDERR:
                    ran.stderr += event.output.data
                else:
                    ran.stdout += event.output.data
            elif kind == "file":
                assert event.file.path not in ran.files, "a file that came twice"
                ran.files[event.file.path] = event.file
            else:
                ran.finished, ended = event.finished, 1
        assert ended, "the stream ended without finished"
        ran.seconds = time.perf_counter() - began
        return ran

    async def begin(self, code: str, *, timeout: float = 110.0, **fields: object) -> asyncio.Task[Ran]:  # noqa: ASYNC109  # it is the rpc's
        """A run that goes on, once its first output has come."""
        ran = Ran()
        task = asyncio.create_task(self.run(code, timeout=timeout, into=ran, **fields))
        await wait_until_async(lambda: bool(ran.stdout) or task.done(), what="the run has said something")
        return task

    async def capacity(self) -> pb.GetCapacityResponse:
        """How full it is."""
        return await self.stub.GetCapacity(pb.GetCapacityRequest(), timeout=60)

    async def until_ready(self, number: int = 1, *, seconds: float = 90) -> None:
        """Wait until so many containers are warm, and its health says so to those who ask before they call."""
        await wait_until_async(
            # Warm ones are still counted for a moment after the engine has gone.
            lambda: self.service.pool.counts.ready >= number and not self.service.pool.down,
            seconds=seconds,
            what=f"{number} warm containers",
        )
        await until_serving(self.target, seconds=seconds)


async def until_serving(target: str, *, seconds: float = 90) -> None:
    """Wait until a sandbox's health says that it serves."""
    async with asyncio.timeout(seconds), channel(target, NAME) as line:
        asked, stub = health_pb2.HealthCheckRequest(service=NAME), health_pb2_grpc.HealthStub(line)
        serving = health_pb2.HealthCheckResponse.SERVING
        while (await stub.Check(asked, timeout=seconds, wait_for_ready=True)).status != serving:  # noqa: ASYNC110  # health asks the pool now and then, and tells nobody
            await asyncio.sleep(0.05)


@contextlib.asynccontextmanager
async def sandbox(backend: Backend, settings: SandboxSettings) -> AsyncIterator[SandboxClient]:
    """A real service over gRPC around a backend, at once: `until_ready`. Everything is removed at the end."""
    service = SandboxService(backend, settings)
    try:
        async with (
            running(
                lambda server: pb_grpc.add_SandboxServiceServicer_to_server(service, server),
                [NAME],
                settings=settings,
                ready=service.pool.ready,
            ) as target,
            channel(target, NAME) as open_channel,
        ):
            service.start()
            yield SandboxClient(pb_grpc.SandboxServiceStub(open_channel), target, service)
    finally:
        await service.stop()


def fast_settings(**fields: object) -> SandboxSettings:
    """Settings for the fake backend."""
    told = {"drain_seconds": 0.2, "check_seconds": 0.2, "max_containers": 6, "max_warm": 2, **fields}
    return SandboxSettings(**told)  # type: ignore[arg-type]


def docker_settings(**fields: object) -> SandboxSettings:
    """Settings for a service on the machine's engine, small enough for a shared one."""
    return SandboxSettings(**{"image": IMAGE, "drain_seconds": 0.5, "max_containers": 4, "max_warm": 2, **fields})  # type: ignore[arg-type]


def engine_api(*, timeout: int = 20) -> docker.APIClient:
    """A client of the tests' engine; close it."""
    return docker.APIClient(ENGINE, timeout=timeout)


def engine_must_be_there() -> bool:
    """Whether who runs the tests has started an engine and built the images, so that a skip would hide a fault."""
    return os.environ.get("QUELEA_ENGINE") == "yes"


def no_engine(image: str = IMAGE) -> str:
    """Why tests on a real engine cannot run; empty when they can. Raises instead where engine_must_be_there."""
    try:
        api = engine_api(timeout=60 if engine_must_be_there() else 5)
        try:
            api.inspect_image(image)
        finally:
            api.close()
    except DockerException as error:
        if engine_must_be_there():
            raise
        return f"no Docker engine at {ENGINE} with the image {image} (make runner-image): {error}"
    return ""


@contextlib.asynccontextmanager
async def docker_sandbox(*, dead: bool = False, **fields: object) -> AsyncIterator[SandboxClient]:
    """A real service over the machine's engine, once it has a warm container and says that it serves.

    `dead`: nothing can be made there, so it is given at once and makes nothing ahead.
    """
    settings = docker_settings(**({"min_warm": 0} if dead else {}), **fields)
    async with sandbox(DockerBackend(settings), settings) as client:
        if not dead:
            await client.until_ready()
        yield client


def pod_settings(cluster: FakeCluster, folder: Path, **fields: object) -> SandboxSettings:
    """Settings for a service whose containers are pods of this cluster."""
    told = {"backend": "kubernetes", "namespace": cluster.namespace, "owner": "tests", **fields}
    return docker_settings(kubeconfig=cluster.kubeconfig(folder), **told)


@contextlib.asynccontextmanager
async def pod_sandbox(
    cluster: FakeCluster | None = None, *, must_be_alone: bool = True, dead: bool = False, **fields: object
) -> AsyncIterator[SandboxClient]:
    """A real service whose containers are pods of a fake API server, each a real container; as docker_sandbox."""
    own = cluster or FakeCluster()
    with tempfile.TemporaryDirectory(prefix="quelea-pods-") as folder:
        try:
            if cluster is None:
                await own.start()
            settings = pod_settings(own, Path(folder), **({"min_warm": 0} if dead else {}), **fields)
            async with sandbox(KubernetesBackend(settings), settings) as client:
                await wait_until_async(lambda: client.service.pool.was_asked)
                if not dead:
                    await client.until_ready()
                yield client
            assert not own.errors, own.errors
            assert not (must_be_alone and own.pods), "every pod is gone with the service"
        finally:
            if cluster is None:
                await own.close()
