"""The chart's dashboards, and their queries as Grafana would ask them of a release."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

from support.chart_render import CHART

FILES = sorted((CHART / "dashboards").glob("*.json"))


def asked(path: Path) -> Iterator[tuple[str, str]]:
    """Title and query of every panel."""
    for panel in json.loads(path.read_text(encoding="utf-8"))["panels"]:
        for target in panel.get("targets", ()):
            yield panel["title"], target["expr"]


def in_release(query: str, namespace: str = "finance", release: str = "demo-quelea", span: str = "5m") -> str:
    """The query with Grafana's variables filled in."""
    told = {"$__rate_interval": span, "$namespace": namespace, "$release": release}
    for name, value in told.items():
        query = query.replace(name, value)
    return query
