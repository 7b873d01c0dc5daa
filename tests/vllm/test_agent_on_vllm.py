"""The agent on a real tiny model, which has no wit for this: every run must still end with an answer, in its bounds."""

import asyncio
import contextlib
import dataclasses
import os

import httpx2
import pytest
from quelea.generator.v1 import generator_pb2_grpc
from quelea_gateway.adapters.services.fake_door import FakeMarket
from quelea_gateway.adapters.services.fake_sandbox import FakeSandbox
from quelea_gateway.adapters.services.fake_tools import FakeTools
from quelea_gateway.testing import standing
from quelea_generator.__main__ import build
from quelea_generator.service import NAME as GENERATOR
from quelea_generator.settings import GeneratorSettings
from quelea_kit.testing import running
from support.agent_stand import served

pytestmark = pytest.mark.slow(reason="a language model writes, on the CPU")

MODEL = "smollm2-135m-instruct"
RUNS = int(os.environ.get("QUELEA_AGENT_RUNS", "2"))
QUESTIONS = ("What is NVIDIA's stock price trend over the last two weeks?", "平安银行 2023 年 10 月的股价走势如何？")


async def test_runs_on_a_tiny_model_end_cleanly(engine, tmp_path):
    market = FakeMarket()
    servers = await served(FakeSandbox(market), market)
    generator = build(GeneratorSettings(endpoint=f"{engine.url}/v1", model=MODEL))
    try:
        async with (
            running(
                lambda server: generator_pb2_grpc.add_GeneratorServiceServicer_to_server(generator, server), [GENERATOR]
            ) as generator_at,
            standing(
                generator=generator_at,
                sandbox=f"127.0.0.1:{servers['sandbox'].port}",
                market=f"127.0.0.1:{servers['market'].port}",
                runs_url=str(tmp_path / "runs"),
                agent_output_tokens=192,  # a tiny model's answers have no end: each is cut here, or at its 512
            ) as stand,
            httpx2.AsyncClient(base_url=stand.url, trust_env=False, timeout=600) as web,
        ):
            manager = stand.gateway.analyst.runs()
            manager.ports = dataclasses.replace(manager.ports, tools=FakeTools())

            async def one(number):
                body = {
                    "question": QUESTIONS[number % 2], "limits": {"steps": 4, "seconds": 150, "tokens": 30_000}
                }  # fmt: skip
                started = await web.post("/v1/agent/runs", json=body)
                assert started.status_code == 202, started.text
                path = f"/v1/agent/runs/{started.json()['id']}"
                await web.get(f"{path}/events")
                return (await web.get(path)).json()

            for run in await asyncio.gather(*(one(number) for number in range(RUNS))):
                assert run["state"] == "finished", run["error"]
                assert run["answer"]["text"].strip()
                assert run["answer"]["grounded"]
                assert run["usage"]["steps"] <= 4
                with contextlib.suppress(OSError):
                    print(run["usage"], run["answer"]["text"][:200])
    finally:
        for server in servers.values():
            await server.stop()
