"""Spans are recorded where a collector takes them, or where a caller wants it; ids are there always."""

import pytest
from opentelemetry import propagate, trace
from quelea_kit.settings import ServiceSettings
from quelea_kit.tracing import tracer_provider

TRACE = "0af7651916cd43dd8448eb211c80319c"


@pytest.mark.parametrize(("endpoint", "recorded"), [("", False), ("http://127.0.0.1:4317", True)])
def test_only_a_collector_makes_spans_cost(endpoint, recorded, monkeypatch):
    monkeypatch.setenv("OTEL_EXPORTER_OTLP_TIMEOUT", "0.1")  # nobody collects here, and the end would wait for it
    provider = tracer_provider("test", ServiceSettings(otlp_endpoint=endpoint))
    with provider.get_tracer("x").start_as_current_span("call") as span:
        carrier: dict[str, str] = {}
        propagate.inject(carrier)
        assert span.is_recording() is recorded
        assert span.get_span_context().is_valid  # so the log has it
        assert format(span.get_span_context().trace_id, "032x") in carrier["traceparent"]
    provider.shutdown()


@pytest.mark.parametrize(("flag", "recorded"), [("01", True), ("00", False)])
def test_a_callers_choice_is_kept_and_passed_on(flag, recorded):
    provider = tracer_provider("test", ServiceSettings())
    context = propagate.extract({"traceparent": f"00-{TRACE}-b7ad6b7169203331-{flag}"})
    with provider.get_tracer("x").start_as_current_span("call", context=context):
        carrier: dict[str, str] = {}
        propagate.inject(carrier)
        assert carrier["traceparent"].startswith(f"00-{TRACE}-")
        assert carrier["traceparent"].endswith(flag)
        assert trace.get_current_span().is_recording() is recorded
    provider.shutdown()
