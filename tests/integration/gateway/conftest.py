"""A gateway on a real generator on an endpoint that a test makes lie."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncIterator
from typing import Any

import pytest
import uvicorn
from quelea.generator.v1 import generator_pb2_grpc as pb_grpc
from quelea_gateway.testing import Stand, standing
from quelea_generator.__main__ import build
from quelea_generator.service import NAME
from quelea_generator.settings import GeneratorSettings
from quelea_kit.testing import free_port, running, wait_until_async
from support.hostile_model import HostileModel


@pytest.fixture
async def model() -> AsyncIterator[HostileModel]:
    made, port = HostileModel(), free_port()
    config = uvicorn.Config(made.app, host="127.0.0.1", port=port, log_level="critical", timeout_graceful_shutdown=1)
    server = uvicorn.Server(config)
    task = asyncio.create_task(server.serve())
    await wait_until_async(lambda: server.started)
    made.url = f"http://127.0.0.1:{port}/v1"
    yield made
    server.should_exit = True
    await task


@pytest.fixture
async def desk(model: Any) -> AsyncIterator[Stand]:
    """A gateway on a real generator on the model, without quotes that could stand in for it."""
    settings = GeneratorSettings(
        endpoint=model.url, model="tiny", max_tokens=100_000, drain_seconds=0.2, comeback_seconds=1.0, quotes=False
    )
    service = build(settings)
    async with contextlib.AsyncExitStack() as stack:
        stack.push_async_callback(service.close)
        add = lambda server: pb_grpc.add_GeneratorServiceServicer_to_server(service, server)  # noqa: E731  # one use
        target = await stack.enter_async_context(running(add, [NAME], settings=settings, ready=service.ready))
        yield await stack.enter_async_context(standing(generator=target))
