"""What the pool tells Prometheus."""

from __future__ import annotations

from prometheus_client import Counter, Gauge, Histogram
from quelea_kit.metrics import LATENCY_BUCKETS

QUEUE_LENGTH = Gauge("quelea_generator_queue_length", "Answers that wait for a slot at an engine.", ["lane"])
# There from the start: what scales the generators must get a number also before anybody has waited.
QUEUE_LENGTH.labels("-").set(0)
QUEUE_SECONDS = Histogram(
    "quelea_generator_queue_seconds", "Wait for a slot at an engine.", ["lane"], buckets=LATENCY_BUCKETS
)
QUEUE_REFUSED = Counter(
    "quelea_generator_queue_refused_total",
    "Answers refused: the queue was full, or the wait too long.",
    ["lane", "why"],
)
ENGINE_IN_FLIGHT = Gauge("quelea_generator_engine_in_flight", "Answers that an engine works on.", ["engine"])
ENGINE_TOKENS = Gauge(
    "quelea_generator_engine_outstanding_tokens", "Estimated tokens that an engine has to read or write.", ["engine"]
)
ENGINE_UP = Gauge("quelea_generator_engine_up", "1 while an engine may be asked, 0 while it is left alone.", ["engine"])
ENGINE_FAILURES = Counter("quelea_generator_engine_failures_total", "Times that an engine stopped working.", ["engine"])
RETRIED = Counter("quelea_generator_retried_total", "Answers begun again, as no text had come.", ["engine"])

_MOST_TENANTS = 64


class TenantLabels:
    """Labels of tenants: the first 64 by their names, the others together, so that the metrics stay bounded."""

    def __init__(self) -> None:
        self._known: set[str] = set()

    def label(self, tenant: str) -> str:
        """The label of a tenant."""
        if tenant not in self._known and len(self._known) >= _MOST_TENANTS:
            return "(others)"
        self._known.add(tenant)
        return tenant or "-"
