"""Whether a process can do its work: asked of the process itself, never guessed from its age."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable

import httpx2

Probe = Callable[[], Awaitable[bool]]
"""True when the process is ready; False or an exception when it is not yet."""


LIVE = "live"
"""Name at the health service that is SERVING while the process's loop turns, whatever its dependencies do."""


def grpc_probe(address: str, name: str = "") -> Probe:
    """Ready when grpc.health.v1 says SERVING of the name."""
    import grpc  # noqa: PLC0415  # a third of a second that `quelea ask` need not wait for
    from grpc_health.v1 import health_pb2, health_pb2_grpc  # noqa: PLC0415  # as above

    async def ask() -> bool:
        async with grpc.aio.insecure_channel(address, options=[("grpc.enable_http_proxy", 0)]) as channel:
            stub = health_pb2_grpc.HealthStub(channel)
            answer = await stub.Check(health_pb2.HealthCheckRequest(service=name), timeout=2)
            return bool(answer.status == health_pb2.HealthCheckResponse.SERVING)

    return ask


def http_probe(url: str) -> Probe:
    """Ready when a GET answers 200."""

    async def ask() -> bool:
        async with httpx2.AsyncClient(trust_env=False, timeout=5) as client:
            return (await client.get(url)).status_code == 200

    return ask


def redis_probe(port: int, password: str) -> Probe:
    """Ready when Redis answers PING, which it does not while it loads its data."""

    async def ask() -> bool:
        async with asyncio.timeout(2):
            reader, writer = await asyncio.open_connection("127.0.0.1", port)
            try:
                writer.write(f"AUTH {password}\r\nPING\r\n".encode())
                await writer.drain()
                return [await reader.readline(), await reader.readline()] == [b"+OK\r\n", b"+PONG\r\n"]
            finally:
                writer.close()

    return ask
