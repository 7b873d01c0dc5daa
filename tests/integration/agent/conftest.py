"""The real parts of the agent: a container, the market-data door on made-up data, the generator, the gateway."""

from __future__ import annotations

import contextlib
import dataclasses
import sys
import tempfile
import warnings
from collections.abc import AsyncIterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from quelea.generator.v1 import generator_pb2_grpc
from quelea.market.v1 import market_pb2, market_pb2_grpc
from quelea_gateway.adapters.fake_tools import FakeTools
from quelea_gateway.testing import standing
from quelea_generator.__main__ import build
from quelea_generator.service import NAME as GENERATOR
from quelea_generator.settings import GeneratorSettings
from quelea_kit.testing import running
from quelea_search.door.samples.__main__ import write
from support.market_door import DoorProcess
from support.sandbox import docker_sandbox, no_engine
from support.scripted_model import NAME, scripted_model

HERE = Path(__file__).parent


@dataclass
class Whole:
    """A gateway on real parts."""

    url: str
    grpc: str
    bundle_id: str
    asked: list[tuple[str, dict[str, Any]]]
    door: DoorProcess
    sandbox: Any
    gateway: Any


@pytest.fixture
def engine() -> None:
    """Skips loudly where no engine or image is."""
    why = no_engine()
    if why:
        warnings.warn(f"THE AGENT IS NOT TESTED ON REAL CONTAINERS: {why}", stacklevel=1)
        sys.stderr.write(f"\nTHE AGENT IS NOT TESTED ON REAL CONTAINERS: {why}\n")
        pytest.skip(why)


@pytest.fixture
def whole(engine):
    """whole("nvidia_two_weeks.json", **settings of the gateway)."""

    @contextlib.asynccontextmanager
    async def open_(decisions: str, **settings: Any) -> AsyncIterator[Whole]:
        # A unix socket's path may have 107 bytes, which pytest's own folders exceed.
        with tempfile.TemporaryDirectory(prefix="quelea-agent-") as short, scripted_model(HERE / decisions) as told:
            folder, (endpoint, model) = Path(short), told
            # The code runs as another user: it must be able to reach the socket.
            folder.chmod(0o755)  # noqa: ASYNC240  # nothing else runs yet
            bundle_id, _ = write(folder / "samples.bundle")
            door = DoorProcess(folder)
            await door.start()
            try:
                assert await _import(door, folder / "samples.bundle") == bundle_id
                generator = build(GeneratorSettings(endpoint=endpoint, model=NAME))
                async with (
                    running(
                        lambda server: generator_pb2_grpc.add_GeneratorServiceServicer_to_server(generator, server),
                        [GENERATOR],
                    ) as generator_at,
                    docker_sandbox(market_socket_dir=door.socket.parent) as sandbox,
                    standing(
                        generator=generator_at,
                        sandbox=sandbox.target,
                        market=f"127.0.0.1:{door.port}",
                        runs_url=str(folder / "runs"),
                        **settings,
                    ) as stand,
                ):
                    manager = stand.gateway.analyst.runs()
                    manager.ports = dataclasses.replace(manager.ports, tools=FakeTools())
                    yield Whole(stand.url, stand.grpc, bundle_id, model.asked, door, sandbox, stand.gateway)
            finally:
                await door.stop()

    return open_


async def _import(door: DoorProcess, bundle: Path) -> str:
    async def pieces() -> AsyncIterator[market_pb2.ImportBundleRequest]:
        data = bundle.read_bytes()  # noqa: ASYNC240  # a few hundred kilobytes
        for start in range(0, len(data), 1 << 20):
            yield market_pb2.ImportBundleRequest(chunk=data[start : start + (1 << 20)])

    async with door.client() as line:
        stub = market_pb2_grpc.MarketDoorServiceStub(line)
        return str((await stub.ImportBundle(pieces(), timeout=60)).bundle_id)
