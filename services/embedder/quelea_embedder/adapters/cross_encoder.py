"""A cross-encoder for natural language inference, by sentence-transformers on torch, CPU or GPU."""

from __future__ import annotations

import threading
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import sentence_transformers
import torch
import transformers
from sentence_transformers.util import batch_to_device

from quelea_embedder.adapters.model_folder import CHARACTERS_PER_TOKEN, hash_content
from quelea_embedder.adapters.sentence_transformer import choose_device, is_read
from quelea_embedder.core.entailment import Pair, Scores

LABELS = ("entailment", "neutral", "contradiction")
"""The columns of a score. A model's own order is in id2label of its config.json."""


class SentenceTransformerCrossEncoder:
    """The cross-encoder of production.

    Args:
        folder: A local folder with a model for sequence classification.
        device: "cpu", "cuda", "cuda:1", or "auto".
        threads: Of torch, for each thread that scores on the CPU; 0 leaves torch's default.

    Raises:
        FileNotFoundError: There is no such folder.
        OSError: The folder holds no model.
        ValueError: The model's labels are not entailment, neutral and contradiction.
    """

    def __init__(self, folder: str, *, device: str = "auto", threads: int = 1) -> None:
        path = Path(folder).expanduser()
        if not path.is_dir():
            raise FileNotFoundError(f"cross_encoder must be a local folder, got {folder!r}")
        path = path.resolve()
        transformers.utils.logging.disable_progress_bar()  # type: ignore[no-untyped-call]  # it has no annotations
        self._columns = _label_columns(transformers.AutoConfig.from_pretrained(str(path), local_files_only=True))
        self._threads = threads
        self._device = torch.device(choose_device(device))
        self._model = sentence_transformers.CrossEncoder(
            str(path),
            device=str(self._device),
            local_files_only=True,
            trust_remote_code=False,
            model_kwargs={"dtype": "float32"},
        ).eval()
        self._max_tokens = self._model.max_seq_length or 512
        self._model.max_seq_length = self._max_tokens
        self._tokenizing = threading.Lock()  # each use of a tokenizer sets its truncation anew
        self.name = f"{path.name}@{hash_content(path, reads=is_read)[:12]}"

    def start_thread(self) -> None:
        """Set torch's threads for the thread that calls."""
        if self._threads and self._device.type == "cpu":
            torch.set_num_threads(self._threads)

    def score(self, pairs: Sequence[Pair]) -> tuple[Scores, list[bool]]:
        """One forward pass; what CrossEncoder.predict does with apply_softmax, with the tokenizer behind a lock."""
        longest = self._max_tokens * CHARACTERS_PER_TOKEN
        short = [(premise[:longest], hypothesis[:longest]) for premise, hypothesis in pairs]
        tokenizer: Any = self._model.tokenizer
        with self._tokenizing:
            counts = [len(ids) for ids in tokenizer(short, truncation=False, padding=False, verbose=False)["input_ids"]]
            features = self._model.preprocess([list(pair) for pair in short])
        with torch.inference_mode():
            logits = self._model(batch_to_device(features, self._device))["scores"].float()
            scores: Scores = torch.softmax(logits, dim=1)[:, self._columns].cpu().numpy().astype(np.float32, copy=False)
        truncated = [
            count > self._max_tokens or cut != pair for count, cut, pair in zip(counts, short, pairs, strict=True)
        ]
        return scores, truncated


def _label_columns(config: Any) -> list[int]:
    """Where the model's head has each of LABELS."""
    found = {str(label).lower(): int(index) for index, label in (config.id2label or {}).items()}
    if set(found) != set(LABELS) or sorted(found.values()) != [0, 1, 2]:
        raise ValueError(
            f"a cross-encoder must have the labels {', '.join(LABELS)} in id2label of its config.json, "
            f"got {', '.join(sorted(found)) or 'none'}"
        )
    return [found[label] for label in LABELS]
