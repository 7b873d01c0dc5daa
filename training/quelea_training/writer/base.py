"""The language model that is tuned, and the adapter on it."""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import torch
from peft import LoraConfig, get_peft_model, get_peft_model_state_dict
from quelea_evaluation.inputs import BadInput
from transformers import AutoModelForCausalLM, AutoTokenizer, GgufConfig

from quelea_training.checkpoints import MovingWeights
from quelea_training.writer.recipe import Recipe

ADAPTER = "default"
"""peft's name for the only one."""


def unpack(base: Path, out: Path, say: Callable[[str], None]) -> Path:
    """The folder of the model; a GGUF file is dequantised into `out`, once, which vLLM can serve too.

    Args:
        base: A folder as transformers writes it, or a GGUF file.
        out: Where to put what is dequantised; its name becomes the model's.
        say: Takes a line.

    Raises:
        BadInput: It is neither, or transformers cannot read it.
    """
    if base.is_dir():
        if not (base / "config.json").is_file():
            raise BadInput(f"{base} has no config.json; --base takes a folder of transformers, or a GGUF file")
        return base
    if base.suffix != ".gguf" or not base.is_file():
        raise BadInput(f"--base {base} is no folder and no GGUF file; `make engine-cpu MODEL=0.5b` fetches one")
    if (out / "config.json").is_file():
        return out
    if int(os.environ.get("WORLD_SIZE", "1")) > 1:
        raise BadInput(f"several processes cannot dequantise {base}: begin with one, or name a folder with --base")
    say(f"dequantising {base.name}, once, into {out}")
    part = out.with_name(f"{out.name}.part")
    shutil.rmtree(part, ignore_errors=True)
    part.mkdir(parents=True)
    try:
        model = AutoModelForCausalLM.from_pretrained(
            base.parent, gguf_file=base.name, quantization_config=GgufConfig(dequantize=True), dtype=torch.bfloat16
        )
        tokenizer = AutoTokenizer.from_pretrained(base.parent, gguf_file=base.name)
    except (OSError, ValueError, KeyError, NotImplementedError) as error:
        raise BadInput(f"transformers cannot read {base}: {error}") from error
    model.save_pretrained(part)
    tokenizer.save_pretrained(part)
    for licence in (*base.parent.glob(f"{base.stem}.LICENSE"), *base.parent.glob("LICENSE")):
        shutil.copy(licence, part / "LICENSE")
    part.rename(out)
    return out


def _usual_device() -> str:
    return f"cuda:{os.environ.get('LOCAL_RANK', '0')}" if torch.cuda.is_available() else "cpu"


class Writer(MovingWeights):
    """The model with its adapter, and its tokens.

    Args:
        base: Folder of `unpack`.
        recipe: How it is tuned.
        device: cpu, cuda, …; empty chooses.

    Raises:
        BadInput: There is no model, or one without a chat template.
    """

    def __init__(self, base: Path, recipe: Recipe, device: str = "") -> None:
        try:
            self.tokenizer: Any = AutoTokenizer.from_pretrained(base, local_files_only=True)
            model: Any = AutoModelForCausalLM.from_pretrained(
                base, local_files_only=True, dtype=getattr(torch, recipe.dtype), attn_implementation="sdpa"
            )
        except (OSError, ValueError) as error:
            raise BadInput(f"transformers cannot read {base}: {error}") from error
        if not self.tokenizer.chat_template:
            raise BadInput(f"{base} has no chat template: take a model that was tuned to follow instructions")
        if self.tokenizer.pad_token is None:
            self.tokenizer.pad_token = self.tokenizer.eos_token
        model.to(device or _usual_device())
        model.config.use_cache = False
        torch.manual_seed(recipe.seed)  # of the adapter's first weights
        config = LoraConfig(
            r=recipe.rank,
            lora_alpha=recipe.alpha,
            lora_dropout=recipe.dropout,
            target_modules="all-linear",
            task_type="CAUSAL_LM",
        )
        self.model: Any = get_peft_model(model, config)
        super().__init__(self.model)
        if recipe.checkpointing:
            self.model.enable_input_require_grads()

    def moving(self) -> dict[str, torch.Tensor]:
        """The adapter's weights, by peft's names."""
        found: dict[str, torch.Tensor] = get_peft_model_state_dict(self.model, adapter_name=ADAPTER)
        return found
