"""Metrics of the gateway, in addition to the kit's."""

from __future__ import annotations

from collections import Counter as Counted
from typing import TYPE_CHECKING

from prometheus_client import Counter, Gauge, Histogram
from quelea_kit.logging import get_logger
from quelea_kit.metrics import LATENCY_BUCKETS

from quelea_gateway.core.callers import audit

if TYPE_CHECKING:  # what they import takes most of a second, and `quelea keys` and `quelea audit` need none of it
    from quelea_checker import Report

    from quelea_gateway.core.agent.model import Run
    from quelea_gateway.core.model import Answer, Kept
    from quelea_gateway.core.review.verdicts import Grounding
    from quelea_gateway.core.web.model import KeepOrder

log = get_logger(__name__)

HTTP_SECONDS = Histogram(
    "quelea_http_seconds",
    "Time of an HTTP request until its response was sent.",
    ["method", "route", "status"],
    buckets=LATENCY_BUCKETS,
)
HTTP_IN_FLIGHT = Gauge("quelea_http_in_flight", "HTTP requests under way, a streamed response until its last byte.")
REFUSED = Counter("quelea_http_refused_total", "HTTP requests refused before they were handled.", ["reason"])
ASK_SECONDS = Histogram(
    "quelea_ask_seconds", "Time of an answer by stage.", ["stage"], buckets=(0.001, *LATENCY_BUCKETS)
)
ANSWERS = Counter("quelea_answers_total", "Answers by reader and how they ended.", ["reader", "end"])
FAILED_CHECKS = Counter("quelea_answer_checks_failed_total", "Answers that failed a check.", ["check"])

ROUTES = Counter("quelea_answer_routes_total", "Answers by the route taken.", ["route"])
GATE = Counter("quelea_gate_total", "Verdicts of the gate on local evidence.", ["kind", "passed"])
WEB_SECONDS = Histogram(
    "quelea_web_seconds",
    "Time of the web step by stage: web (searching and reading) and rank.",
    ["stage"],
    buckets=LATENCY_BUCKETS,
)
WEB_FAILED = Counter("quelea_web_incomplete_total", "Web steps in which something failed.", ["merged"])
KEPT = Counter("quelea_web_kept_pages_total", "Useful web pages by outcome.", ["state"])

DECLINED = Counter(
    "quelea_answers_declined_total",
    "Declined answers by reason (docs/howto/why-was-my-answer-declined.md).",
    ["reason"],
)
FIGURES = Counter(
    "quelea_checked_figures_total", "Figures by verdict, of own answers or of callers'.", ["of", "verdict"]
)
SENTENCES = Counter(
    "quelea_checked_sentences_total", "Sentences by verdict, of own answers or of callers'.", ["of", "verdict"]
)
WITHHELD = Counter("quelea_withheld_sentences_total", "Sentences that strict mode left out.")
CHECK_SECONDS = Histogram(
    "quelea_check_seconds",
    "Time of a check, its waiting counted in, by size (large ones have a process) and end (an error's code).",
    ["size", "end"],
    buckets=LATENCY_BUCKETS,
)
CHECKS = Gauge("quelea_checks_under_way", "Checks under way or waiting, by size.", ["size"])

_STAGES = {stage: ASK_SECONDS.labels(stage) for stage in ("retrieve", "generate", "gateway", "total")}
_WEB_STAGES = ("web", "rank")


def observe_answer(answer: Answer) -> None:
    """Count and log an answer, and note for the audit log which documents it showed."""
    shown = (*answer.citations, *answer.further_reading)
    audit.note("documents", *dict.fromkeys(one.document_id for one in shown if one.document_id))
    for stage, seconds in _STAGES.items():
        seconds.observe(answer.timings[stage] / 1000)
    ANSWERS.labels(answer.reader, answer.finish_reason).inc()
    ROUTES.labels(answer.route).inc()
    GATE.labels(answer.gate.kind, str(answer.gate.passed).lower()).inc()
    if answer.web is not None:
        for stage in _WEB_STAGES:
            if stage in answer.timings:
                WEB_SECONDS.labels(stage).observe(answer.timings[stage] / 1000)
        if answer.web.problems:
            WEB_FAILED.labels(str(answer.route != "local").lower()).inc()
    for check in answer.checks:
        if not check.passed:
            FAILED_CHECKS.labels(check.name).inc()
    if answer.declined:
        DECLINED.labels(answer.declined.reason).inc()
    if answer.grounding is not None:
        observe_verdicts("answer", answer.grounding)
        WITHHELD.inc(len(answer.grounding.withheld))
    log.info(
        "answered",
        reader=answer.reader,
        route=answer.route,
        finish_reason=answer.finish_reason,
        decline_reason=str(answer.declined.reason) if answer.declined else "",
        milliseconds=round(answer.timings["total"]),
    )


def observe_verdicts(of: str, found: Grounding | Report) -> None:
    """Count what the checker said of an answer, or of a text that a caller sent."""
    for counter, ones in ((FIGURES, found.figures), (SENTENCES, found.sentences)):
        for verdict, count in Counted(one.verdict for one in ones).items():
            counter.labels(of, verdict).inc(count)


def observe_kept(order: KeepOrder, kept: tuple[Kept, ...], error: str) -> None:
    """Count what became of useful pages; nobody waits for an error here, so it is logged."""
    for page in kept:
        KEPT.labels(page.state or "unknown").inc()
    if error:
        KEPT.labels("failed").inc(len(order.pages))
        log.warning("pages_not_kept", pages=[page.url for page in order.pages], error=error)


RUNS = Counter("quelea_agent_runs_total", "Runs of the agent by how they ended.", ["state", "complete"])
RUN_SECONDS = Histogram(
    "quelea_agent_run_seconds", "Time of a run of the agent.", buckets=(1, 5, 15, 30, 60, 120, 300, 600, 1800)
)
RUN_STEPS = Histogram("quelea_agent_run_steps", "Steps of a run of the agent.", buckets=tuple(range(1, 21)))
RUN_TOKENS = Counter("quelea_agent_tokens_total", "Tokens that runs of the agent used.")
RUN_REPAIRS = Counter(
    "quelea_agent_repairs_total", "Answers of the model to the agent that did not match the schema.", ["end"]
)


def observe_run(run: Run) -> None:
    """Count a run that has ended."""
    complete = bool(run.answer and run.answer.get("complete"))
    RUNS.labels(run.state, str(complete).lower()).inc()
    RUN_SECONDS.observe(run.usage.seconds)
    RUN_STEPS.observe(run.usage.steps)
    RUN_TOKENS.inc(run.usage.tokens)
    RUN_REPAIRS.labels("repaired").inc(run.usage.repairs)
    RUN_REPAIRS.labels("gave_up").inc(run.usage.fallbacks)


AUDIT_ENTRIES = Counter("quelea_audit_entries_total", "Entries of the audit log by how they ended.", ["end"])
AUDIT_FAILING = Gauge("quelea_audit_failing", "1 while the audit log cannot be written, else 0.")
OPENID_FAILURES = Counter("quelea_openid_failures_total", "Calls to the OpenID provider that failed.")
LIMITS_LOCAL = Gauge("quelea_limits_local", "1 while Redis is away and each gateway counts calls for itself, else 0.")
