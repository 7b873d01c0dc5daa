"""What a pod may do, as an object of the core/v1 API; and what its status says."""

from __future__ import annotations

import base64
import json
import math
import secrets
from typing import Any

from quelea_sandbox.adapters.backend import EngineError, Inspection
from quelea_sandbox.core.model import Shape
from quelea_sandbox.seccomp import filter_for_pods
from quelea_sandbox.settings import SandboxSettings

Pod = dict[str, Any]

OWNER = "quelea.io/sandbox-owner"
"""The label that names who made a pod."""

MARKET = "quelea.io/market-data"
"""The label that the NetworkPolicy to the door goes by: "allowed" or "refused"."""

CONTAINER = "run"
NOT_FOUND = 404
KILLED = 128 + 9

_MIB = 1 << 20
_SHM_BYTES = 16 * _MIB
_LEAST_CPU_REQUEST = 0.05

_FIRST = """
import base64, ctypes, json, os, resource, sys
os.read(0, 1) or os._exit(0)
for name, most in json.loads(sys.argv[1]).items():
    kind = getattr(resource, name)
    hard = resource.getrlimit(kind)[1]
    most = most if hard == resource.RLIM_INFINITY else min(most, hard)
    resource.setrlimit(kind, (most, most))
if os.uname().machine == "x86_64":
    code = base64.b64decode(sys.argv[2])
    held = ctypes.create_string_buffer(code, len(code))
    class Program(ctypes.Structure):
        _fields_ = [("length", ctypes.c_ushort), ("code", ctypes.c_void_p)]
    libc = ctypes.CDLL(None, use_errno=True)
    program = Program(len(code) // 8, ctypes.addressof(held))
    if libc.prctl(38, 1, 0, 0, 0) or libc.prctl(22, 2, ctypes.byref(program), 0, 0):
        sys.exit("no filter of system calls: " + os.strerror(ctypes.get_errno()))
rest = {k: v for k, v in os.environ.items() if not k.startswith("KUBERNETES_")}
os.execve(sys.executable, ["python", "-I", "-B", "-u", "/opt/quelea/guest.py"], rest)
"""
"""What runs before the guest, in its place: waits for the keeper's first byte, for what a guest says before anybody is
attached is lost; takes limits that a pod's spec has no field for, and the filter of system calls, which needs no right
(prctl 38 is PR_SET_NO_NEW_PRIVS, 22 PR_SET_SECCOMP); then becomes the guest."""

_HOPELESS = {
    "ErrImageNeverPull",
    "ErrImagePull",
    "ImagePullBackOff",
    "ImageInspectError",
    "InvalidImageName",
    "CreateContainerConfigError",
    "CreateContainerError",
    "RunContainerError",
}
"""Why a container waits when more waiting does not help within a start."""


def pod_of(settings: SandboxSettings, shape: Shape, name: str) -> Pod:
    """The pod of one container; with everything in it that the namespace's admission policy demands."""
    threads = str(max(1, math.ceil(shape.cpus)))
    user = settings.pod_uid + secrets.randbelow(settings.pod_uids)
    seccomp = {"type": "RuntimeDefault"}
    if settings.pod_seccomp:
        seccomp = {"type": "Localhost", "localhostProfile": settings.pod_seccomp}
    limits = {
        # A user number of its own makes this a limit of the pod, where the kubelet has no podPidsLimit.
        "RLIMIT_NPROC": shape.pids,
        "RLIMIT_NOFILE": settings.open_files,
        "RLIMIT_FSIZE": settings.file_bytes,
        "RLIMIT_CORE": 1,  # with 0 a node that pipes dumps to a handler would still get one
    }
    listed = base64.b64encode(filter_for_pods(tcp=shape.market)).decode()
    memory, storage = str(shape.memory_bytes), str(settings.pod_storage_bytes)
    container = {
        "name": CONTAINER,
        "image": settings.image,
        "imagePullPolicy": settings.pod_pull_policy,
        "command": ["python", "-I", "-B", "-u", "-c", _FIRST, json.dumps(limits), listed],
        "workingDir": "/work",
        # Once: when whoever is attached has gone, the guest reads an end and ends.
        "stdin": True,
        "stdinOnce": True,
        "tty": False,
        "env": [
            {"name": "QUELEA_PRELOAD", "value": settings.preload},
            {"name": "HOME", "value": "/tmp"},  # noqa: S108  # inside the pod
            {"name": "OMP_NUM_THREADS", "value": threads},
            {"name": "OPENBLAS_NUM_THREADS", "value": threads},
        ],
        "resources": {
            "requests": {
                # Less than the limit: a ready pod is idle. And the kernel then takes it before what is Guaranteed.
                "cpu": _milli(max(_LEAST_CPU_REQUEST, shape.cpus / 4)),
                "memory": memory,
                "ephemeral-storage": storage,
            },
            "limits": {"cpu": _milli(shape.cpus), "memory": memory, "ephemeral-storage": storage},
        },
        "securityContext": {
            "runAsNonRoot": True,
            "runAsUser": user,
            "runAsGroup": user,
            "privileged": False,
            "allowPrivilegeEscalation": False,
            "readOnlyRootFilesystem": True,
            "capabilities": {"drop": ["ALL"]},
            "seccompProfile": seccomp,
        },
        "volumeMounts": [
            {"name": "work", "mountPath": "/work"},
            {"name": "tmp", "mountPath": "/tmp"},  # noqa: S108  # inside the pod
            {"name": "shm", "mountPath": "/dev/shm"},  # noqa: S108  # the same
        ],
    }
    spec: Pod = {
        "containers": [container],
        "restartPolicy": "Never",
        "automountServiceAccountToken": False,
        "enableServiceLinks": False,
        "hostNetwork": False,
        "hostPID": False,
        "hostIPC": False,
        "hostname": "sandbox",
        # No names: a name server would carry data out. 127.0.0.1 is nobody; the field must not be empty.
        "dnsPolicy": "None",
        "dnsConfig": {"nameservers": ["127.0.0.1"]},
        "terminationGracePeriodSeconds": 1,
        "activeDeadlineSeconds": settings.pod_seconds,
        "securityContext": {"runAsNonRoot": True, "runAsUser": user, "runAsGroup": user, "seccompProfile": seccomp},
        "volumes": [
            _memory_volume("work", settings.work_bytes),
            _memory_volume("tmp", settings.tmp_bytes),
            _memory_volume("shm", _SHM_BYTES),
        ],
    }
    optional = {
        "runtimeClassName": settings.runtime,
        "priorityClassName": settings.pod_priority_class,
        "nodeSelector": settings.pod_node_selector,
        "tolerations": list(settings.pod_tolerations),
        "imagePullSecrets": [{"name": one} for one in settings.pod_pull_secrets],
    }
    spec.update({key: value for key, value in optional.items() if value})
    if settings.pod_user_namespace:
        spec["hostUsers"] = False
    labels = {
        "app.kubernetes.io/part-of": "quelea",
        "app.kubernetes.io/component": "sandbox-run",
        OWNER: settings.owner,
        MARKET: "allowed" if shape.market else "refused",
    }
    return {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {"name": name, "namespace": settings.namespace, "labels": labels},
        "spec": spec,
    }


def _milli(cpus: float) -> str:
    return f"{math.ceil(cpus * 1000)}m"


def _memory_volume(name: str, size: int) -> Pod:
    # A tmpfs, charged to the container's memory; so large at most.
    return {"name": name, "emptyDir": {"medium": "Memory", "sizeLimit": str(size)}}


def is_running(pod: Pod) -> bool:
    """Whether its container runs.

    Raises:
        EngineError: It never will; says why.
    """
    status = pod.get("status", {})
    state = _state(pod)
    if "running" in state:
        return True
    waiting = state.get("waiting", {})
    if waiting.get("reason") in _HOPELESS:
        raise EngineError(f"the pod does not start: {waiting['reason']}: {waiting.get('message', '')}".rstrip(": "))
    if "terminated" in state or status.get("phase") in ("Failed", "Succeeded"):
        raise EngineError(f"the pod ended as it started: {_why(pod)}")
    return False


def waits_for(pod: Pod) -> str:
    """Why it does not run yet, in the cluster's words."""
    status = pod.get("status", {})
    scheduled = [one for one in status.get("conditions", []) if one.get("type") == "PodScheduled"]
    for one in scheduled:
        if one.get("status") != "True":
            return f"not scheduled: {one.get('message') or one.get('reason') or 'no word of the scheduler'}"
    reason = _state(pod).get("waiting", {}).get("reason", "")
    return reason or str(status.get("phase", "no status yet"))


def inspection_of(pod: Pod) -> Inspection | None:
    """How its container ended; None while the cluster has not said that it did.

    Raises:
        EngineError: The cluster ended the pod: eviction, deadline, a lost node.
    """
    ended = _state(pod).get("terminated")
    if ended is None or pod.get("status", {}).get("reason"):
        if pod.get("status", {}).get("phase") in ("Failed", "Succeeded"):
            raise EngineError(f"the cluster ended the pod: {_why(pod)}")
        return None
    code = int(ended.get("exitCode", 0))
    return Inspection(False, ended.get("reason") == "OOMKilled" and code == KILLED, code)


def _state(pod: Pod) -> Pod:
    statuses = pod.get("status", {}).get("containerStatuses") or [{}]
    state: Pod = statuses[0].get("state") or {}
    return state


def _why(pod: Pod) -> str:
    status, ended = pod.get("status", {}), _state(pod).get("terminated", {})
    words = [status.get("reason"), status.get("message"), ended.get("reason"), ended.get("message")]
    said = ": ".join(str(one) for one in words if one)
    return said or f"exit code {ended.get('exitCode', 'unknown')}"
