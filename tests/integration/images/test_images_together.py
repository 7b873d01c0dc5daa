"""The images as on a cluster: one network, nobody root, nothing written but /tmp and volumes.

In this order, as a release lives: a document goes in and is cited, probes tell the truth, everything leaves in time.
"""

from __future__ import annotations

import os
import subprocess
import sys
import time
from pathlib import Path

import docker
import httpx2
import pytest
from support.images import DRAIN_SECONDS, LOCKED, LOCKED_TMP, World

HELM_TEST = Path(__file__).parents[3] / "deploy" / "helm" / "quelea" / "files" / "helm_test.py"
GRACE_SECONDS = 15  # what the chart gives beyond the drain time
REACH = """
import socket
try:
    socket.create_connection(("192.0.2.1", 80), 3)
except OSError:
    print("no way out")
"""
LEAVING = ("gateway", "generator", "worker", "search", "retriever", "embedder", "redis")


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


@pytest.mark.parametrize("ask", ["ready", "live"])
def test_the_workers_probe_finds_its_sign_of_life(world: World, ask: str) -> None:
    code, output = world.containers["worker"].exec_run(["python", "/etc/quelea/scripts/worker_alive.py", ask])
    assert code == 0, output.decode()


def test_nothing_is_reached_without_a_key_nor_the_world_from_inside(world: World) -> None:
    assert httpx2.get(f"{world.url}/v1/documents").status_code == 401
    code, output = world.containers["search"].exec_run(["python", "-c", REACH])
    assert (code, output.strip()) == (0, b"no way out")


@pytest.mark.parametrize("role", LEAVING)
def test_sigterm_ends_it_within_its_drain_time_with_success(world: World, role: str) -> None:
    container = world.containers[role]
    container.reload()
    assert container.status == "running", container.logs(tail=30).decode()
    assert container.attrs["RestartCount"] == 0
    began = time.monotonic()
    container.kill("SIGTERM")
    ended = container.wait(timeout=DRAIN_SECONDS + GRACE_SECONDS)
    print(f"{role} left after {time.monotonic() - began:.1f} s")
    assert ended["StatusCode"] == 0, container.logs(tail=30).decode()


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
        end = time.monotonic() + 60
        while f'"event": "{event}"' not in (log := container.logs().decode()):
            assert time.monotonic() < end, log
            time.sleep(0.2)
        container.kill("SIGTERM")
        assert container.wait(timeout=DRAIN_SECONDS + GRACE_SECONDS)["StatusCode"] == 0, container.logs().decode()
    finally:
        container.remove(force=True)
