"""The supervisor's end of the guard process (guard_main.py): kept alive, told every process group."""

from __future__ import annotations

import asyncio
import contextlib
import sys
from pathlib import Path

_SCRIPT = Path(__file__).with_name("guard_main.py")


class Guard:
    """Knows the process groups that must not outlive this process."""

    def __init__(self) -> None:
        self._groups: set[int] = set()
        self._process: asyncio.subprocess.Process | None = None
        self._task: asyncio.Task[None] | None = None

    @property
    def pid(self) -> int:
        """The guard's process, 0 when it does not run."""
        return self._process.pid if self._process else 0

    def start(self) -> None:
        """Start it, and again whenever it ends."""
        self._task = asyncio.create_task(self._keep())

    def add(self, group: int) -> None:
        """End this group if this process is killed."""
        self._groups.add(group)
        self._tell(f"+{group}")

    def remove(self, group: int) -> None:
        """The group has ended."""
        self._groups.discard(group)
        self._tell(f"-{group}")

    async def stop(self) -> None:
        """Let it go: it ends what was not taken back, then itself."""
        if self._task:
            self._task.cancel()
            with contextlib.suppress(asyncio.CancelledError):
                await self._task
        if self._process and self._process.stdin:
            self._process.stdin.close()
            with contextlib.suppress(TimeoutError):
                await asyncio.wait_for(self._process.wait(), 7)

    async def _keep(self) -> None:
        while True:
            self._process = await asyncio.create_subprocess_exec(
                sys.executable, "-I", "-S", str(_SCRIPT), stdin=asyncio.subprocess.PIPE, start_new_session=True
            )
            for group in self._groups:
                self._tell(f"+{group}")
            await self._process.wait()
            await asyncio.sleep(1)

    def _tell(self, line: str) -> None:
        if self._process and self._process.stdin and self._process.returncode is None:
            self._process.stdin.write(f"{line}\n".encode())
