"""The whole stack under load, as `quelea up` starts it: real encoder, retriever, generator (extractive) and gateway."""

from __future__ import annotations

import contextlib
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import psutil
from processes import get, process, until
from quelea_kit.testing import free_port

SAMPLES = Path(__file__).parents[2] / "samples" / "filings"
FILING = SAMPLES / "2023 Q3 AAPL.pdf"
SERVICES = ("embedder", "retriever", "search", "generator", "gateway")
START_SECONDS = 300.0
INGEST_SECONDS = 900.0
QUESTIONS = """What were Apple's total net sales in the third quarter of fiscal 2023?
What was Apple's iPhone revenue in the third quarter of fiscal 2023?
How much did Apple spend on research and development in the third quarter of 2023?
What was Apple's diluted earnings per share in the third quarter of fiscal 2023?
What were Apple's net sales in Greater China in the third quarter of fiscal 2023?
What was the gross margin percentage of services at Apple in the third quarter of 2023?
How much cash and cash equivalents did Apple hold at July 1, 2023?
What drove the change in Apple's Mac net sales in the third quarter of 2023?"""


@contextlib.contextmanager
def stack(folder: Path) -> Iterator[tuple[str, dict[str, int]]]:
    """A stack with one filing in it: its address, and each service's process."""
    log, port = folder / "log", free_port()
    url = f"http://127.0.0.1:{port}"
    quelea = [sys.executable, "-m", "quelea_cli"]
    up = [*quelea, "up", "--home", str(folder / "home"), "--port", str(port), "--log-level", "warning"]
    with process([*up, "--start-seconds", str(START_SECONDS)], log) as running:
        until(lambda: get(f"{url}/readyz"), "the stack", log, seconds=START_SECONDS)
        with log.open("ab") as output:
            subprocess.run(
                [*quelea, "ingest", "--url", url, str(FILING)],
                stdout=output,
                stderr=output,
                check=True,
                timeout=INGEST_SECONDS,
            )
        yield url, _services(running.pid)


def _services(pid: int) -> dict[str, int]:
    """The process of each service among those below one."""
    end, found = time.monotonic() + 10, dict[str, int]()
    while time.monotonic() < end and len(found) < len(SERVICES):
        for child in psutil.Process(pid).children(recursive=True):
            with contextlib.suppress(psutil.NoSuchProcess):
                command = child.cmdline()
                name = command[2].removeprefix("quelea_") if len(command) > 2 and command[1] == "-m" else ""
                if name in SERVICES:
                    found.setdefault(name, child.pid)
    if missing := set(SERVICES) - set(found):
        raise SystemExit(f"no process of {', '.join(sorted(missing))} was found")
    return found
