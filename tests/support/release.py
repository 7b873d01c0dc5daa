"""A rendered release of the chart on one Docker engine: what a cluster's node would do with its objects.

What is taken from the rendering as it stands: images, commands, settings, Secrets and ConfigMaps with their modes and
groups, volumes, security contexts, limits, init containers, probes, grace periods, hooks. Who may call whom too: each
component is on a network that only those may join whom the NetworkPolicies of both sides let through, so a missing
arrow is a name that does not resolve. What an engine has not: scheduling, roll-outs, ports in policies, sizes of
volumes, readiness as a condition of being found by name.
"""

from __future__ import annotations

import base64
import io
import os
import re
import tarfile
import time
import uuid
from collections.abc import Iterator, Mapping
from typing import Any

import docker
from docker.models.containers import Container
from docker.models.networks import Network
from docker.models.volumes import Volume
from support.chart_render import Object, component, of_kind, workloads
from support.policies import callers
from support.probes import passes

LABELS = {"quelea": "release-test"}
NAMESPACE, DOMAIN = "finance", "svc.cluster.local"
HELPER = "quelea-gateway:latest"
"""Any image with Python: it gives volumes the group that a kubelet gives them."""
_UNITS = {"Ki": 1 << 10, "Mi": 1 << 20, "Gi": 1 << 30}
_HOOK_SECONDS = 300


def quantity(text: str) -> float:
    """Kubernetes' notation of processors or bytes as a number."""
    if text.endswith("m"):
        return float(text[:-1]) / 1000
    return float(text[:-2]) * _UNITS[text[-2:]] if text[-2:] in _UNITS else float(text)


class Pod:
    """The containers of one pod: `main` has the network that the others share."""

    def __init__(self, name: str, spec: Object) -> None:
        self.name = name
        self.spec = spec
        self.containers: dict[str, Container] = {}

    @property
    def main(self) -> Container:
        return self.containers[self.spec["containers"][0]["name"]]

    @property
    def address(self) -> str:
        """Its IP address on one of its networks."""
        self.main.reload()
        networks = self.main.attrs["NetworkSettings"]["Networks"].values()
        return str(next(network["IPAddress"] for network in networks if network["IPAddress"]))

    def probes(self, *kinds: str) -> Iterator[tuple[Container, Object, Object]]:
        """Container, its ports, and a probe of one of these kinds."""
        for spec in self.spec["containers"]:
            ports = {port["name"]: port["containerPort"] for port in spec.get("ports", [])}
            for kind in kinds:
                if kind in spec:
                    yield self.containers[spec["name"]], ports, spec[kind]


class Release:
    """Objects on an engine.

    Args:
        client: The engine.
        things: The rendered objects.
    """

    def __init__(self, client: docker.DockerClient, things: list[Object]) -> None:
        self._client = client
        self._things = things
        self._id = f"quelea-release-{uuid.uuid4().hex[:8]}"
        self._volumes: dict[str, Volume] = {}
        self._networks: dict[str, Network] = {}
        self.pods: dict[str, list[Pod]] = {}
        self._hooks: dict[str, list[Container]] = {}

    def start(self) -> None:
        """Every pod of every workload, at once as on a cluster; init containers run to their end first."""
        for name in callers(self._things):
            self._networks[name] = self._client.networks.create(f"{self._id}-{name}", internal=True, labels=LABELS)
        for thing in workloads(self._things):
            template, name = thing["spec"]["template"]["spec"], thing["metadata"]["name"]
            own = {volume["metadata"]["name"]: {} for volume in thing["spec"].get("volumeClaimTemplates", [])}
            self.pods[component(thing)] = [
                self._start_pod(f"{name}-{number}", component(thing), template, own)
                for number in range(thing["spec"]["replicas"])
            ]

    def settle(self, seconds: float) -> None:
        """Wait until every pod of every component is ready at the same moment.

        A component that was ready before another one started may not be so after it.

        Raises:
            AssertionError: Not within so many seconds; with what is still said against it, and the ends of all logs.
        """
        end = time.monotonic() + seconds
        while said := [why for component in self.pods for why in self.ready(component)]:
            assert time.monotonic() < end, f"{said}\n{self.logs()}"
            time.sleep(1)

    def ready(self, what: str) -> list[str]:
        """What the startup and readiness probes of a component's pods say against them; empty when all pass."""
        return self._failing(what, "startupProbe", "readinessProbe")

    def alive(self, what: str) -> list[str]:
        """The same of the liveness probes."""
        return self._failing(what, "livenessProbe")

    def _failing(self, what: str, *kinds: str) -> list[str]:
        said = []
        for pod in self.pods[what]:
            for container, ports, probe in pod.probes(*kinds):
                if why := passes(container, pod.address, ports, probe):
                    said.append(f"{container.name}: {why}")
        return said

    def hook(self, name: str) -> tuple[int, str]:
        """Exit code and output of a hook's pod, run to its end."""
        (thing,) = [t for t in of_kind(self._things, "Pod") if t["metadata"]["name"].endswith(f"-{name}")]
        assert "before-hook-creation" in thing["metadata"]["annotations"]["helm.sh/hook-delete-policy"]
        for container in self._hooks.pop(name, ()):
            container.remove(force=True, v=True)
        pod = self._start_pod(thing["metadata"]["name"], component(thing), thing["spec"], {})
        self._hooks[name] = list(pod.containers.values())
        code = int(pod.main.wait(timeout=_HOOK_SECONDS)["StatusCode"])
        return code, pod.main.logs().decode(errors="replace")

    def must_pass(self, name: str) -> None:
        """Fail, with all that was said, unless a hook's pod ends well."""
        code, output = self.hook(name)
        assert code == 0, f"{output}\n{self.logs()}"

    def kill(self, pod: Pod) -> None:
        """As the kernel kills: every container at once. `revive` is what the kubelet does next."""
        for container in pod.containers.values():
            container.kill()

    def revive(self, pod: Pod) -> None:
        """The killed containers again, on the same volumes."""
        for spec in pod.spec["containers"]:
            pod.containers[spec["name"]].start()

    def logs(self) -> str:
        """The end of every container's log."""
        containers = [c for pods in self.pods.values() for pod in pods for c in pod.containers.values()]
        return "\n".join(f"== {c.name}\n{c.logs(tail=15).decode(errors='replace')}" for c in containers)

    def remove(self) -> None:
        """Everything that was made here."""
        everything = {"label": f"release={self._id}"}
        for container in self._client.containers.list(all=True, filters=everything):
            container.remove(force=True, v=True)
        for network in self._networks.values():
            network.remove()
        for volume in self._volumes.values():
            volume.remove()

    def _start_pod(self, name: str, what: str, spec: Object, own: Mapping[str, Object]) -> Pod:
        pod = Pod(name, spec)
        volumes = {one["name"]: one for one in spec.get("volumes", [])} | {key: {"own": True} for key in own}
        group = spec.get("securityContext", {}).get("fsGroup")
        mounts = self._mounts(name, volumes, group)
        for number, one in enumerate(spec.get("initContainers", [])):
            container = self._create(pod, what, one, mounts, f"init-{number}")
            container.start()
            code = container.wait(timeout=_HOOK_SECONDS)["StatusCode"]
            assert code == 0, f"{container.name}: {container.logs().decode(errors='replace')}"
        for one in spec["containers"]:
            pod.containers[one["name"]] = self._create(pod, what, one, mounts, one["name"])
            pod.containers[one["name"]].start()
        return pod

    def _create(self, pod: Pod, what: str, spec: Object, mounts: Mapping[str, str], role: str) -> Container:
        security = {**pod.spec.get("securityContext", {}), **spec.get("securityContext", {})}
        assert not security.get("privileged"), f"{role} of {pod.name} wants to be privileged"
        environment: dict[str, str] = {}
        for one in spec.get("envFrom", []):
            environment |= self._data("Secret", one["secretRef"]["name"])
        for one in spec.get("env", []):  # in order: a value knows what stands before it
            environment[one["name"]] = self._expanded(self._value(one, pod), environment)
        command = [self._expanded(part, environment) for part in (*spec.get("command", ()), *spec.get("args", ()))]
        limits = spec["resources"]["limits"]
        bind = {}
        for one in spec.get("volumeMounts", []):
            assert "subPath" not in one, "no engine mounts a part of a volume"
            bind[mounts[one["name"]]] = {"bind": one["mountPath"], "mode": "ro" if one.get("readOnly") else "rw"}
        options: dict[str, Any] = {"hostname": pod.name}
        if pod.containers:
            options = {"network_mode": f"container:{pod.main.id}"}
        container = self._client.containers.create(
            spec["image"],
            command[1:],
            entrypoint=command[:1],
            name=f"{self._id}-{pod.name}-{role}",
            environment=environment,
            volumes=bind,
            user=f"{security['runAsUser']}:{security['runAsGroup']}",
            group_add=[str(security["fsGroup"])] if "fsGroup" in security else [],
            read_only=security["readOnlyRootFilesystem"],
            cap_drop=security["capabilities"]["drop"],
            security_opt=[] if security["allowPrivilegeEscalation"] else ["no-new-privileges"],
            mem_limit=int(quantity(limits["memory"])),
            nano_cpus=int(min(quantity(limits["cpu"]), os.cpu_count() or 1) * 1e9),
            labels={**LABELS, "release": self._id},
            **options,
        )
        if not pod.containers:
            self._connect(container, what, pod.name)
        return container

    def _connect(self, container: Container, what: str, pod: str) -> None:
        """To its own network by its Services' names, and to those of whom it may call."""
        names = [
            service["metadata"]["name"] for service in of_kind(self._things, "Service") if component(service) == what
        ]
        aliases = [f"{part}.{NAMESPACE}.{DOMAIN}" for name in names for part in (name, f"{pod}.{name}")] + names
        for network in container.attrs["NetworkSettings"]["Networks"]:
            self._client.networks.get(network).disconnect(container)
        for name, may_call in callers(self._things).items():
            if name == what:
                self._networks[name].connect(container, aliases=aliases)
            elif what in may_call:
                self._networks[name].connect(container)

    def _value(self, one: Object, pod: Pod) -> str:
        if "value" in one:
            return str(one["value"])
        source = one["valueFrom"]
        if "secretKeyRef" in source:
            return self._data("Secret", source["secretKeyRef"]["name"])[source["secretKeyRef"]["key"]]
        return {"metadata.name": pod.name, "metadata.namespace": NAMESPACE}[source["fieldRef"]["fieldPath"]]

    def _expanded(self, text: str, environment: Mapping[str, str]) -> str:
        return re.sub(r"\$\((\w+)\)", lambda match: environment.get(match[1], match[0]), text)

    def _data(self, kind: str, name: str) -> dict[str, str]:
        """A Secret's or ConfigMap's content. KeyError where it refers to nothing."""
        for thing in of_kind(self._things, kind):
            if thing["metadata"]["name"] == name:
                said: dict[str, str] = thing.get("data", {})
                return {k: base64.b64decode(text).decode() for k, text in said.items()} if kind == "Secret" else said
        raise KeyError(f"{kind} {name}")

    def _mounts(self, pod: str, volumes: Mapping[str, Object], group: int | None) -> dict[str, str]:
        """Volumes of the engine for a pod's, by name; new ones are filled as a kubelet does, all by one container."""
        mounts: dict[str, str] = {}
        archives: dict[str, bytes] = {}
        for name, spec in volumes.items():
            claim = spec.get("persistentVolumeClaim", {}).get("claimName")
            key = mounts[name] = f"{self._id}-{claim or f'{pod}-{name}'}"
            if key not in self._volumes:
                self._volumes[key] = self._client.volumes.create(key, labels=LABELS)
                archives[key] = self._content(spec, group or 0)
        if archives:
            self._fill(archives, group)
        return mounts

    def _content(self, spec: Object, group: int) -> bytes:
        """What a volume holds at first, as a tar."""
        for kind, field, named in (("Secret", "secret", "secretName"), ("ConfigMap", "configMap", "name")):
            if field in spec:
                return _archive(self._data(kind, spec[field][named]), spec[field]["defaultMode"], group)
        return _archive({}, 0, group)

    def _fill(self, archives: Mapping[str, bytes], group: int | None) -> None:
        """Each volume's content and its group."""
        places = {key: f"/v{number}" for number, key in enumerate(archives)}
        mode = 0o2775 if group else 0o777
        made = f"import os\nfor v in {list(places.values())}: os.chown(v, 0, {group or 0}); os.chmod(v, {mode})"
        helper = self._client.containers.create(
            HELPER,
            ["-S", "-c", made],
            entrypoint=["python"],
            user="0:0",
            network_mode="none",
            volumes={key: {"bind": place, "mode": "rw"} for key, place in places.items()},
            labels={**LABELS, "release": self._id},
        )
        for key, archive in archives.items():
            helper.put_archive(places[key], archive)
        helper.start()
        assert helper.wait(timeout=60)["StatusCode"] == 0, helper.logs().decode(errors="replace")
        helper.remove()


def _archive(files: Mapping[str, str], mode: int, group: int) -> bytes:
    """A tar of these files, owned by root and the group."""
    out = io.BytesIO()
    with tarfile.open(fileobj=out, mode="w") as tar:
        for name, text in files.items():
            entry = tarfile.TarInfo(name)
            entry.mode, entry.gid, entry.size = mode, group, len(text.encode())
            tar.addfile(entry, io.BytesIO(text.encode()))
    return out.getvalue()
