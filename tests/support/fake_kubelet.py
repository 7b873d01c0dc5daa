"""The node of the fake cluster: every pod is a real container of the local Docker engine, with the pod's own limits.

What the pod asks for and a kubelet does not give (a number of processes, inodes, noexec, no log) is not given here
either. A field that this does not know is an error: nothing is left out in silence.
"""

from __future__ import annotations

import asyncio
import contextlib
import functools
import os
import socket
import struct
from collections.abc import Callable
from pathlib import Path
from typing import Any

import docker
from docker.errors import APIError, NotFound

Object = dict[str, Any]
LABEL = "quelea.fake-cluster"
_HEADER = struct.Struct(">BxxxL")
_SUFFIXES = {"m": 1e-3, "Ki": 1 << 10, "Mi": 1 << 20, "Gi": 1 << 30, "": 1}


def quantity(text: str) -> float:
    """`250m`, `64Mi` or `12345` as a number."""
    number = text.rstrip("mKMGi")
    return float(number) * _SUFFIXES[text[len(number) :]]


class Kubelet:
    """Runs pods.

    Args:
        told: Called with a pod's name and its status as it changes.
        cluster: A name for what is started here.
        network: Docker network of the pods that may reach the door; empty: no pod has one. It stands for the
            NetworkPolicy, which goes by the same label.
        profiles: Where Localhost seccomp profiles are.
    """

    def __init__(
        self, told: Callable[[str, Object], None], cluster: str, *, network: str = "", profiles: Path | None = None
    ) -> None:
        self._told = told
        self._cluster = cluster
        self._network = network
        self._profiles = profiles
        self._ids: dict[str, str] = {}
        self._stderrs: dict[str, str] = {}
        self._tasks: set[asyncio.Task[None]] = set()
        self.stuck: dict[str, str] = {}
        """Pods whose name begins so wait, for this reason."""

        self.broken = ""
        """Why no container starts; empty: they do."""

    @functools.cached_property
    def _api(self) -> docker.APIClient:
        return docker.APIClient(timeout=30)

    def options(self, pod: Object) -> Object:
        """Arguments for Docker that give a pod what it asks for, and no more."""
        spec = dict(pod["spec"])
        (container,) = [dict(one) for one in spec.pop("containers")]
        volumes = {one["name"]: one["emptyDir"] for one in spec.pop("volumes")}
        assert all(one["medium"] == "Memory" for one in volumes.values())
        inside, limits = container.pop("securityContext"), container.pop("resources")["limits"]
        assert inside["privileged"] is False
        security = ["no-new-privileges"] if inside["allowPrivilegeEscalation"] is False else []
        seccomp = inside["seccompProfile"]
        if seccomp["type"] == "Localhost":
            assert self._profiles is not None, "no profiles on this node"
            security.append(f"seccomp={(self._profiles / seccomp['localhostProfile']).read_text()}")
        market = pod["metadata"]["labels"]["quelea.io/market-data"] == "allowed"
        # As a kubelet adds them, whatever enableServiceLinks says.
        environment = ["KUBERNETES_SERVICE_HOST=10.96.0.1", "KUBERNETES_SERVICE_PORT=443"]
        # An emptyDir is anybody's; of a tmpfs over a folder that is there, runc takes that folder's mode.
        mine = f"uid={inside['runAsUser']},gid={inside['runAsGroup']}"
        host = self._api.create_host_config(
            mem_limit=int(quantity(limits["memory"])),
            memswap_limit=int(quantity(limits["memory"])),
            nano_cpus=int(quantity(limits["cpu"]) * 1e9),
            tmpfs={
                one["mountPath"]: f"rw,exec,{mine},size={int(quantity(volumes[one['name']]['sizeLimit']))}"
                for one in container.pop("volumeMounts")
            },
            read_only=inside["readOnlyRootFilesystem"],
            cap_drop=inside["capabilities"]["drop"],
            security_opt=security,
            network_mode=self._network if market and self._network else "none",
            dns=spec.pop("dnsConfig")["nameservers"],
            log_config=docker.types.LogConfig(type="none"),
            init=False,
        )
        made = {
            "image": container.pop("image"),
            "command": container.pop("command"),
            "entrypoint": [],
            "working_dir": container.pop("workingDir"),
            "stdin_open": container.pop("stdin"),
            "user": f"{inside['runAsUser']}:{inside['runAsGroup']}",
            "hostname": spec.pop("hostname"),
            "environment": environment + [f"{one['name']}={one['value']}" for one in container.pop("env")],
            "labels": {LABEL: self._cluster},
            "host_config": host,
        }
        known = {"name", "imagePullPolicy", "stdinOnce", "tty"}
        assert set(container) <= known, f"the fake kubelet does not know {set(container) - known}"
        assert container["stdinOnce"] and not container["tty"]
        known = {
            "restartPolicy",
            "automountServiceAccountToken",
            "enableServiceLinks",
            "hostNetwork",
            "hostPID",
            "hostIPC",
            "dnsPolicy",
            "terminationGracePeriodSeconds",
            "activeDeadlineSeconds",
            "securityContext",
            "runtimeClassName",
            "nodeSelector",
            "tolerations",
        }
        assert set(spec) <= known, f"the fake kubelet does not know {set(spec) - known}"
        assert not (spec["automountServiceAccountToken"] or spec["hostNetwork"] or spec["hostPID"] or spec["hostIPC"])
        return made

    def run(self, pod: Object) -> None:
        """Begin; the status tells the rest."""
        self._spawn(self._run(pod))

    async def _run(self, pod: Object) -> None:
        name = pod["metadata"]["name"]
        if reason := next((why for prefix, why in self.stuck.items() if name.startswith(prefix)), self.broken):
            self._told(
                name, self._status(pod, "Pending", {"waiting": {"reason": reason, "message": "as the test says"}})
            )
            return
        self._told(name, self._status(pod, "Pending", {"waiting": {"reason": "ContainerCreating"}}))
        try:
            made = await asyncio.to_thread(lambda: self._api.create_container(**self.options(pod)))
            self._ids[name] = made["Id"]
            await asyncio.to_thread(self._api.start, made["Id"])
        except APIError as error:
            waiting = {"reason": "CreateContainerError", "message": str(error.explanation)}
            self._told(name, self._status(pod, "Pending", {"waiting": waiting}))
            return
        self._told(name, self._status(pod, "Running", {"running": {"startedAt": "2026-01-01T00:00:00Z"}}))
        while True:
            await asyncio.sleep(0.05)
            try:
                state = (await asyncio.to_thread(self._api.inspect_container, made["Id"]))["State"]
            except NotFound:
                return
            if not state["Running"]:
                break
        await asyncio.sleep(0.3)  # a kubelet reports a moment later
        code, killed = int(state["ExitCode"]), bool(state["OOMKilled"])
        reason = "OOMKilled" if killed else "Error" if code else "Completed"
        ended = {"terminated": {"exitCode": code, "reason": reason}}
        self._told(name, self._status(pod, "Failed" if code else "Succeeded", ended))

    @staticmethod
    def _status(pod: Object, phase: str, state: Object) -> Object:
        waits = state.get("waiting", {}).get("reason") == "Unschedulable"
        if waits:
            condition = {"type": "PodScheduled", "status": "False", "reason": "Unschedulable"}
            return {"phase": phase, "conditions": [{**condition, "message": "0/1 nodes are available"}]}
        container = {"name": pod["spec"]["containers"][0]["name"], "state": state}
        return {"phase": phase, "containerStatuses": [container]}

    def attach(self, name: str) -> socket.socket:
        """stdin, stdout and stderr of a running container, from now on."""
        raw = self._api.attach_socket(self._ids[name], params={"stdin": 1, "stdout": 1, "stderr": 1, "stream": 1})
        try:
            attached = socket.socket(fileno=os.dup(raw.fileno()))
        finally:
            raw.close()
        attached.setblocking(False)
        return attached

    async def stderr_ended(self, name: str) -> None:
        """Returns when no process of the container has its original stderr any more.

        A node's containerd takes that for the end of what is attached and closes stdin; Docker does not. So whoever
        attaches must do it.
        """
        first = (await asyncio.to_thread(self._api.inspect_container, self._ids[name]))["State"]["Pid"]
        original, space = self._stderrs.setdefault(name, _link(f"/proc/{first}/fd/2")), _link(f"/proc/{first}/ns/pid")
        assert space or not _link(f"/proc/{first}/exe"), "only root sees what the engine's containers have open"
        while space and await asyncio.to_thread(_is_open, original, first, space):  # noqa: ASYNC110  # procfs tells nobody
            await asyncio.sleep(0.2)

    @staticmethod
    async def block(reader: asyncio.StreamReader) -> tuple[int, bytes]:
        """The next bytes, with 1 for stdout or 2 for stderr."""
        stream, size = _HEADER.unpack(await reader.readexactly(_HEADER.size))
        return stream, await reader.readexactly(size)

    async def end(self, name: str, grace: int) -> None:
        """SIGTERM, SIGKILL when the grace is over (a kubelet gives 1 s at least), and nothing is left."""
        if identity := self._ids.get(name):
            with contextlib.suppress(APIError):
                await asyncio.to_thread(self._api.stop, identity, timeout=max(1, grace))
            with contextlib.suppress(APIError):
                await asyncio.to_thread(self._api.remove_container, identity, force=True, v=True)

    async def kill(self, name: str) -> None:
        """As when the kernel or an administrator does."""
        await asyncio.to_thread(self._api.kill, self._ids[name])

    def alive(self) -> list[str]:
        """Containers of this cluster."""
        return [one["Id"] for one in self._api.containers(all=True, filters={"label": f"{LABEL}={self._cluster}"})]

    async def close(self) -> None:
        """Remove everything that it started."""
        for task in list(self._tasks):
            task.cancel()
        if "_api" not in self.__dict__:
            return  # nothing ever ran
        for identity in await asyncio.to_thread(self.alive):
            with contextlib.suppress(APIError):
                await asyncio.to_thread(self._api.remove_container, identity, force=True, v=True)
        self._api.close()

    def _spawn(self, work: Any) -> None:
        task = asyncio.create_task(work)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)


def _link(path: str) -> str:
    """Where a link of procfs leads; empty when there is none (any more)."""
    try:
        return os.readlink(path)  # noqa: PTH115  # it is no path: pipe:[123]
    except OSError:
        return ""


def _holds(process: Path, file: str) -> bool:
    with contextlib.suppress(OSError):
        return any(_link(str(one)) == file for one in (process / "fd").iterdir())
    return False


def _is_open(file: str, first: int, space: str) -> bool:
    """Whether a process has a file open: the first of a PID namespace, as it mostly is, or any other."""
    if _holds(Path("/proc", str(first)), file):
        return True
    others = (one for one in Path("/proc").iterdir() if one.name.isdigit() and _link(f"{one}/ns/pid") == space)
    return any(_holds(one, file) for one in others)
