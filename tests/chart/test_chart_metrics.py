"""The metrics that scaling asks for are those of the services; tests/integration/metrics asks running ones."""

from __future__ import annotations

import json
import re

import pytest
import yaml
from helm_python.errors import HelmError
from quelea_search.core.jobs import JobState
from support.chart_render import (
    CHART,
    MATRIX,
    REPOSITORY,
    Object,
    main_containers,
    named,
    of_kind,
    render,
    variables,
)
from support.shown_metrics import SHOWS, samples_of

VALUES: Object = yaml.safe_load((CHART / "values.yaml").read_text(encoding="utf-8"))


def test_every_metric_of_a_query_is_one_that_the_service_shows() -> None:
    asked = 0
    for name, own in VALUES["services"].items():
        scaling = own.get("autoscaling", {})
        words = f"{scaling.get('query', '')} {scaling.get('podMetric', {}).get('name', '')}"
        shows = scaling.get("queryService") or name
        for metric in set(re.findall(r"quelea_\w+", words)):
            asked += 1
            assert metric in samples_of(shows), f"{name}: {metric}"
        for labels in re.findall(r"\$target, ([^}]+)", words):
            (label, values) = re.fullmatch(r'(\w+)=~"([^"]+)"', labels).groups()  # type: ignore[union-attr]
            assert label in samples_of(shows)["quelea_search_jobs"]
            assert set(values.split("|")) <= {state.value for state in JobState}
    assert asked >= 6
    for scaler in of_kind(render(MATRIX["keda"]), "ScaledObject"):
        query = scaler["spec"]["triggers"][0]["metadata"]["query"]
        assert 'namespace="finance", service="demo-quelea-' in query
        assert "$target" not in query
    worker = named(render(MATRIX["keda"]), "ScaledObject", "worker")
    assert 'service="demo-quelea-search"' in worker["spec"]["triggers"][0]["metadata"]["query"]


def test_vllms_metrics_are_those_of_vllm() -> None:
    sources = list((REPOSITORY / ".engine-vllm").glob("lib/python3*/site-packages/vllm/v1/metrics/loggers.py"))
    if not sources:
        pytest.skip("vLLM is not here; `make engine-vllm` brings it")
    text = sources[0].read_text(encoding="utf-8")
    scaling = VALUES["services"]["engine"]["autoscaling"]
    names = set(re.findall(r"vllm:\w+", scaling["query"] + scaling["podMetric"]["name"]))
    assert names == {"vllm:num_requests_waiting", "vllm:num_requests_running"}
    assert all(f'"{name}"' in text for name in names)


def test_metrics_have_a_port_only_where_they_are_asked_for(monkeypatch: pytest.MonkeyPatch) -> None:
    for case, on in (("default", False), ("keda", True)):
        for name, container in main_containers(render(MATRIX[case])):
            told = variables(container)
            ports = {p["name"]: p["containerPort"] for p in container.get("ports", [])}
            if container["name"] == name and name in SHOWS:
                assert ("metrics" in ports) is on
                assert any(v.endswith("_METRICS_PORT") and told[v] == "9100" for v in told) is on


def test_alerts_go_by_metrics_that_the_services_show_and_want_monitoring() -> None:
    (rule,) = of_kind(render(MATRIX["everything on"]), "PrometheusRule")
    assert rule["metadata"]["labels"]["release"] == "prometheus"
    named_ones = set(re.findall(r"quelea_\w+", json.dumps([one["expr"] for one in rule["spec"]["groups"][0]["rules"]])))
    assert named_ones == {"quelea_ready", "quelea_disk_short", "quelea_disk_free_bytes"}
    assert named_ones <= samples_of("search").keys()
    assert not of_kind(render(MATRIX["keda"]), "PrometheusRule")
    with pytest.raises(HelmError, match=r"set monitoring\.enabled"):
        render({"monitoring": {"rules": True}})
