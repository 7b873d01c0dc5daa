"""The secret of a stack: who shows it is answered, who does not is not; probes and callers from outside need none."""

from __future__ import annotations

import contextlib
from collections.abc import AsyncIterator

import grpc
import pytest
from grpc_health.v1 import health_pb2, health_pb2_grpc
from quelea.embedder.v1 import embedder_pb2, embedder_pb2_grpc
from quelea_kit.client import channel, unary
from quelea_kit.errors import Unauthenticated
from quelea_kit.server import LIVE, Server
from quelea_kit.settings import ServiceSettings

NAME = "quelea.embedder.v1.EmbedderService"
VARIABLE = "QUELEA_STACK_SECRET"


class Embedder(embedder_pb2_grpc.EmbedderServiceServicer):
    async def GetModel(self, request, context):  # noqa: N802  # the wire names it
        return embedder_pb2.GetModelResponse(model="m")


@contextlib.asynccontextmanager
async def serving(*, outside: bool = False) -> AsyncIterator[int]:
    server = Server(
        ServiceSettings(drain_seconds=0.2),
        [NAME],
        lambda s: embedder_pb2_grpc.add_EmbedderServiceServicer_to_server(Embedder(), s),
        outside=outside,
    )
    await server.start()
    try:
        yield server.port
    finally:
        await server.stop()


async def model(port: int) -> str:
    opened = channel(f"127.0.0.1:{port}", NAME)
    try:
        stub = embedder_pb2_grpc.EmbedderServiceStub(opened)
        return (await unary(stub.GetModel(embedder_pb2.GetModelRequest(), timeout=60))).model
    finally:
        await opened.close()


@pytest.mark.parametrize("shown", ["", "another", "OURS", "ours-and-more"])
async def test_only_who_shows_the_secret_is_answered(shown: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(VARIABLE, "ours")
    async with serving() as port:
        assert await model(port) == "m"
        monkeypatch.setenv(VARIABLE, shown)
        with pytest.raises(Unauthenticated, match=VARIABLE):
            await model(port)


async def test_probes_need_no_secret(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(VARIABLE, "ours")
    async with serving() as port, grpc.aio.insecure_channel(f"127.0.0.1:{port}") as plain:
        answer = await health_pb2_grpc.HealthStub(plain).Check(health_pb2.HealthCheckRequest(service=LIVE), timeout=60)
    assert answer.status == health_pb2.HealthCheckResponse.SERVING


async def test_callers_from_outside_need_no_secret(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(VARIABLE, "ours")
    async with serving(outside=True) as port:
        monkeypatch.delenv(VARIABLE)
        assert await model(port) == "m"


async def test_without_a_secret_everybody_is_answered(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv(VARIABLE, raising=False)
    async with serving() as port:
        assert await model(port) == "m"
