"""The chart's alerts, tried by Prometheus itself: each fires on what it is for, and not beside it."""

from __future__ import annotations

import re
import subprocess
from pathlib import Path
from typing import Any

import pytest
import yaml
from support.chart_render import MATRIX, named, render
from support.prometheus import MISSING, found

OWN = 'namespace="finance", service="demo-quelea-search", pod="demo-quelea-search-0"'
OTHER = 'namespace="finance", service="other-search", pod="other-search-0"'
CLAIM = 'namespace="finance", persistentvolumeclaim="data-demo-quelea-redis-0"'
FIRES: dict[str, tuple[dict[str, str], str, str]] = {
    "QueleaServiceAway": ({f"up{{{OWN}}}": "0x20", f"up{{{OTHER}}}": "0x20"}, "6m", "demo-quelea-search"),
    "QueleaServiceNotReady": ({f"quelea_ready{{{OWN}}}": "0x20"}, "6m", "demo-quelea-search"),
    "QueleaDiskShort": ({f"quelea_disk_short{{{OWN}}}": "1x20"}, "2m", "demo-quelea-search"),
    "QueleaDiskFilling": ({f"quelea_disk_free_bytes{{{OWN}}}": "1500000000x20"}, "11m", "1.397GiB"),
    "QueleaVolumeFilling": (
        {
            f"kubelet_volume_stats_available_bytes{{{CLAIM}}}": "5x20",
            f"kubelet_volume_stats_capacity_bytes{{{CLAIM}}}": "100x20",
        },
        "11m",
        "data-demo-quelea-redis-0 has 5%",
    ),
}
WELL = {
    f"up{{{OWN}}}": "1x20",
    f"quelea_ready{{{OWN}}}": "1x20",
    f"quelea_disk_short{{{OWN}}}": "0x20",
    f"quelea_disk_free_bytes{{{OWN}}}": "9000000000x20",
    f"kubelet_volume_stats_available_bytes{{{CLAIM}}}": "50x20",
    f"kubelet_volume_stats_capacity_bytes{{{CLAIM}}}": "100x20",
}


def _rules() -> dict[str, Any]:
    (group,) = named(render(MATRIX["everything on"]), "PrometheusRule", "quelea")["spec"]["groups"]
    rules: dict[str, Any] = {rule["alert"]: rule for rule in group["rules"]}
    return rules


def _labels(text: str) -> dict[str, str]:
    return dict(re.findall(r'(\w+)="([^"]+)"', text))


def test_each_fires_on_what_it_is_for_and_names_it(tmp_path: Path) -> None:
    if not found():
        pytest.skip(MISSING)
    rules = _rules()
    assert rules.keys() == FIRES.keys()
    (tmp_path / "rules.yml").write_text(yaml.safe_dump({"groups": [{"name": "x", "rules": list(rules.values())}]}))
    tests = []
    for alert, (series, when, says) in FIRES.items():
        by = re.search(r"by \(([a-z, ]+)\)", rules[alert]["expr"])
        kept = by[1].split(", ") if by else list(_labels(next(iter(series))))
        labels = {key: value for key, value in _labels(next(iter(series))).items() if key in kept}
        summary = rules[alert]["annotations"]["summary"]
        for name, value in labels.items():
            summary = summary.replace(f"{{{{ $labels.{name} }}}}", value)
        summary = re.sub(r"\{\{ \$value \| \w+ \}\}B?", says.split("has ")[-1], summary)
        assert says in summary, "it names who"
        fired = {"exp_labels": {**labels, **rules[alert]["labels"]}, "exp_annotations": {"summary": summary}}
        tests.append(
            {
                "interval": "1m",
                "input_series": [{"series": name, "values": values} for name, values in series.items()],
                "alert_rule_test": [
                    {"eval_time": when, "alertname": alert, "exp_alerts": [fired]},
                    {"eval_time": "0m", "alertname": alert, "exp_alerts": []},  # a moment is none
                ],
            }
        )
    tests.append(
        {
            "interval": "1m",
            "input_series": [{"series": name, "values": values} for name, values in WELL.items()],
            "alert_rule_test": [{"eval_time": "15m", "alertname": alert, "exp_alerts": []} for alert in rules],
        }
    )
    (tmp_path / "tests.yml").write_text(yaml.safe_dump({"rule_files": ["rules.yml"], "tests": tests}))
    done = subprocess.run(
        ["promtool", "test", "rules", "tests.yml"],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
