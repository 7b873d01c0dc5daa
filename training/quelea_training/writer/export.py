"""The adapter as vLLM and llama.cpp read it, with its card."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from quelea_evaluation.inputs import BadInput

from quelea_training import runs
from quelea_training.writer.base import ADAPTER, Writer
from quelea_training.writer.gguf_adapter import write_gguf

GGUF = "adapter.gguf"


def export(writer: Writer, base: Path, out: Path, card: str, say: Callable[[str], None]) -> Path:
    """Write `out`/adapter; the folder is there whole or not at all.

    Args:
        writer: With the weights to write.
        base: Folder of its base model.
        out: Of the run.
        card: The model card.
        say: Takes a line where the adapter is not for llama.cpp.
    """
    final, part = out / "adapter", out / "adapter.part"
    shutil.rmtree(part, ignore_errors=True)
    writer.model.save_pretrained(part, selected_adapters=[ADAPTER])
    config = json.loads((part / "adapter_config.json").read_text(encoding="utf-8"))
    config["base_model_name_or_path"] = base.name  # a path of this machine says nothing elsewhere
    (part / "adapter_config.json").write_text(json.dumps(config, indent=1, sort_keys=True) + "\n", encoding="utf-8")
    (part / "README.md").write_text(card, encoding="utf-8")
    if (base / "LICENSE").is_file():
        shutil.copy(base / "LICENSE", part / "LICENSE")
    try:
        write_gguf(part, base, part / GGUF)
    except BadInput as error:
        say(f"no file for llama.cpp: {error}")
    shutil.rmtree(final, ignore_errors=True)
    part.rename(final)
    return final


def card(about: Mapping[str, Any]) -> str:
    """The model card: from what, how, by which licences, and how good on the development split.

    What it does on questions that were held out is in the card of the set of models, which takes the test's measures.
    """
    counts = "\n".join(f"| {task} | {n} |" for task, n in about["tasks"].items())
    what = f"A LoRA adapter for {about['base']}, trained with `quelea train sft` to answer in Quelea's draft notation."
    measured = f"""| task | samples |
|---|---|
{counts}

## Development split

{about["developed"]} What it does on questions that were held out: `quelea train sft-test`."""
    return runs.card(about, what, measured, about["samples"])
