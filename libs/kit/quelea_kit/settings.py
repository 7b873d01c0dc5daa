"""Settings that every service has, from environment variables QUELEA_<SERVICE>_<FIELD>."""

from __future__ import annotations

from typing import Literal

from pydantic_settings import BaseSettings, SettingsConfigDict


def settings_config(service: str) -> SettingsConfigDict:
    """The configuration of a service's settings class: frozen, its own prefix, unknown variables ignored."""
    return SettingsConfigDict(
        env_prefix=f"QUELEA_{service.upper()}_", frozen=True, extra="ignore", use_attribute_docstrings=True
    )


class ServiceSettings(BaseSettings):
    """Base of every service's settings."""

    model_config = settings_config("service")

    listen: str = "127.0.0.1:0"
    """Address of the gRPC server, host:port."""

    health_listen: str = ""
    """Address of a plain listener for the health service alone, host:port, for probes where `listen` speaks TLS; empty:
    none."""

    allowed_callers: tuple[str, ...] = ()
    """Who may call, as JSON: ["gateway.quelea.svc"]: DNS names, one of which the caller's certificate must have. Empty:
    everyone with a certificate of the CA (with QUELEA_TLS_DIR), everyone (without)."""

    metrics_port: int = 0
    """Port of the Prometheus endpoint on metrics_host; 0 turns it off."""

    metrics_host: str = "127.0.0.1"
    """Address of the Prometheus endpoint."""

    log_level: Literal["debug", "info", "warning", "error"] = "info"
    """Lowest level that is written."""

    log_format: Literal["json", "console"] = "json"
    """json for machines, console for a person."""

    otlp_endpoint: str = ""
    """OpenTelemetry collector, for example http://collector:4317; empty turns export off."""

    drain_seconds: float = 10.0
    """How long running calls may continue after SIGTERM."""

    max_deadline_seconds: float = 600.0
    """Deadline of a call that has none or a longer one."""

    max_message_bytes: int = 64 * 1024 * 1024
    """Largest gRPC message, in bytes."""

    max_concurrent_calls: int = 256
    """Concurrent calls. Further ones are refused with RESOURCE_EXHAUSTED."""

    min_free_bytes: int = 500_000_000
    """Nothing new is stored while the volume of the service's data has fewer bytes free."""

    min_free_share: float = 0.01
    """Nor while it has less than this share of its size free; 0 leaves it to min_free_bytes alone."""

    max_connection_age_seconds: int = 300
    """Connections are closed gracefully after this, so that clients find new replicas."""
