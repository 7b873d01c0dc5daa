"""The engine is killed and restarted under load: an engine of this test's own, beside the machine's."""

import asyncio
import contextlib
import os
import shutil
import signal
import subprocess
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

import docker
import pytest
from docker.errors import DockerException
from quelea_kit.errors import Overloaded, Unavailable
from quelea_kit.testing import wait_until, wait_until_async
from support.sandbox import ENGINE, IMAGE, docker_sandbox

pytestmark = pytest.mark.usefixtures("engine")

FOREVER = "print('begun')\nimport time\nwhile True: time.sleep(0.1)"


class OwnEngine:
    """A dockerd with its own socket, data, state and containerd."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.address = f"unix://{folder}/docker.sock"
        self.process: subprocess.Popen[bytes] | None = None
        self.log = (folder / "log").open("ab")

    def start(self) -> None:
        """Start it and wait until it answers."""
        self.process = subprocess.Popen(
            [
                "dockerd",
                f"--host={self.address}",
                f"--data-root={self.folder}/data",
                f"--exec-root={self.folder}/exec",
                f"--pidfile={self.folder}/pid",
                "--iptables=false",
                "--ip6tables=false",
                "--containerd-namespace=quelea-test",
                "--containerd-plugins-namespace=quelea-test-plugins",
            ],
            stdout=self.log,
            stderr=self.log,
            start_new_session=True,
        )
        wait_until(self.answers, seconds=60, what=f"dockerd; see {self.folder}/log")

    def answers(self) -> bool:
        """Whether it does."""
        try:
            api = docker.APIClient(self.address, timeout=5)
            try:
                return bool(api.ping())
            finally:
                api.close()
        except DockerException:
            return False

    def kill(self) -> None:
        """kill -9, with its containerd: nothing is cleaned up."""
        assert self.process is not None
        os.killpg(self.process.pid, signal.SIGKILL)
        self.process.wait(20)
        # Where nobody reaps orphans the dead containerd looks alive, and the next dockerd would wait for it.
        (self.folder / "exec/containerd/containerd.pid").unlink(missing_ok=True)

    def stop(self) -> None:
        """As a service manager would."""
        if self.process is not None and self.process.poll() is None:
            self.process.terminate()
            self.process.wait(60)
        self.log.close()
        # What a failed test may have left: its shims with their containers, its mounts.
        for shim in _processes(f"-address {self.folder}/"):
            for process in [*_children(shim), shim]:
                with contextlib.suppress(ProcessLookupError):
                    os.kill(process, signal.SIGKILL)
        mounts = [line.split()[1] for line in Path("/proc/mounts").read_text().splitlines()]
        for mount in sorted((one for one in mounts if one.startswith(f"{self.folder}/")), reverse=True):
            subprocess.run(["umount", "--lazy", mount], check=False)


def _processes(wanted: str) -> list[int]:
    found = []
    for folder in Path("/proc").glob("[0-9]*"):
        with contextlib.suppress(OSError):
            if wanted in (folder / "cmdline").read_bytes().replace(b"\0", b" ").decode("utf-8", "replace"):
                found.append(int(folder.name))
    return found


def _children(parent: int) -> list[int]:
    return [
        int(number) for file in Path(f"/proc/{parent}/task").glob("*/children") for number in file.read_text().split()
    ]


@pytest.fixture(scope="module")
def own_engine(engine: None) -> Iterator[OwnEngine]:
    if os.geteuid() != 0 or not shutil.which("dockerd"):
        pytest.skip("NOT TESTED: a second engine needs root and dockerd on this machine")
    # A short path: a UNIX socket's is at most 107 bytes long.
    with tempfile.TemporaryDirectory(prefix="qe-", ignore_cleanup_errors=True) as folder:
        own = OwnEngine(Path(folder))
        try:
            own.start()
        except AssertionError as error:
            own.stop()
            pytest.skip(f"NOT TESTED: no second engine on this machine: {error}")
        try:
            copy = f"docker -H {ENGINE} save {IMAGE} | docker -H {own.address} load"
            subprocess.run(copy, shell=True, check=True, capture_output=True, timeout=300)  # noqa: S602  # a pipe of two commands
            yield own
        finally:
            own.stop()


async def test_runs_end_with_engine_and_the_pool_comes_back(own_engine: OwnEngine) -> None:
    async with docker_sandbox(
        preload="", docker_host=own_engine.address, max_containers=4, max_warm=3, engine_seconds=10, check_seconds=0.5
    ) as client:
        running = [asyncio.create_task(client.run(FOREVER, timeout=110)) for _ in range(3)]
        await wait_until_async(lambda: client.service.pool.counts.running == 3, seconds=60)
        waiting = [asyncio.create_task(client.run(f"print({n})", timeout=110)) for n in range(6)]
        await asyncio.sleep(0.5)

        await asyncio.to_thread(own_engine.kill)
        ended = await asyncio.gather(*running)
        assert [one.reason for one in ended] == ["ENGINE"] * 3, [one.finished for one in ended]
        assert all(one.text == "begun\n" for one in ended)
        await wait_until_async(lambda: bool(client.service.pool.down), seconds=30)
        with pytest.raises(Unavailable) as refused:
            await client.run("print(1)")
        assert refused.value.retry_after

        await asyncio.to_thread(own_engine.start)
        await client.until_ready()
        results = await asyncio.gather(*waiting, return_exceptions=True)
        assert all(clean(one) for one in results), results
        assert (await client.run("print('again')")).text == "again\n"
        await wait_until_async(lambda: containers(own_engine) <= 4, seconds=60, what="no leftovers of the old engine")
    assert containers(own_engine) == 0


async def test_an_engine_that_hangs_does_not_stop_the_clock(own_engine: OwnEngine) -> None:
    async with docker_sandbox(
        preload="", docker_host=own_engine.address, engine_seconds=3, check_seconds=0.5, min_warm=1
    ) as client:
        run = asyncio.create_task(client.run(FOREVER, timeout=110, limits={"wall_seconds": 4}))
        await wait_until_async(lambda: client.service.pool.counts.running == 1, seconds=60)
        assert own_engine.process is not None
        os.kill(own_engine.process.pid, signal.SIGSTOP)
        try:
            began = time.monotonic()
            ran = await run
            assert ran.reason == "TIMEOUT" and time.monotonic() - began < 20
            await wait_until_async(lambda: bool(client.service.pool.down), seconds=30)
        finally:
            os.kill(own_engine.process.pid, signal.SIGCONT)
        await client.until_ready()
        assert (await client.run("print('again')")).text == "again\n"
    assert containers(own_engine) == 0


def clean(result: object) -> bool:
    """An answer, a refusal, or the word that the engine failed."""
    if isinstance(result, BaseException):
        return isinstance(result, Overloaded | Unavailable)
    return getattr(result, "reason", "") in ("OK", "ENGINE")


def containers(own: OwnEngine) -> int:
    """How many there are, whatever their state."""
    api = docker.APIClient(own.address, timeout=20)
    try:
        return len(api.containers(all=True))
    finally:
        api.close()
