"""Dashboards that Grafana can read, that ask for what the services show, and that the chart ships when it is told to.

No Grafana has shown them; tests/integration/metrics asks a real Prometheus their queries.
"""

from __future__ import annotations

import json
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from support.chart_render import CHART, Object, merged, named, of_kind, render
from support.dashboards import FILES, asked, in_release
from support.prometheus import MISSING, assert_valid, found
from support.shown_metrics import samples_of

ON: Object = {"monitoring": {"enabled": True, "dashboards": True}}
FUNCTIONS = {"sum", "min", "max", "by", "rate", "histogram_quantile", "time", "le"}
METRIC = re.compile(r"\bquelea_\w+")
OF_PROMETHEUS = {"namespace", "service", "pod"}
"""Labels that a ServiceMonitor gives."""


def _read(path: Path) -> Any:
    return json.loads(path.read_text(encoding="utf-8"))


def test_the_files_are_what_is_made_of_the_tables() -> None:
    done = subprocess.run([sys.executable, str(CHART.parent / "dashboards.py"), "--check"], check=False, timeout=60)
    assert done.returncode == 0, "python deploy/helm/dashboards.py"
    assert {path.stem for path in FILES} == {"gateway", "generator", "retriever", "search", "sandbox"}


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_every_metric_and_label_is_one_that_the_service_shows(path: Path) -> None:
    seen = 0
    for title, query in asked(path):
        service = re.findall(r'service="\$release-(\w+)"', query)
        shown = samples_of(service[0])
        bare = re.sub(r"\{[^}]*\}|\[[^]]*\]", "", query)
        metrics = set(METRIC.findall(bare))
        assert metrics, title
        for metric in metrics:
            seen += 1
            assert metric in shown, f"{title}: {service[0]} has no {metric}"
            labels = set(re.findall(r"[a-z]+", " ".join(re.findall(r"by \(([^)]*)\)", bare))))
            assert labels <= shown[metric] | OF_PROMETHEUS, f"{title}: {metric} has no {labels - shown[metric]}"
        words = set(re.findall(r"[a-z_]+", bare)) - metrics - FUNCTIONS
        assert words <= set().union(*(shown[metric] for metric in metrics)) | OF_PROMETHEUS, title
    assert seen > 10


@pytest.mark.parametrize("service", ["embedder", "retriever", "search", "generator", "gateway", "sandbox", "door"])
def test_what_a_service_shows_of_its_own_is_on_a_dashboard(service: str) -> None:
    on_dashboards = {_bare(name) for path in FILES for _, query in asked(path) for name in METRIC.findall(query)}
    left_out = {_bare(name) for name in samples_of(service)} - on_dashboards
    assert left_out <= {"quelea_embedder_batch_texts"}, "deploy/helm/dashboard_panels.py: give it a panel"


def _bare(sample: str) -> str:
    return re.sub("_(sum|count|bucket)$", "", sample)


def test_promtool_takes_every_query(tmp_path: Path) -> None:
    if not found():
        pytest.skip(MISSING)
    queries = {f"{path.stem}:{at}": in_release(query) for path in FILES for at, (_, query) in enumerate(asked(path))}
    assert len(queries) > 80
    assert_valid(queries, tmp_path)


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_panels_do_not_overlap_and_have_what_grafana_asks_of_them(path: Path) -> None:
    dashboard = _read(path)
    assert dashboard["uid"] == f"quelea-{path.stem}"
    variables = {one["name"] for one in dashboard["templating"]["list"]}
    assert variables == {"datasource", "namespace", "release"}
    assert set(re.findall(r"\$\{?([a-z]+)", json.dumps(dashboard))) <= variables
    taken: set[tuple[int, int]] = set()
    for panel in dashboard["panels"]:
        at = panel["gridPos"]
        cells = {(x, y) for x in range(at["x"], at["x"] + at["w"]) for y in range(at["y"], at["y"] + at["h"])}
        assert not cells & taken, panel["title"]
        assert at["x"] + at["w"] <= 24
        taken |= cells
    assert len({panel["id"] for panel in dashboard["panels"]}) == len(dashboard["panels"])


def test_the_chart_ships_them_when_it_is_told_to() -> None:
    assert not [t for t in of_kind(render({}), "ConfigMap") if "dashboard" in t["metadata"]["name"]]
    things = render(merged(ON, {"monitoring": {"dashboardLabels": {"grafana_dashboard": "1", "team": "a"}}}))
    for path in FILES:
        made = named(things, "ConfigMap", f"dashboard-{path.stem}")
        assert {"grafana_dashboard": "1", "team": "a"}.items() <= made["metadata"]["labels"].items()
        assert made["data"] == {f"quelea-{path.stem}.json": path.read_text(encoding="utf-8")}


def test_qdrant_is_scraped_with_its_key_and_over_tls_where_it_speaks_tls() -> None:
    on: Object = {"monitoring": {"enabled": True, "serviceMonitor": True, "namespaceLabels": {"name": "monitoring"}}}
    (endpoint,) = named(render(on), "ServiceMonitor", "qdrant")["spec"]["endpoints"]
    assert endpoint["port"] == "http"
    assert endpoint["authorization"] == {"credentials": {"name": "demo-quelea-qdrant", "key": "api-key"}}
    assert "scheme" not in endpoint
    secured = render(merged(on, {"tls": {"mode": "generated", "stores": True}}))
    (endpoint,) = named(secured, "ServiceMonitor", "qdrant")["spec"]["endpoints"]
    host = "demo-quelea-qdrant.finance.svc.cluster.local"
    ca = {"secret": {"name": "demo-quelea-tls-qdrant", "key": "ca.crt"}}
    assert (endpoint["scheme"], endpoint["tlsConfig"]) == ("https", {"ca": ca, "serverName": host})
    for monitor in of_kind(secured, "ServiceMonitor"):
        (endpoint,) = monitor["spec"]["endpoints"]
        own = endpoint["port"] == "metrics"
        assert ("scheme" in endpoint, "authorization" in endpoint) == (not own, not own), monitor["metadata"]["name"]


def test_a_stores_own_port_is_opened_to_a_namespace_that_is_named_and_to_no_other() -> None:
    anybody = render({"monitoring": {"enabled": True, "serviceMonitor": True}})
    assert "demo-quelea-qdrant" not in {t["metadata"]["name"] for t in of_kind(anybody, "ServiceMonitor")}
    for rule in named(anybody, "NetworkPolicy", "qdrant")["spec"]["ingress"]:
        assert all("namespaceSelector" not in peer for peer in rule["from"])
