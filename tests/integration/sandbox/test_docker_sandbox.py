"""The service on a real engine: the pool, sessions, the door's socket, leftovers."""

import asyncio
import os
import secrets
import signal
import socket
import subprocess
import sys
import tempfile
import threading
from pathlib import Path

import pytest
from quelea.sandbox.v1 import sandbox_pb2 as pb
from quelea.sandbox.v1 import sandbox_pb2_grpc as pb_grpc
from quelea_kit.client import channel, unary
from quelea_kit.errors import Overloaded
from quelea_kit.testing import free_port, wait_until, wait_until_async
from quelea_sandbox.adapters.docker_options import OWNER
from quelea_sandbox.service import NAME
from support.sandbox import IMAGE, SandboxClient, docker_sandbox, engine_api

pytestmark = pytest.mark.usefixtures("engine")


def owned(owner: str) -> list[str]:
    """Names of an owner's containers."""
    api = engine_api()
    try:
        return [one["Names"][0] for one in api.containers(all=True, filters={"label": f"{OWNER}={owner}"})]
    finally:
        api.close()


async def test_pandas_and_a_plot_from_a_warm_container() -> None:
    async with docker_sandbox() as client:
        ran = await client.run(
            "import pandas as pd\nimport matplotlib.pyplot as plt\n"
            "df = pd.read_csv('prices.csv', parse_dates=['日期'])\n"
            "df.plot(x='日期', y='收盘', title='收盘价')\nplt.figure()\nplt.plot([1, 2])\n"
            "plt.savefig('saved.png')\ndf.describe()",
            files=[pb.File(path="prices.csv", data="日期,收盘\n2024-01-02,10.5\n2024-01-03,11.0\n".encode())],
        )
        assert ran.reason == "OK" and "10.75" in ran.text, ran.finished.error
        assert set(ran.files) == {"figure-1.png", "saved.png"}  # the one left open, and the one that was saved
        assert ran.files["figure-1.png"].media_type == "image/png" and len(ran.files["figure-1.png"].data) > 5000
        assert ran.started is not None and ran.started.warm
        assert ran.finished.usage.cpu_seconds > 0 and ran.finished.usage.memory_peak_bytes > 50 << 20


async def test_a_session_keeps_its_frame(client: SandboxClient) -> None:
    one = (await unary(client.stub.CreateSession(pb.CreateSessionRequest(), timeout=60))).session_id
    await client.run("x = [1, 2]", session_id=one)
    assert (await client.run("x.append(3)\nx", session_id=one)).text == "[1, 2, 3]\n"
    ended = await client.run("import os\nos._exit(0)", session_id=one)
    assert ended.reason == "DIED"
    assert (await client.capacity()).sessions == 0


async def test_a_hundred_at_once_with_a_pool_of_four() -> None:
    owner = f"test-{secrets.token_hex(4)}"
    async with docker_sandbox(
        preload="", owner=owner, max_containers=4, max_warm=4, max_sessions=0, queue_length=40, queue_seconds=600
    ) as client:
        results = await asyncio.gather(
            *(client.run(f"print({n})", tenant=f"t{n % 7}", timeout=700) for n in range(100)), return_exceptions=True
        )
        answers = [one.text for one in results if not isinstance(one, BaseException)]
        refused = [one for one in results if isinstance(one, BaseException)]
        assert all(isinstance(one, Overloaded) and one.retry_after for one in refused), refused
        assert len(set(answers)) == len(answers) >= 40
        assert len(owned(owner)) <= 4
        await client.until_ready()
        assert (await client.run("print('still')")).text == "still\n"
    assert owned(owner) == []


async def test_the_doors_socket_is_reached_with_its_token_and_only_where_it_may_be() -> None:
    with tempfile.TemporaryDirectory(prefix="quelea-door-") as folder:
        Path(folder).chmod(0o755)  # noqa: ASYNC240  # a test may block
        server = socket.socket(socket.AF_UNIX)
        server.bind(f"{folder}/door.sock")
        Path(f"{folder}/door.sock").chmod(0o666)  # noqa: ASYNC240  # the same
        server.listen()

        def answer() -> None:
            while True:
                try:
                    connection, _ = server.accept()
                except OSError:
                    return
                with connection:
                    connection.sendall(b"door says " + connection.recv(100))

        threading.Thread(target=answer, daemon=True).start()
        code = """
import os, socket
print(sorted(os.listdir('/run/market')), os.environ.get('QUELEA_MARKET_TOKEN'))
if 'QUELEA_MARKET_SOCKET' in os.environ:
    s = socket.socket(socket.AF_UNIX); s.connect(os.environ['QUELEA_MARKET_SOCKET'])
    s.sendall(os.environ['QUELEA_MARKET_TOKEN'].encode()); print(s.recv(100).decode())
    try: open('/run/market/x', 'w')
    except OSError as e: print(e.strerror)
"""
        try:
            async with docker_sandbox(preload="", market_socket_dir=folder) as client:
                inside = await client.run(code, network=pb.NETWORK_POLICY_MARKET_DATA, market_token="t0k")
                outside = await client.run(code, network=pb.NETWORK_POLICY_NONE)
        finally:
            server.close()
    assert inside.text == "['door.sock'] t0k\ndoor says t0k\nRead-only file system\n", inside
    assert outside.text == "[] None\n"


class Process:
    """The service as a process of its own."""

    def __init__(self, owner: str) -> None:
        self.port = free_port()
        self.process = subprocess.Popen(
            [sys.executable, "-m", "quelea_sandbox"],
            env={
                **os.environ,
                "QUELEA_SANDBOX_LISTEN": f"127.0.0.1:{self.port}",
                "QUELEA_SANDBOX_IMAGE": IMAGE,
                "QUELEA_SANDBOX_PRELOAD": "",
                "QUELEA_SANDBOX_OWNER": owner,
                "QUELEA_SANDBOX_MIN_WARM": "2",
                "QUELEA_SANDBOX_DRAIN_SECONDS": "1",
            },
        )

    def end(self, number: int) -> int:
        """Send a signal and wait."""
        self.process.send_signal(number)
        return self.process.wait(40)


async def test_sigterm_drains_and_leaves_nothing() -> None:
    owner = f"test-{secrets.token_hex(4)}"
    service = Process(owner)
    try:
        wait_until(lambda: len(owned(owner)) >= 2)
        async with channel(f"127.0.0.1:{service.port}", NAME) as open_channel:
            stub = pb_grpc.SandboxServiceStub(open_channel)
            call = stub.Execute(pb.ExecuteRequest(code="while True: pass"), timeout=60, wait_for_ready=True)
            assert (await call.read()).HasField("started")
            assert await asyncio.to_thread(service.end, signal.SIGTERM) == 0
        assert owned(owner) == []
    finally:
        service.process.kill()


async def test_what_a_killed_service_left_is_removed_by_the_next() -> None:
    owner = f"test-{secrets.token_hex(4)}"
    first = Process(owner)
    wait_until(lambda: len(owned(owner)) >= 2)
    first.end(signal.SIGKILL)
    left = set(owned(owner))
    assert left
    second = Process(owner)
    try:
        wait_until(lambda: not left & set(owned(owner)))
    finally:
        second.end(signal.SIGTERM)
    assert owned(owner) == []


async def test_leftovers_of_a_dead_process_are_removed_without_a_name_and_the_living_are_spared(
    client: SandboxClient,
) -> None:
    api = engine_api()
    backend = client.service._backend
    mine = backend._owner  # type: ignore[attr-defined]  # to write what a dead process would have written
    parts = mine.split("/")
    child = subprocess.Popen(["sleep", "300"])  # noqa: ASYNC220  # a test may block
    started = Path(f"/proc/{child.pid}/stat").read_text().rpartition(")")[2].split()[19]  # noqa: ASYNC240  # the same
    theirs = "/".join([*parts[:3], str(child.pid), started])
    made = api.create_container(IMAGE, command=["sleep", "300"], labels={OWNER: theirs})["Id"]
    try:
        await backend.sweep({one.lstrip("/") for one in owned(mine)})
        assert owned(theirs)
        child.kill()
        child.wait()
        client.service.pool._idle._engine.sweep_soon()
        await wait_until_async(lambda: not owned(theirs))
        assert owned(mine)
    finally:
        child.kill()
        child.wait()
        if owned(theirs):
            api.remove_container(made, force=True)
        api.close()


async def test_an_image_that_is_missing_is_said() -> None:
    async with docker_sandbox(dead=True, image="quelea-nothing:latest", check_seconds=0.2) as client:
        await wait_until_async(lambda: "make runner-image" in client.service.pool.down)
