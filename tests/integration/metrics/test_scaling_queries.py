"""Every number that scaling asks for, asked by a real Prometheus of the running services after real traffic."""

from __future__ import annotations

import threading
from pathlib import Path

import pytest
from quelea_kit.testing import wait_until
from support.prometheus import MISSING, PAGE, QUESTION, SHOWN, Prometheus, assert_valid, found, pod_metrics, queries
from support.stack import Stack


def test_promtool_takes_every_query(tmp_path: Path) -> None:
    if not found():
        pytest.skip(MISSING)
    asked = queries()
    assert asked.keys() == {*SHOWN, "worker", "engine"}
    assert_valid(asked, tmp_path)


@pytest.mark.parametrize("service", [*SHOWN, "worker"])
def test_a_query_is_one_number_where_its_service_runs(prometheus: Prometheus, service: str) -> None:
    wait_until(lambda: not prometheus.missing(queries()[service]), what=f"{service} shows its metric")
    assert prometheus.number(queries()[service]) >= 0


@pytest.mark.parametrize("service", SHOWN)
def test_what_an_hpa_reads_is_a_gauge_of_the_pod(prometheus: Prometheus, service: str) -> None:
    assert prometheus.kind(pod_metrics()[service], service) == "gauge"


def test_the_gateways_number_is_the_requests_that_are_under_way(stack: Stack, prometheus: Prometheus) -> None:
    """Streams that are open count; the mean over a minute rises while they are."""
    query = queries()["gateway"]
    enough = threading.Event()

    def ask() -> None:
        while not enough.is_set():
            stack.ask(QUESTION)

    people = [threading.Thread(target=ask) for _ in range(4)]
    before = prometheus.number(query)
    for one in people:
        one.start()
    try:
        wait_until(lambda: prometheus.number(query) > max(before, 0.5), what="the number rises")
    finally:
        enough.set()
        for one in people:
            one.join()


def test_the_workers_number_is_the_jobs_that_wait_or_run(stack: Stack, prometheus: Prometheus) -> None:
    query = queries()["worker"]
    jobs = stack.submit(*((f"{number}.md", PAGE + str(number).encode()) for number in range(60)))
    wait_until(lambda: prometheus.number(query) >= 5, what="jobs are counted")
    for job in jobs:
        assert stack.ended(job)["state"] == "succeeded"
    wait_until(lambda: prometheus.number(query) == 0, what="none is left")
