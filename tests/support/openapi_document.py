"""Writes the gateway's OpenAPI document into a file, asked of a gateway on fake services (`make client-schemas`)."""

from __future__ import annotations

import asyncio
import sys
from pathlib import Path

import httpx2
from quelea_gateway.testing import standing


async def document() -> bytes:
    """As /openapi.json has it."""
    async with standing() as stand, httpx2.AsyncClient(trust_env=False, timeout=120) as web:
        return (await web.get(f"{stand.url}/openapi.json")).raise_for_status().content


if __name__ == "__main__":
    Path(sys.argv[1]).write_bytes(asyncio.run(document()))
