"""A gateway on its way out: nothing is refused, every answer closes its connection, readiness is gone."""

from __future__ import annotations

import asyncio

import httpx2
from quelea_gateway.gateway import Gateway
from quelea_gateway.rest.app import build_app
from quelea_gateway.rest.transport.connection_drain import ConnectionDrain
from quelea_gateway.testing import standing
from quelea_kit.processes.memory import Shortages


async def test_answers_close_their_connection_once_it_is_told_to_end() -> None:
    async with standing() as stand:
        gateway: Gateway = stand.gateway
        app = ConnectionDrain(build_app(gateway, Shortages(lambda _: None)))
        async with httpx2.AsyncClient(transport=httpx2.ASGITransport(app), base_url="http://127.0.0.1") as client:
            before = await client.get("/healthz")
            assert (before.status_code, before.headers.get("connection")) == (200, None)
            app.draining = True
            ready, page = await asyncio.gather(client.get("/healthz"), client.get("/readyz"))
            assert (ready.status_code, ready.json()) == (503, {"status": "leaving"})
            assert page.status_code == 200
            assert [one.headers["connection"] for one in (ready, page)] == ["close", "close"]
