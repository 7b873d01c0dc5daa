"""What tests of the agent over a gateway's doors share: start a run, watch it, wait for its end."""

from __future__ import annotations

import asyncio
import json
from typing import Any

import httpx2

QUESTION = "What is NVIDIA's price trend over the last two weeks?"


def client(parts: Any) -> httpx2.AsyncClient:
    """A client of a gateway."""
    return httpx2.AsyncClient(base_url=parts.url, trust_env=False, timeout=60)


async def start(web: httpx2.AsyncClient, question: str = QUESTION, **more: Any) -> dict[str, Any]:
    """Start a run."""
    reply = await web.post("/v1/agent/runs", json={"question": question, **more})
    assert reply.status_code == 202, reply.text
    found: dict[str, Any] = reply.json()
    return found


def parsed(text: str) -> list[tuple[int, str, Any]]:
    """(id, event, data) of a stream."""
    found = []
    for block in text.split("\n\n"):
        fields = dict(line.split(": ", 1) for line in block.split("\n") if ": " in line and not line.startswith(":"))
        if "data" in fields:
            found.append((int(fields["id"]), fields["event"], json.loads(fields["data"])))
    return found


async def watched(web: httpx2.AsyncClient, run_id: str, **more: Any) -> list[tuple[int, str, Any]]:
    """A run's events until it has ended."""
    reply = await web.get(f"/v1/agent/runs/{run_id}/events", **more)
    assert reply.status_code == 200, reply.text
    return parsed(reply.text)


async def until(web: httpx2.AsyncClient, run_id: str, *states: str) -> dict[str, Any]:
    """The run once it is in one of these states."""
    async with asyncio.timeout(60):
        while True:
            run: dict[str, Any] = (await web.get(f"/v1/agent/runs/{run_id}")).json()
            if run["state"] in states:
                return run
            await asyncio.sleep(0.02)


async def code_runs(parts: Any) -> None:
    """Until the fake sandbox runs something."""
    async with asyncio.timeout(60):
        while not parts.sandbox.ran:  # noqa: ASYNC110  # the fake has no event
            await asyncio.sleep(0.02)
