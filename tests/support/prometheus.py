"""A real Prometheus that scrapes loopback, and the PromQL that the chart's scaling asks."""

from __future__ import annotations

import json
import math
import os
import shutil
import subprocess
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path

import httpx2
import yaml
from quelea_kit.testing import free_port, wait_until
from support.chart_render import MATRIX, of_kind, render

NAMESPACE, RELEASE = "finance", "demo-quelea"
MISSING = "THE SCALING QUERIES ARE NOT TESTED: no prometheus here (Debian: apt-get install prometheus)"
SHOWN = ("embedder", "retriever", "search", "generator", "gateway")
"""Services that are scraped in tests/integration/metrics. Search shows the worker's number; tests/vllm asks vLLM's."""
PAGE = b"# Acme Corp. Form 10-Q\n\nNet sales of Acme Corp. were $4,812 million in the second quarter of 2023.\n"
QUESTION = "What were Acme's net sales in the second quarter of 2023?"
_SCALERS = ("ScaledObject", "HorizontalPodAutoscaler")
SCALED_CASES = tuple(case for case in MATRIX if of_kind(render(MATRIX[case]), *_SCALERS))


def found() -> bool:
    """Whether this machine has it."""
    return bool(shutil.which("prometheus") and shutil.which("promtool"))


def queries() -> dict[str, str]:
    """Service → its query, as rendered for KEDA, over every case in which one is scaled by it."""
    told: dict[str, str] = {}
    for case in SCALED_CASES:
        for scaler in of_kind(render(MATRIX[case]), "ScaledObject"):
            (trigger,) = scaler["spec"]["triggers"]
            name = scaler["metadata"]["labels"]["app.kubernetes.io/component"]
            assert told.setdefault(name, trigger["metadata"]["query"]) == trigger["metadata"]["query"]
    return told


def pod_metrics() -> dict[str, str]:
    """Service → the gauge of each of its pods that its HPA reads."""
    return {
        scaler["metadata"]["labels"]["app.kubernetes.io/component"]: metric["pods"]["metric"]["name"]
        for case in SCALED_CASES
        for scaler in of_kind(render(MATRIX[case]), "HorizontalPodAutoscaler")
        for metric in scaler["spec"]["metrics"]
        if metric["type"] == "Pods"
    }


def assert_valid(queries_: Mapping[str, str], folder: Path) -> None:
    """promtool takes them as rules."""
    rules = [{"record": f"quelea:{name}", "expr": query} for name, query in queries_.items()]
    file = folder / "rules.yml"
    file.write_text(yaml.safe_dump({"groups": [{"name": "scaling", "rules": rules}]}))
    done = subprocess.run(
        ["promtool", "check", "rules", str(file)], capture_output=True, text=True, timeout=60, check=False
    )
    assert done.returncode == 0, done.stdout + done.stderr


class Prometheus:
    """Scrapes each second; targets have the labels that a ServiceMonitor gives: namespace, service, pod."""

    def __init__(self, folder: Path, targets: Mapping[str, int]) -> None:
        self._folder, self._targets = folder, targets
        self._port = free_port()
        self._http = httpx2.Client(base_url=f"http://127.0.0.1:{self._port}", trust_env=False, timeout=60)
        self._process: subprocess.Popen[bytes] | None = None

    def start(self) -> None:
        """Start it, and wait until every target has been scraped."""
        jobs = [
            {
                "targets": [f"127.0.0.1:{port}"],
                "labels": {"namespace": NAMESPACE, "service": f"{RELEASE}-{name}", "pod": f"{RELEASE}-{name}-0"},
            }
            for name, port in self._targets.items()
        ]
        config = {
            "global": {"scrape_interval": "1s", "scrape_timeout": "1s"},
            "scrape_configs": [{"job_name": "quelea", "static_configs": jobs}],
        }
        file = self._folder / "prometheus.yml"
        file.write_text(yaml.safe_dump(config))
        command = ["prometheus", f"--config.file={file}", f"--storage.tsdb.path={self._folder}/data"]
        with (self._folder / "prometheus.log").open("wb") as log:
            self._process = subprocess.Popen(
                [*command, f"--web.listen-address=127.0.0.1:{self._port}"],
                stdout=log,
                stderr=log,
                env={"PATH": os.environ["PATH"]},
            )
        wait_until(lambda: len(self.up()) == len(self._targets), what="every target is scraped")

    def up(self) -> set[str]:
        """Services whose /metrics was read."""
        with suppress(httpx2.HTTPError):
            if self._http.get("/-/ready").status_code == 200:
                return {one["metric"]["service"] for one in self._result("up == 1")}
        return set()

    def _result(self, query: str) -> list[dict[str, dict[str, str]]]:
        answer = self._http.get("/api/v1/query", params={"query": query})
        assert answer.status_code == 200, answer.text
        found_: list[dict[str, dict[str, str]]] = answer.json()["data"]["result"]
        return found_

    def missing(self, query: str) -> bool:
        """Whether it has no answer (yet)."""
        return not self._result(query)

    def number(self, query: str) -> float:
        """What KEDA would get; fails when it is not exactly one finite number."""
        result = self._result(query)
        assert len(result) == 1, f"{query}: {json.dumps(result)[:500]}"
        number = float(result[0]["value"][1])
        assert math.isfinite(number), query
        return number

    def kind(self, metric: str, service: str) -> str:
        """gauge, counter, histogram, …, as the service's own /metrics says."""
        answer = self._http.get(
            "/api/v1/targets/metadata", params={"match_target": f'{{service="{RELEASE}-{service}"}}', "metric": metric}
        )
        (one,) = answer.json()["data"]
        return str(one["type"])

    def stop(self) -> None:
        """End it."""
        if self._process:
            self._process.terminate()
            self._process.wait(30)


@contextmanager
def scraping(folder: Path, targets: Mapping[str, int]) -> Iterator[Prometheus]:
    """One that runs."""
    one = Prometheus(folder, targets)
    try:
        one.start()
        yield one
    finally:
        one.stop()
