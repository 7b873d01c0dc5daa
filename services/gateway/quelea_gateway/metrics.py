"""The gateway's own metrics, beside the kit's."""

from __future__ import annotations

from prometheus_client import Counter, Histogram
from quelea_kit.metrics import LATENCY_BUCKETS

from quelea_gateway.core.model import Answer

HTTP_SECONDS = Histogram(
    "quelea_http_seconds",
    "Time of an HTTP request until its response was sent.",
    ["method", "route", "status"],
    buckets=LATENCY_BUCKETS,
)
REFUSED = Counter("quelea_http_refused_total", "HTTP requests refused at the door.", ["reason"])
ASK_SECONDS = Histogram(
    "quelea_ask_seconds", "Time of an answer by stage.", ["stage"], buckets=(0.001, *LATENCY_BUCKETS)
)
ANSWERS = Counter("quelea_answers_total", "Answers by reader and how they ended.", ["reader", "end"])
FAILED_CHECKS = Counter("quelea_answer_checks_failed_total", "Answers that failed a check.", ["check"])

_STAGES = ("retrieve", "generate", "gateway", "total")


def observe_answer(answer: Answer) -> None:
    """Count an answer."""
    for stage in _STAGES:
        ASK_SECONDS.labels(stage).observe(answer.timings[stage] / 1000)
    ANSWERS.labels(answer.reader, answer.finish_reason).inc()
    for check in answer.checks:
        if not check.passed:
            FAILED_CHECKS.labels(check.name).inc()
