"""A real gateway (HTTP and gRPC) on fake services, one for each test."""

import ssl

import httpx2
import pytest
from quelea_gateway.testing import standing


@pytest.fixture
async def stand():
    async with standing() as running:
        yield running


_NO_TLS = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
"""Else every client reads all certificates of the machine (0.03 s), to speak plain HTTP."""


@pytest.fixture
async def web(stand):
    async with httpx2.AsyncClient(base_url=stand.url, trust_env=False, timeout=60, verify=_NO_TLS) as client:
        yield client
