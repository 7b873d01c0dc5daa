"""python -m quelea_embedder: settings -> logging -> build -> serve."""

from __future__ import annotations

import os
import sys
import time
from pathlib import Path

from quelea.embedder.v1 import embedder_pb2_grpc as pb_grpc
from quelea_kit.logging import get_logger, setup_logging
from quelea_kit.metrics import start_metrics
from quelea_kit.server import Server, run, serve
from quelea_kit.tracing import setup_tracing

from quelea_embedder.core.batching import Batcher, Limits
from quelea_embedder.core.embedding import Embedding, VectorCache
from quelea_embedder.core.model import Encoder, Kind
from quelea_embedder.metrics import Metrics
from quelea_embedder.service import NAME, EmbedderService
from quelea_embedder.settings import EmbedderSettings

log = get_logger(__name__)


def load(settings: EmbedderSettings) -> Encoder:
    """The encoder that the settings ask for.

    Raises:
        FileNotFoundError: There is no such model folder.
        OSError: The hub does not answer, or the folder is no model.
        ValueError: The two towers do not fit together.
    """
    query, passage = settings.query_model or settings.model, settings.passage_model or settings.model
    if all(Path(name).expanduser().is_dir() for name in (query, passage)):
        os.environ["HF_HUB_OFFLINE"] = "1"  # read when the hub's client is imported: nothing then asks the network
    from quelea_embedder.adapters.sentence_transformer import (  # noqa: PLC0415  # torch takes seconds to import
        SentenceTransformerEncoder,
    )

    return SentenceTransformerEncoder(
        query,
        passage,
        query_prefix=settings.query_prefix,
        passage_prefix=settings.passage_prefix,
        device=settings.device,
        threads=settings.threads,
        max_tokens=settings.max_tokens,
    )


def limits(settings: EmbedderSettings, device: str) -> Limits:
    """Batch and queue sizes for this device."""
    cpu = device.startswith("cpu")
    return Limits(
        workers=settings.worker_count(device),
        query_batch_tokens=settings.query_batch_tokens or (192 if cpu else 16384),
        passage_batch_tokens=settings.passage_batch_tokens or (256 if cpu else 16384),
        batch_texts=settings.batch_texts,
        overhead_tokens=settings.batch_overhead_tokens or (24 if cpu else 2048),
        queue_texts=settings.queue_texts,
        queue_tokens=settings.queue_tokens,
    )


async def build(settings: EmbedderSettings, encoder: Encoder) -> tuple[Embedding, Batcher]:
    """Start the batcher and encode one text of each kind, so that the first caller finds a warm model."""
    batcher = Batcher(encoder, limits(settings, encoder.info.device), Metrics())
    batcher.start()
    embedding = Embedding(encoder, batcher, max_texts=settings.max_texts, cache=VectorCache(settings.cache_queries))
    for kind in Kind:
        await embedding.embed(["ready"], kind)
    return embedding, batcher


async def main() -> int:
    """Serve until told to stop."""
    settings = EmbedderSettings()
    setup_logging("embedder", settings)
    setup_tracing("embedder", settings)
    start_metrics(settings)
    began = time.perf_counter()
    try:
        encoder = load(settings)
    except (OSError, ValueError) as error:
        log.error("no_model", why=str(error))
        return 1
    embedding, batcher = await build(settings, encoder)
    log.info("loaded", **{**_facts(encoder), "seconds": round(time.perf_counter() - began, 1)})
    server = Server(
        settings,
        [NAME],
        lambda s: pb_grpc.add_EmbedderServiceServicer_to_server(EmbedderService(embedding), s),
        ready=embedding.ready,
    )
    await serve(server, on_stop=batcher.stop)
    return 0


def _facts(encoder: Encoder) -> dict[str, object]:
    info = encoder.info
    return {"model": info.model, "dimension": info.dimension, "device": info.device, "two_towers": info.two_towers}


if __name__ == "__main__":
    sys.exit(run(main()))
