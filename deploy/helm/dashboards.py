"""The Grafana dashboards of the chart, from the tables in dashboard_panels.py: `python deploy/helm/dashboards.py`.

Grafana's JSON says little in many lines, so it is made, and kept in git beside the chart, which ships it as it is. A
test compares the files with what this makes. --check only says whether they are up to date (exit 1 if not).
"""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from dashboard_panels import DASHBOARDS, Rows

FOLDER = Path(__file__).parent / "quelea/dashboards"
_WIDTH, _HEIGHT, _COLUMNS = 8, 7, 3
_SOURCE = {"type": "prometheus", "uid": "${datasource}"}


def _variable(name: str, label: str, query: str, regex: str = "") -> dict[str, Any]:
    return {
        "name": name, "label": label, "type": "query", "datasource": _SOURCE, "refresh": 2, "sort": 1,
        "query": {"query": query, "refId": name}, "definition": query, "regex": regex,
    }  # fmt: skip


def _panels(rows: Rows) -> Iterator[dict[str, Any]]:
    number = y = 0
    for title, (service, panels) in rows.items():
        number += 1
        yield {
            "id": number, "type": "row", "title": title, "collapsed": False, "panels": [],
            "gridPos": {"x": 0, "y": y, "w": _WIDTH * _COLUMNS, "h": 1},
        }  # fmt: skip
        y += 1
        labels = f'namespace="$namespace", service="$release-{service}"'
        for at, panel in enumerate(panels):
            number += 1
            target = {
                "refId": "A", "datasource": _SOURCE, "expr": panel.query.replace("{S", f"{{{labels}"),
                "legendFormat": panel.legend or panel.title,
            }  # fmt: skip
            yield {
                "id": number, "type": "timeseries", "title": panel.title, "datasource": _SOURCE, "targets": [target],
                "fieldConfig": {"defaults": {"unit": panel.unit, "min": 0}, "overrides": []},
                "gridPos": {
                    "x": at % _COLUMNS * _WIDTH, "y": y + at // _COLUMNS * _HEIGHT, "w": _WIDTH, "h": _HEIGHT,
                },
            }  # fmt: skip
        y += -(-len(panels) // _COLUMNS) * _HEIGHT


def dashboard(name: str) -> str:
    """The JSON of one."""
    says, rows = DASHBOARDS[name]
    source = {"name": "datasource", "label": "Prometheus", "type": "datasource", "query": "prometheus"}
    services = "|".join(dict.fromkeys(service for service, _ in rows.values()))
    return json.dumps(
        {
            "uid": f"quelea-{name}", "title": f"Quelea: {name}", "description": says, "tags": ["quelea"],
            "schemaVersion": 39, "editable": True, "refresh": "30s", "time": {"from": "now-3h", "to": "now"},
            "templating": {"list": [
                source,
                _variable("namespace", "Namespace", "label_values(quelea_ready, namespace)"),
                _variable(
                    "release", "Release", 'label_values(quelea_ready{namespace="$namespace"}, service)',
                    f"/^(.+)-(?:{services})$/",
                ),
            ]},
            "panels": list(_panels(rows)),
        },
        indent=1,
    ) + "\n"  # fmt: skip


def main() -> int:
    """Write them, or check them."""
    made = {FOLDER / f"{name}.json": dashboard(name) for name in DASHBOARDS}
    if "--check" in sys.argv[1:]:
        there = {path: path.read_text(encoding="utf-8") for path in FOLDER.glob("*.json")}
        return 0 if there == made else 1
    for path, text in made.items():
        path.write_text(text, encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
