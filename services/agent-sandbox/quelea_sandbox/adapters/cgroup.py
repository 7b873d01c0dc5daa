"""What the kernel has counted for a container, from its control group's files."""

from __future__ import annotations

import contextlib
from dataclasses import dataclass
from pathlib import Path

from quelea_sandbox.adapters.backend import Stats

_ROOT = Path("/sys/fs/cgroup")
_PROC = Path("/proc")


@dataclass(frozen=True, slots=True)
class Cgroup:
    """The files of one container.

    Args:
        cpu: cpuacct.usage (nanoseconds, version 1) or cpu.stat (microseconds, version 2).
        memory: The highest use so far, in bytes.
    """

    cpu: Path
    memory: Path

    def read(self) -> Stats | None:
        """What it has used; None when the container has ended."""
        try:
            text = self.cpu.read_text()
            peak = int(self.memory.read_text())
        except (OSError, ValueError):
            return None
        if self.cpu.name == "cpu.stat":
            return Stats(int(dict(line.split() for line in text.splitlines())["usage_usec"]) / 1e6, peak)
        return Stats(int(text) / 1e9, peak)


def find_cgroup(process: int, container: str, *, proc: Path = _PROC, root: Path = _ROOT) -> Cgroup | None:
    """The control group of a container's first process; None when this process does not see it.

    Args:
        process: Its number, as the engine has it.
        container: The engine's id of the container, which must be in the group's name: in another process namespace
            the number means another process.
        proc: Where processes are listed.
        root: Where control groups are mounted.
    """
    places: dict[str, str] = {}
    with contextlib.suppress(OSError):
        for line in (proc / str(process) / "cgroup").read_text().splitlines():
            _, names, path = line.split(":", 2)
            if container in path:
                places.update(dict.fromkeys(names.split(","), path.lstrip("/")))
    found: Cgroup | None = None
    if "memory" in places and "cpuacct" in places:
        cpu = root / "cpuacct" / places["cpuacct"]
        if not cpu.is_dir():
            cpu = root / "cpu,cpuacct" / places["cpuacct"]
        found = Cgroup(cpu / "cpuacct.usage", root / "memory" / places["memory"] / "memory.max_usage_in_bytes")
    elif "" in places:
        found = Cgroup(root / places[""] / "cpu.stat", root / places[""] / "memory.peak")
    return found if found and found.read() else None
