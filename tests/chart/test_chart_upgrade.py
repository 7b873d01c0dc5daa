"""An upgrade, a roll-back and a second release: nothing that cannot change changes, nothing is in another's way."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import Any

import pytest
from helm_python.chart import Chart
from support.chart_render import (
    CHART,
    MATRIX,
    Object,
    component,
    merged,
    named,
    objects_in,
    of_kind,
    render,
    render_again,
    workloads,
)

WITHOUT_NAMESPACE = """Namespace ClusterRole ClusterRoleBinding PriorityClass RuntimeClass StorageClass
    ValidatingAdmissionPolicy ValidatingAdmissionPolicyBinding CustomResourceDefinition""".split()


def _immutable(things: list[Object]) -> dict[tuple[str, str], Any]:
    fixed: dict[tuple[str, str], Any] = {}
    for thing in things:
        key, spec = (thing["kind"], thing["metadata"]["name"]), thing.get("spec", {})
        if thing["kind"] == "Deployment":
            fixed[key] = spec["selector"]
        elif thing["kind"] == "StatefulSet":
            fixed[key] = [spec[k] for k in ("selector", "serviceName", "podManagementPolicy")]
            fixed[key].append(spec.get("volumeClaimTemplates"))
        elif thing["kind"] == "Service":
            fixed[key] = spec.get("clusterIP")
        elif thing["kind"] == "PersistentVolumeClaim":
            fixed[key] = [spec["accessModes"], spec.get("storageClassName")]
    return fixed


def test_an_upgrade_changes_nothing_that_cannot_change(tmp_path: Any) -> None:
    """A new version of the chart and of the images, other labels, other replicas, other switches."""
    new = tmp_path / "quelea"
    shutil.copytree(CHART, new)
    text = (
        (new / "Chart.yaml")
        .read_text()
        .replace("version: 0.1.0", "version: 9.9.9")
        .replace("appVersion: 0.1.0", "appVersion: 9.9.9")
    )
    (new / "Chart.yaml").write_text(text)
    changed = merged(
        MATRIX["small"],
        MATRIX["everything on"],
        {"services": {"qdrant": {"replicas": 3}, "redis": {"resources": {"limits": {"memory": "2Gi"}}}}},
    )
    rendered = Chart.load(str(new)).render(values=changed, name="demo", namespace="finance", is_upgrade=True)
    after = [t for path, text in rendered.items() if not path.endswith("txt") for t in objects_in(text)]
    assert "9.9.9" in str(named(after, "Deployment", "gateway")["metadata"]["labels"])
    before = _immutable(render(MATRIX["small"]))
    there = _immutable(after)
    assert before.items() <= there.items()
    assert {("StatefulSet", "demo-quelea-redis"), ("Service", "demo-quelea-gateway")} <= before.keys()


@pytest.mark.parametrize("case", ["default", "embedded", "outside", "everything on", "cert-manager"])  # each of its own
@pytest.mark.parametrize("change", [{"image": {"tag": "9.9.9"}}, {"commonLabels": {"a": "b"}}, {"logLevel": "debug"}])
def test_a_job_of_the_release_is_never_changed_under_its_name(case: str, change: Object) -> None:
    """A Job's pods cannot be changed, so the upgrade would fail. (Hooks are removed before they are made again.)"""
    on = {"backup": {"enabled": True, "parts": ["search"]}, "restore": {"enabled": True, "parts": ["search"]}}
    before, after = (
        {
            t["metadata"]["name"]: t["spec"]
            for t in of_kind(render(merged(MATRIX[case], {"jobs": on}, more)), "Job")
            if "helm.sh/hook" not in t["metadata"].get("annotations", {})
        }
        for more in ({}, change)
    )
    assert before, "the job that binds the volume of backups"
    assert all(after[name] == spec for name, spec in before.items() if name in after)


def test_generated_secrets_stay_and_are_used() -> None:
    for secret in of_kind(render({}), "Secret", "PersistentVolumeClaim"):
        assert secret["metadata"]["annotations"]["helm.sh/resource-policy"] == "keep"


def _keys(things: list[Object], namespace: str) -> set[tuple[str, str, str]]:
    return {
        (
            t["kind"],
            "" if t["kind"] in WITHOUT_NAMESPACE else t["metadata"].get("namespace", namespace),
            t["metadata"]["name"],
        )
        for t in things
    }


@pytest.mark.parametrize("case", ["small", "everything on", "sandbox"])
@pytest.mark.parametrize("other", [("desk", "finance"), ("demo", "research"), ("quelea", "finance")])
def test_two_releases_live_in_one_cluster(case: str, other: tuple[str, str]) -> None:
    """Beside one another in a namespace, or under one name in two."""
    one, two = render(MATRIX[case]), render(MATRIX[case], *other)
    assert _keys(one, "finance") & _keys(two, other[1]) == set()
    if other[1] == "finance":
        pods = [t["spec"]["template"]["metadata"]["labels"] for t in workloads(two)]
        for chooser in of_kind(one, "Service", "PodDisruptionBudget", "Deployment", "StatefulSet", "NetworkPolicy"):
            selector = chooser["spec"].get("selector") or chooser["spec"].get("podSelector", {})
            wanted = selector.get("matchLabels", selector)
            assert not [own for own in pods if wanted.items() <= own.items()], chooser["metadata"]["name"]


def test_what_depends_on_the_installation_is_not_in_what_pods_are_made_of() -> None:
    """Two renderings of the same values give the same pods: an upgrade that changes nothing restarts nobody."""
    first, second = render(MATRIX["small"]), render_again(MATRIX["small"])
    assert [t["spec"]["template"] for t in workloads(first)] == [t["spec"]["template"] for t in workloads(second)]
    # Without a cluster to look them up in, the Secrets differ: that they are kept is the templates' `lookup`.
    assert of_kind(first, "Secret") != of_kind(second, "Secret")


def test_every_generated_value_is_looked_up_first() -> None:
    """A random value in a template without a look at what is there would change with each upgrade."""
    for path in (CHART / "templates").rglob("*"):
        if path.is_file() and "rand" in (text := path.read_text(encoding="utf-8")):
            for line in text.splitlines():
                if "randAlphaNum" in line and "$key :=" not in line:
                    assert "| default (rand" in line, f"{path.name}: {line}"
            assert "lookup" in text, path.name


def _templates(folder: Path, values: Object) -> dict[str, Any]:
    return {component(t): t["spec"]["template"] for t in workloads(render(values, folder=folder))}


@pytest.mark.parametrize(
    ("changed", "case", "restarted"),
    [
        ("helm_test.py", "sandbox", set()),
        ("worker_alive.py", "small", {"worker"}),
        ("loop_alive.py", "everything on", {"beat"}),
        ("qdrant.sh", "small", {"qdrant"}),
        ("redis.conf", "small", {"redis"}),
        ("redis_tls.conf", "small", set()),
        ("redis_tls.conf", "cert-manager", {"redis"}),
        ("relay.py", "sandbox", {"sandbox"}),
        ("runner_files.py", "sandbox", {"sandbox"}),
    ],
)
def test_a_file_restarts_who_reads_it_and_nobody_else(
    tmp_path: Path, changed: str, case: str, restarted: set[str]
) -> None:
    new = tmp_path / "quelea"
    shutil.copytree(CHART, new)
    with (new / "files" / changed).open("a", encoding="utf-8") as file:
        file.write("\n# changed\n")
    before, after = _templates(CHART, MATRIX[case]), _templates(new, MATRIX[case])
    assert {name for name in before if before[name] != after[name]} == restarted
