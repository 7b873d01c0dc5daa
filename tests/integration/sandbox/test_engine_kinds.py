"""Engines of other kinds, each started by this test beside the machine's: one that cannot enforce limits is refused."""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest
from quelea_kit.errors import Unavailable
from quelea_kit.testing import wait_until_async
from quelea_sandbox.adapters.backend import EngineError
from quelea_sandbox.adapters.docker import DockerBackend
from support.sandbox import docker_sandbox, docker_settings

SCRIPT = Path(__file__).resolve().parents[3] / "deploy/images/own_engine.sh"


@pytest.fixture
def rootless(engine: None, tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """The address of a rootless engine."""
    if os.geteuid() != 0 or not shutil.which("dockerd"):
        pytest.skip("NOT TESTED: a rootless engine needs root and dockerd on this machine")
    # Not in pytest's folder: the engine's user could not reach it, and a socket's path has 107 bytes.
    environment = {**os.environ, "QUELEA_OWN_ENGINES": "/var/lib/quelea-tests"}
    started = subprocess.run(
        [SCRIPT, "start", "rootless"], env=environment, capture_output=True, text=True, timeout=300, check=False
    )
    if started.returncode:
        pytest.skip(f"NOT TESTED: no rootless engine on this machine: {started.stderr[-500:]}")
    try:
        yield started.stdout.split("QUELEA_SANDBOX_DOCKER_HOST=")[1].splitlines()[0]
    finally:
        subprocess.run([SCRIPT, "stop", "rootless"], env=environment, timeout=120, check=False)


async def test_an_engine_that_cannot_enforce_limits_serves_nothing(rootless: str) -> None:
    settings = docker_settings(docker_host=rootless)
    backend = DockerBackend(settings)
    try:
        told = await backend.call("info")
        able = all(told.get(what) for what in ("MemoryLimit", "SwapLimit", "PidsLimit"))
    finally:
        await backend.close()
    if able:
        pytest.skip("NOT TESTED: this machine's rootless engine enforces limits (cgroup v2)")
    async with docker_sandbox(dead=True, docker_host=rootless, check_seconds=0.2) as client:
        await wait_until_async(lambda: "does not limit memory" in client.service.pool.down)
        with pytest.raises(Unavailable, match=r"does not limit memory.*cgroup v2"):
            await client.run("print(1)")
        with pytest.raises(Unavailable):
            await client.service.pool.ready()  # what health asks
        assert client.service.pool.counts.starting == client.service.pool.counts.ready == 0


async def test_a_runtime_that_the_engine_lacks_is_said(engine: None) -> None:
    backend = DockerBackend(docker_settings(runtime="nothing"))
    try:
        with pytest.raises(EngineError, match="no runtime nothing"):
            await backend.check()
    finally:
        await backend.close()
