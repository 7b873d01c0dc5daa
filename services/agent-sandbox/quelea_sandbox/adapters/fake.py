"""A fake backend: the real guest in a subprocess of this machine.

THIS IS NO ISOLATION. The code runs as this user, with this user's files and network. For tests only; no setting
selects it.
"""

from __future__ import annotations

import asyncio
import contextlib
import os
import shutil
import signal
import sys
import tempfile
from collections.abc import Set
from pathlib import Path

from quelea_sandbox.adapters.backend import EngineError, Inspection, Stats
from quelea_sandbox.core.model import Shape

GUEST = Path(__file__).parents[2] / "runner" / "guest.py"
_KEPT_OF_STDERR = 4096
_TICKS = os.sysconf("SC_CLK_TCK")


class FakeContainer:
    """A guest in a subprocess, in a session of its own so that all of it can be killed."""

    def __init__(self, name: str, process: asyncio.subprocess.Process, folder: str) -> None:
        self.name = name
        self.removed = False
        self._process = process
        self._folder = folder
        self._end = b""
        self._watch = asyncio.create_task(self._watch_stderr())
        self.out_of_memory = False

    async def read(self) -> bytes:
        """The next bytes of its stdout."""
        assert self._process.stdout is not None  # noqa: S101  # it was started with pipes
        return await self._process.stdout.read(1 << 16)

    async def write(self, data: bytes) -> None:
        """Bytes for its stdin."""
        assert self._process.stdin is not None  # noqa: S101  # it was started with pipes
        try:
            self._process.stdin.write(data)
            await self._process.stdin.drain()
        except OSError as error:
            raise EngineError(f"the guest's stdin is closed: {error}") from error

    async def stats(self) -> Stats | None:
        """CPU time and peak memory of the guest's process."""
        try:
            fields = Path(f"/proc/{self._process.pid}/stat").read_text().rpartition(")")[2].split()  # noqa: ASYNC240  # procfs does not block
            status = Path(f"/proc/{self._process.pid}/status").read_text()  # noqa: ASYNC240  # the same
        except OSError:
            return None
        peak = [int(line.split()[1]) * 1024 for line in status.splitlines() if line.startswith("VmHWM")]
        return Stats((int(fields[11]) + int(fields[12])) / _TICKS, peak[0] if peak else 0)

    async def inspect(self) -> Inspection:
        """How the process is."""
        with contextlib.suppress(TimeoutError):
            await asyncio.wait_for(self._process.wait(), 1)
        code = self._process.returncode
        code = 128 - code if code is not None and code < 0 else code
        return Inspection(code is None, self.out_of_memory, code or 0)

    async def remove(self) -> None:
        """Kill its process group and remove its folder."""
        with contextlib.suppress(ProcessLookupError):
            os.killpg(self._process.pid, signal.SIGKILL)
        await self._process.wait()
        self._watch.cancel()
        self._process._transport.close()  # type: ignore[attr-defined]  # asyncio closes it only when it is collected
        await asyncio.to_thread(shutil.rmtree, self._folder, ignore_errors=True)
        self.removed = True

    async def _watch_stderr(self) -> None:
        """As containerd does: once a container's stderr has ended, nothing reaches its stdin any more."""
        assert self._process.stderr is not None and self._process.stdin is not None  # noqa: S101  # pipes
        while piece := await self._process.stderr.read(1 << 16):
            self._end = (self._end + piece)[-_KEPT_OF_STDERR:]
        self._process.stdin.close()

    def said(self) -> str:
        """The end of its stderr."""
        return self._end.decode(errors="replace")


class FakeBackend:
    """Guests in subprocesses, and switches that break things as an engine would.

    Args:
        preload: As in the settings.
    """

    name = "fake"

    def __init__(self, preload: str = "") -> None:
        self.image = "fake"
        self.down = False
        self.fail_creates = 0
        self.needs_bytes = 0
        self.held: dict[bool, asyncio.Event] = {}
        """Starts of containers with the door (True), or without, that wait for this."""

        self.containers: list[FakeContainer] = []
        self.shapes: list[Shape] = []
        self._preload = preload

    @property
    def alive(self) -> list[FakeContainer]:
        """Containers that were not removed."""
        return [one for one in self.containers if not one.removed]

    async def check(self) -> None:
        """Fails while `down`."""
        if self.down:
            raise EngineError("the fake engine is down")

    async def create(self, shape: Shape, name: str) -> FakeContainer:
        """Start a guest; fails while `down`, and `fail_creates` times."""
        await self.check()
        if self.fail_creates > 0:
            self.fail_creates -= 1
            raise EngineError("the fake engine makes no container")
        if held := self.held.get(shape.market):
            await held.wait()
        folder = await asyncio.to_thread(tempfile.mkdtemp, prefix="quelea-fake-")
        process = await asyncio.create_subprocess_exec(
            sys.executable,
            "-I",
            "-B",
            "-u",
            str(GUEST),
            stdin=asyncio.subprocess.PIPE,
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.PIPE,
            cwd=folder,
            env={"PATH": os.environ["PATH"], "QUELEA_WORK": f"{folder}/work", "QUELEA_PRELOAD": self._preload},
            start_new_session=True,
        )
        container = FakeContainer(name, process, folder)
        if shape.memory_bytes < self.needs_bytes:  # as the kernel does while the guest loads its libraries
            container.out_of_memory = True
            process.kill()
        self.containers.append(container)
        self.shapes.append(shape)
        return container

    async def sweep(self, known: Set[str]) -> int:
        """Remove what is not known."""
        await self.check()
        lost = [one for one in self.alive if one.name not in known]
        for one in lost:
            await one.remove()
        return len(lost)

    async def close(self) -> None:
        """Nothing to let go of."""

    async def crash(self) -> None:
        """As when the engine is killed: everything in it is gone, and it does not answer."""
        self.down = True
        for one in self.alive:
            await one.remove()
