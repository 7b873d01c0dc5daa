"""A stack on a slow disk: python tests/load/slow_disk.py FOLDER [--bytes N] [--operations N] [--seconds N]

The home is an ext4 without a journal on a loop device, whose reads and writes the kernel holds back for every process
of the stack (cgroup v1, blkio.throttle: what a process has written is counted to it when it calls fsync). Needs root.
It prints what questions, uploads and /readyz did while the disk was slow, and whether all is well afterwards.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path

import httpx2

sys.path.insert(0, str(Path(__file__).parents[1]))
from support.stack import REPOSITORY, Stack  # the tests' own packages are found once their folder is on the path

GROUP = Path("/sys/fs/cgroup/blkio/quelea-slow-disk")
FILINGS = sorted((REPOSITORY / "samples/filings").glob("*.pdf"))
QUESTION = "What were Apple's total net sales in the third quarter of fiscal 2023?"


@dataclass
class Calls:
    """What calls of one kind came to."""

    outcomes: Counter[str] = field(default_factory=Counter)
    slowest: float = 0.0
    reasons: set[str] = field(default_factory=set)

    def made(self, outcome: str, seconds: float, reason: str = "") -> None:
        """Another one."""
        self.outcomes[outcome] += 1
        self.slowest = max(self.slowest, seconds)
        if reason:
            self.reasons.add(reason[:160])


def run(*command: str) -> str:
    """A command's output."""
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout.strip()  # ours


@contextmanager
def slow_device(folder: Path, megabytes: int) -> Iterator[tuple[Path, str]]:
    """A mounted file system, and its device's number."""
    image, mount = folder / "disk.img", folder / "disk"
    mount.mkdir(parents=True)
    run("truncate", "-s", f"{megabytes}M", str(image))
    run("mkfs.ext4", "-q", "-F", "-O", "^has_journal", str(image))
    device = run("losetup", "-f", "--show", str(image))
    try:
        run("mount", device, str(mount))
        yield mount, run("lsblk", "-no", "MAJ:MIN", device)
    finally:
        run("umount", "-l", str(mount))
        run("losetup", "-d", device)


def throttle(device: str, bytes_a_second: int, operations: int) -> None:
    """Hold back what the group's processes read and write; 0 lifts it."""
    for what, value in (("bps", bytes_a_second), ("iops", operations)):
        for way in ("read", "write"):
            (GROUP / f"blkio.throttle.{way}_{what}_device").write_text(f"{device} {value}")


def join(pid: int) -> None:
    """A process and all that it has started."""
    for child in run("ps", "-eo", "pid=,ppid=").splitlines():
        one, parent = map(int, child.split())
        if parent == pid:
            join(one)
    (GROUP / "cgroup.procs").write_text(str(pid))


def ask(stack: Stack, client: httpx2.Client) -> tuple[str, str]:
    answer = client.post(f"{stack.url}/v1/ask", json={"question": QUESTION})
    right = answer.status_code == 200 and "81,797" in answer.text
    return (str(answer.status_code) if right or answer.status_code != 200 else "200, declined"), (
        "" if right else answer.text
    )


def ready(stack: Stack, client: httpx2.Client) -> tuple[str, str]:
    answer = client.get(f"{stack.url}/readyz")
    return str(answer.status_code), "" if answer.status_code == 200 else answer.text


def upload(stack: Stack, client: httpx2.Client, taken: list[str]) -> tuple[str, str]:
    text = f"Net sales of {time.monotonic_ns()} Corp were 12 million dollars in 2023.\n" * 20
    answer = client.post(f"{stack.url}/v1/documents", files=[("files", (f"{time.monotonic_ns()}.txt", text.encode()))])
    if answer.status_code != 202:
        return str(answer.status_code), answer.text
    taken.append(answer.json()["jobs"][0]["id"])
    return "202", ""


def take_in(stack: Stack, jobs: list[str]) -> None:
    """Upload the filings, one after the other."""
    for path in FILINGS[1:4]:
        began = time.monotonic()
        answer = stack.http.post("/v1/documents", files=[("files", (path.name, path.read_bytes()))])
        jobs += [job["id"] for job in answer.json().get("jobs", [])]
        print(
            f"{path.name}: {answer.status_code} after {time.monotonic() - began:.0f} s", answer.text[:200], flush=True
        )


def repeat(stack: Stack, call: Callable[[Stack, httpx2.Client], tuple[str, str]], calls: Calls, end: float) -> None:
    """Until the end, with a pause of half a second."""
    with httpx2.Client(timeout=120, trust_env=False) as client:
        while time.monotonic() < end:
            began = time.monotonic()
            try:
                outcome, reason = call(stack, client)
            except httpx2.HTTPError as error:
                outcome, reason = type(error).__name__, str(error)
            calls.made(outcome, time.monotonic() - began, reason)
            time.sleep(0.5)


def main() -> None:
    """Try, and print."""
    arguments = argparse.ArgumentParser(description=__doc__)
    arguments.add_argument("folder", type=Path)
    arguments.add_argument("--bytes", type=int, default=256 * 1024, help="a second")
    arguments.add_argument("--operations", type=int, default=20, help="a second")
    arguments.add_argument("--seconds", type=float, default=90)
    given = arguments.parse_args()
    GROUP.mkdir(exist_ok=True)
    with slow_device(given.folder, 4000) as (mount, device):
        began = time.monotonic()
        stack = Stack(mount / "home")
        try:
            print(f"up after {time.monotonic() - began:.0f} s", flush=True)
            first = stack.ingest((FILINGS[0].name, FILINGS[0].read_bytes()), ("q3.pdf", _named("2023 Q3 AAPL")))
            assert [job["state"] for job in first] == ["succeeded", "succeeded"], first
            join(stack.process.pid)
            throttle(device, given.bytes, given.operations)
            print(f"slow: {given.bytes:,} bytes and {given.operations} operations a second", flush=True)
            jobs: list[str] = []
            stack.http.timeout = 900
            pids = stack.pids
            taken: list[str] = []
            end = time.monotonic() + given.seconds
            kinds = {"ask": ask, "readyz": ready, "upload": partial(upload, taken=taken)}
            made = {name: Calls() for name in kinds}
            threads = [
                threading.Thread(target=repeat, args=(stack, call, made[name], end)) for name, call in kinds.items()
            ]
            threads.append(threading.Thread(target=take_in, args=(stack, jobs)))
            for thread in threads:
                thread.start()
            for thread in threads:
                thread.join()
            for name, calls in made.items():
                print(name, dict(calls.outcomes), f"slowest {calls.slowest:.1f} s", *sorted(calls.reasons), sep="\n  ")
            restarted = [name for name, pid in stack.pids.items() if pids.get(name) != pid]
            print(f"restarted: {restarted or 'none'}", flush=True)
            for service in ("retriever", "redis"):
                began, old = time.monotonic(), stack.kill(service)
                stack.wait_until(lambda s=service, o=old: stack.is_back(s, o), 300, f"{service} is back")
                print(f"{service} killed: back after {time.monotonic() - began:.0f} s", flush=True)
            began = time.monotonic()
            throttle(device, 0, 0)
            ended = Counter(stack.ended(job)["state"] for job in [*jobs, *taken])
            stack.wait_until(lambda: stack.http.get("/readyz").status_code == 200, 120, "ready again")
            print(
                f"quick again: {len(jobs)} filings and {len(taken)} texts after {time.monotonic() - began:.0f} s:",
                ended,
            )
        finally:
            throttle(device, 0, 0)
            stack.stop()
            with suppress(OSError):  # somebody else's process is in it
                GROUP.rmdir()


def _named(part: str) -> bytes:
    found = next(path for path in FILINGS if part in path.name)
    return found.read_bytes() + b"\n"


if __name__ == "__main__":
    main()
