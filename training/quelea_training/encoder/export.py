"""A trained encoder as the embedder serves it: a sentence-transformers folder with an OpenVINO graph."""

from __future__ import annotations

import shutil
import sys
import tempfile
import warnings
from pathlib import Path
from typing import Any

import numpy as np
import torch
from quelea_evaluation.inputs import BadInput
from safetensors.torch import save_file
from sentence_transformers import SentenceTransformer

from quelea_training.encoder.examples import Kind
from quelea_training.encoder.measures import Vectors, unit
from quelea_training.encoder.towers import Towers, transformer_of

# openvino loads this when it is imported, which then writes an id for Google Analytics; it has a stub for its absence.
sys.modules.setdefault("openvino_telemetry", None)  # type: ignore[arg-type]  # None: "there is no such module"

import openvino  # noqa: E402

GRAPH = "openvino/openvino_model.xml"
"""Where the embedder looks for it."""
CARD = "README.md"
FOLDERS: dict[int, dict[Kind, str]] = {
    1: {"query": "model"},
    2: {"query": "model-query", "passage": "model-passage"},
}
"""Of a run: by how many towers there are, and which, where its model is."""
_NOT_TAKEN = shutil.ignore_patterns("*.safetensors", "openvino", "quelea-*.json", CARD)
_LEAST_COSINE = 0.9999
_TRIED = (
    "Net sales were $1,496.5 million in 2019.",
    "营业收入同比增长12.3%。",
    "short",
    "What was total sales in 2019?",
)


def export(base: Path, towers: Towers, out: Path, card: str) -> list[Path]:
    """Write a folder for each tower; each is whole or not there, and its graph gives the trained model's vectors.

    Args:
        base: What was trained from; tokenizer, settings and licence are its own.
        towers: Trained; their adapters are merged into their weights.
        out: Folder of the run.
        card: The model card, Markdown.

    Raises:
        BadInput: The graph gives other vectors than the model.
    """
    towers.merge()
    made = []
    for kind, name in FOLDERS[len(towers.towers)].items():
        with tempfile.TemporaryDirectory(prefix=f".{name}-", dir=out) as scratch:
            folder = Path(scratch) / name
            shutil.copytree(base, folder, ignore=_NOT_TAKEN)
            _write(folder, towers.tower(kind))
            (folder / CARD).write_text(card, encoding="utf-8")
            _check(folder, towers, kind)
            shutil.rmtree(out / name, ignore_errors=True)
            folder.rename(out / name)
        made.append(out / name)
    return made


def _write(folder: Path, tower: SentenceTransformer) -> None:
    model = transformer_of(tower).cpu().eval()
    save_file(
        {name: one.detach().contiguous() for name, one in model.state_dict().items()},
        folder / "model.safetensors",
        metadata={"format": "pt"},
    )
    (folder / "model.safetensors").chmod(0o644)  # safetensors writes it for its owner only
    (folder / GRAPH).parent.mkdir()
    openvino.save_model(_graph(model), folder / GRAPH, compress_to_fp16=False)


def _graph(model: torch.nn.Module) -> Any:  # openvino has no annotations
    class LastState(torch.nn.Module):
        """Of the model's outputs the one that is pooled."""

        def __init__(self) -> None:
            super().__init__()
            self.model = model

        def forward(self, input_ids: torch.Tensor, attention_mask: torch.Tensor) -> torch.Tensor:
            """Shape (texts, tokens, hidden)."""
            found: torch.Tensor = self.model(input_ids=input_ids, attention_mask=attention_mask).last_hidden_state
            return found

    ids = torch.ones((2, 8), dtype=torch.long)
    mask = torch.ones((2, 8), dtype=torch.long)
    mask[1, 5:] = 0
    with torch.no_grad(), warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of the tracer and of names to come: `_check` compares what the graph gives
        graph = openvino.convert_model(
            LastState().eval(), example_input={"input_ids": ids, "attention_mask": mask}, input=[[-1, -1], [-1, -1]]
        )
    for port, name in zip(graph.inputs, ("input_ids", "attention_mask"), strict=True):
        port.get_tensor().set_names({name})
    graph.outputs[0].get_tensor().set_names({"last_hidden_state"})
    return graph


def _check(folder: Path, towers: Towers, kind: Kind) -> None:
    wanted = unit(towers.encode(_TRIED, kind))
    found = unit(_run(folder, towers, kind))
    worst = float((wanted * found).sum(1).min())
    if not worst >= _LEAST_COSINE:
        raise BadInput(f"the OpenVINO graph gives other vectors than the trained model: cosine {worst:.5f}")


def _run(folder: Path, towers: Towers, kind: Kind) -> Vectors:
    tokens = towers.tower(kind).tokenizer(
        [towers.prompts[kind] + text for text in _TRIED],
        padding=True,
        truncation=True,
        max_length=towers.max_tokens,
        return_tensors="np",
    )
    given = {name: tokens[name].astype(np.int64) for name in ("input_ids", "attention_mask")}
    core = openvino.Core()
    compiled = core.compile_model(core.read_model(folder / GRAPH), "CPU", {"INFERENCE_PRECISION_HINT": "f32"})
    state = compiled(given)[compiled.output(0)]
    mask = given["attention_mask"].astype(np.float32)
    pooled: Vectors = np.einsum("btd,bt->bd", state, mask) / mask.sum(axis=1, keepdims=True)
    return pooled
