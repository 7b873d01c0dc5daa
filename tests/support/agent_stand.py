"""A whole gateway with an agent: fake sandbox and door behind gRPC, a model that says what a test wants."""

from __future__ import annotations

import contextlib
import dataclasses
import uuid
from collections.abc import AsyncIterator
from dataclasses import dataclass
from typing import Any

import grpc
from quelea.market.v1 import market_pb2_grpc
from quelea.sandbox.v1 import sandbox_pb2_grpc
from quelea_gateway.adapters.services import door, sandbox
from quelea_gateway.adapters.services.fake_door import FakeMarket, FakeMarketServicer
from quelea_gateway.adapters.services.fake_sandbox import FakeSandbox, FakeSandboxServicer
from quelea_gateway.adapters.services.fake_tools import FakeTools
from quelea_gateway.core.agent.runs.manager import Manager
from quelea_gateway.core.agent.work import Ports
from quelea_gateway.testing import Stand, standing
from quelea_kit.server import Server
from quelea_kit.settings import ServiceSettings
from support.agent_world import QUOTES, URL, SayingModel, good


@dataclass
class Parts:
    """What a test of the agent needs."""

    stand: Stand
    model: SayingModel
    sandbox: FakeSandbox
    market: FakeMarket
    servers: dict[str, Server]

    @property
    def url(self) -> str:
        return self.stand.url

    @property
    def manager(self) -> Manager:
        return self.stand.gateway.analyst.runs()


async def served(sandbox_: FakeSandbox, market: FakeMarket) -> dict[str, Server]:
    """The two fakes as gRPC servers."""

    def add_sandbox(server: grpc.aio.Server) -> None:
        sandbox_pb2_grpc.add_SandboxServiceServicer_to_server(FakeSandboxServicer(sandbox_), server)

    def add_market(server: grpc.aio.Server) -> None:
        market_pb2_grpc.add_MarketDoorServiceServicer_to_server(FakeMarketServicer(market), server)

    made = {
        "sandbox": Server(ServiceSettings(drain_seconds=0.2), [sandbox.SERVICE], add_sandbox),
        "market": Server(ServiceSettings(drain_seconds=0.2), [door.SERVICE], add_market),
    }
    for one in made.values():
        await one.start()
    return made


@contextlib.asynccontextmanager
async def agent_standing(says: dict[str, Any] | None = None, **settings: Any) -> AsyncIterator[Parts]:
    """A gateway with an agent; its model says GOOD unless told otherwise."""
    market = FakeMarket({URL: QUOTES})
    fake = FakeSandbox(market)
    model = SayingModel(says if says is not None else good())
    servers = await served(fake, market)
    usual = {
        "sandbox": f"127.0.0.1:{servers['sandbox'].port}",
        "market": f"127.0.0.1:{servers['market'].port}",
        "runs_url": f"memory://runs-{uuid.uuid4().hex}",
        "agent_seconds": 30.0,
    }
    try:
        async with standing(**{**usual, **settings}) as stand:
            manager = stand.gateway.analyst.runs()
            ports: Ports = manager.ports
            manager.ports = dataclasses.replace(ports, model=model, tools=FakeTools())
            yield Parts(stand, model, fake, market, servers)
    finally:
        for one in servers.values():
            await one.stop()
