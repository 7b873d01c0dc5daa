"""A real engine, or a skip that says what is missing."""

from collections.abc import AsyncIterator

import pytest
from support.sandbox import SandboxClient, docker_sandbox, no_engine


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
