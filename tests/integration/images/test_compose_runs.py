"""deploy/compose, run: a document goes in, is cited, a service is started again, code runs, and all of it goes."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import uuid
from collections.abc import Iterator
from pathlib import Path

import docker
import httpx2
import pytest
from mcp import Client
from mcp.client.streamable_http import streamable_http_client
from quelea_kit.testing import free_port, wait_until
from quelea_sandbox.adapters.docker_options import OWNER
from support.images import FILES, RUNNER, SOCKET
from support.sandbox import engine_must_be_there

FILE = Path(__file__).parents[3] / "deploy/compose/compose.yaml"
HELM_TEST = FILES / "helm_test.py"
STEP_SECONDS = 600
"""Longest wait for one command of Compose."""
READY_SECONDS = 600
"""Ten processes start at once."""
REACH = """
import socket, sys
try:
    socket.create_connection((sys.argv[1], int(sys.argv[2])), 3)
    print("reached")
except OSError:
    print("not reached")
"""
SERVICES = {
    "redis",
    "embedder",
    "retriever",
    "search",
    "worker",
    "beat",
    "generator",
    "gateway",
    "sandbox",
    "door",
}


def compose_command() -> list[str]:
    """`docker compose` or docker-compose, whichever is here; none: a skip that says so."""
    if shutil.which("docker-compose"):
        return ["docker-compose"]
    if subprocess.run(["docker", "compose", "version"], check=False, capture_output=True, timeout=60).returncode == 0:
        return ["docker", "compose"]
    assert not engine_must_be_there(), "there is no Compose: apt-get install docker-compose"
    pytest.skip("COMPOSE IS NOT RUN: there is none here (apt-get install docker-compose)")


class Project:
    """The file as a project of its own, with every profile but Qdrant's; `url` and `key` of its gateway."""

    def __init__(self, engine: docker.DockerClient) -> None:
        self.engine = engine
        self.name = f"quelea-compose-{uuid.uuid4().hex[:8]}"
        self.url = ""
        self.key = ""
        self._command = [*compose_command(), "-f", str(FILE)]
        listen = f"127.0.0.1:{free_port()}"
        self._environment = {
            **os.environ,
            "COMPOSE_PROJECT_NAME": self.name,
            "COMPOSE_PROFILES": "agent,fetch",
            "QUELEA_VERSION": "latest",
            "QUELEA_REDIS_IMAGE": "quelea-redis:latest",
            "QUELEA_LISTEN": listen,
            "QUELEA_SANDBOX": "sandbox:7405",
            "QUELEA_DOOR": "door:7406",
            "QUELEA_SEARCH_FILINGS_DOOR": "door:7406",
            "QUELEA_SEARCH_FILINGS_DOOR_DATA": "http://door:7409",
            "DOCKER_GID": str(Path(SOCKET).stat().st_gid),
        }
        self.url = f"http://{listen}"

    def do(self, *words: str) -> str:
        """What `docker compose WORDS` says; AssertionError with all of it when it fails."""
        done = subprocess.run(
            [*self._command, *words],
            env=self._environment,
            check=False,
            capture_output=True,
            text=True,
            timeout=STEP_SECONDS,
        )
        assert done.returncode == 0, f"{words}: {done.stdout[-3000:]}{done.stderr[-3000:]}\n{self.logs()}"
        return done.stdout

    def until_ready(self) -> None:
        """Until a question can be asked."""

        def ready() -> bool:
            try:
                return httpx2.get(f"{self.url}/readyz", timeout=20, trust_env=False).status_code == 200
            except httpx2.TransportError:
                return False

        try:
            wait_until(ready, seconds=READY_SECONDS, every=0.5, what="the gateway is ready")
        except AssertionError as error:
            raise AssertionError(f"{error}\n{self.logs()}") from None

    def containers(self) -> dict[str, docker.models.containers.Container]:
        """Those of the project, by service."""
        label = "com.docker.compose"
        found = self.engine.containers.list(all=True, filters={"label": f"{label}.project={self.name}"})
        return {one.labels[f"{label}.service"]: one for one in found}

    def health(self) -> dict[str, str]:
        """What each service's health check said last; `prepare`, which ends, has none."""
        return {
            name: one.attrs["State"].get("Health", {}).get("Status", "")
            for name, one in self.containers().items()
            if name != "prepare"
        }

    def until_healthy(self, *services: str) -> None:
        """Until the health checks of these say so."""
        for name in services:
            wait_until(
                lambda name=name: self.health()[name] == "healthy",
                seconds=READY_SECONDS,
                every=0.5,
                what=f"{name} says that it is well",
            )

    def tried(self, step: str, times: int = 3) -> str:
        """What a step of the chart's own test says; it fails unless the citation's quote has the figure.

        A first answer may take longer than its deadline on a busy machine: it is asked for again.
        """
        done = subprocess.run(
            [sys.executable, str(HELM_TEST), step],
            env={**os.environ, "QUELEA_URL": self.url, "QUELEA_KEY": self.key},
            check=False,
            capture_output=True,
            text=True,
            timeout=STEP_SECONDS,
        )
        if times > 1 and "DEADLINE_EXCEEDED" in done.stderr:
            return self.tried(step, times - 1)
        assert done.returncode == 0, f"{done.stdout}{done.stderr}\n{self.logs()}"
        return done.stdout

    def logs(self) -> str:
        """The end of every container's log."""
        return "\n".join(f"== {name}\n{one.logs(tail=8).decode()}" for name, one in self.containers().items())

    def left(self) -> list[str]:
        """Containers, also those of runs, volumes and networks that are still there."""
        of_project = {"label": f"com.docker.compose.project={self.name}"}
        return [
            *(one.name for one in self.engine.containers.list(all=True, filters=of_project)),
            *(one.name for one in self.engine.containers.list(all=True, filters={"label": f"{OWNER}={self.name}"})),
            *(one.name for one in self.engine.volumes.list(filters=of_project)),
            *(one.name for one in self.engine.networks.list(filters=of_project)),
        ]


@pytest.fixture(scope="module")
def project(engine: docker.DockerClient) -> Iterator[Project]:
    """Started, with a key made as the README says; everything is removed at the end."""
    one = Project(engine)
    try:
        one.do("up", "-d", "--no-build")
        one.until_ready()
        make_key = ("python", "-m", "quelea_gateway.keys", "create", "desk", "--file", "/data/keys.json")
        one.key = one.do("exec", "-T", "gateway", *make_key, "--audit", "/data/audit").split()[-1]
        yield one
    finally:
        one.do("down", "-v", "--timeout", "20")


@pytest.mark.slow(reason="ten containers start, and unpack the encoder before")
def test_a_document_goes_in_and_is_cited_after_a_restart(project: Project) -> None:
    assert httpx2.get(f"{project.url}/v1/documents", trust_env=False).status_code == 401
    page = httpx2.get(project.url, trust_env=False)
    assert page.status_code == 200
    assert "<title>Quelea" in page.text
    project.tried("ingest")
    project.do("restart", "-t", "20", "retriever", "gateway")
    project.until_ready()
    project.tried("ask")


async def test_code_runs_in_a_container_that_the_sandbox_makes(project: Project) -> None:
    try:
        project.engine.images.get(RUNNER)
    except docker.errors.ImageNotFound:
        pytest.skip(f"COMPOSE RUNS NO CODE: there is no {RUNNER} (make runner-image)")
    project.until_healthy("sandbox")
    headers = {"Authorization": f"Bearer {project.key}"}
    async with (
        httpx2.AsyncClient(trust_env=False, timeout=120, headers=headers) as web,
        Client(streamable_http_client(f"{project.url}/mcp", http_client=web)) as client,
    ):
        ran = await client.call_tool("execute_python", {"code": "import pandas as pd\nprint(pd.Series([40, 2]).sum())"})
    assert ran.structured_content["stdout"] == "42\n", ran


@pytest.mark.parametrize(
    ("caller", "host", "port"),
    [
        ("gateway", "embedder", 7401),
        ("search", "sandbox", 7405),
        ("gateway", "192.0.2.1", 80),
        ("door", "192.0.2.1", 80),
    ],
)
def test_nobody_reaches_what_is_not_his(project: Project, caller: str, host: str, port: int) -> None:
    assert project.do("exec", "-T", caller, "python", "-c", REACH, host, str(port)).strip() == "not reached"


def test_every_service_says_that_it_is_well_and_none_was_restarted(project: Project) -> None:
    assert set(project.health()) == SERVICES
    project.until_healthy(*SERVICES)
    assert {name: one.attrs["RestartCount"] for name, one in project.containers().items() if name != "prepare"} == (
        dict.fromkeys(SERVICES, 0)
    )
    assert project.containers()["prepare"].attrs["State"]["ExitCode"] == 0


def test_down_leaves_nothing(project: Project) -> None:
    assert project.left()
    project.do("down", "-v", "--timeout", "40")
    assert project.left() == []
