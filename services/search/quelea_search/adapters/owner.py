"""Which process works on a job, and whether it is gone: a crash on this machine is seen before the lease is over."""

from __future__ import annotations

import os
import socket
from pathlib import Path


def me() -> str:
    """This process: machine and process space, process id, start time."""
    return f"{_space()}|{os.getpid()}|{_start_time(os.getpid())}"


def has_ended(owner: str) -> bool:
    """True when the process has surely ended; False when it lives, or is on another machine and cannot be known."""
    try:
        space, pid, started = owner.split("|")
        number = int(pid)
    except ValueError:
        return False
    return space == _space() and _start_time(number) != started


def pid_of(owner: str) -> int:
    """The process id of an owner in this process's space; 0 for any other."""
    space, _, rest = owner.partition("|")
    pid = rest.partition("|")[0]
    return int(pid) if space == _space() and pid.isdigit() else 0


def _space() -> str:
    # Containers on one machine have process ids of their own, so the process namespace is part of the name.
    namespace = Path("/proc/self/ns/pid")
    return f"{socket.gethostname()}:{namespace.readlink() if namespace.exists() else ''}"


def _start_time(pid: int) -> str:
    """Start time of a living process ("" when there is none), so that a reused process id is not taken for it."""
    stat = Path(f"/proc/{pid}/stat")
    if not Path("/proc/self/stat").exists():  # no /proc (macOS): alive or not is all that can be known
        try:
            os.kill(pid, 0)
        except ProcessLookupError:
            return ""
        except PermissionError:
            return "alive"
        return "alive"
    try:
        # The name is in brackets and may hold anything; state and the rest follow the last bracket.
        fields = stat.read_text().rpartition(")")[2].split()
    except OSError:
        return ""
    return "" if fields[0] in "ZX" else fields[19]
