"""The embedder's own metrics, beside those of the kit."""

from __future__ import annotations

from prometheus_client import Counter, Gauge, Histogram
from quelea_kit.metrics import LATENCY_BUCKETS

from quelea_embedder.core.model import Kind

QUEUE_TEXTS = Gauge("quelea_embedder_queue_texts", "Texts that wait for the encoder.", ["kind"])
QUEUE_TOKENS = Gauge("quelea_embedder_queue_tokens", "Tokens that wait for the encoder.", ["kind"])
BATCH_TEXTS = Histogram(
    "quelea_embedder_batch_texts", "Texts in a batch.", ["kind"], buckets=(1, 2, 4, 8, 16, 32, 64, 128)
)
ENCODE_SECONDS = Histogram(
    "quelea_embedder_encode_seconds", "Time of one batch in the encoder.", ["kind"], buckets=LATENCY_BUCKETS
)
TEXTS = Counter("quelea_embedder_texts_total", "Texts encoded; its rate is texts a second.", ["kind"])
TOKENS = Counter("quelea_embedder_tokens_total", "Tokens encoded, padding left out.", ["kind"])
TRUNCATED = Counter("quelea_embedder_truncated_total", "Texts that were longer than the model reads.", ["kind"])
CACHED = Counter("quelea_embedder_cached_total", "Texts whose vector was known.", ["kind"])
REFUSED = Counter("quelea_embedder_refused_total", "Calls refused because the queue was full.", ["kind"])
CANCELLED = Counter("quelea_embedder_cancelled_texts_total", "Texts whose caller left first.", ["kind"])

ENTAIL_QUEUE_PAIRS = Gauge("quelea_embedder_entail_queue_pairs", "Pairs that wait for the cross-encoder or are in it.")
ENTAIL_SECONDS = Histogram(
    "quelea_embedder_entail_seconds", "Time of one batch in the cross-encoder.", buckets=LATENCY_BUCKETS
)
ENTAIL_PAIRS = Counter("quelea_embedder_entail_pairs_total", "Pairs scored; its rate is pairs a second.")
ENTAIL_TRUNCATED = Counter(
    "quelea_embedder_entail_truncated_total", "Pairs that were longer than the cross-encoder reads."
)
ENTAIL_REFUSED = Counter("quelea_embedder_entail_refused_total", "Calls of Entail refused because the queue was full.")


class Metrics:
    """Turns what the batcher tells into Prometheus metrics."""

    def queued(self, kind: Kind, texts: int, tokens: int) -> None:
        """So much is waiting now."""
        QUEUE_TEXTS.labels(kind.value).set(texts)
        QUEUE_TOKENS.labels(kind.value).set(tokens)

    def encoded(self, kind: Kind, texts: int, tokens: int, seconds: float) -> None:
        """One batch is done."""
        BATCH_TEXTS.labels(kind.value).observe(texts)
        ENCODE_SECONDS.labels(kind.value).observe(seconds)
        TEXTS.labels(kind.value).inc(texts)
        TOKENS.labels(kind.value).inc(tokens)

    def refused(self, kind: Kind) -> None:
        """A call did not fit into the queue."""
        REFUSED.labels(kind.value).inc()

    def cancelled(self, kind: Kind, texts: int) -> None:
        """A caller left before so many of its texts were done."""
        CANCELLED.labels(kind.value).inc(texts)


class EntailmentMetrics:
    """Turns what the entailment tells into Prometheus metrics."""

    def pairs_waiting(self, pairs: int) -> None:
        """So many wait or are being scored."""
        ENTAIL_QUEUE_PAIRS.set(pairs)

    def batch_scored(self, pairs: int, truncated: int, seconds: float) -> None:
        """One batch is done."""
        ENTAIL_PAIRS.inc(pairs)
        ENTAIL_TRUNCATED.inc(truncated)
        ENTAIL_SECONDS.observe(seconds)

    def pairs_refused(self) -> None:
        """A call did not fit into the queue."""
        ENTAIL_REFUSED.inc()
