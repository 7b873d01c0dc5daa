"""Upstreams on loopback that misbehave, and a door in the test's own process in front of them."""

from __future__ import annotations

import asyncio
import functools
import tempfile
import time
from collections.abc import AsyncIterator, Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from pathlib import Path

import pytest
from quelea_search.adapters.web.fake_web import FakeResolver
from quelea_search.door.adapters.http_server import HttpServer
from quelea_search.door.adapters.store import Store
from quelea_search.door.adapters.upstream import Upstream
from quelea_search.door.core.budget import CallSlots
from quelea_search.door.core.cookies import CookieJar
from quelea_search.door.core.sessions import Session, Sessions
from quelea_search.door.door import Door
from quelea_search.door.settings import DoorSettings
from support.market_door import Reply, call
from support.web_sites import Site

HOST = "data.example-vendor.com"
OTHER = "other.example-vendor.com"


class LocalDoor:
    """The parts of the door in this process, with a resolver that answers what the test says."""

    def __init__(self, folder: Path, site: Site, resolver: FakeResolver | None, more: dict[str, object]) -> None:
        told = {
            "hosts": ("example-vendor.com", "inside.example-bank.com"),
            "environment": "test",
            "socket": str(folder / "door.sock"),
            "test_hosts": {HOST: f"127.0.0.1:{site.port}", OTHER: f"127.0.0.1:{site.port}"},
            "call_seconds": 10.0,
            "calls_per_minute": {"example-vendor.com": 6000},
            "fresh_seconds": {"example-vendor.com": 0},
            **more,
        }
        self.settings = DoorSettings.model_validate(told)
        self.store = Store(folder / "data")
        hosts = self.settings.table()
        self.upstream = Upstream(self.settings, hosts, resolver=resolver or FakeResolver())
        self.sessions = Sessions(100)
        self.door = Door(self.settings, self.store, self.upstream, self.sessions)
        self.http = HttpServer(
            self.door.call, request_bytes=self.settings.request_bytes, connections=self.settings.connections
        )
        self.covers = hosts.covers
        self.threads = ThreadPoolExecutor(64)
        self.path = Path(self.settings.socket)

    def open(self, run: str = "r", **more: object) -> str:
        facts = {
            "id": f"s-{run}",
            "run_id": run,
            "tenant": "",
            "replay": False,
            "as_of": None,
            "bundle_ids": (),
            "max_calls": 1000,
            "max_bytes": 10**9,
            "until": time.monotonic() + 600,
            "jar": CookieJar(self.covers),
            "slots": CallSlots(8, 8, "of this run"),
            **more,
        }
        return self.sessions.add(Session(**facts))  # type: ignore[arg-type]  # facts are of mixed types

    async def call(self, token: str, url: str, **more: object) -> Reply:
        work = functools.partial(call, self.path, token, url, **more)  # type: ignore[arg-type]  # likewise
        return await asyncio.get_running_loop().run_in_executor(self.threads, work)


@pytest.fixture
async def site() -> AsyncIterator[Site]:
    async with Site().serving() as made:
        yield made


@pytest.fixture
def make_door(site: Site) -> Callable[..., AbstractAsyncContextManager[LocalDoor]]:
    @asynccontextmanager
    async def make(resolver: FakeResolver | None = None, **more: object) -> AsyncIterator[LocalDoor]:
        with tempfile.TemporaryDirectory(prefix="door") as folder:
            door = LocalDoor(Path(folder), site, resolver, more)
            await door.http.listen_unix(door.path, 0o600)
            try:
                yield door
            finally:
                await door.http.stop(1.0)
                await door.upstream.close()
                await door.door.close()
                door.store.close()

    return make
