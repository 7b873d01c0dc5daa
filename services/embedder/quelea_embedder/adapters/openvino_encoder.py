"""A sentence-transformers folder that holds an OpenVINO graph, on the CPU: one model, or one for each kind of text.

Nothing of torch is loaded. The graph gives the last hidden state; pooling is a few lines of numpy, in float32.
"""

from __future__ import annotations

import json
import threading
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from tokenizers import Encoding, Tokenizer

from quelea_embedder.adapters.model_folder import (
    CHARACTERS_PER_TOKEN,
    PROMPTS,
    find_folder,
    hash_content,
    make_model_id,
)
from quelea_embedder.adapters.openvino_runtime import GRAPH, openvino
from quelea_embedder.core.model import Kind, Measured, ModelInfo, Vectors

_HINTS = {"bf16": "bf16", "fp32": "f32"}
_MODULES = {"Transformer", "Pooling", "Normalize"}
_POOLINGS = {"mean", "cls"}
_SETTINGS = {".json", ".txt", ".model"}


class NotForOpenVino(ValueError):
    """The folder has no graph, or its model has a step that this adapter does not do."""


@dataclass(frozen=True, slots=True)
class Tower:
    """One model, as it is used for one kind of text."""

    model: _Model
    prefix: str
    max_tokens: int


class OpenVinoEncoder:
    """The default encoder on CPUs.

    Args:
        query_model: A local folder.
        passage_model: The same for passages; the same folder is loaded once.
        query_prefix: Put before every query; None takes the prompt "query" of the model's own settings.
        passage_prefix: Put before every passage; None takes the model's prompt "passage", else "document".
        precision: "bf16", "fp32", or "auto": bf16 where the processor has it, else fp32.
        workers: Threads that encode at the same time.
        threads: Of OpenVINO, for each of them.
        max_tokens: Cut texts here rather than at the model's own limit; 0 keeps that.

    Raises:
        FileNotFoundError: A path that is not there.
        NotForOpenVino: A model that OpenVINO cannot run here.
        ValueError: The processor lacks the precision, or the two towers differ in dimension.
    """

    def __init__(
        self,
        query_model: str,
        passage_model: str,
        *,
        query_prefix: str | None = None,
        passage_prefix: str | None = None,
        precision: str = "auto",
        workers: int = 1,
        threads: int = 1,
        max_tokens: int = 0,
    ) -> None:
        core = openvino.Core()
        self.precision = choose_precision(core, precision)
        options = {
            # Always said: OpenVINO chooses them silently otherwise.
            "INFERENCE_PRECISION_HINT": _HINTS[self.precision],
            "DYNAMIC_QUANTIZATION_GROUP_SIZE": "0",
            "NUM_STREAMS": str(workers),
            "INFERENCE_NUM_THREADS": str(workers * max(threads, 1)),
            "ENABLE_CPU_PINNING": "NO",  # others run on these cores, too
        }
        folders = {name: find_graph_folder(name) for name in {query_model, passage_model}}
        models = {folder: _Model(core, folder, options) for folder in set(folders.values())}
        self._towers: dict[Kind, Tower] = {}
        for kind, name, prefix in (
            (Kind.QUERY, query_model, query_prefix),
            (Kind.PASSAGE, passage_model, passage_prefix),
        ):
            model = models[folders[name]]
            limit = min(model.max_tokens, max_tokens) if max_tokens else model.max_tokens
            self._towers[kind] = Tower(model, model.find_prefix(kind) if prefix is None else prefix, limit)
        query, passage = self._towers[Kind.QUERY], self._towers[Kind.PASSAGE]
        dimensions = {model.dimension for model in models.values()}
        if len(dimensions) != 1:
            raise ValueError(f"query_model and passage_model must have the same dimension, got {sorted(dimensions)}")
        self.info = ModelInfo(
            model=make_model_id(
                [folder.name for folder in models],
                [(tower.model.hash, tower.prefix, tower.max_tokens) for tower in (query, passage)],
                runtime=f"openvino {self.precision}",
            ),
            dimension=dimensions.pop(),
            max_tokens=min(query.max_tokens, passage.max_tokens),
            query_prefix=query.prefix,
            passage_prefix=passage.prefix,
            device="cpu",
            two_towers=query.model is not passage.model,
        )

    def start_thread(self) -> None:
        """Nothing: OpenVINO's threads are set once for all."""

    def measure(self, texts: Sequence[str], kind: Kind) -> list[Measured]:
        """Tokens as the tower will read them."""
        tower = self._towers[kind]
        longest = tower.max_tokens * CHARACTERS_PER_TOKEN
        cut = [text[:longest] for text in texts]
        counts = [tower.model.own_tokens + len(one) for one in tower.model.tokenize(cut, tower.prefix)]
        return [
            Measured(short, min(count, tower.max_tokens), count > tower.max_tokens or len(short) < len(text))
            for text, short, count in zip(texts, cut, counts, strict=True)
        ]

    def encode(self, texts: Sequence[str], kind: Kind) -> Vectors:
        """One pass through the graph."""
        tower = self._towers[kind]
        return tower.model.encode(tower.model.tokenize(texts, tower.prefix), tower.max_tokens)


class _Model:
    """One folder, loaded."""

    def __init__(self, core: Any, folder: Path, options: dict[str, str]) -> None:
        self._pooling = _read_pooling(folder)
        self._prompts = _read_json(folder / "config_sentence_transformers.json").get("prompts") or {}
        self._tokenizer = Tokenizer.from_file(str(folder / "tokenizer.json"))
        self._tokenizer.no_truncation()
        self._tokenizer.no_padding()
        self.own_tokens = int(self._tokenizer.num_special_tokens_to_add(False))
        self._pad = int(_read_json(folder / "config.json").get("pad_token_id") or 0)
        self.max_tokens = int(
            _read_json(folder / "sentence_bert_config.json").get("max_seq_length")
            or _read_json(folder / "tokenizer_config.json").get("model_max_length")
            or 512
        )
        self._compiled = core.compile_model(core.read_model(folder / GRAPH), "CPU", options)
        self._inputs = {name for port in self._compiled.inputs for name in port.get_names()}
        self.dimension = int(self._compiled.output(0).partial_shape[2].get_length())
        self._local = threading.local()
        self.hash = hash_content(folder, reads=_is_read)

    def find_prefix(self, kind: Kind) -> str:
        return next((prompt for name in PROMPTS[kind] if (prompt := self._prompts.get(name))), "")

    def tokenize(self, texts: Sequence[str], prefix: str) -> list[Encoding]:
        """All tokens but those that the tokenizer puts around a text."""
        return self._tokenizer.encode_batch([prefix + text for text in texts], add_special_tokens=False)

    def encode(self, texts: list[Encoding], max_tokens: int) -> Vectors:
        rows = [self._finish(text, max_tokens) for text in texts]
        shape = (len(rows), max(map(len, rows)))
        ids, mask = np.full(shape, self._pad, np.int64), np.zeros(shape, np.int64)
        for i, row in enumerate(rows):
            ids[i, : len(row)], mask[i, : len(row)] = row, 1
        given = {"input_ids": ids, "attention_mask": mask, "token_type_ids": np.zeros(shape, np.int64)}
        request = getattr(self._local, "request", None)  # it serves one call at a time: each thread has its own
        if request is None:
            request = self._local.request = self._compiled.create_infer_request()
        found = request.infer({name: given[name] for name in self._inputs if name in given}, share_inputs=True)
        state = found[self._compiled.output(0)]
        if self._pooling == "cls":
            pooled: Vectors = state[:, 0]
        else:
            pooled = np.einsum("btd,bt->bd", state, mask.astype(np.float32)) / mask.sum(axis=1, keepdims=True)
        vectors: Vectors = (pooled / np.linalg.norm(pooled, axis=1, keepdims=True)).astype(np.float32)
        return vectors

    def _finish(self, text: Encoding, max_tokens: int) -> list[int]:
        text.truncate(max(max_tokens - self.own_tokens, 0))
        return list(self._tokenizer.post_process(text).ids)


def choose_precision(core: Any, wanted: str) -> str:
    """bf16 or fp32.

    Raises:
        ValueError: The processor does not have the one that is asked for.
    """
    has_bf16 = "BF16" in core.get_property("CPU", "OPTIMIZATION_CAPABILITIES")
    if wanted == "bf16" and not has_bf16:
        raise ValueError("this processor has no bf16; set QUELEA_EMBEDDER_PRECISION to fp32 or auto")
    return ("bf16" if has_bf16 else "fp32") if wanted == "auto" else wanted


def find_graph_folder(name: str) -> Path:
    """The folder of a model that OpenVINO can run.

    Raises:
        FileNotFoundError: The name is a path, and nothing is there.
        NotForOpenVino: There is no graph, or the model has a step that this adapter does not do.
    """
    folder = find_folder(name)
    if folder is None or not (folder / GRAPH).is_file():
        raise NotForOpenVino(f"{name} has no {GRAPH}")
    if not (folder / "tokenizer.json").is_file():
        raise NotForOpenVino(f"{name} has no tokenizer.json")
    _read_pooling(folder)
    return folder


def _read_pooling(folder: Path) -> str:
    modules = {
        str(module["type"]).rpartition(".")[2]: module["path"] for module in _read_json(folder / "modules.json", [])
    }
    if not {"Transformer", "Pooling"} <= modules.keys() <= _MODULES:
        raise NotForOpenVino(f"{folder.name} has the modules {', '.join(modules) or 'none'}")
    said = _read_json(folder / modules["Pooling"] / "config.json")
    chosen = {
        key.removeprefix("pooling_mode_").removesuffix("_token").removesuffix("_tokens")
        for key in said
        if key.startswith("pooling_mode_") and said[key] is True
    }
    chosen |= {said["pooling_mode"]} if "pooling_mode" in said else set()
    if (
        len(chosen) != 1
        or not chosen <= _POOLINGS
        or _read_json(folder / "sentence_bert_config.json").get("do_lower_case")
    ):
        raise NotForOpenVino(f"{folder.name} pools by {', '.join(sorted(chosen)) or 'nothing'}, or lowers its text")
    return str(chosen.pop())


def _read_json(path: Path, otherwise: Any = None) -> Any:
    return json.loads(path.read_text(encoding="utf-8")) if path.is_file() else ({} if otherwise is None else otherwise)


def _is_read(path: Path) -> bool:
    return path.parts[0] == Path(GRAPH).parts[0] or path.suffix in _SETTINGS
