"""Settings of the embedder, from environment variables QUELEA_EMBEDDER_<FIELD>."""

from __future__ import annotations

import os
from typing import Literal

from pydantic import Field
from quelea_kit.settings import ServiceSettings, settings_config


class EmbedderSettings(ServiceSettings):
    """Settings of the embedder. Zero means "by device" where a field says so."""

    model_config = settings_config("embedder")

    model: str = ".cache/models/multilingual-e5-small"
    """Local folder or hub name of the sentence-transformers model; a local folder never needs the network. A hub name
    needs torch (the extra "torch" of this package)."""

    query_model: str = ""
    """Model of the query tower, when it is another one."""

    passage_model: str = ""
    """Model of the passage tower, when it is another one. Both must give vectors of one dimension."""

    query_prefix: str | None = None
    """Put before every query; unset takes the prompt "query" of the model's own settings."""

    passage_prefix: str | None = None
    """Put before every passage; unset takes the model's prompt "passage", else "document"."""

    device: str = "auto"
    """auto, cpu, cuda or cuda:N. auto takes a GPU when there is one and torch is installed."""

    runtime: Literal["auto", "openvino", "torch"] = "auto"
    """What runs the model. auto: OpenVINO on the CPU where the model's folder has a graph for it, else torch. The id
    of the model says which: vectors of the two do not mix in one knowledge base."""

    precision: Literal["auto", "bf16", "fp32"] = "auto"
    """OpenVINO's arithmetic. auto: bf16 where the processor has it, else fp32. It is part of the model's id, so
    say fp32 where processors with and without bf16 serve one knowledge base. torch always has fp32."""

    workers: int = Field(0, ge=0)
    """Batches encoded at the same time; 0: one for each core that this process may use, and one on a GPU."""

    threads: int = Field(1, ge=0)
    """Threads for each worker on the CPU. Several workers of one thread are faster than one of several."""

    max_tokens: int = Field(0, ge=0)
    """Texts are cut at this many tokens; 0 is the model's own limit."""

    max_texts: int = Field(512, ge=1)
    """Texts in one call."""

    query_batch_tokens: int = Field(0, ge=0)
    """Longest text x number of texts in a batch of queries; 0: 192 on the CPU, 16384 on a GPU."""

    passage_batch_tokens: int = Field(0, ge=0)
    """The same for passages; 0: 256 on the CPU, where larger batches make queries wait, 16384 on a GPU."""

    quiet_batch_tokens: int = Field(0, ge=0)
    """The same for passages when no query has come for ten seconds; 0: 768 on the CPU, where a token then costs a tenth
    less, 16384 on a GPU. The first query afterwards may wait for such a batch."""

    batch_overhead_tokens: int = Field(0, ge=0)
    """What a batch of its own costs, in tokens: more padding than this is not taken into a batch; 0: 24 on the CPU,
    2048 on a GPU."""

    batch_texts: int = Field(64, ge=1)
    """Texts in one batch."""

    queue_texts: int = Field(4096, ge=1)
    """Texts that may wait, of each kind; more are refused with RESOURCE_EXHAUSTED."""

    queue_tokens: int = Field(1_048_576, ge=1)
    """Tokens that may wait, of each kind."""

    cache_queries: int = Field(4096, ge=0)
    """Queries whose vectors are kept; 0 keeps none."""

    cross_encoder: str = ""
    """Local folder of a cross-encoder for natural language inference (labels entailment, neutral, contradiction), for
    the rpc Entail; empty: none, and nothing of it is loaded. Needs torch."""

    max_pairs: int = Field(256, ge=1)
    """Pairs of premise and hypothesis in one call of Entail."""

    batch_pairs: int = Field(16, ge=1)
    """Pairs in one batch."""

    queue_pairs: int = Field(1024, ge=1)
    """Pairs that may wait or be scored at once; more are refused with RESOURCE_EXHAUSTED."""

    def worker_count(self, device: str) -> int:
        """Workers for this device."""
        if self.workers:
            return self.workers
        if not device.startswith("cpu"):
            return 1
        return max(len(os.sched_getaffinity(0)) // max(self.threads, 1), 1)
