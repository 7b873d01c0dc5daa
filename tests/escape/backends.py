"""What the suite runs on, where that answers an attack otherwise than a plain engine, and what was seen there."""

from __future__ import annotations

import contextlib
import json
import os
from collections.abc import AsyncIterator
from pathlib import Path

from support.fake_cluster import FakeCluster
from support.fake_kubelet import LABEL
from support.sandbox import SandboxClient, docker_sandbox, engine_api, pod_sandbox

VERDICTS = Path(__file__).with_name("verdicts.json")
"""Backend -> attacks that it has held, as the suite itself has written it."""

BACKENDS = {"docker": "Docker", "userns": "userns-remap", "gvisor": "gVisor", "pods": "pods, fake API server"}
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
    "pods": {
        "all-inodes": "an emptyDir in memory has no limit of inodes; memory is their bound",
        "who-it-is": "a user and a group of the pod's own, not 65534; all else is the same",
        "execute-otherwise": "an emptyDir is not noexec: what is written runs, and its calls meet the same filter",
        "hooks-for-the-next-step": "an emptyDir is not noexec: a library that it wrote is loaded by its children",
    },
}
"""Attacks that end otherwise inside: there only what is seen from outside is asserted, and this is said of it."""


def backend() -> str:
    """Which of them these tests run on: QUELEA_ESCAPE_BACKEND=pods, or whatever the engine is."""
    if os.environ.get("QUELEA_ESCAPE_BACKEND") == "pods":
        return "pods"
    if "runsc" in os.environ.get("QUELEA_SANDBOX_RUNTIME", ""):
        return "gvisor"
    api = engine_api()
    try:
        options = api.info().get("SecurityOptions") or []
    finally:
        api.close()
    return "userns" if "name=userns" in options else "docker"


@contextlib.asynccontextmanager
async def service(owner: str, **fields: object) -> AsyncIterator[tuple[SandboxClient, str]]:
    """A service on this backend, and the label of its containers on the engine."""
    if backend() != "pods":
        async with docker_sandbox(owner=owner, **fields) as client:
            yield client, f"quelea.sandbox.owner={owner}"
        return
    cluster = FakeCluster()
    await cluster.start()
    try:
        async with pod_sandbox(cluster, owner=owner, **fields) as client:
            yield client, f"{LABEL}={cluster.name}"
    finally:
        await cluster.close()


def record(name: str, tried: set[str], held: set[str]) -> None:
    """Write what a backend has held of what was tried; of the rest it stays as it was."""
    known = verdicts()
    known[name] = sorted(set(known.get(name, ())) - tried | held)
    VERDICTS.write_text(json.dumps(known, indent=1, sort_keys=True) + "\n", encoding="utf-8")


def verdicts() -> dict[str, list[str]]:
    """What was recorded."""
    return json.loads(VERDICTS.read_text(encoding="utf-8")) if VERDICTS.exists() else {}
