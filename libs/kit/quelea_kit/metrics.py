"""Prometheus metrics that every service has; each adds its own beside them."""

from __future__ import annotations

from prometheus_client import Counter, Gauge, Histogram, start_http_server

from quelea_kit.settings import ServiceSettings

LATENCY_BUCKETS = (0.002, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 120)

RPC_SECONDS = Histogram(
    "quelea_rpc_seconds", "Time of a gRPC call at the server.", ["method", "code"], buckets=LATENCY_BUCKETS
)
RPC_IN_FLIGHT = Gauge("quelea_rpc_in_flight", "gRPC calls under way at the server.", ["method"])
RPC_REFUSED = Counter("quelea_rpc_refused_total", "gRPC calls refused because too many were under way.", ["method"])
READY = Gauge("quelea_ready", "1 while the service can do its work, else 0.")
DISK_FREE = Gauge("quelea_disk_free_bytes", "Free space of the volume that the service writes to, in bytes.")
DISK_SHORT = Gauge("quelea_disk_short", "1 while new work is refused for want of disk space, else 0.")


def start_metrics(settings: ServiceSettings) -> None:
    """Serve /metrics, unless the port is 0."""
    if settings.metrics_port:
        start_http_server(settings.metrics_port, addr=settings.metrics_host)
