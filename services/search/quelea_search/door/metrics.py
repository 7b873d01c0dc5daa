"""What the door counts, beside the kit's own."""

from __future__ import annotations

from collections.abc import Iterator

from prometheus_client import Counter, Histogram
from prometheus_client.core import GaugeMetricFamily, Metric
from prometheus_client.registry import Collector
from quelea_kit.metrics import LATENCY_BUCKETS

from quelea_search.door.adapters.store import Store
from quelea_search.door.adapters.upstream import HostState
from quelea_search.door.core.sessions import Sessions

CALLS = Counter("quelea_market_calls_total", "Calls of code, by where the answer came from.", ["source", "reason"])
BYTES = Counter("quelea_market_bytes_total", "Bytes given to code.")
REQUESTS = Histogram(
    "quelea_market_upstream_seconds", "Requests to upstreams.", ["hosts", "outcome"], buckets=LATENCY_BUCKETS
)


class DoorCollector(Collector):
    """What is read when it is asked for: sessions, kept bytes, hosts that are left alone."""

    def __init__(self, store: Store, sessions: Sessions, states: dict[str, HostState]) -> None:
        self._store = store
        self._sessions = sessions
        self._states = states

    def collect(self) -> Iterator[Metric]:
        """The gauges."""
        yield GaugeMetricFamily("quelea_market_sessions", "Open sessions.", value=len(self._sessions))
        yield GaugeMetricFamily("quelea_market_kept_bytes", "Bytes of all kept bodies.", value=self._store.bytes)
        resting = sum(not state.breaker.closed for state in self._states.values())
        yield GaugeMetricFamily("quelea_market_resting_hosts", "Host patterns that are left alone.", value=resting)
