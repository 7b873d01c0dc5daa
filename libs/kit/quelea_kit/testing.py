"""Helpers for tests: a free port, waiting with a deadline, a running gRPC server."""

from __future__ import annotations

import asyncio
import contextlib
import os
import random
import socket
import time
from collections.abc import AsyncIterator, Callable

import grpc

from quelea_kit.server import Ready, Server
from quelea_kit.settings import ServiceSettings

_given: set[int] = set()


def free_port() -> int:
    """A TCP port on loopback that nobody listens on now, never the same twice.

    Below those that `quelea up` takes (20000 on), and those that Linux gives to outgoing connections and to servers on
    port 0 (32768 on), so that none of them takes it before it is listened on. Each of pytest's workers side by side has
    ports of its own.
    """
    worker = int(os.environ.get("PYTEST_XDIST_WORKER", "gw0").removeprefix("gw"))
    workers = int(os.environ.get("PYTEST_XDIST_WORKER_COUNT", "1"))
    own = range(5_000 + worker, 20_000, workers)
    for port in random.SystemRandom().sample(own, len(own)):
        if port in _given:
            continue
        with socket.socket() as s, contextlib.suppress(OSError):
            s.bind(("127.0.0.1", port))
            _given.add(port)
            return port
    raise OSError("no free port is left for this worker")


def wait_until(condition: Callable[[], bool], *, seconds: float = 120, every: float = 0.05, what: str = "") -> None:
    """Block until condition() is true; AssertionError after the given seconds."""
    end = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < end, f"not within {seconds} s: {what or condition}"
        time.sleep(every)


async def wait_until_async(condition: Callable[[], bool], *, seconds: float = 120, what: str = "") -> None:
    """Like wait_until, without blocking the event loop."""
    end = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < end, f"not within {seconds} s: {what or condition}"
        await asyncio.sleep(0.02)


@contextlib.asynccontextmanager
async def running(
    register: Callable[[grpc.aio.Server], None],
    services: list[str],
    *,
    settings: ServiceSettings | None = None,
    ready: Ready | None = None,
) -> AsyncIterator[str]:
    """A real server on loopback around the given servicers; yields its address."""
    server = Server(settings or ServiceSettings(drain_seconds=0.5), services, register, ready)
    await server.start()
    try:
        yield f"127.0.0.1:{server.port}"
    finally:
        await server.stop()
