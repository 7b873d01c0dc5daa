"""Metrics of the web search, counted in each server: quelea_search_web_*."""

from __future__ import annotations

import time
from dataclasses import dataclass, field

from prometheus_client import Counter, Histogram

STAGE_BUCKETS = (0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2, 3, 5, 7.5, 10, 15, 30)

PROVIDER_CALLS = Counter(
    "quelea_search_web_provider_calls",
    "Providers asked or passed over, by outcome: ok, empty, resting, over_budget, skipped, or why the call failed.",
    ["provider", "outcome"],
)
PAGES = Counter(
    "quelea_search_web_page_reads", "Pages by outcome: read, cached, newer, denied, duplicate, or why not.", ["outcome"]
)
STAGE_SECONDS = Histogram(
    "quelea_search_web_seconds",
    "Time of a web search by stage: provider, fetch, parse, select, store, total.",
    ["stage"],
    buckets=STAGE_BUCKETS,
)
CACHE = Counter("quelea_search_web_cache", "Look-ups in the caches by what was found.", ["cache", "found"])
SEARCHES = Counter("quelea_search_web_searches", "Web searches by outcome: ok, partial, nothing, failed.", ["outcome"])


@dataclass(slots=True)
class Stages:
    """Where the time of one search goes."""

    began: float = field(default_factory=time.monotonic)
    at: float = field(default_factory=time.monotonic)
    seconds: dict[str, float] = field(default_factory=dict)

    def lap(self, stage: str) -> None:
        """The stage has ended now."""
        now = time.monotonic()
        self.seconds[stage], self.at = now - self.at, now

    def finish(self) -> dict[str, float]:
        """Count all of it; stage to milliseconds."""
        self.seconds["total"] = time.monotonic() - self.began
        for stage, seconds in self.seconds.items():
            STAGE_SECONDS.labels(stage).observe(seconds)
        return {stage: round(seconds * 1000, 1) for stage, seconds in self.seconds.items()}
