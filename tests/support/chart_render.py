"""The chart as objects, for tests: values merged as Helm merges files, rendered by Helm itself, cached."""

from __future__ import annotations

import functools
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import yaml
from helm_python.chart import Chart

REPOSITORY = Path(__file__).parents[2]
CHART = REPOSITORY / "deploy/helm/quelea"
Object = dict[str, Any]
_Loader = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
"""libyaml's, where PyYAML was built with it: ten times faster."""

_OFF = {"enabled": False}
SERVICES: list[str] = list(yaml.safe_load((CHART / "values.yaml").read_text(encoding="utf-8"))["services"])
SINGLE = ("redis", "door", "sandbox")
_SANDBOX = {"sandboxEngine": {"enabled": True}, "services": {"sandbox": {"enabled": True}, "door": {"enabled": True}}}
_EVERYTHING: Object = {
    "commonLabels": {"team": "finance"},
    "logLevel": "debug",
    "disk": {"minFreeBytes": "1000000000", "minFreeShare": "0.02"},
    "priorityClassName": "important",
    "image": {"registry": "registry.example:5000/quelea", "tag": "1.2.3", "pullSecrets": ["pull"]},
    "models": {"enabled": True},
    "reader": {"model": "qwen", "apiKeySecret": "engine-key"},
    "web": {"enabled": True, "providersSecret": "providers"},
    "filings": {"digestSecret": "digest"},
    "ingress": {
        "enabled": True,
        "className": "nginx",
        "host": "quelea.example",
        "tlsSecret": "tls",
        "annotations": {"a.example/b": "c"},
    },
    "monitoring": {
        "enabled": True,
        "serviceMonitor": True,
        "labels": {"release": "prometheus"},
        "rules": True,
        "ruleLabels": {"release": "prometheus"},
        "namespaceLabels": {"name": "monitoring"},
    },
    "tracing": {
        "endpoint": "http://collector.observability.svc:4317",
        "egress": [{"to": [{"namespaceSelector": {}}], "ports": [{"protocol": "TCP", "port": 4317}]}],
    },
    "networkPolicy": {"gatewayFrom": [{"namespaceSelector": {}}], "dns": {"cidrs": ["169.254.20.10/32"]}},
    "services": {
        **{name: {"enabled": True, "podAnnotations": {"note": "x"}} for name in SERVICES},
        "embedder": {
            "enabled": True,
            "runtimeClassName": "gvisor",
            "nodeSelector": {"pool": "a"},
            "tolerations": [{"key": "k", "operator": "Exists"}],
            "extraEgress": [{"to": [{"ipBlock": {"cidr": "192.0.2.0/24"}}], "ports": [{"port": 443}]}],
        },
    },
    "sandboxEngine": {"enabled": True},
}
_OUTSIDE: Object = {
    "redis": {"existingSecret": "redis"},
    "qdrant": {"url": "http://qdrant.elsewhere:6333", "existingSecret": "qdrant"},
    "blobs": {"url": "s3://bucket/prefix", "existingSecret": "s3"},
    "keys": {"existingSecret": "gateway-keys", "testKeySecret": "gateway-key"},
    "reader": {"endpoint": "http://engine.elsewhere:8000/v1", "model": "m", "apiKeySecret": "engine"},
    "services": {"redis": _OFF, "qdrant": _OFF},
}


def file(name: str) -> Object:
    """A values file beside the chart's own."""
    return yaml.safe_load((CHART / name).read_text(encoding="utf-8")) or {}


def merged(*parts: Object) -> Object:
    """As with `helm -f a -f b`: maps are merged, all else is replaced."""
    done: Object = {}
    for part in parts:
        for key, value in part.items():
            both = isinstance(value, dict) and isinstance(done.get(key), dict)
            done[key] = merged(done[key], value) if both else value
    return done


def _scaled(engine: str) -> Object:
    return {
        name: {"autoscaling": {"engine": engine, **({"min": 0} if engine == "keda" and name == "worker" else {})}}
        for name in SERVICES
        if name not in (*SINGLE, "beat", "qdrant")
    }


def _hpa() -> Object:
    return {
        "autoscaling": {"podMetrics": True},
        "monitoring": {"enabled": True},
        "reader": {"model": "m"},
        "services": merged(_scaled("hpa"), {"engine": {"enabled": True}}),
        "models": {"enabled": True},
    }


def _keda() -> Object:
    return {
        "monitoring": {"enabled": True, "serviceMonitor": True},
        "reader": {"model": "m"},
        "services": merged(_scaled("keda"), {"engine": {"enabled": True}}),
        "models": {"enabled": True},
    }


MATRIX: dict[str, Object] = {
    "default": {},
    "small": file("values-small.yaml"),
    "embedded": merged(file("values-small.yaml"), file("values-embedded.yaml")),
    "gpu": file("values-gpu.yaml"),
    "airgapped": merged(file("values-small.yaml"), file("values-airgapped.yaml")),
    "local": merged(file("values-small.yaml"), file("values-embedded.yaml"), file("values-local.yaml")),
    "hpa": _hpa(),
    "keda": _keda(),
    "sandbox": merged(file("values-small.yaml"), _SANDBOX),
    "pods": merged(file("values-small.yaml"), {"services": _SANDBOX["services"]}),
    "outside": _OUTSIDE,
    "everything on": _EVERYTHING,
    "cert-manager": merged(file("values-gpu.yaml"), {"tls": {"mode": "cert-manager", "stores": True}}),
    "generated certificates": merged(file("values-small.yaml"), {"tls": {"mode": "generated"}}),
    "signed in": {
        "signIn": {
            "enabled": True,
            "issuer": "https://login.example.com/realms/desk",
            "audiences": ["quelea"],
            "clientId": "quelea-page",
            "existingSecret": "sign-in",
            "members": [{"group": "desk", "tenant": "us", "rights": {"*": "read"}, "administrator": False}],
            "publicUrl": "https://quelea.example.com",
        },
        "limits": {
            "callsPerKey": "8",
            "callsPerMinutePerKey": "60",
            "callsPerTenant": "40",
            "callsPerMinutePerTenant": "9",
        },
        "models": {"enabled": True, "set": "/models/sets/active"},
    },
    "everything off": {"services": dict.fromkeys(SERVICES, _OFF), "networkPolicy": _OFF},
}
LONG_NAME = "a-release-with-the-longest-name-that-helm-takes-abcdef"[:53]


@functools.cache
def chart(folder: Path = CHART) -> Chart:
    """The chart, or a copy of it with changes, loaded once."""
    return Chart.load(str(folder))


@functools.cache
def _rendered(values: str, name: str, namespace: str, folder: Path) -> dict[str, str]:
    return chart(folder).render(values=json.loads(values), name=name, namespace=namespace)


@functools.cache
def _objects(values: str, name: str, namespace: str, folder: Path) -> list[Object]:
    texts = [
        text for path, text in _rendered(values, name, namespace, folder).items() if not path.endswith("NOTES.txt")
    ]
    return [thing for text in texts for thing in objects_in(text)]


def objects_in(text: str) -> list[Object]:
    """What is in a rendered file."""
    return [thing for thing in yaml.load_all(text, _Loader) if thing]


def render(values: Object, name: str = "demo", namespace: str = "finance", folder: Path = CHART) -> list[Object]:
    """Every object but the notes, shared by all who ask: not to be changed. Raises HelmError as Helm does."""
    return _objects(json.dumps(values, sort_keys=True), name, namespace, folder)


def render_again(values: Object) -> list[Object]:
    """The same, not remembered: another rendering has other random values."""
    texts = chart().render(values=values, name="demo", namespace="finance")
    return [thing for path, text in texts.items() if not path.endswith("txt") for thing in objects_in(text)]


def notes(values: Object) -> str:
    """What `helm install` says at the end."""
    texts = _rendered(json.dumps(values, sort_keys=True), "demo", "finance", CHART)
    return next(text for path, text in texts.items() if path.endswith("NOTES.txt"))


def of_kind(things: list[Object], *kinds: str) -> list[Object]:
    """Those of these kinds."""
    return [thing for thing in things if thing["kind"] in kinds]


def named(things: list[Object], kind: str, name: str) -> Object:
    """The one object of this kind and name (without the release's name)."""
    (found,) = [t for t in things if t["kind"] == kind and t["metadata"]["name"].endswith(f"-{name}")]
    return found


def workloads(things: list[Object]) -> list[Object]:
    """Deployments and StatefulSets."""
    return of_kind(things, "Deployment", "StatefulSet")


def pods(things: list[Object]) -> list[tuple[str, Object]]:
    """Name and spec of every pod, tests' too."""
    found = [(t["metadata"]["name"], t["spec"]["template"]["spec"]) for t in workloads(things)]
    return found + [(t["metadata"]["name"], t["spec"]) for t in of_kind(things, "Pod")]


def containers(pod: Object) -> list[Object]:
    """All of a pod's, those before it too."""
    return [*pod.get("initContainers", []), *pod["containers"]]


def component(thing: Object) -> str:
    """Which part of Quelea an object belongs to."""
    return str(thing["metadata"]["labels"]["app.kubernetes.io/component"])


def main_containers(things: list[Object]) -> Iterator[tuple[str, Object]]:
    """Component and container of every service, and of what runs before it with the same settings."""
    for thing in workloads(things):
        for container in containers(thing["spec"]["template"]["spec"]):
            if container["name"] in (component(thing), "prepare"):
                yield component(thing), container


def variables(container: Object) -> dict[str, str]:
    """What it is told, with something in place of each secret."""
    told = {}
    for variable in container["env"]:
        secret = variable["name"] == "QUELEA_SEARCH_REDIS_URL"
        told[variable["name"]] = variable.get("value", "redis://:x@redis:6379/0" if secret else "from-a-secret")
    return told
