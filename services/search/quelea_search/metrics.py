"""Metrics of ingestion, read from Redis on demand, so that every server reports the same."""

from __future__ import annotations

from collections.abc import Iterator

from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily, Metric
from prometheus_client.registry import Collector
from quelea_kit.errors import QueleaError

from quelea_search.adapters.jobs_redis import JobStore
from quelea_search.adapters.ledger_redis import Ledger
from quelea_search.adapters.web_pages_redis import WebPages
from quelea_search.core.jobs import JobState, Lane
from quelea_search.core.web.pages import PageState


class IngestionCollector(Collector):
    """quelea_search_*: jobs, lanes, dead letters, pages, passages, stages, workers; nothing while Redis is away."""

    def __init__(self, store: JobStore, ledger: Ledger, pages: WebPages) -> None:
        self._store = store
        self._ledger = ledger
        self._pages = pages

    def collect(self) -> Iterator[Metric]:
        """Called by prometheus_client for each scrape."""
        try:
            counts = {state: self._store.count(state) for state in (JobState.QUEUED, JobState.RUNNING)}
            waiting = {lane: self._store.count_waiting(lane) for lane in Lane}
            dead = self._store.count_dead()
            pages = {state: self._pages.count(state) for state in PageState}
            totals = self._ledger.totals()
            workers = self._ledger.workers()
        except QueleaError:
            return
        jobs = GaugeMetricFamily("quelea_search_jobs", "Jobs that have not ended, by state.", labels=["state"])
        for state, number in counts.items():
            jobs.add_metric([state.value], number)
        yield jobs
        lanes = GaugeMetricFamily("quelea_search_jobs_waiting", "Queued jobs, by lane.", labels=["lane"])
        for lane, number in waiting.items():
            lanes.add_metric([lane.value], number)
        yield lanes
        yield GaugeMetricFamily("quelea_search_dead_letters", "Failed jobs that can be replayed.", value=dead)
        remembered = GaugeMetricFamily(
            "quelea_search_web_pages", "Pages of the web that are remembered, by state.", labels=["state"]
        )
        for page_state, number in pages.items():
            remembered.add_metric([page_state.value], number)
        yield remembered
        ended = CounterMetricFamily("quelea_search_jobs_ended", "Jobs that have ended, by outcome.", labels=["outcome"])
        stages = CounterMetricFamily("quelea_search_stage_seconds", "Time spent in each stage.", labels=["stage"])
        for name, value in totals.items():
            kind, _, label = name.partition(":")
            if kind == "jobs":
                ended.add_metric([label], value)
            elif kind == "stage_seconds":
                stages.add_metric([label], value)
        yield ended
        yield stages
        yield CounterMetricFamily("quelea_search_pages", "Pages indexed.", value=totals.get("pages", 0))
        yield CounterMetricFamily("quelea_search_passages", "Passages indexed.", value=totals.get("passages", 0))
        yield GaugeMetricFamily("quelea_search_workers", "Workers that live.", value=len(workers))
        silence = GaugeMetricFamily(
            "quelea_search_worker_silence_seconds", "Since the last sign of life of each worker.", labels=["worker"]
        )
        for name, seconds in workers.items():
            silence.add_metric([name], seconds)
        yield silence
