"""The services' images on a Docker network of their own, each locked down as on a cluster."""

from __future__ import annotations

import contextlib
import subprocess
import sys
import time
import uuid
from pathlib import Path
from typing import Any

import docker
import httpx2
from docker.errors import ContainerError, NotFound
from docker.models.containers import Container
from docker.models.networks import Network
from quelea_sandbox.adapters.docker_options import OWNER

IMAGES = ("gateway", "retriever", "generator", "search", "sandbox", "evaluation", "embedder")
RUNNER = "quelea-runner:latest"
SOCKET = "/var/run/docker.sock"
LABELS = {"quelea": "images-test"}
LOCKED_TMP = "/tmp"  # noqa: S108  # of a container
# What the chart's pod template gives every pod.
LOCKED: dict[str, Any] = {
    "read_only": True,
    "tmpfs": {LOCKED_TMP: ""},
    "cap_drop": ["ALL"],
    "security_opt": ["no-new-privileges"],
    "user": "65532:65532",
    "labels": LABELS,
}
DRAIN_SECONDS = 10
READY_SECONDS = 240
UNPACK_SECONDS = 240
_RUN_SECONDS = 120
MODEL = "/models/multilingual-e5-small"
FILES = Path(__file__).parents[2] / "deploy" / "helm" / "quelea" / "files"


def run_in(engine: docker.DockerClient, name: str, *command: str) -> str:
    """What a command says on standard output in a locked-down container without a network."""
    image = f"quelea-{name}:latest"
    container = engine.containers.run(image, list(command), detach=True, network_mode="none", **LOCKED)
    try:  # read when it has ended: what is followed while it runs may come short
        code = container.wait(timeout=_RUN_SECONDS)["StatusCode"]
        if code:
            raise ContainerError(container, code, list(command), image, container.logs(tail=50))
        output: bytes = container.logs(stdout=True, stderr=False)
    finally:
        container.remove(force=True)
    return output.decode()


class World:
    """The product in containers: `url` and `key` of the gateway, `containers` by what they are."""

    def __init__(self, client: docker.DockerClient, folder: Path) -> None:
        self._client = client
        self._id = f"quelea-images-{uuid.uuid4().hex[:8]}"
        self._folder = folder
        self.containers: dict[str, Container] = {}
        # Nothing but the gateway has a way out, and nothing else is seen from outside.
        self._inside: Network = client.networks.create(f"{self._id}-inside", internal=True, labels=LABELS)
        self._front: Network = client.networks.create(f"{self._id}-front", labels=LABELS)
        self._volumes = [
            client.volumes.create(f"{self._id}-{name}", labels=LABELS) for name in ("models", "data", "blobs")
        ]
        self._password = uuid.uuid4().hex
        self.key = ""
        self.url = ""

    def _mount(self, volume: str, target: str) -> dict[str, dict[str, str]]:
        return {f"{self._id}-{volume}": {"bind": target, "mode": "rw"}}

    def _create(self, role: str, image: str, command: list[str] | None = None, **options: Any) -> Container:
        alias = self._client.api.create_endpoint_config(aliases=[role])
        container = self._client.containers.create(
            f"quelea-{image}:latest",
            command,
            name=f"{self._id}-{role}",
            hostname=role,
            network=self._inside.name,
            networking_config={self._inside.name: alias},
            **{**LOCKED, **options},
        )
        self.containers[role] = container
        return container

    def start(self) -> None:
        """The model first, then all at once, as a release does; returns when the gateway is ready."""
        unpack = self._create(
            "unpack",
            "embedder",
            ["python", "-m", "quelea_embedder.unpack", "--out", MODEL],
            volumes=self._mount("models", "/models"),
        )
        unpack.start()
        self._start_redis()
        ended = unpack.wait(timeout=UNPACK_SECONDS)
        assert ended["StatusCode"] == 0, unpack.logs().decode()
        drain = str(DRAIN_SECONDS)
        self._create(
            "embedder",
            "embedder",
            environment={"QUELEA_EMBEDDER_WORKERS": "1", "QUELEA_EMBEDDER_DRAIN_SECONDS": drain},
            volumes=self._mount("models", "/models"),
        ).start()
        self._create(
            "retriever",
            "retriever",
            environment={"QUELEA_RETRIEVER_EMBEDDER": "embedder:7401", "QUELEA_RETRIEVER_DRAIN_SECONDS": drain},
            volumes=self._mount("data", "/data"),
        ).start()
        search = {
            "QUELEA_SEARCH_REDIS_URL": f"redis://:{self._password}@redis:6379/0",
            "QUELEA_SEARCH_RETRIEVER": "retriever:7402",
            "QUELEA_SEARCH_DRAIN_SECONDS": drain,
        }
        blobs = self._mount("blobs", "/blobs")
        self._create("search", "search", environment=search, volumes=blobs).start()
        probes = {str(FILES): {"bind": "/etc/quelea/scripts", "mode": "ro"}}
        worker = ["python", "-m", "quelea_search.worker"]
        self._create("worker", "search", worker, environment=search, volumes={**blobs, **probes}).start()
        self._create("generator", "generator", environment={"QUELEA_GENERATOR_DRAIN_SECONDS": drain}).start()
        self._start_gateway(drain)

    def _start_redis(self) -> None:
        auth = self._folder / "auth.conf"
        auth.write_text(f"requirepass {self._password}\n")
        config = {
            str(FILES / "redis.conf"): {"bind": "/etc/redis/redis.conf", "mode": "ro"},
            str(auth): {"bind": "/etc/redis-auth/auth.conf", "mode": "ro"},
        }
        command = ["redis-server", "/etc/redis/redis.conf"]
        told = {"REDISCLI_AUTH": self._password}
        self._create(
            "redis", "redis", command, environment=told, volumes=config, tmpfs={LOCKED_TMP: "", "/data": "uid=65532"}
        ).start()

    def start_sandbox(self) -> str:
        """The sandbox, with this engine's socket in it and in nothing else; its address."""
        sandbox = self._create(
            "sandbox",
            "sandbox",
            environment={
                "QUELEA_SANDBOX_DOCKER_HOST": f"unix://{SOCKET}",
                "QUELEA_SANDBOX_IMAGE": RUNNER,
                "QUELEA_SANDBOX_OWNER": self._id,
                "QUELEA_SANDBOX_MAX_CONTAINERS": "2",
                "QUELEA_SANDBOX_DRAIN_SECONDS": str(DRAIN_SECONDS),
            },
            volumes={SOCKET: {"bind": SOCKET, "mode": "rw"}},
            group_add=[str(Path(SOCKET).stat().st_gid)],
        )
        sandbox.start()
        return f"{self.address('sandbox')}:7405"

    def address(self, role: str) -> str:
        """A container's address on the inner network, which this machine reaches as the bridge's own."""
        container = self.containers[role]
        container.reload()
        return str(container.attrs["NetworkSettings"]["Networks"][self._inside.name]["IPAddress"])

    def runs(self) -> list[Container]:
        """Containers that the sandbox made."""
        return list(self._client.containers.list(all=True, filters={"label": f"{OWNER}={self._id}"}))

    def _start_gateway(self, drain: str) -> None:
        self._folder.chmod(0o755)
        keys = self._folder / "keys.json"
        create = [sys.executable, "-m", "quelea_gateway.keys", "create", "test", "--file", str(keys)]
        self.key = subprocess.run(create, check=True, capture_output=True, text=True).stdout.strip().splitlines()[-1]
        keys.chmod(0o644)
        gateway = self._create(
            "gateway",
            "gateway",
            environment={
                "QUELEA_GATEWAY_RETRIEVER": "retriever:7402",
                "QUELEA_GATEWAY_SEARCH": "search:7403",
                "QUELEA_GATEWAY_GENERATOR": "generator:7404",
                "QUELEA_GATEWAY_KEYS_FILE": "/etc/quelea/keys/keys.json",
                "QUELEA_GATEWAY_DRAIN_SECONDS": drain,
            },
            volumes={str(self._folder): {"bind": "/etc/quelea/keys", "mode": "ro"}},
            ports={"8080/tcp": ("127.0.0.1", None)},
        )
        self._front.connect(gateway)
        gateway.start()
        gateway.reload()
        self.url = f"http://127.0.0.1:{gateway.ports['8080/tcp'][0]['HostPort']}"
        end, last = time.monotonic() + READY_SECONDS, ""
        while time.monotonic() < end:
            try:
                answer = httpx2.get(f"{self.url}/readyz", timeout=5)
                last = answer.text
                if answer.status_code == 200:
                    return
            except httpx2.TransportError as error:
                last = repr(error)
            time.sleep(0.5)
        raise AssertionError(f"the gateway is not ready after {READY_SECONDS} s: {last}\n{self.logs()}")

    def logs(self) -> str:
        """The end of every container's log."""
        return "\n".join(
            f"== {role}\n{container.logs(tail=15).decode(errors='replace')}"
            for role, container in self.containers.items()
        )

    def remove(self) -> None:
        """Everything that was started here."""
        for container in self.containers.values():
            container.remove(force=True, v=True)
        for container in self.runs():
            with contextlib.suppress(NotFound):  # without its sandbox it ends, and goes, by itself
                container.remove(force=True, v=True)
        for network in (self._inside, self._front):
            network.remove()
        for volume in self._volumes:
            volume.remove()
