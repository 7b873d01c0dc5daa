"""Settings of the sandbox, from environment variables QUELEA_SANDBOX_<FIELD>."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Literal, Self

from pydantic import Field, model_validator
from quelea_kit.settings import ServiceSettings, settings_config

from quelea_sandbox.core.limits import LimitRules
from quelea_sandbox.core.model import Limits, Shape
from quelea_sandbox.core.policy import PoolLimits

_MIB = 1 << 20
_LABEL = re.compile(r"[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?")
_DOOR = re.compile(r"http://[^/@?#\s]+:\d+")


class SandboxSettings(ServiceSettings):
    """Settings of the sandbox."""

    model_config = settings_config("sandbox")

    backend: Literal["docker", "kubernetes"] = "docker"
    """Where containers are made: by a Docker engine, or as pods in a namespace of their own."""

    docker_host: str = "unix:///var/run/docker.sock"
    """The engine's address: unix:// or tcp:// (without TLS: protect it)."""

    image: str = "quelea-runner:latest"
    """The image that runs are made from; `make runner-image` builds it."""

    runtime: str = ""
    """Docker: the runtime (runsc for gVisor). Pods: the RuntimeClass. Empty: the default."""

    user: str = "65534:65534"
    """User and group of the code, never root. Pods use pod_uid instead."""

    seccomp: Path | None = None
    """Docker: the seccomp profile. Empty: the one in this package."""

    preload: str = "pandas,numpy,scipy,matplotlib.pyplot,akshare"
    """Modules that a container imports before it is ready, separated by commas. Missing ones are skipped."""

    market_socket_dir: Path | None = None
    """Docker: folder with the market-data door's socket `door.sock`, mounted read-only where a run may use the door.

    Empty: this deployment has no door, and NETWORK_POLICY_MARKET_DATA is refused.
    """

    market_url: str = ""
    """Pods: the door's data side, http://host:port. A pod has no name service, so the name is looked up here before
    each run. Empty: no door."""

    namespace: str = ""
    """Pods: their namespace. Use it for nothing else: whoever may create pods in it may run any code."""

    kubeconfig: Path | None = None
    """Pods: how to reach the API server from outside a cluster; empty: as a pod of it, with the projected token."""

    pod_seccomp: str = ""
    """Pods: a Localhost profile on the nodes, for example quelea/sandbox.json; empty: RuntimeDefault."""

    pod_uid: int = Field(default=100_000, ge=1000)
    """Pods: the lowest user id. Each pod draws one of its own, because the kernel counts some limits by user."""

    pod_uids: int = Field(default=900_000, ge=1)
    """Pods: how many user ids there are to draw from."""

    pod_user_namespace: bool = False
    """Pods: a user namespace each (hostUsers: false), where nodes can."""

    pod_seconds: int = Field(default=14_400, ge=60)
    """Pods: the cluster ends a pod at this age (activeDeadlineSeconds), even if this service is gone."""

    pod_storage_bytes: int = Field(default=256 * _MIB, ge=16 * _MIB)
    """Pods: ephemeral storage, in bytes. Only the node's log of the output counts; a pod that exceeds it is evicted."""

    pod_node_selector: dict[str, str] = Field(default_factory=dict)
    """Pods: labels of the nodes that may run them; JSON."""

    pod_tolerations: tuple[dict[str, str | int], ...] = ()
    """Pods: tolerations, as in a pod's spec; JSON."""

    pod_priority_class: str = ""
    """Pods: their priority class."""

    pod_pull_secrets: tuple[str, ...] = ()
    """Pods: Secrets of that namespace for the image's registry; JSON."""

    pod_pull_policy: Literal["Always", "IfNotPresent", "Never"] = "IfNotPresent"
    """Pods: when a node asks the registry."""

    owner: str = ""
    """Who owns the containers here, in a label: what is left of this owner is removed at start.

    Empty: this process, and what processes of this machine that are gone have left is removed. Give a name where the
    process numbers mean nothing (a container of its own), and to every service on one engine another. With pods it
    must be given.
    """

    engine_seconds: float = Field(default=20.0, gt=0)
    """Longest wait for one answer of the engine, or of the API server."""

    min_warm: int = Field(default=1, ge=0)
    """Containers kept ready at least, of each kind: with and without the market-data door."""

    max_warm: int = Field(default=4, ge=0)
    """Containers kept ready at most, of each kind."""

    max_containers: int = Field(default=8, ge=1)
    """Containers at once, idle or running. The machine needs this times memory_bytes."""

    starts_at_once: int = Field(default=2, ge=1)
    """Containers that may start at the same time."""

    start_seconds: float = Field(default=60.0, gt=0)
    """Longest start of a container, imports included; with pods, the scheduler and the pull of the image too."""

    warm_age_seconds: float = Field(default=1800.0, gt=0)
    """Age at which an idle container is replaced."""

    check_seconds: float = Field(default=2.0, gt=0)
    """Seconds between health checks of the engine."""

    demand_seconds: float = Field(default=60.0, gt=0)
    """How long the pool remembers a burst of calls, before it shrinks again."""

    queue_length: int = Field(default=128, ge=1)
    """Runs that may wait for a container. Further ones are refused with RESOURCE_EXHAUSTED and a retry-after."""

    queue_length_per_tenant: int = Field(default=100, ge=1)
    """Of those, runs of one tenant."""

    queue_seconds: float = Field(default=60.0, gt=0)
    """Longest wait in the queue, then RESOURCE_EXHAUSTED."""

    max_sessions: int = Field(default=4, ge=0)
    """Sessions at once; each keeps a container. One container is always left for runs without a session."""

    max_sessions_per_tenant: int = Field(default=2, ge=0)
    """Of those, sessions of one tenant."""

    session_idle_seconds: float = Field(default=120.0, gt=0)
    """Idle time after which a session ends, unless its creator names another."""

    max_session_idle_seconds: float = Field(default=900.0, gt=0)
    """The longest idle time that a creator may name."""

    memory_bytes: int = 768 * _MIB
    """Memory of a run, swap and its tmpfs included."""

    cpus: float = 1.0
    """Processors of a run."""

    pids: int = 64
    """Processes and threads of a run."""

    wall_seconds: float = 60.0
    """Time of a run, by the keeper's clock."""

    output_bytes: int = _MIB
    """Output of a run, both streams."""

    files_bytes: int = 16 * _MIB
    """Files that a run gives back, together."""

    max_memory_bytes: int = 2048 * _MIB
    """Most memory that a request may ask for."""

    max_cpus: float = 2.0
    """Most processors that a request may ask for."""

    max_pids: int = 256
    """Most processes and threads that a request may ask for."""

    max_wall_seconds: float = 600.0
    """Most time that a request may ask for."""

    max_output_bytes: int = 16 * _MIB
    """Most output that a request may ask for."""

    max_files_bytes: int = 48 * _MIB
    """Most bytes of returned files that a request may ask for."""

    max_files: int = Field(default=64, ge=1)
    """Files that may go in, and that a run may give back."""

    max_input_bytes: int = Field(default=32 * _MIB, ge=0)
    """Bytes of files that may go in."""

    max_code_bytes: int = Field(default=256 * 1024, ge=1)
    """Longest code."""

    work_bytes: int = Field(default=128 * _MIB, ge=_MIB)
    """Size of the working directory, a tmpfs that counts as memory of the run."""

    work_inodes: int = Field(default=2048, ge=16)
    """Files and folders in it."""

    tmp_bytes: int = Field(default=64 * _MIB, ge=_MIB)
    """Size of /tmp, the same."""

    tmp_inodes: int = Field(default=512, ge=16)
    """Files and folders in it."""

    file_bytes: int = Field(default=64 * _MIB, ge=_MIB)
    """Largest single file (RLIMIT_FSIZE)."""

    open_files: int = Field(default=256, ge=32)
    """Open files of a process (RLIMIT_NOFILE)."""

    @property
    def rules(self) -> LimitRules:
        """Defaults and maximum of a run's limits."""
        return LimitRules(
            Limits(self.memory_bytes, self.cpus, self.pids, self.wall_seconds, self.output_bytes, self.files_bytes),
            Limits(
                self.max_memory_bytes,
                self.max_cpus,
                self.max_pids,
                self.max_wall_seconds,
                self.max_output_bytes,
                self.max_files_bytes,
            ),
        )

    @property
    def door(self) -> str:
        """Where the market-data door is, of this backend; empty: there is none."""
        return self.market_url if self.backend == "kubernetes" else str(self.market_socket_dir or "")

    @property
    def session_places(self) -> int:
        """Sessions at once, so that a container is left."""
        return min(self.max_sessions, self.max_containers - 1)

    @property
    def warm_shapes(self) -> list[Shape]:
        """Containers of these shapes are kept ready."""
        kinds = [True, False] if self.door else [False]
        return [Shape(self.memory_bytes, self.cpus, self.pids, market) for market in kinds]

    @property
    def pool_limits(self) -> PoolLimits:
        """Bounds of the pool."""
        return PoolLimits(
            min_warm=self.min_warm,
            max_warm=self.max_warm,
            max_containers=self.max_containers,
            starts_at_once=self.starts_at_once,
            queue_length=self.queue_length,
            queue_length_per_tenant=self.queue_length_per_tenant,
            queue_seconds=self.queue_seconds,
            start_seconds=self.start_seconds,
            warm_age_seconds=self.warm_age_seconds,
            check_seconds=self.check_seconds,
            demand_seconds=self.demand_seconds,
            max_files=self.max_files,
        )

    @model_validator(mode="after")
    def _consistent(self) -> Self:
        _ = self.rules  # raises where a default is over its maximum
        if self.user.split(":")[0] in ("0", "root", ""):
            raise ValueError("QUELEA_SANDBOX_USER must not be root")
        if self.market_socket_dir is not None and not self.market_socket_dir.is_absolute():
            raise ValueError("QUELEA_SANDBOX_MARKET_SOCKET_DIR must be an absolute path")
        if self.backend == "kubernetes":
            self._check_pods()
        return self

    def _check_pods(self) -> None:
        if not _LABEL.fullmatch(self.namespace):
            raise ValueError("QUELEA_SANDBOX_NAMESPACE must name the namespace in which pods are created")
        if not _LABEL.fullmatch(self.owner):
            raise ValueError(
                "QUELEA_SANDBOX_OWNER is required with the kubernetes backend: a label of 1 to 63 "
                "characters of a-z, 0-9 and -"
            )
        if self.market_url and not _DOOR.fullmatch(self.market_url):
            raise ValueError("QUELEA_SANDBOX_MARKET_URL must be http://host:port")
        if self.pod_seconds < self.warm_age_seconds + self.max_wall_seconds:
            raise ValueError("QUELEA_SANDBOX_POD_SECONDS must exceed WARM_AGE_SECONDS plus MAX_WALL_SECONDS")
