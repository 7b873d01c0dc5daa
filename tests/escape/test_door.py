"""The attacks on the market-data door, from a real container on a real door; another run uses it all the while."""

from __future__ import annotations

import asyncio
import os
import tempfile
import time
from collections.abc import AsyncIterator
from dataclasses import dataclass, field
from pathlib import Path

import psutil
import pytest
import pytest_asyncio
from escape.attack import PRELUDE, Attack
from escape.attacks import DOOR
from escape.backends import backend, record
from escape.outside import Listener, host_facts, still_works
from quelea.market.v1 import market_pb2, market_pb2_grpc
from quelea.sandbox.v1 import sandbox_pb2 as pb
from quelea_search.door.samples.__main__ import write
from support.market_door import DoorProcess, call
from support.sandbox import SandboxClient, docker_sandbox, no_engine

_MISSING = no_engine()
pytestmark = [
    pytest.mark.skipif(bool(_MISSING), reason=f"the escape suite needs a Docker engine: {_MISSING}"),
    pytest.mark.asyncio(loop_scope="module"),
]
if os.environ.get("QUELEA_ESCAPE_BACKEND") == "pods":
    pytestmark.append(pytest.mark.skip(reason="NOT TRIED FROM PODS: these attacks go through the door's socket"))
_LISTED = '["localhost", "127.0.0.1", "169.254.169.254", "[::1]"]'
_HONEST_SECONDS = 120.0  # for a call that is served again and again; how fast says how busy the machine is


@dataclass
class Ground:
    """A door, a sandbox whose runs may use it, and another run that does."""

    door: DoorProcess
    client: SandboxClient
    listener: Listener
    closed: str
    honest: str
    url: str
    tried: set[str] = field(default_factory=set)
    held: set[str] = field(default_factory=set)


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def ground() -> AsyncIterator[Ground]:
    """One door for all attacks."""
    listener = Listener()
    with tempfile.TemporaryDirectory(prefix="quelea-esc-") as short:
        folder = Path(short)
        folder.chmod(0o755)  # noqa: ASYNC240  # nothing else runs yet
        bundle, _ = write(folder / "samples.bundle")
        door = DoorProcess(folder, {"EXTRA_HOSTS": _LISTED})
        await door.start()
        try:
            await door.take_bundle((folder / "samples.bundle").read_bytes())  # a test may block
            replay = {"mode": market_pb2.MODE_REPLAY, "bundle_ids": [bundle]}
            honest = await door.open("honest", max_calls=10_000, **replay)
            closed = await _closed(door)
            async with docker_sandbox(
                preload="", market_socket_dir=door.socket.parent, owner=f"door-{os.getpid()}", max_containers=3
            ) as client:
                url = await _recorded(door, honest)
                here = Ground(door, client, listener, closed, honest, url)
                yield here
                if os.environ.get("QUELEA_ESCAPE_RECORD"):
                    record(backend(), here.tried, here.held)
        finally:
            await door.stop()
            listener.close()


async def _closed(door: DoorProcess) -> str:
    """A token of a session that has ended."""
    async with door.client() as line:
        stub = market_pb2_grpc.MarketDoorServiceStub(line)
        opened = await stub.OpenSession(market_pb2.OpenSessionRequest(run_id="gone", mode=market_pb2.MODE_LIVE))
        await stub.CloseSession(market_pb2.CloseSessionRequest(session_id=opened.session_id))
    return str(opened.token)


async def _recorded(door: DoorProcess, token: str) -> str:
    """An address that the samples answer."""
    url = "https://finance.sina.com.cn/staticdata/us/NVDA"
    reply = await asyncio.to_thread(call, door.socket, token, url)
    assert reply.status == 200, (reply.status, reply.body[:500])
    return url


async def _neighbour(ground: Ground) -> float:
    """Another run's call; how long it took."""
    began = time.monotonic()
    while True:
        try:
            reply = await asyncio.to_thread(call, ground.door.socket, ground.honest, ground.url)
            break
        except (BlockingIOError, ConnectionError):  # as quelea_market does, and every library tries again
            assert time.monotonic() - began < _HONEST_SECONDS
            await asyncio.sleep(0.05)
    assert reply.status == 200, (reply.status, reply.refused, reply.body[:200])
    return time.monotonic() - began


@pytest.mark.slow(reason="some attacks drip bytes until the door's deadline")
@pytest.mark.parametrize("attack", DOOR, ids=lambda attack: attack.name)
async def test_the_door_holds(ground: Ground, attack: Attack) -> None:
    facts = host_facts()
    ground.tried.add(attack.name)
    assert ground.door.process is not None
    door = psutil.Process(ground.door.process.pid)
    memory = door.memory_info().rss
    token = await ground.door.open(attack.name, max_calls=20)
    fill = {b"@PORT@": str(ground.listener.port).encode(), b"@CLOSED@": ground.closed.encode()}
    files = [pb.File(path=path, data=fill[data]) for path, data in attack.input.items()]
    run = asyncio.create_task(
        ground.client.run(
            PRELUDE + attack.code,
            files=files,
            limits=pb.Limits(**attack.limits),  # type: ignore[arg-type] # numbers
            network=pb.NETWORK_POLICY_MARKET_DATA,
            market_token=token,
        )
    )
    waits = []
    while not run.done():
        waits.append(await _neighbour(ground))
        await asyncio.sleep(0.5)
    ran = await run

    assert ran.reason in attack.ends, f"{ran.reason}: {ran.finished.error}\n{ran.text[-2000:]}"
    assert "ESCAPED" not in ran.text, [line for line in ran.text.splitlines() if "ESCAPED" in line][:10]
    assert ran.text.count("blocked ") >= attack.tried, f"{ran.text[-2000:]}\n{ran.finished.error}"
    assert max(waits) < _HONEST_SECONDS, waits

    assert ground.listener.arrived == []
    assert host_facts() == facts
    still_works()
    async with asyncio.timeout(60):  # a machine may be slow; a door that is dead stays so
        while not await ground.door.healthy():
            assert ground.door.process.poll() is None, ground.door.log[-2000:]
    assert await _neighbour(ground) < _HONEST_SECONDS
    assert door.memory_info().rss - memory < 200 << 20, "the door kept what an attack sent"
    calls = await ground.door.calls(attack.name)
    assert all(one.source == "refused" for one in calls), [one for one in calls if one.source != "refused"][:5]
    assert (await ground.client.run("print(1)")).text == "1\n"
    ground.held.add(attack.name)
