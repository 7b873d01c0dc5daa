"""A service over the fake backend; and, for what must hold everywhere, over pods of the fake cluster too."""

from collections.abc import AsyncIterator

import pytest
from quelea_sandbox.adapters.fake import FakeBackend
from support.sandbox import SandboxClient, fast_settings, no_engine, pod_sandbox, sandbox


@pytest.fixture
async def backend() -> FakeBackend:
    return FakeBackend()


@pytest.fixture
async def client(backend: FakeBackend) -> AsyncIterator[SandboxClient]:
    async with sandbox(backend, fast_settings()) as one:
        await one.until_ready()
        yield one
    assert not backend.alive


@pytest.fixture(params=["fake", "kubernetes"])
async def any_client(request: pytest.FixtureRequest) -> AsyncIterator[SandboxClient]:
    """On both: a subprocess, and a pod that is a real container."""
    if request.param == "fake":
        async with sandbox(FakeBackend(), fast_settings()) as one:
            await one.until_ready()
            yield one
    elif why := no_engine():
        pytest.skip(f"NOT TESTED ON PODS: {why}")
    else:
        async with pod_sandbox(preload="", check_seconds=0.2, drain_seconds=0.2) as one:
            yield one
