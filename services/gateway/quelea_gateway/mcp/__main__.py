"""An MCP server over stdio that talks to a gateway: `python -m quelea_gateway.mcp --url http://127.0.0.1:8080`."""

from __future__ import annotations

import argparse
import asyncio
import logging
import os
import sys
from urllib.parse import urlsplit

import httpx2
from mcp import Client
from mcp.client.streamable_http import streamable_http_client

from quelea_gateway.access import is_loopback_name
from quelea_gateway.mcp.actions import RemoteActions
from quelea_gateway.mcp.asgi import PATH
from quelea_gateway.mcp.server import build_server

_SECONDS = 660.0
"""Longest wait for one answer; the gateway's own deadlines are shorter."""


async def serve(url: str, api_key: str) -> None:
    """Until standard input ends."""
    headers = {"Authorization": f"Bearer {api_key}"} if api_key else {}
    local = is_loopback_name(urlsplit(url).hostname or "")
    timeout = httpx2.Timeout(_SECONDS, connect=10)
    # A proxy of the environment is for the world outside, not for a gateway on this machine.
    async with httpx2.AsyncClient(headers=headers, timeout=timeout, trust_env=not local) as http:
        transport = streamable_http_client(f"{url.rstrip('/')}{PATH}", http_client=http)
        async with Client(transport, read_timeout_seconds=_SECONDS) as client:
            await build_server(RemoteActions(client)).run_stdio_async()


def main() -> int:
    """Serve; exit code 1 when there is no gateway under the address."""
    parser = argparse.ArgumentParser(prog="python -m quelea_gateway.mcp", description=__doc__)
    parser.add_argument("--url", default=os.environ.get("QUELEA_URL", "http://127.0.0.1:8080"), help="the gateway")
    asked = parser.parse_args()
    logging.basicConfig(level=logging.WARNING, stream=sys.stderr)
    try:
        asyncio.run(serve(asked.url, os.environ.get("QUELEA_API_KEY", "")))
    except KeyboardInterrupt:
        return 0
    except Exception as error:  # noqa: BLE001  # whatever it was, the program that started this one reads one line
        sys.stderr.write(f"quelea mcp: cannot reach a gateway at {asked.url} ({_first(error)}).\n")
        return 1
    return 0


def _first(error: BaseException) -> str:
    while isinstance(error, BaseExceptionGroup) and error.exceptions:
        error = error.exceptions[0]
    return f"{type(error).__name__}: {error}".removesuffix(": ")


if __name__ == "__main__":
    sys.exit(main())
