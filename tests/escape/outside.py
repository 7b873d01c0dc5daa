"""What the host looks like from outside: containers, their processes, and what no run may change."""

from __future__ import annotations

import contextlib
import hashlib
import os
import platform
import socket
import subprocess
import sys
import tempfile
import threading
import time
from pathlib import Path

from support.sandbox import engine_api

CANARY = "QUELEA_ESCAPE_CANARY"
MARKER = Path("/tmp/quelea-escaped")  # noqa: S108 - the name that the attacks try to write
_WATCHED = ("/etc/passwd", "/etc/hosts", "/etc/resolv.conf", "/proc/sys/kernel/core_pattern")
_WATCHED += ("/proc/sys/kernel/randomize_va_space", "/proc/sys/kernel/random/boot_id", "/proc/sys/kernel/modprobe")


def host_facts() -> dict[str, str]:
    """What must be the same before and after."""
    facts = {path: hashlib.sha256(Path(path).read_bytes()).hexdigest() for path in _WATCHED if Path(path).exists()}
    drift = time.time() - time.monotonic()
    return {**facts, "name": platform.node(), "clock": str(round(drift / 60)), "marker": str(MARKER.exists())}


def still_works() -> None:
    """That the host itself has terminals, processes, pipes and room for files.

    Raises:
        OSError: It has run out of one.
    """
    for fd in os.openpty():
        os.close(fd)
    subprocess.run([sys.executable, "-c", ""], check=True, timeout=60)
    for fd in os.pipe():
        os.close(fd)
    with tempfile.TemporaryFile() as file:
        file.write(bytes(1 << 20))


def available_bytes() -> int:
    """Memory that the host can still give."""
    for line in Path("/proc/meminfo").read_text().splitlines():
        if line.startswith("MemAvailable"):
            return int(line.split()[1]) * 1024
    raise AssertionError("no MemAvailable")


def processes_of(container: str) -> list[str]:
    """Processes of the host that belong to a container."""
    found = []
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit():
            with contextlib.suppress(OSError):
                if container in (entry / "cgroup").read_text():
                    found.append(entry.name)
    return found


class Containers:
    """The containers with one label on the engine: those of one service."""

    def __init__(self, label: str) -> None:
        self._client = engine_api()
        self._label = label

    def ids(self) -> set[str]:
        """All of them, running or not."""
        listed = self._client.containers(all=True, filters={"label": self._label})
        return {one["Id"] for one in listed}

    def close(self) -> None:
        """Hang up."""
        self._client.close()


class Listener:
    """Listens on the host where an escape would arrive: TCP, UDP, an abstract UNIX name."""

    def __init__(self) -> None:
        self.arrived: list[str] = []
        self.name = f"quelea-escape-{os.getpid()}"
        self._tcp = socket.create_server(("0.0.0.0", 0))  # noqa: S104 - wherever an escape could come from
        self.port = self._tcp.getsockname()[1]
        self._udp = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        self._udp.bind(("0.0.0.0", self.port))  # noqa: S104 - the same
        self._unix = socket.socket(socket.AF_UNIX)
        self._unix.bind(f"\0{self.name}")
        self._unix.listen()
        self._open = True
        self._threads = [
            threading.Thread(target=self._accept, args=("tcp", self._tcp)),
            threading.Thread(target=self._accept, args=("unix", self._unix)),
            threading.Thread(target=self._receive),
        ]
        for one in (self._tcp, self._udp, self._unix):
            one.settimeout(0.2)
        for thread in self._threads:
            thread.start()

    def _accept(self, what: str, server: socket.socket) -> None:
        while self._open:
            with contextlib.suppress(TimeoutError):
                server.accept()[0].close()
                self.arrived.append(what)

    def _receive(self) -> None:
        while self._open:
            with contextlib.suppress(TimeoutError):
                self._udp.recv(100)
                self.arrived.append("udp")

    def close(self) -> None:
        """Stop listening."""
        self._open = False
        for thread in self._threads:
            thread.join()
        for one in (self._tcp, self._udp, self._unix):
            one.close()
