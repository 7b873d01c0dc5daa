"""Many runs of the agent at once on four real containers, and an engine that is killed under them."""

from __future__ import annotations

import asyncio
import contextlib
import os
from collections import Counter
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import httpx2
import pytest
from quelea.generator.v1 import generator_pb2_grpc
from quelea_gateway.testing import standing
from quelea_generator.__main__ import build
from quelea_generator.service import NAME as GENERATOR
from quelea_generator.settings import GeneratorSettings
from quelea_kit.testing import running, wait_until_async
from support.counting_model import counting_model, question
from support.own_engine import containers, own_engine_with_image
from support.sandbox import SandboxClient, docker_sandbox, engine_api
from support.scripted_model import NAME

LINES = httpx2.Limits(max_connections=16)
"""Calls at once, of which the gateway allows a key 64; the runs that they start go on by themselves."""
ENDED = ("finished", "failed", "cancelled", "interrupted")


@contextlib.asynccontextmanager
async def stand(
    folder: Path, *, running_at_once: int, before: str = "", **sandbox: object
) -> AsyncIterator[tuple[str, SandboxClient]]:
    """A gateway, and a sandbox with a few places; everything but the model is real."""
    with counting_model(folder, before=before) as endpoint:
        generator = build(GeneratorSettings(endpoint=endpoint, model=NAME))
        async with (
            running(
                lambda server: generator_pb2_grpc.add_GeneratorServiceServicer_to_server(generator, server),
                [GENERATOR],
            ) as generator_at,
            docker_sandbox(preload="", **sandbox) as client,
            standing(
                generator=generator_at,
                sandbox=client.target,
                runs_url=str(folder / "runs"),
                agent_running=running_at_once,
                agent_running_per_key=running_at_once,
            ) as gateway,
        ):
            yield gateway.url, client


async def ask(web: httpx2.AsyncClient, number: int) -> str:
    """Start a run; its id. Asks again while a part that a hundred ask at once is said not to answer in time."""
    async with asyncio.timeout(300):
        while True:
            reply = await web.post("/v1/agent/runs", json={"question": question(number)})
            if reply.status_code != 503:
                break
            await asyncio.sleep(2)
    assert reply.status_code == 202, reply.text
    return str(reply.json()["id"])


async def ended(web: httpx2.AsyncClient, run_id: str, *, seconds: float) -> dict[str, Any]:
    """A run once it has ended."""
    async with asyncio.timeout(seconds):
        while True:
            run: dict[str, Any] = (await web.get(f"/v1/agent/runs/{run_id}")).json()
            if run["state"] in ENDED:
                return run
            await asyncio.sleep(3)


async def watch(owner: str, most: list[int]) -> None:
    """The number of containers, again and again, as the engine counts them."""
    api = engine_api()
    try:
        while True:
            told = {"label": f"quelea.sandbox.owner={owner}"}
            most.append(len(await asyncio.to_thread(api.containers, all=True, filters=told)))
            await asyncio.sleep(0.2)
    finally:
        api.close()


@pytest.mark.parametrize(
    ("count", "running_at_once"),
    [(30, 4), (100, 100)],
    ids=["queued in the gateway", "all at the sandbox"],
)
@pytest.mark.slow(reason="up to a hundred runs of code on four containers")
async def test_many_runs_at_once_on_four_containers(
    engine: None, tmp_path: Path, count: int, running_at_once: int
) -> None:
    owner, most = f"many-{os.getpid()}-{running_at_once}", [0]
    numbers = range(1001, 1001 + count)
    places = {"max_containers": 4, "max_warm": 3, "max_sessions_per_tenant": 3}
    async with stand(tmp_path, running_at_once=running_at_once, owner=owner, **places) as (url, _):
        looking = asyncio.create_task(watch(owner, most))
        async with httpx2.AsyncClient(base_url=url, trust_env=False, timeout=60, limits=LINES) as web:
            ids = await asyncio.gather(*(ask(web, number) for number in numbers))
            runs = await asyncio.gather(*(ended(web, one, seconds=600) for one in ids))
        assert not looking.done(), "the engine was watched to the end"
        looking.cancel()
    assert Counter(run["state"] for run in runs) == {"finished": count}
    assert len(set(ids)) == count
    for number, run in zip(numbers, runs, strict=True):
        # Its own figure from its own container, or the word that there is none; never another's.
        answer = run["answer"]
        assert answer["text"]
        if answer["complete"]:
            assert str(number * number) in answer["text"].replace(",", "")
            assert answer["grounded"]
        else:
            assert answer["missing"] or answer["notices"], answer
    assert 1 < max(most) <= 4
    api = engine_api()
    assert api.containers(all=True, filters={"label": f"quelea.sandbox.owner={owner}"}) == []
    api.close()
    complete = sum(run["answer"]["complete"] for run in runs)
    # All at the sandbox at once, a run's own time may be over before its turn comes: then it says so.
    assert complete == count if running_at_once == 4 else complete > 0, runs[-1]["answer"]


@pytest.mark.slow(reason="an engine of its own is started, killed and started again")
async def test_an_engine_killed_under_runs_of_the_agent(engine: None, tmp_path: Path) -> None:
    numbers = range(2001, 2013)
    with own_engine_with_image() as own:
        places = {"docker_host": own.address, "max_containers": 4, "engine_seconds": 10, "check_seconds": 0.5}
        # Long enough for the engine to die under it, short enough to end when it is tried again.
        async with (
            stand(tmp_path, running_at_once=6, before="import time\ntime.sleep(8)\n", **places) as (url, client),
            httpx2.AsyncClient(base_url=url, trust_env=False, timeout=60, limits=LINES) as web,
        ):
            ids = await asyncio.gather(*(ask(web, number) for number in numbers))
            await wait_until_async(lambda: client.service.pool.counts.running >= 1, seconds=180)
            await asyncio.to_thread(own.kill)
            await wait_until_async(lambda: bool(client.service.pool.down))
            await asyncio.to_thread(own.start)
            runs = await asyncio.gather(*(ended(web, one, seconds=420) for one in ids))
            assert Counter(run["state"] for run in runs) == {"finished": len(numbers)}
            for number, run in zip(numbers, runs, strict=True):
                answer = run["answer"]
                if answer["complete"]:
                    assert str(number * number) in answer["text"].replace(",", "")
                else:
                    assert answer["missing"] or answer["notices"], answer
            await client.until_ready()
            (again,) = [await ended(web, await ask(web, 3001), seconds=200)]
            assert again["answer"]["complete"], again["answer"]
        assert containers(own) == 0
