"""OpenTelemetry: spans go to a collector when one is configured, and always carry ids into the logs."""

from __future__ import annotations

from opentelemetry import trace
from opentelemetry.sdk.resources import SERVICE_NAME, Resource
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import BatchSpanProcessor

from quelea_kit.settings import ServiceSettings


def setup_tracing(service: str, settings: ServiceSettings) -> None:
    """Install the tracer provider of this process."""
    provider = TracerProvider(resource=Resource.create({SERVICE_NAME: f"quelea-{service}"}))
    if settings.otlp_endpoint:
        from opentelemetry.exporter.otlp.proto.grpc.trace_exporter import (  # noqa: PLC0415  # slow import, rarely used
            OTLPSpanExporter,
        )

        provider.add_span_processor(BatchSpanProcessor(OTLPSpanExporter(endpoint=settings.otlp_endpoint)))
    trace.set_tracer_provider(provider)
