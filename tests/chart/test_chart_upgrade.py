"""An upgrade, a roll-back and a second release: nothing that cannot change changes, nothing is in another's way."""

from __future__ import annotations

import shutil
from typing import Any

import yaml
from helm_python.chart import Chart
from support.chart_render import CHART, MATRIX, Object, merged, named, of_kind, render


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
    after = [t for path, x in rendered.items() if not path.endswith("txt") for t in yaml.safe_load_all(x) if t]
    assert "9.9.9" in str(named(after, "Deployment", "gateway")["metadata"]["labels"])
    before = _immutable(render(MATRIX["small"]))
    there = _immutable(after)
    assert before.items() <= there.items()
    assert {("StatefulSet", "demo-quelea-redis"), ("Service", "demo-quelea-gateway")} <= before.keys()


def test_generated_secrets_stay_and_are_used() -> None:
    for secret in of_kind(render({}), "Secret", "PersistentVolumeClaim"):
        assert secret["metadata"]["annotations"]["helm.sh/resource-policy"] == "keep"
