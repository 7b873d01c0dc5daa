"""The allow-list of system calls for pods: as the filter that a pod's first process gives to itself, and for the nodes.

`python -m quelea_sandbox.seccomp > sandbox.json` prints it for the nodes. It is that of Docker's containers
(seccomp.json) with two things more. A pod reaches the market-data door over TCP, so it may make TCP sockets; where they
lead is the NetworkPolicy's. And its first process takes limits that a pod's spec has no field for, the one on core
dumps among them. Put it below the kubelet's folder (/var/lib/kubelet/seccomp) and name it in
QUELEA_SANDBOX_POD_SECCOMP; then it holds for the first process as well.
"""

from __future__ import annotations

import functools
import json
import socket
import sys
from pathlib import Path
from typing import Any

from quelea_sandbox.core.bpf import compile_profile

_HERE = Path(__file__).parent
_TYPES = 0xF
"""Bits of socket()'s second argument that say the type; the others are SOCK_NONBLOCK and SOCK_CLOEXEC."""

_RLIMIT_CORE = 4


def profile_for_pods() -> dict[str, Any]:
    """The profile for the nodes."""
    profile = _profile()
    profile["syscalls"] += _tcp()
    core = {"index": 1, "value": _RLIMIT_CORE, "op": "SCMP_CMP_EQ"}
    profile["syscalls"].append(
        {"names": ["prlimit64"], "action": "SCMP_ACT_ALLOW", "comment": "RLIMIT_CORE", "args": [core]}
    )
    return profile


@functools.cache
def filter_for_pods(*, tcp: bool) -> bytes:
    """The filter that a pod gives to itself when its limits are set, for x86-64. TCP: for the market-data door."""
    profile = _profile()
    profile["syscalls"] += _tcp() if tcp else []
    return compile_profile(profile, json.loads((_HERE / "syscalls_x86_64.json").read_text(encoding="utf-8")))


def _profile() -> dict[str, Any]:
    profile: dict[str, Any] = json.loads((_HERE / "seccomp.json").read_text(encoding="utf-8"))
    return profile


def _tcp() -> list[dict[str, Any]]:
    return [
        {
            "names": ["socket"],
            "action": "SCMP_ACT_ALLOW",
            "comment": "TCP: the market-data door",
            "args": [
                {"index": 0, "value": int(family), "op": "SCMP_CMP_EQ"},
                {"index": 1, "value": _TYPES, "valueTwo": int(socket.SOCK_STREAM), "op": "SCMP_CMP_MASKED_EQ"},
            ],
        }
        for family in (socket.AF_INET, socket.AF_INET6)
    ]


if __name__ == "__main__":
    json.dump(profile_for_pods(), sys.stdout, indent=1)
