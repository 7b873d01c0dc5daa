"""OpenTelemetry: spans go to a collector when one is configured, and always carry ids into the logs."""

from __future__ import annotations

from opentelemetry import trace
from opentelemetry.sdk.resources import SERVICE_NAME, Resource
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import BatchSpanProcessor
from opentelemetry.sdk.trace.sampling import ALWAYS_OFF, ALWAYS_ON, ParentBased

from quelea_kit.settings import ServiceSettings

_COLLECTED: list[str] = []


def setup_tracing(service: str, settings: ServiceSettings) -> None:
    """Install the tracer provider of this process."""
    trace.set_tracer_provider(tracer_provider(service, settings))
    _COLLECTED[:] = [settings.otlp_endpoint] if settings.otlp_endpoint else []


def is_collected() -> bool:
    """Whether a collector takes this process's spans; known once setup_tracing was called."""
    return bool(_COLLECTED)


def tracer_provider(service: str, settings: ServiceSettings) -> TracerProvider:
    """The provider that the settings ask for.

    Without a collector nothing is recorded, which is what spans cost; ids are made, logged and passed on as ever. What
    a caller has chosen to record (the flag in its traceparent) is recorded and passed on as such, here or elsewhere:
    so a trace that begins in a process without a collector is not recorded by those behind it either.
    """
    sampler = ParentBased(ALWAYS_ON if settings.otlp_endpoint else ALWAYS_OFF)
    provider = TracerProvider(sampler=sampler, resource=Resource.create({SERVICE_NAME: f"quelea-{service}"}))
    if settings.otlp_endpoint:
        from opentelemetry.exporter.otlp.proto.grpc.trace_exporter import (  # noqa: PLC0415  # slow import, rarely used
            OTLPSpanExporter,
        )

        provider.add_span_processor(BatchSpanProcessor(OTLPSpanExporter(endpoint=settings.otlp_endpoint)))
    return provider
