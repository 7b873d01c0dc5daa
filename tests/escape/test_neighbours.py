"""Attacks that take more than one run: neighbours, cancelled bombs, the door's folder; and whether attacks can fail."""

from __future__ import annotations

import asyncio
import os
import socket
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest
from escape.attack import PRELUDE, Attack
from escape.attacks import ALL
from escape.outside import Containers
from quelea.sandbox.v1 import sandbox_pb2 as pb
from quelea_kit.errors import QueleaError
from quelea_kit.testing import wait_until_async
from support.sandbox import ENGINE, IMAGE, docker_sandbox, no_engine

_MISSING = no_engine()
pytestmark = pytest.mark.skipif(bool(_MISSING), reason=f"the escape suite needs a Docker engine: {_MISSING}")

BY_NAME = {attack.name: attack for attack in ALL}
HIDE = """
mine = "neighbour-" + "secret"
for folder in ("/work", "/tmp", "/dev/shm"):
    open(folder + "/hidden", "w").write(mine)
"""
SEEK = """
import glob, os
found = [path for folder in ("/work", "/tmp", "/dev/shm") for path in glob.glob(folder + "/hidden")]
found += [name for name in globals() if name == "mine"]
found += [pid for pid in os.listdir("/proc") if pid.isdigit() and int(pid) != os.getpid()]
print(found)
"""


async def test_a_session_sees_nothing_of_its_neighbour() -> None:
    async with docker_sandbox(preload="", max_containers=4, max_sessions=2) as client:
        one, two = [
            (await client.stub.CreateSession(pb.CreateSessionRequest(tenant=tenant), timeout=60)).session_id
            for tenant in ("a", "b")
        ]
        assert (await client.run(HIDE, session_id=one, tenant="a")).reason == "OK"
        assert (await client.run(SEEK, session_id=two, tenant="b")).text == "[]\n"
        assert (await client.run("print(mine)", session_id=one, tenant="a")).text == "neighbour-secret\n"
        # Another tenant does not get into a session even by its name; nor by a guessed one.
        for session, tenant in ((one, "b"), ("guessed", "b"), (one[:-1], "a")):
            with pytest.raises(QueleaError):
                await client.run("print(mine)", session_id=session, tenant=tenant)
        for session in (one, two):
            await client.stub.CloseSession(pb.CloseSessionRequest(session_id=session), timeout=60)


async def test_bombs_are_cancelled_and_a_caller_that_leaves_ends_its_run() -> None:
    owner = f"escape-cancel-{os.getpid()}"
    containers = Containers(f"quelea.sandbox.owner={owner}")
    async with docker_sandbox(owner=owner, preload="", max_containers=2, max_warm=1) as client:
        code = PRELUDE + BY_NAME["fork-bomb"].code
        bomb = asyncio.create_task(client.run(code, execution_id="bomb", limits=pb.Limits(wall_seconds=60)))
        await wait_until_async(lambda: client.service.pool.counts.running == 1, what="the bomb runs")
        assert (await client.stub.Cancel(pb.CancelRequest(execution_id="bomb"), timeout=60)).found
        assert (await bomb).reason == "CANCELLED"
        used = containers.ids()
        left = asyncio.create_task(client.run(code, limits=pb.Limits(wall_seconds=60)))
        await wait_until_async(lambda: client.service.pool.counts.running == 1, what="the next one runs")
        left.cancel()
        await wait_until_async(lambda: client.service.pool.counts.running == 0, what="it is ended")
        await wait_until_async(lambda: not used & containers.ids(), what="their containers are gone")
        assert (await client.run("print(1)")).text == "1\n"
    containers.close()


@pytest.mark.slow(reason="honest runs beside attackers that use all they may")
async def test_honest_runs_beside_attackers_get_their_answers() -> None:
    names = ["fork-bomb", "memory-bomb", "flood-stdout", "ignore-every-signal", "flood-every-descriptor", "huge-frame"]
    async with docker_sandbox(preload="", max_containers=4, max_warm=2) as client:

        async def attack(name: str) -> str:
            limits = pb.Limits(wall_seconds=4)
            return (await client.run(PRELUDE + BY_NAME[name].code, limits=limits, tenant="enemy")).reason

        async def honest(number: int) -> str:
            return (await client.run(f"print(sum(range({number})))", tenant="friend")).text

        ended, answers = await asyncio.gather(
            asyncio.gather(*map(attack, names)), asyncio.gather(*map(honest, range(12)))
        )
    assert answers == [f"{sum(range(number))}\n" for number in range(12)]
    assert "OK" not in ended


HOARD = """
import array, fcntl, signal, socket
for _ in range(40):
    if os.fork() == 0:
        held = []
        with contextlib.suppress(OSError):
            while True:
                reader, writer = os.pipe()
                with contextlib.suppress(OSError):
                    fcntl.fcntl(writer, 1031, 1 << 20)
                one, two = socket.socketpair()
                with contextlib.suppress(OSError):
                    for _ in range(8):
                        one.sendmsg([b"x"], [(socket.SOL_SOCKET, socket.SCM_RIGHTS, array.array("i", [reader] * 100))])
        time.sleep(600)
print("hoarded", flush=True)
time.sleep(600)
"""
HONEST = """
import multiprocessing, subprocess, sys
import pandas
with multiprocessing.Pool(2) as pool:
    print(pool.map(abs, [-1, -2]))
print(len(subprocess.run([sys.executable, "-c", "print('x' * 300_000)"], capture_output=True).stdout))
print("y" * 300_000)
"""


async def test_who_hoards_what_is_counted_for_their_common_user_keeps_no_neighbour_from_its_work() -> None:
    async with docker_sandbox(preload="", max_containers=4, max_warm=2) as client:
        limits = pb.Limits(wall_seconds=300)
        hoards = [asyncio.create_task(client.run(PRELUDE + HOARD, execution_id=f"h{n}", limits=limits)) for n in (1, 2)]
        await wait_until_async(lambda: client.service.pool.counts.running == 2, what="both hoard")
        await asyncio.sleep(3)
        ran = await client.run(HONEST)
        assert client.service.pool.counts.running == 2, "they hoarded all the while"
        for number in (1, 2):
            await client.stub.Cancel(pb.CancelRequest(execution_id=f"h{number}"), timeout=60)
        ended = await asyncio.gather(*hoards)
    assert ran.reason == "OK", ran.finished.error
    assert ran.text == f"[1, 2]\n300001\n{'y' * 300_000}\n"
    assert [one.reason for one in ended] == ["CANCELLED", "CANCELLED"]


@pytest.fixture
def door(tmp_path: Path) -> Iterator[Path]:
    """A socket that nobody answers at, in a folder that a container may see."""
    tmp_path.chmod(0o755)
    path = tmp_path / "door.sock"
    with socket.socket(socket.AF_UNIX) as listening:
        listening.bind(str(path))
        listening.listen()
        path.chmod(0o666)
        inode = path.stat().st_ino
        yield path
        assert (path.stat().st_ino, sorted(tmp_path.iterdir())) == (inode, [path])


async def test_the_doors_folder_cannot_be_changed_and_its_socket_not_replaced(door: Path) -> None:
    code = """
for what, call in {
    "unlink": lambda: os.unlink("/run/market/door.sock"),
    "rename": lambda: os.rename("/run/market/door.sock", "/run/market/x"),
    "chmod": lambda: os.chmod("/run/market/door.sock", 0o777),
    "new file": lambda: write_file("/run/market/x"),
    "link": lambda: os.symlink("/etc/passwd", "/run/market/x"),
    "over it": lambda: os.rename("/work/f", "/run/market/door.sock"),
}.items():
    attempt(what, call)
report("door", not os.path.exists("/run/market/door.sock"))
"""
    async with docker_sandbox(preload="", market_socket_dir=door.parent) as client:
        ran = await client.run(PRELUDE + code, network=pb.NETWORK_POLICY_MARKET_DATA, market_token="t")
    assert ran.reason == "OK", ran.finished.error
    assert "ESCAPED" not in ran.text
    assert ran.text.count("blocked ") == 7


LAX = ["who-it-is", "user-namespace", "run-what-it-wrote", "every-address-family", "keyrings", "ptrace", "mount"]


@pytest.mark.parametrize("attack", [BY_NAME[name] for name in LAX], ids=LAX)
def test_the_same_attack_is_seen_to_escape_where_nothing_holds_it(attack: Attack) -> None:
    """Root with capabilities and without a filter: an attack that fails here as well would prove nothing."""
    options = ["--network", "none", "--user", "0", "--security-opt", "seccomp=unconfined", "--tmpfs", "/work:exec"]
    options += ["--cap-add", "SYS_ADMIN", "--cap-add", "SYS_PTRACE", "--pids-limit", "64", "--memory", "256m"]
    engine = ["docker", "-H", ENGINE, "run", "--rm", "--interactive", "--label", "quelea=escape"]
    command = [*engine, *options, IMAGE, "python3", "-"]
    done = subprocess.run(command, input=(PRELUDE + attack.code).encode(), capture_output=True, timeout=60, check=False)
    assert b"ESCAPED" in done.stdout, (done.stdout, done.stderr)
