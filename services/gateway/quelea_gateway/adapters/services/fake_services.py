"""Retriever, search and generator as small gRPC servers in memory: for tests, and to look at the page by itself.

python -m quelea_gateway.adapters.services.fake_services      a gateway on them, at http://127.0.0.1:8089/
"""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

import grpc
from quelea.generator.v1 import generator_pb2_grpc
from quelea.retriever.v1 import retriever_pb2_grpc
from quelea.search.v1 import search_pb2_grpc
from quelea_kit.errors import Unavailable
from quelea_kit.server import Server
from quelea_kit.settings import ServiceSettings

from quelea_gateway.adapters.services import generator, retriever, search
from quelea_gateway.adapters.services.fake_generator import FakeGenerator
from quelea_gateway.adapters.services.fake_retriever import FakeRetriever
from quelea_gateway.adapters.services.fake_search import FakeSearch
from quelea_gateway.adapters.services.fake_world import World

GATE_FILE = Path(__file__).with_name("fake_gate.json")
"""The gate's calibration for the scores of the fake retriever."""


class FakeServices:
    """The three servers of a world, which can be stopped one by one."""

    def __init__(self, world: World) -> None:
        self.world = world
        self.addresses: dict[str, str] = {}
        self._servers: dict[str, Server] = {}

    async def start(self) -> None:
        """Start what does not run, under the address that it had."""
        adders: dict[str, tuple[str, Any, Any]] = {
            "retriever": (
                retriever.SERVICE, retriever_pb2_grpc.add_RetrieverServiceServicer_to_server, FakeRetriever),
            "search": (search.SERVICE, search_pb2_grpc.add_SearchServiceServicer_to_server, FakeSearch),
            "generator": (
                generator.SERVICE, generator_pb2_grpc.add_GeneratorServiceServicer_to_server, FakeGenerator),
        }  # fmt: skip
        for name, (service, add, servicer) in adders.items():
            if name in self._servers:
                continue

            def register(server: grpc.aio.Server, add: Any = add, servicer: Any = servicer) -> None:
                add(servicer(self.world), server)

            listen = self.addresses.get(name, "127.0.0.1:0")
            server = Server(ServiceSettings(listen=listen, drain_seconds=0.2), [service], register)
            await server.start()
            self._servers[name] = server
            self.addresses[name] = f"127.0.0.1:{server.port}"

    async def stop(self, name: str) -> None:
        """Take one away, as a crash would."""
        if name not in self._servers:
            raise Unavailable(f"{name} does not run")
        await self._servers.pop(name).stop()

    async def close(self) -> None:
        """Stop them all."""
        await asyncio.gather(*(self.stop(name) for name in list(self._servers)))


async def _main() -> None:
    from quelea_gateway.gateway import build  # noqa: PLC0415  # only the demonstration needs the gateway
    from quelea_gateway.runner import run  # noqa: PLC0415  # only the demonstration needs the gateway
    from quelea_gateway.settings import Settings  # noqa: PLC0415  # only the demonstration needs the gateway

    world = World.with_web()
    world.page_seconds, world.word_seconds = 0.6, 0.03
    services = FakeServices(world)
    await services.start()
    at = services.addresses
    settings = Settings(
        auth="off",
        http_listen="127.0.0.1:8089",
        gate_file=str(GATE_FILE),
        retriever=at["retriever"],
        search=at["search"],
        generator=at["generator"],
    )
    await run(build(settings))
    await services.close()


if __name__ == "__main__":
    asyncio.run(_main())
