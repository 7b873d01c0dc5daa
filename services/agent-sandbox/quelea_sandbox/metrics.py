"""The sandbox's own metrics, beside those of the kit."""

from __future__ import annotations

from prometheus_client import Counter, Gauge, Histogram
from quelea_kit.metrics import LATENCY_BUCKETS

RUNS = Counter("quelea_sandbox_runs_total", "Runs by how they ended.", ["reason"])
RUN_SECONDS = Histogram("quelea_sandbox_run_seconds", "Wall time of the code.", buckets=LATENCY_BUCKETS)
QUEUE_SECONDS = Histogram("quelea_sandbox_queue_seconds", "Wait for a container.", buckets=LATENCY_BUCKETS)
HANDED = Counter("quelea_sandbox_containers_handed_total", "Containers given to runs and sessions.", ["warm"])
REFUSED = Counter("quelea_sandbox_refused_total", "Calls refused.", ["why"])
START_SECONDS = Histogram(
    "quelea_sandbox_start_seconds", "From making a container to a guest that is ready.", buckets=LATENCY_BUCKETS
)
START_FAILURES = Counter("quelea_sandbox_start_failures_total", "Containers that did not get ready.")
CONTAINERS = Gauge("quelea_sandbox_containers", "Containers by state.", ["state"])
WAITING = Gauge("quelea_sandbox_waiting", "Calls that wait for a container.")
SESSIONS = Gauge("quelea_sandbox_sessions", "Open sessions.")
ENGINE_UP = Gauge("quelea_sandbox_engine_up", "1 while the engine makes containers, else 0.")
SWEPT = Counter("quelea_sandbox_leftovers_removed_total", "Containers found without an owner, removed.")
