"""`make load`: the gateway alone under load, its services replaced by mocks with set delays (mocks.py).

Prints one JSON line per step: users, answers a second, milliseconds added to the ideal, refusals, memory.
"""

from __future__ import annotations

import argparse
import contextlib
import csv
import json
import os
import signal
import subprocess
import sys
import tempfile
import time
import urllib.error
import urllib.request
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from quelea_kit.testing import free_port

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


def until(ready: Any, what: str, log: Path) -> Any:
    """The first truthy answer of `ready`, asked for at most a minute."""
    end = time.monotonic() + START_SECONDS
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
    """MiB that a process holds."""
    for line in Path(f"/proc/{pid}/status").read_text(encoding="ascii").splitlines():
        if line.startswith("VmRSS:"):
            return int(line.split()[1]) / 1024
    return 0.0


def busy(pid: int) -> float:
    """Seconds of processor time that a process has used."""
    fields = Path(f"/proc/{pid}/stat").read_text(encoding="ascii").rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def step(
    users: int, seconds: float, urls: list[str], ideal: float, pids: dict[str, int], folder: Path
) -> dict[str, Any]:
    """So many users for so long; what Locust and /proc say of it."""
    prefix = folder / f"users-{users}-{time.monotonic_ns()}"
    command = [sys.executable, "-m", "locust", "-f", str(HERE / "locustfile.py"), "--headless", "--only-summary"]
    command += ["-u", str(users), "-r", str(users), "-t", f"{seconds:.0f}s", "--csv", str(prefix), "--reset-stats"]
    before = {name: (memory(pid), busy(pid)) for name, pid in pids.items()}
    started = time.monotonic()
    environment = {"QUELEA_LOAD_URLS": ",".join(urls), "QUELEA_LOAD_IDEAL": str(ideal)}
    with (folder / "locust.log").open("ab") as log:
        subprocess.run(
            command, env={**os.environ, **environment}, stdout=log, stderr=log, check=True, timeout=seconds + 120
        )
    took = time.monotonic() - started
    with Path(f"{prefix}_stats.csv").open(encoding="utf-8", newline="") as file:
        rows = {row["Name"]: row for row in csv.DictReader(file)}

    def of(name: str, column: str) -> float:
        return float(rows[name][column]) if name in rows and rows[name][column] != "N/A" else 0.0

    return {
        "users": users,
        "answers_per_second": round(of("answer", "Requests/s"), 1),
        "added_p50_ms": of("added", "50%"),
        "added_p95_ms": of("added", "95%"),
        "first_token_p50_ms": of("first token", "50%"),
        "answer_p50_ms": of("answer", "50%"),
        "ideal_ms": ideal,
        "refused_429": int(of("429", "Request Count")),
        "refused_p95_ms": of("429", "95%"),
        "failures": int(of("http", "Failure Count")),
        "cores": {name: round((busy(pid) - before[name][1]) / took, 2) for name, pid in pids.items()},
        "memory_mib": {name: [round(before[name][0], 1), round(memory(pid), 1)] for name, pid in pids.items()},
    }


def main() -> None:
    """Start mocks and gateways, run the steps, print them."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--users", default="20,60,120", help="steps, separated by commas")
    parser.add_argument("--seconds", type=float, default=20.0, help="of each step")
    parser.add_argument("--gateways", type=int, default=1, help="replicas; users are spread over them")
    parser.add_argument("--calls", type=int, default=100_000, help="calls at once that a gateway takes from one key")
    parser.add_argument("--retrieve-ms", type=float, default=30.0)
    parser.add_argument("--first-token-ms", type=float, default=100.0)
    parser.add_argument("--token-ms", type=float, default=10.0)
    parser.add_argument("--tokens", type=int, default=20)
    parser.add_argument(
        "--reader", default="extractive", help="extractive: its figures stand in its quotes; openai: all are checked"
    )
    parser.add_argument("--keep", type=Path, help="folder for logs and Locust's tables")
    given = parser.parse_args()
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(1))  # so that what was started is ended
    ideal = given.retrieve_ms + given.first_token_ms + (given.tokens - 1) * given.token_ms
    with contextlib.ExitStack() as stack:
        folder = given.keep or Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="quelea-load-")))
        folder.mkdir(parents=True, exist_ok=True)
        log, port_file = folder / "log", folder / "mocks.json"
        delays = [
            str(given.retrieve_ms),
            str(given.first_token_ms),
            str(given.token_ms),
            str(given.tokens),
            given.reader,
        ]
        mocks = stack.enter_context(process([sys.executable, str(HERE / "mocks.py"), str(port_file), *delays], log))
        at = f"127.0.0.1:{until(lambda: json.loads(port_file.read_text())['port'], 'mocks.py', log)}"
        pids, urls = {"mocks": mocks.pid}, []
        for number in range(given.gateways):
            port = free_port()
            settings = dict.fromkeys(("RETRIEVER", "SEARCH", "GENERATOR"), at)
            settings |= {"AUTH": "off", "HTTP_LISTEN": f"127.0.0.1:{port}", "LOG_LEVEL": "warning"}
            settings |= {"MAX_CALLS_PER_KEY": str(given.calls), "CALLS_PER_MINUTE_PER_KEY": "100000000"}
            named = {f"QUELEA_GATEWAY_{name}": value for name, value in settings.items()}
            gateway = stack.enter_context(process([sys.executable, "-m", "quelea_gateway"], log, **named))
            urls.append(f"http://127.0.0.1:{port}")
            pids[f"gateway-{number}"] = gateway.pid
            until(lambda: get(f"{urls[-1]}/readyz"), "the gateway", log)
        step(4, 3, urls, ideal, pids, folder)  # warm
        for users in (int(part) for part in given.users.split(",")):
            print(json.dumps(step(users, given.seconds, urls, ideal, pids, folder)), flush=True)


if __name__ == "__main__":
    main()
