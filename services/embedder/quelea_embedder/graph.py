"""The graph of a BERT encoder in OpenVINO's own format, written from its weights without exporting from torch."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from quelea_embedder.adapters.openvino_runtime import GRAPH, openvino

ops = openvino.opset13

Weights = dict[str, NDArray[np.float32]]
"""Under the names of transformers' BertModel."""


@dataclass(frozen=True, slots=True)
class WordTable:
    """Vectors of all tokens, in blocks with one scale each: a quarter of their float32 size in memory, and exact."""

    codes: NDArray[np.int8]
    """Shape (vocabulary, hidden)."""

    scales: NDArray[np.float16]
    """Shape (vocabulary, hidden / block)."""


def write_graph(folder: Path, weights: Weights, words: WordTable, *, heads: int, epsilon: float) -> None:
    """Write the encoder up to its last hidden state into a model folder.

    Inputs `input_ids` and `attention_mask`, int64 (texts, tokens); output `last_hidden_state`, float32 (texts, tokens,
    hidden): the names that a graph exported by optimum has, too. The same weights give the same bytes.

    Args:
        folder: Of the model; the graph goes to GRAPH in it.
        weights: All but the table of words.
        words: That table.
        heads: Of attention.
        epsilon: Of layer normalisation.
    """
    ids = ops.parameter([-1, -1], np.int64, name="input_ids")
    mask = ops.parameter([-1, -1], np.int64, name="attention_mask")
    state = _embed(ids, weights, words, epsilon)
    # 0 where a token is, far below zero where padding is; the same for every head and row.
    float_mask = ops.unsqueeze(ops.convert(mask, "f32"), _axes(1, 2))
    hidden_from = ops.multiply(ops.subtract(float_mask, np.float32(1)), np.float32(1e4))
    layer = 0
    while f"encoder.layer.{layer}.output.dense.weight" in weights:
        state = _layer(state, hidden_from, _Layer(weights, f"encoder.layer.{layer}", heads, epsilon))
        layer += 1
    out = ops.result(state)
    for port, name in ((ids.output(0), "input_ids"), (mask.output(0), "attention_mask"), (out.output(0), _OUTPUT)):
        port.get_tensor().set_names({name})
    model = openvino.Model([out], [ids, mask], "encoder")
    for i, node in enumerate(model.get_ordered_ops()):
        node.set_friendly_name(f"{node.get_type_name()}_{i}")  # OpenVINO's own counter goes on from graph to graph
    (folder / GRAPH).parent.mkdir(parents=True, exist_ok=True)
    openvino.save_model(model, folder / GRAPH, compress_to_fp16=False)


_OUTPUT = "last_hidden_state"


@dataclass(frozen=True, slots=True)
class _Layer:
    weights: Weights
    prefix: str
    heads: int
    epsilon: float

    def dense(self, state: Any, name: str) -> Any:
        weight, bias = (self.weights[f"{self.prefix}.{name}.{part}"] for part in ("weight", "bias"))
        return ops.add(ops.matmul(state, _constant(weight), False, True), _constant(bias))

    def norm(self, state: Any, name: str) -> Any:
        return _norm(state, self.weights, f"{self.prefix}.{name}", self.epsilon)

    def split(self, state: Any, name: str) -> Any:
        """(texts, tokens, hidden) -> (texts, heads, tokens, hidden / heads)."""
        return ops.transpose(ops.reshape(self.dense(state, name), _axes(0, 0, self.heads, -1), True), _axes(0, 2, 1, 3))


def _layer(state: Any, hidden_from: Any, layer: _Layer) -> Any:
    query, key, value = (layer.split(state, f"attention.self.{part}") for part in ("query", "key", "value"))
    seen = ops.scaled_dot_product_attention(query, key, value, hidden_from)
    joined = ops.reshape(ops.transpose(seen, _axes(0, 2, 1, 3)), _axes(0, 0, -1), True)
    state = layer.norm(ops.add(state, layer.dense(joined, "attention.output.dense")), "attention.output.LayerNorm")
    inner = ops.gelu(layer.dense(state, "intermediate.dense"), "erf")
    return layer.norm(ops.add(state, layer.dense(inner, "output.dense")), "output.LayerNorm")


def _embed(ids: Any, weights: Weights, words: WordTable, epsilon: float) -> Any:
    zero = _axes(0)
    blocks = words.scales.shape[1]
    codes = ops.convert(ops.gather(_constant(words.codes), ids, np.int64(0)), "f32")
    scales = ops.convert(ops.gather(_constant(words.scales), ids, np.int64(0)), "f32")
    scaled = ops.multiply(ops.reshape(codes, _axes(0, 0, blocks, -1), True), ops.unsqueeze(scales, _axes(-1)))
    word = ops.reshape(scaled, _axes(0, 0, -1), True)
    # Every token is of type 0, and stands where it stands.
    places = weights["embeddings.position_embeddings.weight"] + weights["embeddings.token_type_embeddings.weight"][0]
    count = ops.gather(ops.shape_of(ids), _axes(1), np.int64(0))
    place = ops.slice(_constant(places), zero, count, _axes(1), zero)
    return _norm(ops.add(word, place), weights, "embeddings.LayerNorm", epsilon)


def _norm(state: Any, weights: Weights, name: str, epsilon: float) -> Any:
    even = ops.mvn(state, _axes(-1), True, epsilon, "inside_sqrt")
    return ops.add(ops.multiply(even, _constant(weights[f"{name}.weight"])), _constant(weights[f"{name}.bias"]))


def _constant(values: NDArray[Any]) -> Any:
    return ops.constant(values)


def _axes(*values: int) -> NDArray[np.int64]:
    return np.array(values, np.int64)
