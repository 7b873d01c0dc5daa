"""A real gateway (HTTP and gRPC) on fake services, one for each test."""

import httpx2
import pytest
from quelea_gateway.testing import standing


@pytest.fixture
async def stand():
    async with standing() as running:
        yield running


@pytest.fixture
async def web(stand):
    async with httpx2.AsyncClient(base_url=stand.url, trust_env=False, timeout=60) as client:
        yield client
