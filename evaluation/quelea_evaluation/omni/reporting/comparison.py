"""Two results side by side, and whether one is worse than the last: `--against`, `--gate`."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import asdict
from pathlib import Path
from typing import Any

import yaml

from quelea_evaluation.inputs import BadInput
from quelea_evaluation.metrics.intervals import compare_paired
from quelea_evaluation.omni.scoring.judges import ASPECTS
from quelea_evaluation.reports.store import Row, RowFile, RowIndex

LOWER_IS_BETTER = frozenset(aspect.id for aspect in ASPECTS if aspect.lower_is_better)


def compare(first: RowFile, second: Iterable[Row]) -> Row:
    """Every metric on the items that both have a value for: overall, by topic and by task; second − first.

    Args:
        first: Items of a run: its values.jsonl.
        second: Items of the other, each once.
    """
    before = RowIndex(first)
    groups: dict[tuple[str, str], dict[str, tuple[list[float], list[float]]]] = {}
    alone = common = 0
    for item in second:
        other = before.get(str(item["id"]))
        if other is None:
            alone += 1
            continue
        common += 1
        for name, told in item["values"].items():
            left, right = (other["values"].get(name) or {}).get("value"), told["value"]
            if left is None or right is None:
                continue
            for group in (("overall", ""), ("topic", item["topic"]), ("task", item["task"])):
                pair = groups.setdefault(group, {}).setdefault(name, ([], []))
                pair[0].append(left)
                pair[1].append(right)
    return {
        "items": common,
        "only_in_first": len(before) - common,
        "only_in_second": alone,
        "groups": [
            {
                "by": by,
                "name": name,
                "metrics": {
                    metric: asdict(found)
                    for metric, pair in sorted(metrics.items())
                    if (found := compare_paired(*pair))
                },
            }
            for (by, name), metrics in sorted(groups.items())
        ],
    }


def read_thresholds(path: Path) -> Row:
    """`metrics: {NAME: {at_least?, at_most?, may_fall?}}` and `failures_at_most?`, a share.

    Raises:
        BadInput: The file cannot be read, or a field is unknown or of another kind.
    """
    try:
        document = yaml.safe_load(path.read_text(encoding="utf-8"))
    except (OSError, yaml.YAMLError) as error:
        raise BadInput(f"{path} cannot be read: {error}") from error
    if not isinstance(document, dict) or not isinstance(document.get("metrics"), dict):
        raise BadInput(f"{path}: metrics must name at least one metric")
    if unknown := sorted(set(document) - {"metrics", "failures_at_most"}):
        raise BadInput(f"{path}: unknown field {unknown[0]!r}; there are metrics and failures_at_most")
    for name, rule in document["metrics"].items():
        given = rule or {}
        if not isinstance(given, dict) or (unknown := sorted(set(given) - {"at_least", "at_most", "may_fall"})):
            raise BadInput(f"{path}: metrics.{name} may have at_least, at_most and may_fall, got {rule!r}")
        for field in ("at_least", "at_most"):
            _check_number(f"{path}: metrics.{name}.{field}", given.get(field))
        if not isinstance(given.get("may_fall", False), bool):
            raise BadInput(f"{path}: metrics.{name}.may_fall must be true or false")
    _check_number(f"{path}: failures_at_most", document.get("failures_at_most"))
    return document


def _check_number(place: str, value: Any) -> None:
    if value is not None and (isinstance(value, bool) or not isinstance(value, (int, float))):
        raise BadInput(f"{place} must be a number, got {value!r}")


def find_breaches(thresholds: Row, now: Row, last: Row | None) -> list[str]:
    """A sentence for each limit that the result does not keep.

    A metric is worse than at the last run when its mean is outside the interval that it had then, on the bad side.
    One that was measured then and is missing now is a breach; so is a limit on a metric that was never measured.
    """
    found: list[str] = []
    for name, rule in thresholds["metrics"].items():
        metric = now["overall"]["metrics"].get(name)
        if metric is None or metric["mean"] is None:
            found.append(f"{name} was not measured")
            continue
        found += _limits(name, rule or {}, metric)
        before = (last or {}).get("overall", {}).get("metrics", {}).get(name)
        if before and before["mean"] is not None and not (rule or {}).get("may_fall", False):
            found += _fall(name, metric, before)
    allowed = thresholds.get("failures_at_most")
    overall = now["overall"]
    if allowed is not None:
        share = (overall["failures"] + now["unanswered"]) / now["questions"] if now["questions"] else 1.0
        if share > allowed:
            found.append(f"{share:.1%} of the questions have no answer, {allowed:.1%} may have none")
    return found


def _limits(name: str, rule: Mapping[str, float], metric: Row) -> list[str]:
    found = []
    if "at_least" in rule and metric["mean"] < rule["at_least"]:
        found.append(f"{name} is {metric['mean']:.4f}, at least {rule['at_least']} is wanted")
    if "at_most" in rule and metric["mean"] > rule["at_most"]:
        found.append(f"{name} is {metric['mean']:.4f}, at most {rule['at_most']} is wanted")
    return found


def _fall(name: str, metric: Row, before: Row) -> list[str]:
    lower = name.partition("@")[0] in LOWER_IS_BETTER
    worse = metric["mean"] > before["high"] if lower else metric["mean"] < before["low"]
    if not worse:
        return []
    interval = f"[{before['low']:.4f}, {before['high']:.4f}]"
    return [f"{name} is {metric['mean']:.4f}, the last run had {before['mean']:.4f} {interval}"]
