"""Every query of the chart's dashboards, asked by a real Prometheus of the running services after real traffic."""

from __future__ import annotations

import re

import pytest
from quelea_kit.testing import wait_until
from support.dashboards import FILES, asked, in_release
from support.prometheus import NAMESPACE, RELEASE, SHOWN, Prometheus

QUERIES = [(f"{path.stem}: {title}", query) for path in FILES for title, query in asked(path)]
# What one document and one question move, of each service.
ALIVE = {
    "gateway: Requests a second",
    "gateway: Answers a second, by how they ended",
    "gateway: Time of an answer by stage, 95 of 100 within",
    "gateway: Ready: 1 while the pod can do its work",
    "generator: Answers a second, by how they ended",
    "generator: First text, 95 of 100 within",
    "retriever: A search by stage, 95 of 100 within",
    "retriever: Live documents",
    "retriever: Texts a second",
    "search: Jobs that ended, a second",
    "search: Where the workers' time goes: seconds a second",
    "search: Workers that live",
}


def _labels(query: str) -> tuple[str, str]:
    """Service and selector of a query."""
    service = re.search(r'service="\$release-(\w+)"', query)
    assert service, query
    return service[1], f'{{namespace="{NAMESPACE}", service="{RELEASE}-{service[1]}"}}'


def test_every_query_is_one_that_prometheus_answers(prometheus: Prometheus) -> None:
    assert len(QUERIES) > 80
    for _, query in QUERIES:
        prometheus.missing(in_release(query, NAMESPACE, RELEASE))  # fails unless it is answered, be it with nothing


@pytest.mark.parametrize("name", sorted({name.split(":")[0] for name, _ in QUERIES} - {"sandbox"}))
def test_no_panel_is_empty_whose_metrics_are_there(prometheus: Prometheus, name: str) -> None:
    shown = set()
    for title, query in QUERIES:
        service, labels = _labels(query)
        if not title.startswith(f"{name}:") or service not in SHOWN:
            continue
        metrics = set(re.findall(r"\bquelea_\w+", re.sub(r"\{[^}]*\}", "", query)))
        if any(prometheus.missing(metric + labels) for metric in metrics):
            continue  # nothing of the kind has happened yet
        filled = in_release(query, NAMESPACE, RELEASE)
        # A rate wants two scrapes.
        wait_until(lambda filled=filled: not prometheus.missing(filled), what=f"{title} shows something")
        shown.add(title)
    assert {title for title in ALIVE if title.startswith(f"{name}:")} <= shown
