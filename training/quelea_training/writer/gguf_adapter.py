"""An adapter of peft as llama.cpp reads it: GGUF, with the tensors under its own names."""

from __future__ import annotations

import json
import re
from pathlib import Path

import gguf
from quelea_evaluation.inputs import BadInput
from safetensors.torch import load_file

_WEIGHT = re.compile(r"base_model\.model\.(?P<layer>.+)\.lora_(?P<side>[AB])\.weight")
_PLAIN = {"qwen2": gguf.MODEL_ARCH.QWEN2, "qwen3": gguf.MODEL_ARCH.QWEN3}
"""Architectures whose weights llama.cpp takes as they are. It turns the rows of Llama's attention, so that an adapter
must be turned alike; its own convert_lora_to_gguf.py does that."""


def write_gguf(adapter: Path, base: Path, out: Path) -> None:
    """Write the adapter for llama.cpp; the file is whole or not there.

    Args:
        adapter: Folder of peft: adapter_config.json, adapter_model.safetensors.
        base: Folder of the model that it is for.
        out: The file.

    Raises:
        BadInput: The model's architecture needs llama.cpp's own converter, or a layer is unknown to it.
    """
    config = json.loads((base / "config.json").read_text(encoding="utf-8"))
    settings = json.loads((adapter / "adapter_config.json").read_text(encoding="utf-8"))
    kind = str(config["model_type"])
    if kind not in _PLAIN:
        raise BadInput(
            f"an adapter of {kind} is not written for llama.cpp here ({', '.join(_PLAIN)} are); convert {adapter} with "
            "llama.cpp's convert_lora_to_gguf.py, or serve it with vLLM"
        )
    names = gguf.get_tensor_name_map(_PLAIN[kind], int(config["num_hidden_layers"]))
    scratch = out.with_suffix(".part")
    writer = gguf.GGUFWriter(scratch, gguf.MODEL_ARCH_NAMES[_PLAIN[kind]])
    writer.add_type(gguf.GGUFType.ADAPTER)
    # By these llama_engine refuses it for another model.
    writer.add_block_count(int(config["num_hidden_layers"]))
    writer.add_embedding_length(int(config["hidden_size"]))
    writer.add_string(gguf.Keys.Adapter.TYPE, "lora")
    writer.add_float32(gguf.Keys.Adapter.LORA_ALPHA, float(settings["lora_alpha"]))
    for name, weight in sorted(load_file(adapter / "adapter_model.safetensors").items()):
        match = _WEIGHT.fullmatch(name)
        layer = names.get_name(f"{match['layer']}.weight", (".weight",)) if match else None
        if match is None or layer is None:
            raise BadInput(f"llama.cpp knows no layer for {name}; serve the adapter with vLLM")
        writer.add_tensor(f"{layer}.lora_{match['side'].lower()}", weight.float().numpy())
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()
    scratch.replace(out)
