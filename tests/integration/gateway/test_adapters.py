"""Adapters of the engine's model (LoRA) by their names, on every door that takes a model."""

from __future__ import annotations

import asyncio
from typing import Any

import httpx2
from quelea_gateway.testing import Stand
from support.hostile_model import QUESTION

LISTED = [
    {"id": "tiny", "object": "model", "max_model_len": 8192, "parent": None},
    {"id": "finance", "object": "model", "max_model_len": None, "parent": "tiny"},
    {"id": "whisper", "object": "model", "parent": None},
]


async def test_adapters_are_listed_and_answer_by_their_names(desk: Stand, model: Any) -> None:
    model.listed, model.says = LISTED, "Total net sales were $81,797 million in the quarter."

    async def names(web: httpx2.AsyncClient) -> list[str]:
        return [one["id"] for one in (await web.get("/v1/models")).json()["data"]]

    async with httpx2.AsyncClient(base_url=desk.url, trust_env=False, timeout=60) as web:
        async with asyncio.timeout(
            90
        ):  # the generator hears of a new list within seconds, the gateway in half a minute
            while "finance" not in await names(web):
                desk.gateway.generator._known_at = float("-inf")
                await asyncio.sleep(0.1)
        assert await names(web) == ["quelea", "tiny", "finance"]
        chat = {"messages": [{"role": "user", "content": QUESTION}]}
        for body, name in (({"model": "quelea", **chat}, "tiny"), ({"model": "finance", **chat}, "finance")):
            reply = await web.post("/v1/chat/completions", json=body)
            assert reply.status_code == 200, reply.text
            assert reply.json()["quelea"]["model"] == model.asked[-1] == name
        reply = await web.post("/v1/ask", json={"question": QUESTION, "model": "finance"})
        assert reply.json()["model"] == model.asked[-1] == "finance"
        seen = len(model.asked)
        reply = await web.post("/v1/chat/completions", json={"model": "whisper", **chat})
        assert reply.status_code == 404
        assert "quelea and tiny and finance" in reply.json()["error"]["message"]
        assert len(model.asked) == seen
