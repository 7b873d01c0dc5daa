"""Pods reach the market-data door over TCP, with their run's token; pods whose run may not, reach nothing."""

import contextlib
import json
import secrets
import tempfile
from collections.abc import AsyncIterator
from dataclasses import dataclass
from pathlib import Path

import docker
import pytest
from quelea.sandbox.v1 import sandbox_pb2 as pb
from quelea_kit.testing import free_port
from quelea_sandbox.seccomp import profile_for_pods
from support.fake_cluster import FakeCluster
from support.fake_kubelet import LABEL
from support.market_door import DoorProcess
from support.sandbox import Ran, SandboxClient, pod_sandbox

pytestmark = pytest.mark.usefixtures("engine")

ASK = """
import os, socket
import requests, urllib.request
def ask(token=None):
    if token: os.environ['QUELEA_MARKET_TOKEN'] = token
    for call in (lambda: requests.get('https://example.com/x'), lambda: urllib.request.urlopen('https://example.com/x')):
        try: print('through', call())
        except OSError as e: print(type(e).__name__, [w for w in ('(HOST', '(TOKEN', 'no network') if w in str(e)])
"""


@dataclass
class Ground:
    """A door, and a service whose pods may reach it."""

    door: DoorProcess
    address: str
    client: SandboxClient


@contextlib.asynccontextmanager
async def network(name: str) -> AsyncIterator[tuple[str, str]]:
    """A Docker network without a way out, and this machine's address in it."""
    api = docker.APIClient(timeout=60)
    made = api.create_network(name, driver="bridge", internal=True, labels={LABEL: name})["Id"]
    try:
        yield name, api.inspect_network(made)["IPAM"]["Config"][0]["Gateway"]
    finally:
        api.remove_network(made)
        api.close()


@pytest.fixture
async def ground(engine: None) -> AsyncIterator[Ground]:
    with tempfile.TemporaryDirectory(prefix="qd-") as short:
        folder = Path(short)
        (folder / "quelea").mkdir()
        (folder / "quelea/sandbox.json").write_text(json.dumps(profile_for_pods()))
        async with network(f"quelea-test-{secrets.token_hex(4)}") as (name, gateway):
            address = f"{gateway}:{free_port()}"
            door = DoorProcess(folder, {"HTTP_LISTEN": address})
            cluster = FakeCluster(network=name, profiles=folder)
            await cluster.start()
            try:
                await door.start()
                async with pod_sandbox(
                    cluster,
                    preload="",
                    market_url=f"http://{address}",
                    pod_seccomp="quelea/sandbox.json",
                    max_warm=1,
                ) as client:
                    yield Ground(door, address, client)
            finally:
                await door.stop()
                await cluster.close()


async def run(ground: Ground, code: str, token: str) -> Ran:
    return await ground.client.run(ASK + code, network=pb.NETWORK_POLICY_MARKET_DATA, market_token=token)


async def test_a_runs_token_is_taken_and_a_forged_or_ended_one_is_not(ground: Ground) -> None:
    token = await ground.door.open("run-1")
    ran = await run(
        ground, f"print(os.environ['QUELEA_MARKET_URL'])\nask()\nask({token[:-2] + 'xx'!r})\nask('x')", token
    )
    refused = [f"{kind} ['{why}']" for why in ("(HOST", "(TOKEN", "(TOKEN") for kind in ("ConnectionError", "URLError")]
    assert ran.text.splitlines() == [f"http://{ground.address}", *refused], ran
    assert (await run(ground, "ask()", "forged")).text.count("(TOKEN") == 2


async def test_code_without_the_right_reaches_no_door(ground: Ground) -> None:
    host, _, port = ground.address.rpartition(":")
    code = f"ask()\ntry: socket.create_connection(('{host}', {port}), 3)\nexcept OSError as e: print('unreachable')"
    ran = await ground.client.run(ASK + code, network=pb.NETWORK_POLICY_NONE)
    assert ran.text.splitlines() == ["ConnectionError ['no network']", "URLError ['no network']", "unreachable"], ran


async def test_with_the_profile_on_the_nodes_a_pod_makes_tcp_sockets_and_no_others(ground: Ground) -> None:
    code = """
import ctypes, socket
for family, kind in ((2, 1), (10, 1), (2, 2), (2, 3), (16, 3), (17, 3), (40, 1), (1, 1)):
    try: socket.socket(family, kind).close(); print(family, kind, 'made')
    except OSError: print(family, kind, 'refused')
libc = ctypes.CDLL(None, use_errno=True)
print(libc.unshare(0x10000000), libc.syscall(425, 8, 0))
"""
    ran = await run(ground, code, await ground.door.open("run-2"))
    made = {(2, 1), (10, 1), (1, 1)}
    asked = [(2, 1), (10, 1), (2, 2), (2, 3), (16, 3), (17, 3), (40, 1), (1, 1)]
    wanted = [f"{family} {kind} {'made' if (family, kind) in made else 'refused'}" for family, kind in asked]
    assert ran.text.splitlines() == [*wanted, "-1 -1"], ran
