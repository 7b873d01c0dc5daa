"""A gateway with an agent on fake services, one for each test."""

import pytest
from support.agent_runs import client
from support.agent_stand import agent_standing


@pytest.fixture
async def parts():
    async with agent_standing() as found:
        yield found


@pytest.fixture
async def web(parts):
    async with client(parts) as found:
        yield found
