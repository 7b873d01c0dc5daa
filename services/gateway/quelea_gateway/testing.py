"""A whole gateway on fake services, for tests here and in other rooms."""

from __future__ import annotations

import asyncio
import contextlib
import tempfile
import uuid
from collections.abc import AsyncIterator
from dataclasses import dataclass
from typing import Any

from quelea_gateway.adapters.services.fake_services import GATE_FILE, FakeServices
from quelea_gateway.adapters.services.fake_world import World
from quelea_gateway.gateway import Gateway, build
from quelea_gateway.runner import Running
from quelea_gateway.settings import Settings


@dataclass
class Stand:
    """What a test needs of a running gateway."""

    url: str
    grpc: str
    world: World
    services: FakeServices
    gateway: Gateway
    running: Running


async def _end_http(running: Running) -> None:
    """End HTTP at once where nobody is connected: nothing is drained then, and uvicorn's own pauses take 0.15 s."""
    http, serving = running._http, running._serving
    with contextlib.suppress(TimeoutError):
        async with asyncio.timeout(0.05):  # a client that has just gone is noticed soon
            while http.server_state.connections or http.server_state.tasks:  # noqa: ASYNC110  # uvicorn has no event
                await asyncio.sleep(0.001)
            for server in http.servers:
                server.close()
            if serving:
                serving.cancel()
                running._serving = None


@contextlib.asynccontextmanager
async def standing(world: World | None = None, **settings: Any) -> AsyncIterator[Stand]:
    """A real HTTP and gRPC gateway on free loopback ports.

    Unless a setting says otherwise keys are off, a retriever that was stopped is not waited for, and questions are
    searched as they are.
    """
    world = world or World.with_samples()
    services = FakeServices(world)
    await services.start()
    usual = {"auth": "off", "http_listen": "127.0.0.1:0", "drain_seconds": 1.0, "gate_file": str(GATE_FILE)}
    usual["feedback_url"] = f"memory://feedback-{uuid.uuid4().hex}"  # a test leaves no files
    usual["conversations_url"] = f"memory://conversations-{uuid.uuid4().hex}"
    usual["evaluations_url"] = f"memory://evaluations-{uuid.uuid4().hex}"
    usual["usage_url"] = f"memory://usage-{uuid.uuid4().hex}"
    usual["prompts_url"] = f"memory://prompts-{uuid.uuid4().hex}"
    with tempfile.TemporaryDirectory(prefix="quelea-keys-") as folder:
        usual["keys_file"] = f"{folder}/keys.json"
        given = {**usual, "retriever_wait_seconds": 0, "query_plan": "none", **services.addresses, **settings}
        gateway = build(Settings(**given))
        running = Running(gateway)
        await running.start()
        try:
            yield Stand(
                url=f"http://127.0.0.1:{running.http_port}",
                grpc=f"127.0.0.1:{running.grpc_port}",
                world=world,
                services=services,
                gateway=gateway,
                running=running,
            )
        finally:
            await _end_http(running)
            await running.stop()
            await services.close()
