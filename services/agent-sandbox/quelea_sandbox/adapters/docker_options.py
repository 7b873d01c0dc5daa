"""What a container may do, as options of Docker's Engine API."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import docker

from quelea_sandbox.core.model import MARKET_SOCKET, Shape
from quelea_sandbox.settings import SandboxSettings

COMMAND = ["python", "-I", "-B", "-u", "/opt/quelea/guest.py"]
_SHM_BYTES = 16 << 20

OWNER = "quelea.sandbox.owner"
"""The label that names who made a container."""


_ENFORCED = {
    "MemoryLimit": "memory",
    "SwapLimit": "swap",
    "CpuCfsQuota": "processors",
    "PidsLimit": "processes",
}
"""What the engine must say of itself, and what else is not limited."""


def seccomp_profile(settings: SandboxSettings) -> str:
    """The JSON text of the allow-list of system calls: the engine wants the text, not a path.

    Raises:
        OSError: The file cannot be read.
    """
    path = settings.seccomp or Path(__file__).parents[1] / "seccomp.json"
    text = path.read_text(encoding="utf-8")
    if settings.seccomp or not _is_gvisor(settings.runtime):
        return text
    # gVisor answers EPERM whatever errnoRet says, so libc would not fall back to clone and no thread would start.
    profile = json.loads(text)
    for rule in profile["syscalls"]:
        if rule["names"] == ["clone3"]:
            rule["action"] = "SCMP_ACT_ALLOW"
            del rule["errnoRet"]
    return json.dumps(profile)


def engine_fault(info: Mapping[str, Any], runtime: str) -> str:
    """Why an engine cannot hold the code that runs in it; empty when it can.

    Args:
        info: What it says of itself (`docker info`).
        runtime: The one that containers are to run in; empty: its default.
    """
    missing = [what for key, what in _ENFORCED.items() if not info.get(key)]
    if missing:
        hint = (
            "a rootless engine needs cgroup v2 with its controllers delegated"
            if any("rootless" in option for option in info.get("SecurityOptions") or ())
            else "boot with cgroup v2, or with cgroup_enable=memory swapaccount=1"
        )
        return f"the engine does not limit {', '.join(missing)}, so nothing runs in it: {hint}, or use another engine"
    if not any("seccomp" in option for option in info.get("SecurityOptions") or ()):
        return "the engine has no seccomp, so nothing runs in it: system calls would not be filtered"
    known = info.get("Runtimes") or {}
    if runtime and runtime not in known:
        return f"the engine has no runtime {runtime}, only {', '.join(sorted(known))}: add it to its daemon.json"
    if "--ignore-cgroups" in (known.get(runtime, {}).get("runtimeArgs") or ()):
        return f"the runtime {runtime} has --ignore-cgroups, so nothing runs in it: memory would not be limited"
    return ""


def _is_gvisor(runtime: str) -> bool:
    return "runsc" in runtime or "gvisor" in runtime


def create_options(
    api: docker.APIClient, settings: SandboxSettings, shape: Shape, *, image: str, owner: str, seccomp: str
) -> dict[str, Any]:
    """Arguments for `APIClient.create_container`."""
    tmpfs = "rw,nosuid,nodev,noexec"
    uid = settings.user.split(":")[0]
    mine = f",uid={uid}" if uid.isdigit() else ""
    mounts = []
    if shape.market:
        mounts.append(
            docker.types.Mount(
                target=str(Path(MARKET_SOCKET).parent),
                source=str(settings.market_socket_dir),
                type="bind",
                read_only=True,
            )
        )
    host = api.create_host_config(
        mem_limit=shape.memory_bytes,
        memswap_limit=shape.memory_bytes,  # together, so none of it is swap
        nano_cpus=int(shape.cpus * 1e9),
        pids_limit=shape.pids,
        tmpfs={
            # All are charged to the container's memory. Not executable: what is written cannot be run by the kernel.
            "/work": f"{tmpfs},size={settings.work_bytes},nr_inodes={settings.work_inodes},mode=0700{mine}",
            "/tmp": f"{tmpfs},size={settings.tmp_bytes},nr_inodes={settings.tmp_inodes},mode=1777",  # noqa: S108  # inside the container
            # Semaphores of multiprocessing; without an IPC namespace the engine makes none.
            "/dev/shm": f"{tmpfs},size={_SHM_BYTES},nr_inodes=256,mode=1777",  # noqa: S108  # the same
        },
        ulimits=[
            docker.types.Ulimit(name="nofile", soft=settings.open_files, hard=settings.open_files),
            docker.types.Ulimit(name="fsize", soft=settings.file_bytes, hard=settings.file_bytes),
            # One byte: too little for a dump in a file, and the kernel's word for "no pipe" where core_pattern names a
            # program of the host. 0 would still start that program. The filter keeps it from being changed.
            docker.types.Ulimit(name="core", soft=1, hard=1),
        ],
        read_only=True,
        cap_drop=["ALL"],
        security_opt=["no-new-privileges", f"seccomp={seccomp}"],
        ipc_mode="none",
        network_mode="none",
        log_config=docker.types.LogConfig(type="none"),
        init=False,
        oom_score_adj=500,  # when the machine itself runs out, this goes before anything of ours
        runtime=settings.runtime or None,
        mounts=mounts,
    )
    threads = str(max(1, math.ceil(shape.cpus)))
    return {
        "image": image,
        "command": COMMAND,
        "entrypoint": [],
        "hostname": "sandbox",
        "user": settings.user,
        "working_dir": "/work",
        "stdin_open": True,
        "detach": False,
        "tty": False,
        "use_config_proxy": False,  # the client's proxy settings may hold passwords
        "labels": {OWNER: owner},
        "environment": {
            "QUELEA_PRELOAD": settings.preload,
            "HOME": "/tmp",  # noqa: S108  # inside the container
            "OMP_NUM_THREADS": threads,
            "OPENBLAS_NUM_THREADS": threads,
        },
        "host_config": host,
    }
