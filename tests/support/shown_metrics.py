"""The samples that a service's /metrics can have, with their labels, out of its own modules."""

from __future__ import annotations

import functools
import importlib
from typing import Any

from prometheus_client.metrics import MetricWrapperBase

_EVERY = ("quelea_kit.metrics", "quelea_kit.tls")
SHOWS: dict[str, tuple[str, ...]] = {
    "embedder": (*_EVERY, "quelea_embedder.metrics"),
    "retriever": (*_EVERY, "quelea_retriever.service"),
    "search": (*_EVERY, "quelea_search.web.metrics"),
    "generator": (
        *_EVERY,
        "quelea_generator.service",
        "quelea_generator.adapters.pool_metrics",
        "quelea_generator.adapters.openai_endpoint",
    ),
    "gateway": (*_EVERY, "quelea_gateway.metrics"),
    "sandbox": (*_EVERY, "quelea_sandbox.metrics"),
    "door": (*_EVERY, "quelea_search.door.metrics"),
}
_SUFFIXES = {"gauge": [""], "counter": ["_total"], "histogram": ["_sum", "_count", "_bucket"]}


class _Redis:
    """What the collector of search asks of Redis, answered with something for every label."""

    bytes = 0

    def count(self, state: Any) -> int:
        return 1

    count_waiting = count

    def count_dead(self) -> int:
        return 0

    def totals(self) -> dict[str, float]:
        return {"jobs:succeeded": 1, "stage_seconds:parse": 1}

    def workers(self) -> dict[str, float]:
        return {"worker": 1}


@functools.cache
def samples_of(service: str) -> dict[str, set[str]]:
    """Name of each sample -> its labels."""
    found: dict[str, set[str]] = {}
    for module in SHOWS[service]:
        for metric in vars(importlib.import_module(module)).values():
            if isinstance(metric, MetricWrapperBase):
                for described in metric.describe():
                    for suffix in _SUFFIXES[described.type]:
                        labels = {*metric._labelnames, *(["le"] if suffix == "_bucket" else [])}
                        found[described.name + suffix] = labels
    for family in _collected(service):
        found |= {sample.name: set(sample.labels) for sample in family.samples}
    return found


def _collected(service: str) -> list[Any]:
    fake: Any = _Redis()
    if service == "search":
        from quelea_search.metrics import IngestionCollector

        return list(IngestionCollector(fake, fake, fake).collect())
    if service == "door":
        from quelea_search.door.metrics import DoorCollector

        nobody: Any = {}
        return list(DoorCollector(fake, nobody, {}).collect())
    return []
