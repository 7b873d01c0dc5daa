"""What the suite runs on, where that answers an attack otherwise than a plain engine, and what was seen there."""

from __future__ import annotations

import json
import os
from pathlib import Path

from support.sandbox import engine_api

VERDICTS = Path(__file__).with_name("verdicts.json")
"""Backend -> attacks that it has held, as the suite itself has written it."""

BACKENDS = {"docker": "Docker", "userns": "userns-remap", "gvisor": "gVisor"}
"""Name -> heading of its column."""

_THREADS = "gVisor's own threads count as processes: at the limit all of the run ends (DIED)"
_BOOKS = "a priority can be set, in gVisor's own books only; the quota holds"

DIFFERS: dict[str, dict[str, str]] = {
    "userns": {},
    "gvisor": {
        "fork-bomb": _THREADS,
        "thread-bomb": "threads are not counted as processes; memory is their bound",
        "zombies": "zombies are not counted as processes, or all of the run ends at the limit",
        "timers": _THREADS,
        "terminals": _THREADS,
        "kill-everybody": "it ends as if killed from outside (ENGINE)",
        "all-inodes": "inodes of a tmpfs are not counted; memory is their bound",
        "descriptors-in-flight": "not counted; memory is their bound",
        "raise-its-own-limits": _BOOKS,
        "better-scheduling": _BOOKS,
        "proc-writes": _BOOKS,
        "locked-memory": "huge pages are given, of the run's own memory",
        "who-it-is": "/proc/self/status has fewer lines; the others are the same",
        "join-a-namespace": "there are three kinds of namespaces only",
        "device-nodes": "/dev/fuse and /dev/net/tun are gVisor's own, without a way to the host",
        "hide-in-links-of-proc": "the root of a process of its own can be listed, which is its own root",
        "execute-otherwise": "noexec does not hold for mapping a file; its calls meet the same filter",
        "exit-elsewhere": "gVisor's first process ends with its thread (DIED)",
    },
}
"""Attacks that end otherwise inside: there only what is seen from outside is asserted, and this is said of it."""


def backend() -> str:
    """Which of them the engine of these tests is."""
    if "runsc" in os.environ.get("QUELEA_SANDBOX_RUNTIME", ""):
        return "gvisor"
    api = engine_api()
    try:
        options = api.info().get("SecurityOptions") or []
    finally:
        api.close()
    return "userns" if "name=userns" in options else "docker"


def record(name: str, tried: set[str], held: set[str]) -> None:
    """Write what a backend has held of what was tried; of the rest it stays as it was."""
    known = verdicts()
    known[name] = sorted(set(known.get(name, ())) - tried | held)
    VERDICTS.write_text(json.dumps(known, indent=1, sort_keys=True) + "\n", encoding="utf-8")


def verdicts() -> dict[str, list[str]]:
    """What was recorded."""
    return json.loads(VERDICTS.read_text(encoding="utf-8")) if VERDICTS.exists() else {}
