"""Processes that a load test starts, and what they used of the machine."""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
import time
import urllib.request
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import psutil

HERE = Path(__file__).parent
START_SECONDS = 60.0


@contextlib.contextmanager
def process(command: list[str], log: Path, **environment: str) -> Iterator[subprocess.Popen[bytes]]:
    """A process of ours until the block ends."""
    with log.open("ab") as output:
        running = subprocess.Popen(command, env={**os.environ, **environment}, stdout=output, stderr=output)
    try:
        yield running
    finally:
        running.send_signal(signal.SIGTERM)
        try:
            running.wait(20)
        except subprocess.TimeoutExpired:
            running.kill()
            running.wait(20)


def until(ready: Any, what: str, log: Path, *, seconds: float = START_SECONDS) -> Any:
    """The first truthy answer of `ready`, asked for so long."""
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        with contextlib.suppress(OSError, ValueError):
            if answer := ready():
                return answer
        time.sleep(0.1)
    raise SystemExit(f"{what} did not start: {log.read_text(errors='replace')[-2000:]}")


def get(url: str) -> bool:
    """Whether a GET answers 200."""
    with urllib.request.urlopen(url, timeout=5) as reply:  # noqa: S310  # loopback
        return bool(reply.status == 200)


def memory(pid: int) -> float:
    """MiB that a process holds, without those that it started."""
    return float(psutil.Process(pid).memory_info().rss) / 2**20


def busy(pid: int) -> float:
    """Seconds of processor time that a process has used, and those that it started, ended ones among them."""
    own = psutil.Process(pid)
    total = 0.0
    for one in [own, *own.children(recursive=True)]:
        with contextlib.suppress(psutil.NoSuchProcess):
            times = one.cpu_times()
            total += times.user + times.system + times.children_user + times.children_system
    return total
