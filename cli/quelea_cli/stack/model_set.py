"""The set of models that a home uses (`quelea models`): where it is, and which settings take it up."""

from __future__ import annotations

import json
from pathlib import Path

from quelea_cli.errors import EXIT_USAGE, CliError
from quelea_cli.stack.home import Home


def folder(home: Home) -> Path:
    """The link to the set in use; it need not be there."""
    return home.root / "models" / "active"


def encoder_of(home: Home) -> Path | None:
    """The encoder of the set, by its own path: a switch is for the next start, as the index is encoded with it."""
    return model_in(folder(home), "encoder")


def model_in(chosen: Path, part: str) -> Path | None:
    """The folder of a model in a set: the one folder in the part's, whose name is part of the model's id."""
    found = sorted(one for one in (chosen / part).glob("*") if one.is_dir())
    return found[0].resolve() if found else None


def settings_of(home: Home, service: str) -> dict[str, str]:
    """Variables with which a service reads its part of the set, now or when there is one."""
    if service in ("retriever", "gateway"):
        return {f"QUELEA_{service.upper()}_MODEL_SET": str(folder(home))}
    if service == "embedder" and (verifier := model_in(folder(home), "verifier")):
        return {"QUELEA_EMBEDDER_CROSS_ENCODER": str(verifier)}
    return {}


def adapter_for(home: Home, model: Path) -> dict[str, str]:
    """Variables with which llama.cpp serves the model with the set's adapter; none where the set has none.

    Raises:
        CliError: The adapter is for another model, or was not written for llama.cpp.
    """
    adapter = model_in(folder(home), "adapter")
    if adapter is None:
        return {}
    try:
        of = str(json.loads((adapter / "adapter_config.json").read_text("utf-8"))["base_model_name_or_path"])
    except (OSError, ValueError, KeyError) as error:
        raise CliError(f"The adapter of the set in use cannot be read ({adapter}: {error}).", EXIT_USAGE) from error
    file = adapter / "adapter.gguf"
    if of != model.stem or not file.is_file():
        why = f"is for {of}" if of != model.stem else "was not written for llama.cpp"
        raise CliError(
            f"The adapter of the set in use {why}, and the model here is {model.stem}: name its model with --gguf, or "
            "take a set without it with `quelea models activate`.",
            EXIT_USAGE,
        )
    return {"QUELEA_ENGINE_ADAPTER": str(file)}
