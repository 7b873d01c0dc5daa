"""Who made a container: a process, named so that another one can tell whether it still lives."""

from __future__ import annotations

import os
import socket
from pathlib import Path

_PROC = Path("/proc")


def this_process() -> str:
    """machine/boot/process namespace/process number/start time."""
    return f"{_place()}/{os.getpid()}/{_start_time(os.getpid())}"


def is_gone(owner: str) -> bool:
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


def _place() -> str:
    boot = (_PROC / "sys/kernel/random/boot_id").read_text().strip()
    namespace = (_PROC / "self/ns/pid").readlink().name.strip("pid:[]")
    return f"{socket.gethostname()}/{boot}/{namespace}"


def _start_time(number: int) -> str:
    """The process's start time in clock ticks; empty when there is none."""
    try:
        return (_PROC / str(number) / "stat").read_text().rpartition(")")[2].split()[19]
    except (OSError, IndexError):
        return ""
