"""python -m quelea_sandbox.seccomp > sandbox.json: the allow-list of system calls for pods, to be put on the nodes.

It is that of Docker's containers (seccomp.json) with two things more. A pod reaches the market-data door over TCP, so
it may make TCP sockets; where they lead is the NetworkPolicy's. And its first process takes limits that a pod's spec
has no field for, the one on core dumps among them. Put it below the kubelet's folder (/var/lib/kubelet/seccomp) and
name it in QUELEA_SANDBOX_POD_SECCOMP.
"""

from __future__ import annotations

import json
import socket
import sys
from pathlib import Path
from typing import Any

_TYPES = 0xF
"""Bits of socket()'s second argument that say the type; the others are SOCK_NONBLOCK and SOCK_CLOEXEC."""

_RLIMIT_CORE = 4


def profile_for_pods() -> dict[str, Any]:
    """The profile."""
    profile: dict[str, Any] = json.loads((Path(__file__).parent / "seccomp.json").read_text(encoding="utf-8"))
    for family in (socket.AF_INET, socket.AF_INET6):
        profile["syscalls"].append(
            {
                "names": ["socket"],
                "action": "SCMP_ACT_ALLOW",
                "comment": "TCP: the market-data door",
                "args": [
                    {"index": 0, "value": int(family), "op": "SCMP_CMP_EQ"},
                    {"index": 1, "value": _TYPES, "valueTwo": int(socket.SOCK_STREAM), "op": "SCMP_CMP_MASKED_EQ"},
                ],
            }
        )
    core = {"index": 1, "value": _RLIMIT_CORE, "op": "SCMP_CMP_EQ"}
    profile["syscalls"].append(
        {"names": ["prlimit64"], "action": "SCMP_ACT_ALLOW", "comment": "RLIMIT_CORE", "args": [core]}
    )
    return profile


if __name__ == "__main__":
    json.dump(profile_for_pods(), sys.stdout, indent=1)
