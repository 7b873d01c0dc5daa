"""Who holds a job or a container: a process, named so that another one can tell whether it still lives."""

from __future__ import annotations

import os
import socket
from pathlib import Path

_PROC = Path("/proc")


def this_process() -> str:
    """machine/boot/process namespace/process id/start time."""
    return f"{_place()}/{os.getpid()}/{_start_time(os.getpid())}"


def has_ended(owner: str) -> bool:
    """Whether an owner was a process of this machine and does not live any more. False when that cannot be known."""
    parts = owner.split("/")
    if len(parts) != 5:
        return False
    machine, boot, namespace, number, started = parts
    here = _place().split("/")
    if machine != here[0]:
        return False
    if boot != here[1]:
        return True  # nothing of the boot before can live
    return namespace == here[2] and number.isdigit() and _start_time(int(number)) != started


def pid_of(owner: str) -> int:
    """The process id of an owner in this process's namespace; 0 for any other."""
    place, _, number = owner.rpartition("/")[0].rpartition("/")
    return int(number) if place == _place() and number.isdigit() else 0


def _place() -> str:
    # Containers on one machine have process ids of their own, so the process namespace is part of the name.
    if not (_PROC / "self/ns/pid").exists():
        return f"{socket.gethostname()}//"
    boot = (_PROC / "sys/kernel/random/boot_id").read_text().strip()
    namespace = (_PROC / "self/ns/pid").readlink().name.strip("pid:[]")
    return f"{socket.gethostname()}/{boot}/{namespace}"


def _start_time(number: int) -> str:
    """Start time of a living process ("" when there is none), so that a reused process id is not taken for it."""
    if not (_PROC / "self/stat").exists():  # no /proc (macOS): alive or not is all that can be known
        try:
            os.kill(number, 0)
        except ProcessLookupError:
            return ""
        except PermissionError:
            return "alive"
        return "alive"
    try:
        # The name is in brackets and may hold anything; state and the rest follow the last bracket.
        fields = (_PROC / str(number) / "stat").read_text().rpartition(")")[2].split()
    except OSError:
        return ""
    return "" if fields[0] in "ZX" else fields[19]
