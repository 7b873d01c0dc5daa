"""A Docker engine of a test's own, beside the machine's: to be killed, restarted and stopped."""

from __future__ import annotations

import contextlib
import os
import shutil
import signal
import subprocess
import tempfile
from collections.abc import Iterator
from pathlib import Path

import docker
import pytest
from docker.errors import DockerException
from quelea_kit.testing import wait_until
from support.sandbox import ENGINE, IMAGE


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
        wait_until(self.answers, what=f"dockerd; see {self.folder}/log")

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


@contextlib.contextmanager
def own_engine_with_image() -> Iterator[OwnEngine]:
    """One with the runner image; skips, loudly, where there can be none."""
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
            with subprocess.Popen(["docker", "-H", ENGINE, "save", IMAGE], stdout=subprocess.PIPE) as saved:
                load = ["docker", "-H", own.address, "load"]
                subprocess.run(load, stdin=saved.stdout, check=True, capture_output=True, timeout=900)
            assert saved.returncode == 0
            yield own
        finally:
            own.stop()


def containers(own: OwnEngine) -> int:
    """How many there are, whatever their state."""
    api = docker.APIClient(own.address, timeout=20)
    try:
        return len(api.containers(all=True))
    finally:
        api.close()
