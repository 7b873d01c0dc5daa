"""A whole gateway on fake services, for tests here and in other rooms."""

from __future__ import annotations

import contextlib
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
        await running.stop()
        await services.close()
