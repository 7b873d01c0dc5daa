"""A real engine, or a skip that says what is missing."""

from collections.abc import AsyncIterator

import pytest
from support.fake_cluster import FakeCluster
from support.sandbox import SandboxClient, docker_sandbox, no_engine, pod_sandbox


@pytest.fixture(scope="session")
def engine() -> None:
    """Skips, loudly, where there is no engine with the runner image."""
    if why := no_engine():
        pytest.skip(f"NOT TESTED ON A REAL ENGINE: {why}")


@pytest.fixture
async def client(engine: None) -> AsyncIterator[SandboxClient]:
    """A service on the machine's engine; its containers load nothing, so that they start fast."""
    async with docker_sandbox(preload="") as one:
        yield one


@pytest.fixture
async def cluster(engine: None) -> AsyncIterator[FakeCluster]:
    """A fake API server whose pods are containers of the machine's engine."""
    one = FakeCluster()
    await one.start()
    try:
        yield one
    finally:
        await one.close()


@pytest.fixture
async def client_on_pods(cluster: FakeCluster) -> AsyncIterator[SandboxClient]:
    """A service whose containers are pods."""
    async with pod_sandbox(cluster, preload="") as one:
        yield one


@pytest.fixture(params=["docker", "kubernetes"])
async def any_client(request: pytest.FixtureRequest, engine: None) -> AsyncIterator[SandboxClient]:
    """On both."""
    async with docker_sandbox(preload="") if request.param == "docker" else pod_sandbox(preload="") as one:
        yield one
