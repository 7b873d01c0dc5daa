"""What the Grafana dashboards of the chart show: `dashboards.py` makes their JSON of it.

A test holds every metric and label to what the services really show.
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Panel:
    """One graph: `S` in a query stands for the labels of the service's pods."""

    title: str
    query: str
    legend: str = ""
    unit: str = "short"
    """Grafana's name of it: s, bytes, reqps, percentunit, short."""


def rate(metric: str, by: str, title: str, unit: str = "ops") -> Panel:
    """How often a second, by one label or several."""
    return Panel(title, f"sum by ({by}) (rate({metric}{{S}}[$__rate_interval]))", _legend(by), unit)


def slowest(metric: str, by: str, title: str, where: str = "", quantile: str = "0.95") -> Panel:
    """A high quantile of a histogram of seconds."""
    labels = f"le, {by}" if by else "le"
    inner = f"sum by ({labels}) (rate({metric}_bucket{{S{where}}}[$__rate_interval]))"
    return Panel(title, f"histogram_quantile({quantile}, {inner})", _legend(by), "s")


def now(metric: str, by: str, title: str, unit: str = "short", how: str = "sum") -> Panel:
    """A gauge, over all pods."""
    return Panel(title, f"{how} by ({by}) ({metric}{{S}})" if by else f"{how}({metric}{{S}})", _legend(by), unit)


def _legend(by: str) -> str:
    return " ".join(f"{{{{{label}}}}}" for label in by.replace(",", "").split())


def _every() -> list[Panel]:
    """What every service shows of itself."""
    return [
        now("quelea_ready", "pod", "Ready: 1 while the pod can do its work", how="min"),
        rate("quelea_rpc_seconds_count", "method, code", "gRPC calls a second"),
        slowest("quelea_rpc_seconds", "method", "gRPC calls, 95 of 100 within"),
        now("quelea_rpc_in_flight", "method", "gRPC calls under way"),
        rate("quelea_rpc_refused_total", "method", "gRPC calls refused: too many under way"),
        Panel(
            "Certificate expires in (with TLS)",
            "min by (pod) (quelea_tls_expires_timestamp_seconds{S}) - time()",
            "{{pod}}",
            "s",
        ),
    ]


def _disk() -> list[Panel]:
    """What a service shows that keeps data on a disk."""
    return [
        now("quelea_disk_free_bytes", "pod", "Free space where the service keeps its data", "bytes", how="min"),
        now("quelea_disk_short", "pod", "Disk short: 1 while new work is refused", how="max"),
    ]


Rows = dict[str, tuple[str, list[Panel]]]
"""Title of a row -> the service that shows its metrics, and the panels."""
DASHBOARDS: dict[str, tuple[str, Rows]] = {
    "gateway": (
        "Questions, answers, the agent",
        {
            "The door": (
                "gateway",
                [
                    rate("quelea_http_seconds_count", "route, status", "Requests a second", "reqps"),
                    slowest("quelea_http_seconds", "route", "Requests, 95 of 100 within"),
                    now("quelea_http_in_flight", "pod", "Requests under way, streams until their last byte"),
                    rate("quelea_http_refused_total", "reason", "Requests refused"),
                    now("quelea_limits_local", "pod", "Limits counted alone: 1 while Redis is away", how="max"),
                    rate("quelea_openid_failures_total", "pod", "Calls to the OpenID provider that failed"),
                    rate("quelea_audit_entries_total", "end", "Entries of the audit log"),
                    now("quelea_audit_failing", "pod", "Audit log: 1 while it cannot be written", how="max"),
                ],
            ),
            "Answers": (
                "gateway",
                [
                    rate("quelea_answers_total", "reader, end", "Answers a second, by how they ended"),
                    slowest("quelea_ask_seconds", "stage", "Time of an answer by stage, 95 of 100 within"),
                    rate("quelea_answer_routes_total", "route", "Answers a second, by route"),
                    rate("quelea_gate_total", "kind, passed", "Verdicts of the gate on local evidence"),
                    rate("quelea_answer_checks_failed_total", "check", "Answers that failed a check"),
                    slowest("quelea_web_seconds", "stage", "The web step, 95 of 100 within"),
                    rate("quelea_web_incomplete_total", "merged", "Web steps in which something failed"),
                    rate("quelea_web_kept_pages_total", "state", "Useful pages of the web, by what became of them"),
                ],
            ),
            "Checks of what was written": (
                "gateway",
                [
                    rate("quelea_answers_declined_total", "reason", "Declined answers by reason"),
                    rate("quelea_checked_figures_total", "of, verdict", "Figures by verdict"),
                    rate("quelea_checked_sentences_total", "of, verdict", "Sentences by verdict"),
                    rate("quelea_withheld_sentences_total", "pod", "Sentences that strict mode left out"),
                    slowest("quelea_check_seconds", "size, end", "A check, its waiting too, 95 of 100 within"),
                    now("quelea_checks_under_way", "size", "Checks under way or waiting"),
                ],
            ),
            "The agent": (
                "gateway",
                [
                    rate("quelea_agent_runs_total", "state, complete", "Runs that ended"),
                    slowest("quelea_agent_run_seconds", "", "Time of a run, 95 of 100 within"),
                    Panel(
                        "Steps of a run, mean",
                        "sum(rate(quelea_agent_run_steps_sum{S}[$__rate_interval]))"
                        " / sum(rate(quelea_agent_run_steps_count{S}[$__rate_interval]))",
                    ),
                    rate("quelea_agent_tokens_total", "pod", "Tokens a second"),
                    rate("quelea_agent_repairs_total", "end", "Answers of the model that did not fit"),
                ],
            ),
            "Every service": ("gateway", [*_every(), *_disk()]),
        },
    ),
    "generator": (
        "Who writes the answers",
        {
            "Answers": (
                "generator",
                [
                    rate("quelea_generator_answers_total", "reader, reason", "Answers a second, by how they ended"),
                    slowest("quelea_generator_first_token_seconds", "reader", "First text, 95 of 100 within"),
                    rate("quelea_generator_tokens_total", "reader, kind", "Tokens a second"),
                    now("quelea_generator_in_flight", "pod", "Answers in the making"),
                    rate("quelea_generator_completions_total", "reason", "Completions for the agent"),
                    rate("quelea_generator_rewrites_total", "by", "Follow-ups made to stand alone"),
                    rate("quelea_generator_refused_total", "pod", "Requests refused: too many in the making"),
                    rate("quelea_generator_stopped_total", "why", "Answers of a model that were ended here"),
                    rate("quelea_generator_removed_markers_total", "pod", "Invented citations, removed"),
                ],
            ),
            "Engines": (
                "generator",
                [
                    now("quelea_generator_engine_up", "engine", "Engines that may be asked", how="min"),
                    now("quelea_generator_queue_length", "lane", "Answers that wait, by caller"),
                    slowest("quelea_generator_queue_seconds", "lane", "Wait for an engine, 95 of 100 within"),
                    now("quelea_generator_engine_in_flight", "engine", "Answers that an engine works on"),
                    now("quelea_generator_engine_outstanding_tokens", "engine", "Tokens that an engine has before it"),
                    rate("quelea_generator_engine_failures_total", "engine", "Times that an engine stopped working"),
                    rate("quelea_generator_retried_total", "engine", "Answers begun again"),
                    rate("quelea_generator_queue_refused_total", "lane, why", "Answers refused in the queue"),
                ],
            ),
            "Every service": ("generator", _every()),
        },
    ),
    "retriever": (
        "The index and the encoder",
        {
            "The index": (
                "retriever",
                [
                    slowest("quelea_retriever_stage_seconds", "stage", "A search by stage, 95 of 100 within"),
                    now("quelea_retriever_documents", "", "Live documents", how="max"),
                    now("quelea_retriever_passages", "", "Their passages", how="max"),
                ],
            ),
            "The encoder": (
                "embedder",
                [
                    rate("quelea_embedder_texts_total", "kind", "Texts a second"),
                    rate("quelea_embedder_tokens_total", "kind", "Tokens a second"),
                    slowest("quelea_embedder_encode_seconds", "kind", "A batch, 95 of 100 within"),
                    now("quelea_embedder_queue_texts", "kind", "Texts that wait"),
                    now("quelea_embedder_queue_tokens", "kind", "Tokens that wait"),
                    rate("quelea_embedder_refused_total", "kind", "Calls refused: the queue was full"),
                    rate("quelea_embedder_cached_total", "kind", "Vectors that were known"),
                    rate("quelea_embedder_truncated_total", "kind", "Texts longer than the model reads"),
                    rate("quelea_embedder_cancelled_texts_total", "kind", "Texts whose caller left first"),
                ],
            ),
            "The cross-encoder, where one is named": (
                "embedder",
                [
                    rate("quelea_embedder_entail_pairs_total", "", "Pairs a second"),
                    slowest("quelea_embedder_entail_seconds", "", "A batch, 95 of 100 within"),
                    now("quelea_embedder_entail_queue_pairs", "", "Pairs that wait"),
                    rate("quelea_embedder_entail_refused_total", "", "Calls refused: the queue was full"),
                    rate("quelea_embedder_entail_truncated_total", "", "Pairs longer than the model reads"),
                ],
            ),
            "Every service: retriever": ("retriever", [*_every(), *_disk()]),
            "Every service: embedder": ("embedder", _every()),
        },
    ),
    "search": (
        "Documents on their way in, the workers, the web",
        {
            # Every search pod shows the whole of Redis, so these are a max, not a sum.
            "Jobs and workers": (
                "search",
                [
                    now("quelea_search_jobs", "state", "Jobs that have not ended", how="max"),
                    now("quelea_search_jobs_waiting", "lane", "Queued jobs, by lane", how="max"),
                    now("quelea_search_workers", "", "Workers that live", how="max"),
                    now("quelea_search_worker_silence_seconds", "worker", "Last sign of life", "s", how="max"),
                    now("quelea_search_dead_letters", "", "Failed jobs that can be replayed", how="max"),
                    Panel(
                        "Jobs that ended, a second",
                        "max by (outcome) (rate(quelea_search_jobs_ended_total{S}[$__rate_interval]))",
                        "{{outcome}}",
                        "ops",
                    ),
                    Panel(
                        "Where the workers' time goes: seconds a second",
                        "max by (stage) (rate(quelea_search_stage_seconds_total{S}[$__rate_interval]))",
                        "{{stage}}",
                    ),
                    Panel(
                        "Pages indexed, a second",
                        "max(rate(quelea_search_pages_total{S}[$__rate_interval]))",
                        "",
                        "ops",
                    ),
                    Panel(
                        "Passages indexed, a second",
                        "max(rate(quelea_search_passages_total{S}[$__rate_interval]))",
                        "",
                        "ops",
                    ),
                ],
            ),
            "The web": (
                "search",
                [
                    rate("quelea_search_web_searches_total", "outcome", "Web searches a second"),
                    slowest("quelea_search_web_seconds", "stage", "A web search by stage, 95 of 100 within"),
                    rate(
                        "quelea_search_web_provider_calls_total", "provider, outcome", "Providers asked or passed over"
                    ),
                    rate("quelea_search_web_page_reads_total", "outcome", "Pages read, or why not"),
                    rate("quelea_search_web_cache_total", "cache, found", "Look-ups in the caches"),
                    now("quelea_search_web_pages", "state", "Pages that are remembered", how="max"),
                ],
            ),
            "Every service": ("search", [*_every(), *_disk()]),
        },
    ),
    "sandbox": (
        "Code of the agent, and its door to market data",
        {
            "Runs": (
                "sandbox",
                [
                    rate("quelea_sandbox_runs_total", "reason", "Runs a second, by how they ended"),
                    slowest("quelea_sandbox_run_seconds", "", "A run, 95 of 100 within"),
                    slowest("quelea_sandbox_queue_seconds", "", "Wait for a container, 95 of 100 within"),
                    now("quelea_sandbox_containers", "state", "Containers"),
                    now("quelea_sandbox_waiting", "", "Calls that wait for a container"),
                    now("quelea_sandbox_sessions", "", "Open sessions"),
                    now("quelea_sandbox_engine_up", "pod", "1 while containers can be made", how="min"),
                    slowest("quelea_sandbox_start_seconds", "", "Start of a container, 95 of 100 within"),
                    rate("quelea_sandbox_start_failures_total", "pod", "Containers that did not get ready"),
                    rate("quelea_sandbox_containers_handed_total", "warm", "Containers handed out, warm or not"),
                    rate("quelea_sandbox_refused_total", "why", "Calls refused"),
                    rate("quelea_sandbox_leftovers_removed_total", "pod", "Containers without an owner, removed"),
                ],
            ),
            "Market data": (
                "door",
                [
                    rate("quelea_market_calls_total", "source, reason", "Calls of code, by where the answer came from"),
                    slowest("quelea_market_upstream_seconds", "hosts", "Requests to upstreams, 95 of 100 within"),
                    rate("quelea_market_bytes_total", "pod", "Bytes given to code, a second", "Bps"),
                    now("quelea_market_kept_bytes", "", "Kept bodies", "bytes"),
                    now("quelea_market_sessions", "", "Open sessions"),
                    now("quelea_market_resting_hosts", "", "Hosts that are left alone for a while"),
                ],
            ),
            "Every service: sandbox": ("sandbox", _every()),
            "Every service: door": ("door", _every()),
        },
    ),
}
