"""python -m quelea_embedder: settings -> logging -> build -> serve."""

from __future__ import annotations

import os
import sys
import time
from importlib.util import find_spec
from pathlib import Path

from quelea.embedder.v1 import embedder_pb2_grpc as pb_grpc
from quelea_kit.logging import get_logger, setup_logging
from quelea_kit.metrics import start_metrics
from quelea_kit.server import Server, run, serve
from quelea_kit.tracing import setup_tracing

from quelea_embedder.adapters.openvino_encoder import NotForOpenVino, OpenVinoEncoder
from quelea_embedder.core.batching import TRIAL_TEXT, Batcher, Limits
from quelea_embedder.core.embedding import Embedding, VectorCache
from quelea_embedder.core.entailment import CrossEncoder, Entailment, EntailmentLimits
from quelea_embedder.core.model import Encoder, Kind
from quelea_embedder.metrics import EntailmentMetrics, Metrics
from quelea_embedder.service import NAME, EmbedderService
from quelea_embedder.settings import EmbedderSettings

log = get_logger(__name__)

_GPU_FILES = ("nvidia[0-9]*", "kfd", "dxg")  # under /dev: NVIDIA's, AMD's, that of Linux in Windows
_TORCH = "`make torch`, or pip install 'quelea-embedder[torch]'"


def load(settings: EmbedderSettings) -> Encoder:
    """The encoder that the settings ask for.

    Raises:
        FileNotFoundError: There is no such model folder.
        ImportError: The model needs torch, which is not installed.
        OSError: The hub does not answer, or the folder is no model.
        ValueError: The two towers do not fit together, or the runtime or processor cannot do what is asked.
    """
    if settings.runtime != "torch" and (settings.runtime == "openvino" or not _wants_gpu(settings.device)):
        try:
            return _load_for_openvino(settings)
        except NotForOpenVino as error:
            if settings.runtime == "openvino":
                raise
            _check_torch(f"the model ({error})")
    _check_torch("this model with runtime torch or on a GPU")
    query, passage = _choose_models(settings)
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


def _load_for_openvino(settings: EmbedderSettings) -> Encoder:
    if settings.device not in ("auto", "cpu"):
        raise ValueError(f"runtime openvino is for device cpu, not {settings.device}")
    query, passage = _choose_models(settings)
    return OpenVinoEncoder(
        query,
        passage,
        query_prefix=settings.query_prefix,
        passage_prefix=settings.passage_prefix,
        precision=settings.precision,
        workers=settings.worker_count("cpu"),
        threads=settings.threads,
        max_tokens=settings.max_tokens,
    )


def _choose_models(settings: EmbedderSettings) -> tuple[str, str]:
    return settings.query_model or settings.model, settings.passage_model or settings.model


def _wants_gpu(device: str) -> bool:
    """Whether torch is to be asked for a device: on "auto" only where it is installed and the system shows a GPU."""
    if device != "auto":
        return device != "cpu"
    if find_spec("torch") is None or not any(any(Path("/dev").glob(name)) for name in _GPU_FILES):
        return False
    from quelea_embedder.adapters.sentence_transformer import choose_device  # noqa: PLC0415  # torch takes seconds

    return choose_device(device) != "cpu"


def _check_torch(what: str) -> None:
    if find_spec("torch") is None or find_spec("sentence_transformers") is None:
        raise ModuleNotFoundError(f"{what} needs torch; install it with {_TORCH}")


def load_cross_encoder(settings: EmbedderSettings) -> CrossEncoder | None:
    """The cross-encoder that the settings name; None: they name none.

    Raises:
        FileNotFoundError: There is no such folder.
        ImportError: torch is not installed.
        OSError: The folder holds no model.
        ValueError: Its labels are not the three of natural language inference.
    """
    if not settings.cross_encoder:
        return None
    _check_torch("the cross-encoder")
    from quelea_embedder.adapters.cross_encoder import (  # noqa: PLC0415  # torch takes seconds to import
        SentenceTransformerCrossEncoder,
    )

    return SentenceTransformerCrossEncoder(settings.cross_encoder, device=settings.device, threads=settings.threads)


def build_entailment(settings: EmbedderSettings, encoder: CrossEncoder | None, device: str) -> Entailment:
    """The queue in front of the cross-encoder; it answers with what to set where there is none."""
    sizes = EntailmentLimits(
        workers=settings.worker_count(device),
        max_pairs=settings.max_pairs,
        batch_pairs=settings.batch_pairs,
        queue_pairs=settings.queue_pairs,
    )
    return Entailment(encoder, sizes, EntailmentMetrics())


def limits(settings: EmbedderSettings, device: str) -> Limits:
    """Batch and queue sizes for this device."""
    cpu = device.startswith("cpu")
    return Limits(
        workers=settings.worker_count(device),
        query_batch_tokens=settings.query_batch_tokens or (192 if cpu else 16384),
        passage_batch_tokens=settings.passage_batch_tokens or (256 if cpu else 16384),
        quiet_batch_tokens=settings.quiet_batch_tokens or (768 if cpu else 16384),
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
        await embedding.embed([TRIAL_TEXT], kind)
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
        cross_encoder = load_cross_encoder(settings)
    except (ImportError, OSError, ValueError) as error:
        log.error("no_model", why=str(error))
        return 1
    embedding, batcher = await build(settings, encoder)
    entailment = build_entailment(settings, cross_encoder, encoder.info.device)
    log.info(
        "loaded",
        **{**_facts(encoder), "cross_encoder": entailment.model, "seconds": round(time.perf_counter() - began, 1)},
    )
    server = Server(
        settings,
        [NAME],
        lambda s: pb_grpc.add_EmbedderServiceServicer_to_server(EmbedderService(embedding, entailment), s),
        ready=embedding.ready,
    )

    async def stop() -> None:
        entailment.stop()
        await batcher.stop()

    await serve(server, stop, batcher.workers)
    return 0


def _facts(encoder: Encoder) -> dict[str, object]:
    info = encoder.info
    return {"model": info.model, "dimension": info.dimension, "device": info.device, "two_towers": info.two_towers}


if __name__ == "__main__":
    sys.exit(run(main()))
