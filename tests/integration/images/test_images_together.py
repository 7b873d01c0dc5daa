"""The images as on a cluster: one network, nobody root, nothing written but /tmp and volumes.

In this order, as a release lives: a document goes in and is cited over REST and gRPC, code is run, probes tell the
truth, everything leaves in time.
"""

from __future__ import annotations

import asyncio
import os
import subprocess
import sys
import time

import docker
import httpx2
import pytest
from docker.errors import ImageNotFound
from quelea.gateway.v1 import gateway_pb2, gateway_pb2_grpc
from quelea.sandbox.v1 import sandbox_pb2_grpc
from quelea_kit.client import channel, stream
from quelea_sandbox.service import NAME as SANDBOX
from support.images import DRAIN_SECONDS, FILES, LOCKED, LOCKED_TMP, RUNNER, World
from support.sandbox import SandboxClient, until_serving

GATEWAY = "quelea.gateway.v1.GatewayService"
HELM_TEST = FILES / "helm_test.py"
QUESTION = "What was Acrux Mills' net income in fiscal year 2032?"
FIGURE = "918"
DOCUMENT = f"""Acrux Mills annual report 2032

For fiscal year 2032 Acrux Mills reported net income of {FIGURE} million dollars, compared with 877 million dollars in
fiscal year 2031. Revenue for fiscal year 2032 was 6,204 million dollars.
"""
PLOT = """
import pandas as pd, matplotlib.pyplot as plt
frame = pd.DataFrame({"year": [2030, 2031, 2032], "income": [801, 877, 918]})
frame.plot(x="year", y="income")
print(frame.income.sum())
"""
GRACE_SECONDS = 15  # what the chart gives beyond the drain time
REACH = """
import socket
try:
    socket.create_connection(("192.0.2.1", 80), 3)
except OSError:
    print("no way out")
"""
LEAVING = ("gateway", "sandbox", "generator", "worker", "search", "retriever", "embedder", "redis")


@pytest.mark.parametrize("step", ["ingest", "ask"])
def test_a_document_goes_in_and_an_answer_cites_it(world: World, step: str) -> None:
    # The same script that `helm test` runs: it fails unless the citation's quote has the figure.
    done = subprocess.run(
        [sys.executable, str(HELM_TEST), step],
        env={**os.environ, "QUELEA_URL": world.url, "QUELEA_KEY": world.key},
        check=False,
        capture_output=True,
        text=True,
        timeout=300,
    )
    assert done.returncode == 0, f"{done.stdout}{done.stderr}\n{world.logs()}"
    print(done.stdout)


async def test_a_question_over_grpc_is_answered_and_its_citation_opens(world: World) -> None:
    caller = httpx2.Client(base_url=world.url, headers={"Authorization": f"Bearer {world.key}"}, timeout=60)
    taken = caller.post("/v1/documents", files={"files": ("acrux.txt", DOCUMENT.encode(), "text/plain")}).json()
    end, state = time.monotonic() + 300, ""
    while state != "succeeded":
        assert time.monotonic() < end, f"{state}\n{world.logs()}"
        state = caller.get(f"/v1/jobs/{taken['jobs'][0]['id']}").json()["state"]
        await asyncio.sleep(0.5)
    async with channel(f"{world.address('gateway')}:7400", GATEWAY) as there:
        asked = gateway_pb2_grpc.GatewayServiceStub(there).Ask(
            gateway_pb2.AskRequest(question=QUESTION, route="local"),
            metadata=[("authorization", f"Bearer {world.key}")],
            timeout=60,
        )
        events = [event async for event in stream(asked)]
    assert events[0].HasField("started")
    answer = events[-1].answer
    assert FIGURE in answer.answer, answer
    cited = next(one for one in answer.citations if FIGURE in one.quote)
    # It opens: the page of the document it names has the quote where it says.
    page = caller.get(f"/v1/documents/{cited.document_id}/pages/{cited.page}").raise_for_status().json()["text"]
    assert page[cited.start : cited.end] == cited.quote
    caller.close()


async def test_code_runs_through_the_sandboxes_grpc_door(world: World, engine: docker.DockerClient) -> None:
    try:
        engine.images.get(RUNNER)
    except ImageNotFound:
        pytest.skip(f"THE SANDBOX IMAGE RUNS NO CODE: there is no {RUNNER} (make runner-image)")
    target = world.start_sandbox()
    await until_serving(target)
    async with channel(target, SANDBOX) as there:
        stub = sandbox_pb2_grpc.SandboxServiceStub(there)
        caller = SandboxClient(stub, target, service=None)
        printed = await caller.run("print(1)")
        assert (printed.reason, printed.text) == ("OK", "1\n"), printed.finished.error
        plotted = await caller.run(PLOT)
    assert (plotted.reason, plotted.text) == ("OK", "2596\n"), plotted.finished.error
    (figure,) = plotted.files.values()
    assert figure.data.startswith(b"\x89PNG")
    assert len(figure.data) > 5000
    for one in world.runs():
        assert one.attrs["HostConfig"]["NetworkMode"] == "none"


@pytest.mark.parametrize("ask", ["ready", "live"])
def test_the_workers_probe_finds_its_sign_of_life(world: World, ask: str) -> None:
    code, output = world.containers["worker"].exec_run(["python", "/etc/quelea/scripts/worker_alive.py", ask])
    assert code == 0, output.decode()


def test_nothing_is_reached_without_a_key_nor_the_world_from_inside(world: World) -> None:
    assert httpx2.get(f"{world.url}/v1/documents").status_code == 401
    code, output = world.containers["search"].exec_run(["python", "-c", REACH])
    assert (code, output.strip()) == (0, b"no way out")


def test_redis_answers_its_probe_and_nobody_without_the_password(world: World) -> None:
    redis = world.containers["redis"]
    code, output = redis.exec_run(["redis-cli", "-e", "ping"])
    assert (code, output.strip()) == (0, b"PONG")
    code, output = redis.exec_run(["redis-cli", "-e", "ping"], environment={"REDISCLI_AUTH": ""})
    assert code != 0, output


@pytest.mark.parametrize("role", LEAVING)
def test_sigterm_ends_it_within_its_drain_time_with_success(world: World, role: str) -> None:
    if role == "sandbox" and role not in world.containers:
        pytest.skip(f"THE SANDBOX IMAGE RUNS NO CODE: there is no {RUNNER} (make runner-image)")
    container = world.containers[role]
    container.reload()
    assert container.status == "running", container.logs(tail=30).decode()
    assert container.attrs["RestartCount"] == 0
    began = time.monotonic()
    container.kill("SIGTERM")
    ended = container.wait(timeout=DRAIN_SECONDS + GRACE_SECONDS)
    print(f"{role} left after {time.monotonic() - began:.1f} s")
    assert ended["StatusCode"] == 0, container.logs(tail=30).decode()
    assert role != "sandbox" or world.runs() == [], "it leaves no container behind"


@pytest.mark.parametrize(
    ("image", "module", "event"),
    [
        ("sandbox", "quelea_sandbox", "listening"),  # alive and not ready: there is no engine for its containers
        ("search", "quelea_search.door", "serving"),
        ("search", "quelea_search.beat", "beat_starts"),
    ],
)
def test_the_processes_that_are_off_by_default_start_and_leave_too(
    engine: docker.DockerClient, image: str, module: str, event: str
) -> None:
    options = {**LOCKED, "tmpfs": {LOCKED_TMP: "", "/data": "uid=65532"}}
    container = engine.containers.run(
        f"quelea-{image}:latest", ["python", "-m", module], detach=True, network_mode="none", **options
    )
    try:
        end = time.monotonic() + 300
        while f'"event": "{event}"' not in (log := container.logs().decode()):
            assert time.monotonic() < end, log
            time.sleep(0.2)
        container.kill("SIGTERM")
        assert container.wait(timeout=DRAIN_SECONDS + GRACE_SECONDS)["StatusCode"] == 0, container.logs().decode()
    finally:
        container.remove(force=True)
