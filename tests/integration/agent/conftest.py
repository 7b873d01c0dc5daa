"""The real parts of the agent: a container, the market-data door on made-up data, the generator, the gateway."""

from __future__ import annotations

import asyncio
import contextlib
import dataclasses
import json
import os
import sys
import tempfile
from collections.abc import AsyncIterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from quelea.generator.v1 import generator_pb2_grpc
from quelea.market.v1 import market_pb2, market_pb2_grpc
from quelea_evaluation.tools.stand import parts
from quelea_gateway.adapters.services.fake_tools import FakeTools
from quelea_gateway.core.tools.catalogue import ToolCatalogue
from quelea_gateway.testing import standing
from quelea_generator.__main__ import build
from quelea_generator.service import NAME as GENERATOR
from quelea_generator.settings import GeneratorSettings
from quelea_kit.errors import QueleaError
from quelea_kit.testing import running
from quelea_search.door.samples.__main__ import write
from support.market_door import DoorProcess
from support.sandbox import docker_sandbox, no_engine
from support.scripted_model import NAME, decisions_file, scripted_model

ROOT = Path(__file__).parents[3]
_INDEX_SECONDS = 1800.0


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
        sys.stderr.write(f"\nTHE AGENT IS NOT TESTED ON REAL CONTAINERS: {why}\n")
        pytest.skip(why)


@pytest.fixture(scope="session")
def real_catalogue():
    """Addresses of retriever and the whole catalogue, on the real encoder; vectors are kept between runs.

    QUELEA_TEST_CATALOGUE='{"retriever": "127.0.0.1:…", "tools": "…"}' takes some that run already.
    """
    if there := os.environ.get("QUELEA_TEST_CATALOGUE"):
        yield json.loads(there)
        return
    model, tools = ROOT / ".cache/models/multilingual-e5-small", ROOT / ".cache/tools/catalogue.jsonl"
    missing = [f"{path} (`make {word}`)" for path, word in ((model, "model"), (tools, "tools")) if not path.exists()]
    if missing:
        why = f"THE AGENT IS NOT TESTED ON THE REAL CATALOGUE: there is no {' and no '.join(missing)}"
        pytest.skip(why)
    with parts(ROOT / ".cache/tools/tested", tools, model) as stand:
        yield stand.addresses


@pytest.fixture
def whole(engine):
    """whole("nvidia_two_weeks.json", **settings of the gateway); without retriever and tools these are fakes."""

    @contextlib.asynccontextmanager
    async def open_(decisions: str, **settings: Any) -> AsyncIterator[Whole]:
        # A unix socket's path may have 107 bytes, which pytest's own folders exceed.
        with (
            tempfile.TemporaryDirectory(prefix="quelea-agent-") as short,
            scripted_model(decisions_file(decisions)) as told,
        ):
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
                    if "tools" in settings:
                        await _indexed(stand.gateway.toolkit.catalogue)
                    else:
                        manager.ports = dataclasses.replace(manager.ports, tools=FakeTools())
                    yield Whole(stand.url, stand.grpc, bundle_id, model.asked, door, sandbox, stand.gateway)
            finally:
                await door.stop()

    return open_


async def _indexed(catalogue: ToolCatalogue) -> None:
    """Until the catalogue has been indexed, which takes minutes the first time."""
    async with asyncio.timeout(_INDEX_SECONDS):
        while True:
            with contextlib.suppress(QueleaError):
                if await catalogue.search("x", k=1):
                    return
            await asyncio.sleep(0.5)


async def _import(door: DoorProcess, bundle: Path) -> str:
    async def pieces() -> AsyncIterator[market_pb2.ImportBundleRequest]:
        data = bundle.read_bytes()  # noqa: ASYNC240  # a few hundred kilobytes
        for start in range(0, len(data), 1 << 20):
            yield market_pb2.ImportBundleRequest(chunk=data[start : start + (1 << 20)])

    async with door.client() as line:
        stub = market_pb2_grpc.MarketDoorServiceStub(line)
        return str((await stub.ImportBundle(pieces(), timeout=60)).bundle_id)
