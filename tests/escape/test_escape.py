"""Every attack against the real service on a real engine; then the host, and the service, are looked at."""

from __future__ import annotations

import contextlib
import os
import re
from collections.abc import AsyncIterator
from dataclasses import dataclass, field

import psutil
import pytest
import pytest_asyncio
from escape.attack import PRELUDE, Attack
from escape.attacks import ALL
from escape.backends import DIFFERS, backend, record, service
from escape.outside import CANARY, Containers, Listener, available_bytes, host_facts, processes_of, still_works
from quelea.sandbox.v1 import sandbox_pb2 as pb
from quelea_kit.client import unary
from quelea_kit.errors import NotFound
from quelea_kit.testing import wait_until_async
from support.sandbox import Ran, SandboxClient, no_engine

_MISSING = no_engine()
pytestmark = [
    pytest.mark.skipif(bool(_MISSING), reason=f"the escape suite needs a Docker engine: {_MISSING}"),
    pytest.mark.asyncio(loop_scope="module"),
]


@dataclass
class Ground:
    """Where an attack takes place."""

    client: SandboxClient
    containers: Containers
    listener: Listener
    backend: str
    tried: set[str] = field(default_factory=set)
    held: set[str] = field(default_factory=set)


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def ground() -> AsyncIterator[Ground]:
    """One service for all attacks: that it still answers after each is part of what must hold."""
    os.environ[CANARY] = "quelea-escape-canary-value"
    listener = Listener()
    places = {"preload": "", "max_containers": 3, "max_warm": 2, "max_sessions": 2}
    try:
        async with service(f"escape-{os.getpid()}", **places) as (client, label):
            here = Ground(client, Containers(label), listener, backend())
            yield here
            if os.environ.get("QUELEA_ESCAPE_RECORD"):
                record(here.backend, here.tried, here.held)
        assert here.containers.ids() == set(), "the service takes its containers with it"
        here.containers.close()
    finally:
        listener.close()
        del os.environ[CANARY]


async def _run(ground: Ground, attack: Attack) -> Ran:
    fill = {b"@PORT@": str(ground.listener.port).encode(), b"@NAME@": ground.listener.name.encode()}
    files = [pb.File(path=path, data=fill.get(data, data)) for path, data in attack.input.items()]
    limits = pb.Limits(**attack.limits)  # type: ignore[arg-type] # numbers
    if attack.then:
        return await _session(ground, attack, limits)
    return await ground.client.run(PRELUDE + attack.code, files=files, limits=limits)


async def _session(ground: Ground, attack: Attack, limits: pb.Limits) -> Ran:
    """Both steps; how the second ended, with what both printed."""
    asked = pb.CreateSessionRequest(tenant="enemy", limits=limits)
    session = (await unary(ground.client.stub.CreateSession(asked, timeout=60))).session_id
    mine = {"session_id": session, "tenant": "enemy"}
    first = await ground.client.run(PRELUDE + attack.code, **mine)
    second = Ran()  # OVER
    with contextlib.suppress(NotFound):
        files = [pb.File(path=path, data=data) for path, data in attack.then_input.items()]
        second = await ground.client.run(attack.then, files=files, **mine)
    second.stdout = first.stdout + second.stdout
    second.files = first.files | second.files
    with contextlib.suppress(NotFound):
        await unary(ground.client.stub.CloseSession(pb.CloseSessionRequest(session_id=session), timeout=60))
    return second


def _look_inside(attack: Attack, ran: Ran) -> None:
    """What came back: it has tried, nothing worked, and it ended as it may."""
    assert ran.reason in attack.ends, f"{ran.reason}: {ran.finished.error}\n{ran.text[-2000:]}"
    assert "ESCAPED" not in ran.text, re.findall(r"ESCAPED.*", ran.text)[:10]
    assert ran.text.count("blocked ") >= attack.tried, (
        f"the attack did not run:\n{ran.text[-2000:]}\n{ran.finished.error}"
    )
    attack.check(ran)


@pytest.mark.parametrize("attack", ALL, ids=lambda attack: attack.name)
async def test_holds(ground: Ground, attack: Attack) -> None:
    facts, memory = host_facts(), psutil.Process().memory_info().rss
    before = ground.containers.ids()
    ground.tried.add(attack.name)
    ran = await _run(ground, attack)

    if attack.name not in DIFFERS.get(ground.backend, {}):
        _look_inside(attack, ran)

    # From outside: its container is gone, and every process in it; the host is as it was.
    used = before - ground.containers.ids()
    if not used:
        await wait_until_async(lambda: bool(before - ground.containers.ids()), what="its container is gone")
        used = before - ground.containers.ids()
    for container in used:
        await wait_until_async(lambda one=container: not processes_of(one), what="its processes are gone")
    assert host_facts() == facts
    still_works()
    assert available_bytes() > 1 << 30, "the host still has memory"
    assert psutil.Process().memory_info().rss - memory < 300 << 20, "the service kept what an attack sent"
    assert ground.listener.arrived == []

    after = await ground.client.run("print(1)", timeout=60)
    assert (after.reason, after.text) == ("OK", "1\n")
    ground.held.add(attack.name)
