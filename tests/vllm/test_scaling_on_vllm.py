"""What the chart scales vLLM on, asked by a real Prometheus of a real vLLM while it writes."""

from __future__ import annotations

import threading
from collections.abc import Iterator

import pytest
from quelea_kit.testing import wait_until
from support.engine import MODEL, Engine
from support.prometheus import MISSING, Prometheus, found, pod_metrics, queries, scraping

pytestmark = pytest.mark.slow(reason="a language model writes, on the CPU")


@pytest.fixture(scope="module")
def prometheus(engine: Engine, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Prometheus]:
    if not found():
        pytest.skip(MISSING)
    with scraping(tmp_path_factory.mktemp("prometheus"), {"engine": engine.port}) as one:
        yield one


def test_the_query_counts_answers_that_wait_or_are_written(engine: Engine, prometheus: Prometheus) -> None:
    query = queries()["engine"]
    body = {"model": MODEL, "messages": [{"role": "user", "content": "Count to 300."}], "max_tokens": 300}

    def write() -> None:
        engine.http.post("/v1/chat/completions", json={**body, "ignore_eos": True}).raise_for_status()

    people = [threading.Thread(target=write) for _ in range(3)]
    assert prometheus.number(query) == 0
    for one in people:
        one.start()
    wait_until(lambda: prometheus.number(query) >= 1, seconds=60, what="answers are counted")
    for one in people:
        one.join()
    wait_until(lambda: prometheus.number(query) == 0, seconds=30, what="none is left")


def test_what_an_hpa_reads_is_a_gauge(prometheus: Prometheus) -> None:
    assert prometheus.kind(pod_metrics()["engine"], "engine") == "gauge"
