"""A gateway that is killed with a run under way: the run is interrupted, and everything until then is there."""

import asyncio
import contextlib
import json
import os
import sys
from pathlib import Path

import httpx2
from quelea.generator.v1 import generator_pb2_grpc
from quelea_gateway.adapters.services.fake_door import FakeMarket
from quelea_gateway.adapters.services.fake_sandbox import FakeSandbox
from quelea_gateway.adapters.services.fake_services import FakeServices
from quelea_gateway.adapters.services.fake_world import World
from quelea_generator.__main__ import build
from quelea_generator.service import NAME as GENERATOR
from quelea_generator.settings import GeneratorSettings
from quelea_kit.testing import free_port, running
from support.agent_stand import served
from support.scripted_model import NAME, scripted_model

DECISIONS = Path(__file__).parents[3] / "samples/agent/nvidia_two_weeks.json"
SECONDS = 90


@contextlib.asynccontextmanager
async def gateway(addresses, folder):
    port = free_port()
    given = {
        **addresses, "auth": "off", "http_listen": f"127.0.0.1:{port}", "runs_url": folder, "agent_beat_seconds": "0.2",
        "drain_seconds": "2",
    }  # fmt: skip
    environment = {**os.environ, **{f"QUELEA_GATEWAY_{name.upper()}": str(value) for name, value in given.items()}}
    process = await asyncio.create_subprocess_exec(
        sys.executable, "-m", "quelea_gateway", env=environment,
        stdout=asyncio.subprocess.DEVNULL, stderr=asyncio.subprocess.DEVNULL,
    )  # fmt: skip
    try:
        async with httpx2.AsyncClient(base_url=f"http://127.0.0.1:{port}", trust_env=False, timeout=60) as web:
            async with asyncio.timeout(SECONDS):
                while True:
                    with contextlib.suppress(httpx2.TransportError):
                        await web.get("/healthz")
                        break
                    assert process.returncode is None
                    await asyncio.sleep(0.1)
            yield process, web
    finally:
        if process.returncode is None:
            process.kill()
        await process.wait()


async def test_a_killed_gateway_leaves_an_interrupted_run(tmp_path):
    services, fake = FakeServices(World.with_samples()), FakeSandbox(FakeMarket())
    fake.hangs = True
    await services.start()
    servers = await served(fake, fake.market)
    with scripted_model(DECISIONS) as (endpoint, _):
        generator = build(GeneratorSettings(endpoint=endpoint, model=NAME))
        async with running(
            lambda server: generator_pb2_grpc.add_GeneratorServiceServicer_to_server(generator, server), [GENERATOR]
        ) as generator_at:
            addresses = {
                **services.addresses, "generator": generator_at, "sandbox": f"127.0.0.1:{servers['sandbox'].port}",
                "market": f"127.0.0.1:{servers['market'].port}",
            }  # fmt: skip
            async with gateway(addresses, str(tmp_path / "runs")) as (process, web):
                reply = await web.post("/v1/agent/runs", json={"question": "What is the trend?"})
                assert reply.status_code == 202, reply.text
                run_id = reply.json()["id"]
                async with asyncio.timeout(SECONDS):
                    while not fake.ran:  # noqa: ASYNC110  # the fake has no event
                        await asyncio.sleep(0.05)
                process.kill()
                await process.wait()
            async with gateway(addresses, str(tmp_path / "runs")) as (_, web):
                async with asyncio.timeout(SECONDS):
                    while (run := (await web.get(f"/v1/agent/runs/{run_id}")).json())["state"] != "interrupted":
                        assert run["state"] == "running"
                        await asyncio.sleep(0.1)
                text = (await web.get(f"/v1/agent/runs/{run_id}/events")).text
                names = [line.removeprefix("event: ") for line in text.splitlines() if line.startswith("event: ")]
                assert names[:3] == ["state", "state", "plan"]
                assert names[-1] == "code"
                book = (await web.get(f"/v1/agent/runs/{run_id}/notebook")).text
                assert any(cell["cell_type"] == "code" for cell in json.loads(book)["cells"])
                assert (
                    (await web.get("/v1/agent/runs")).json()["runs"][0]["usage"]["steps"] == run["usage"]["steps"] > 0
                )
    for one in servers.values():
        await one.stop()
    await services.close()
