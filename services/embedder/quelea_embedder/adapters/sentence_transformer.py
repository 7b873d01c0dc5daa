"""sentence-transformers on torch, CPU or GPU: one model, or one for queries and one for passages."""

from __future__ import annotations

import threading
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import torch
import transformers
from huggingface_hub import snapshot_download
from sentence_transformers import SentenceTransformer
from sentence_transformers.util import batch_to_device

from quelea_embedder.adapters.model_folder import (
    CHARACTERS_PER_TOKEN,
    PROMPTS,
    find_folder,
    hash_content,
    make_model_id,
)
from quelea_embedder.core.model import Kind, Measured, ModelInfo, Vectors

_NOT_WEIGHTS = ["*.onnx", "*.h5", "*.msgpack", "*.ot", "onnx/*", "openvino/*", "*.gguf"]
_TASKS = {Kind.QUERY: "query", Kind.PASSAGE: "document"}


@dataclass(frozen=True, slots=True)
class Tower:
    """One model, as it is used for one kind of text."""

    model: SentenceTransformer
    prefix: str
    max_tokens: int
    tokenizing: threading.Lock
    """A tokenizer must not be used by two threads at once: each use sets its truncation anew."""


class SentenceTransformerEncoder:
    """The encoder of production.

    Args:
        query_model: A local folder, or the name of a model on the Hugging Face hub.
        passage_model: The same for passages; the same name means the same weights, loaded once.
        query_prefix: Put before every query; None takes the prompt "query" of the model's own settings.
        passage_prefix: Put before every passage; None takes the model's prompt "passage", else "document".
        device: "cpu", "cuda", "cuda:1", or "auto".
        threads: Of torch, for each thread that encodes on the CPU; 0 leaves torch's default.
        max_tokens: Cut texts here rather than at the model's own limit; 0 keeps that.

    Raises:
        FileNotFoundError: A path that is not there.
        ValueError: The two towers do not give vectors of the same dimension.
    """

    def __init__(
        self,
        query_model: str,
        passage_model: str,
        *,
        query_prefix: str | None = None,
        passage_prefix: str | None = None,
        device: str = "auto",
        threads: int = 1,
        max_tokens: int = 0,
    ) -> None:
        transformers.utils.logging.disable_progress_bar()  # type: ignore[no-untyped-call]  # it has no annotations
        self._threads = threads
        self._device = torch.device(choose_device(device))
        folders = {name: find_model(name) for name in {query_model, passage_model}}
        loaded = {name: (self._load(folder), threading.Lock()) for name, folder in folders.items()}
        self._towers: dict[Kind, Tower] = {}
        for kind, name, prefix in (
            (Kind.QUERY, query_model, query_prefix),
            (Kind.PASSAGE, passage_model, passage_prefix),
        ):
            model, lock = loaded[name]
            own = model.max_seq_length or getattr(model.tokenizer, "model_max_length", 0) or 512
            limit = min(own, max_tokens) if max_tokens else own
            model.max_seq_length = limit
            self._towers[kind] = Tower(model, _own_prefix(model, kind) if prefix is None else prefix, limit, lock)
        query, passage = self._towers[Kind.QUERY], self._towers[Kind.PASSAGE]
        dimensions = {int(tower.model.get_embedding_dimension() or 0) for tower in self._towers.values()}
        if len(dimensions) != 1:
            raise ValueError(f"query_model and passage_model must have the same dimension, got {sorted(dimensions)}")
        names = [folder.name if Path(name).is_dir() else name for name, folder in folders.items()]
        hashes = {name: hash_content(folder, reads=is_read) for name, folder in folders.items()}
        self.info = ModelInfo(
            model=make_model_id(
                names,
                [
                    (hashes[name], tower.prefix, tower.max_tokens)
                    for name, tower in ((query_model, query), (passage_model, passage))
                ],
            ),
            dimension=dimensions.pop(),
            max_tokens=min(query.max_tokens, passage.max_tokens),
            query_prefix=query.prefix,
            passage_prefix=passage.prefix,
            device=str(self._device),
            two_towers=query.model is not passage.model,
        )

    def _load(self, folder: Path) -> SentenceTransformer:
        model = SentenceTransformer(
            str(folder),
            device=str(self._device),
            local_files_only=True,
            trust_remote_code=False,
            model_kwargs={"dtype": "float32"},
        )
        return model.eval()

    def start_thread(self) -> None:
        """Set torch's threads for the thread that calls."""
        if self._threads and self._device.type == "cpu":
            torch.set_num_threads(self._threads)

    def measure(self, texts: Sequence[str], kind: Kind) -> list[Measured]:
        """Tokens as the tower will read them. A tokenizer that cannot count is taken at four characters a token."""
        tower = self._towers[kind]
        longest = tower.max_tokens * CHARACTERS_PER_TOKEN
        cut = [text[:longest] for text in texts]
        counts = self._count([tower.prefix + text for text in cut], tower)
        return [
            Measured(short, min(count, tower.max_tokens), count > tower.max_tokens or len(short) < len(text))
            for text, short, count in zip(texts, cut, counts, strict=True)
        ]

    @staticmethod
    def _count(texts: list[str], tower: Tower) -> list[int]:
        tokenizer = tower.model.tokenizer
        if not isinstance(tokenizer, transformers.PreTrainedTokenizerBase):
            return [1 + len(text) // 4 for text in texts]
        with tower.tokenizing:
            encoded = tokenizer(
                texts,
                truncation=False,
                padding=False,
                return_attention_mask=False,
                return_token_type_ids=False,
                verbose=False,
            )
        return [len(ids) for ids in encoded["input_ids"]]

    def encode(self, texts: Sequence[str], kind: Kind) -> Vectors:
        """One forward pass; what SentenceTransformer.encode does, with the tokenizer behind a lock."""
        tower = self._towers[kind]
        task: Any = _TASKS[kind]
        with tower.tokenizing:
            features = tower.model.preprocess(list(texts), prompt=tower.prefix or None, task=task)
        with torch.inference_mode():
            out = tower.model(batch_to_device(features, self._device), task=task)
            vectors: Vectors = out["sentence_embedding"].float().cpu().numpy().astype(np.float32, copy=False)
        return vectors


def choose_device(wanted: str) -> str:
    """The device that "auto" stands for: a GPU when torch sees one, else the CPU."""
    if wanted != "auto":
        return wanted
    return "cuda" if torch.cuda.is_available() else "cpu"


def find_model(name: str) -> Path:
    """The folder of a model. Only a name that is no local folder is asked of the hub (or of its local cache).

    Raises:
        FileNotFoundError: The name is a path, and nothing is there.
    """
    return find_folder(name) or Path(snapshot_download(name, ignore_patterns=_NOT_WEIGHTS))


def is_read(path: Path) -> bool:
    """Whether torch reads this file of a model's folder."""
    return path.parts[0] != "openvino"


def _own_prefix(model: SentenceTransformer, kind: Kind) -> str:
    return next((prompt for name in PROMPTS[kind] if (prompt := model.prompts.get(name))), "")
