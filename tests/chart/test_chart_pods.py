"""Every pod: what it asks for, how it is watched and ended, and what it may not do."""

from __future__ import annotations

import base64
import json
import re
from itertools import product

import pytest
from support.chart_render import (
    CHART,
    LONG_NAME,
    MATRIX,
    Object,
    containers,
    named,
    of_kind,
    pods,
    render,
    workloads,
)

_UNITS = {"m": 0.001, "k": 1e3, "M": 1e6, "G": 1e9, "Ki": 2**10, "Mi": 2**20, "Gi": 2**30, "Ti": 2**40, "": 1.0}
CASES = pytest.mark.parametrize(("case", "release"), list(product(MATRIX, ("demo", LONG_NAME))))


def _amount(text: str) -> float:
    number, unit = re.fullmatch(r"([0-9.]+)([a-zA-Z]*)", str(text)).groups()  # type: ignore[union-attr]
    return float(number) * _UNITS[unit]


def _fits(selector: Object, labels: Object) -> bool:
    return selector.items() <= labels.items()


@CASES
def test_requests_are_within_limits(case: str, release: str) -> None:
    for name, pod in pods(render(MATRIX[case], release)):
        for container in containers(pod):
            asked, most = container["resources"]["requests"], container["resources"]["limits"]
            assert {"cpu", "memory", "ephemeral-storage"} <= asked.keys(), (name, container["name"])
            assert asked.keys() == most.keys(), (name, container["name"])
            for what, amount in asked.items():
                assert 0 < _amount(amount) <= _amount(most[what]), (name, container["name"], what)


@CASES
def test_every_running_container_has_three_probes_and_time_to_drain(case: str, release: str) -> None:
    for name, pod in pods(render(MATRIX[case], release)):
        if "serviceAccountName" not in pod:
            continue  # a test's pod ends by itself
        running = [
            *pod["containers"],
            *(c for c in pod.get("initContainers", []) if c.get("restartPolicy") == "Always"),
        ]
        for container in running:
            open_ports = {p["name"]: p["containerPort"] for p in container.get("ports", [])}
            for kind in ("startupProbe", "readinessProbe", "livenessProbe"):
                for how in ("httpGet", "tcpSocket", "grpc"):
                    port = container[kind].get(how, {}).get("port")
                    assert port is None or port in {*open_ports, *open_ports.values()}, (name, kind)
        main = pod["containers"][0]
        sleep = main.get("lifecycle", {}).get("preStop", {}).get("sleep", {}).get("seconds", 0)
        drains = [float(v["value"]) for v in main["env"] if v["name"].endswith("_DRAIN_SECONDS")]
        assert len(drains) <= 1
        assert pod["terminationGracePeriodSeconds"] >= sleep + sum(drains) + 10, name


@CASES
def test_pods_fit_the_restricted_profile_but_for_the_engine(case: str, release: str) -> None:
    things = render(MATRIX[case], release)
    for name, pod in pods(things):
        own = pod["securityContext"]
        assert own["seccompProfile"] == {"type": "RuntimeDefault"}
        assert own["runAsUser"] > 0
        if "serviceAccountName" in pod:
            assert pod["automountServiceAccountToken"] is False
        assert not {"hostNetwork", "hostPID", "hostIPC"} & pod.keys()
        assert not [v for v in pod["volumes"] if "hostPath" in v], (
            "never the node's files, its docker.sock least of all"
        )
        for container in containers(pod):
            security = container["securityContext"]
            if security.get("privileged"):
                assert container["name"] == "engine"
                assert name.endswith("-sandbox")
                continue
            assert security["runAsNonRoot"] is True
            assert security["allowPrivilegeEscalation"] is False
            assert security["readOnlyRootFilesystem"] is True
            assert security["capabilities"] == {"drop": ["ALL"]}
            assert "runAsUser" not in security
    privileged = [c for _, pod in pods(things) for c in containers(pod) if c["securityContext"].get("privileged")]
    assert len(privileged) == (case in ("sandbox", "everything on"))


@CASES
def test_every_workload_has_budget_spread_account_and_policy(case: str, release: str) -> None:
    things = render(MATRIX[case], release)
    for thing in workloads(things):
        for kind in ("PodDisruptionBudget", "ServiceAccount", *(["NetworkPolicy"] if case != "everything off" else [])):
            assert [t for t in of_kind(things, kind) if t["metadata"]["name"] == thing["metadata"]["name"]], kind
        pod = thing["spec"]["template"]
        for spread in pod["spec"]["topologySpreadConstraints"]:
            assert _fits(spread["labelSelector"]["matchLabels"], pod["metadata"]["labels"])
        if case == "everything on":
            assert pod["spec"]["priorityClassName"] == "important"


@CASES
def test_a_node_can_always_be_drained_and_one_node_is_enough(case: str, release: str) -> None:
    things = render(MATRIX[case], release)
    for budget in of_kind(things, "PodDisruptionBudget"):
        assert budget["spec"]["maxUnavailable"] >= 1, "with one replica a drain would wait for ever"
        assert "minAvailable" not in budget["spec"]
    for _, pod in pods(things):
        for spread in pod.get("topologySpreadConstraints", []):
            assert spread["whenUnsatisfiable"] == "ScheduleAnyway"
        assert "podAntiAffinity" not in pod.get("affinity", {})


@CASES
def test_what_may_be_written_is_within_the_limit_on_disk(case: str, release: str) -> None:
    """A pod whose empty folders may hold more than its limit is evicted before they are full."""
    for name, pod in pods(render(MATRIX[case], release)):
        if any(c["securityContext"].get("privileged") for c in containers(pod)):
            continue  # Docker in Docker: images and containers share one folder with a limit of its own
        folders = [v["emptyDir"] for v in pod["volumes"] if "emptyDir" in v]
        assert all("sizeLimit" in one for one in folders), name
        on_disk = sum(_amount(one["sizeLimit"]) for one in folders if one.get("medium") != "Memory")
        limits = sum(_amount(c["resources"]["limits"]["ephemeral-storage"]) for c in pod["containers"])
        assert on_disk <= limits, name


def _asked(thing: Object) -> tuple[float, float]:
    pod = thing["spec"]["template"]["spec"]["containers"]
    cpu, memory = (sum(_amount(c["resources"]["requests"][what]) for c in pod) for what in ("cpu", "memory"))
    return cpu, memory


@pytest.mark.parametrize("case", ["small", "local", "embedded"])
def test_small_fits_a_node_of_two_processors_and_eight_gibibytes(case: str) -> None:
    """All pods, and the largest one more while it is rolled.

    Not ours: what kubeadm's control plane asks for where it is on the same node (0.95 processors), and 1 GiB.
    """
    things = workloads(render(MATRIX[case]))
    cpu, memory = (sum(t["spec"]["replicas"] * _asked(t)[part] for t in things) for part in (0, 1))
    surge = [t for t in things if t["kind"] == "Deployment"]
    more_cpu, more_memory = (max(_asked(t)[part] for t in surge) for part in (0, 1))
    assert cpu + more_cpu <= 2 - 0.95
    assert memory + more_memory <= 7 * 2**30
    readme = " ".join((CHART / "README.md").read_text(encoding="utf-8").split())
    assert f"| `{case}` | {cpu:.2f} | {memory / 2**30:.1f} |" in readme


@CASES
def test_no_password_is_in_a_command_or_an_argument(case: str, release: str) -> None:
    """Every process of a node may read another's arguments; a Secret reaches a process as a variable or a file."""
    for name, pod in pods(render(MATRIX[case], release)):
        for container in containers(pod):
            secret = {v["name"] for v in container.get("env", []) if "secretKeyRef" in v.get("valueFrom", {})}
            words = json.dumps([container.get("command"), container.get("args"), *_executed(container)])
            assert not [one for one in secret if f"$({one})" in words or f"${{{one}}}" in words], (name, words)


def _executed(container: Object) -> list[Object]:
    return [container[kind]["exec"] for kind in container if kind.endswith("Probe") and "exec" in container[kind]]


def test_redis_reads_its_password_from_the_secret() -> None:
    things = render(MATRIX["small"])
    secret = named(things, "Secret", "redis")["data"]
    password, line = (base64.b64decode(secret[key]).decode() for key in ("password", "auth.conf"))
    assert line == f"requirepass {password}\n" and len(password) == 40
    spec = named(things, "StatefulSet", "redis")["spec"]["template"]["spec"]
    (mount,) = [one for one in spec["containers"][0]["volumeMounts"] if one["name"] == "auth"]
    config = named(things, "ConfigMap", "redis")["data"]["redis.conf"]
    assert f"include {mount['mountPath']}/auth.conf" in config


def test_pods_of_tests_go_when_they_have_passed() -> None:
    for pod in of_kind(render(MATRIX["pods"]), "Pod"):
        assert pod["metadata"]["annotations"]["helm.sh/hook-delete-policy"] == "before-hook-creation,hook-succeeded"
