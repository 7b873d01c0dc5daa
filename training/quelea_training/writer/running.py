"""`quelea train sft` from beginning to end: samples, base, train, export, report."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from quelea_evaluation.inputs import BadInput
from quelea_evaluation.reports.store import hash_file, write_whole

from quelea_training import runs
from quelea_training.checkpoints import BEST, WEIGHTS, last_checkpoint
from quelea_training.long_runs import Budget
from quelea_training.processes import is_first, is_spread, only_first
from quelea_training.writer.base import Writer, unpack
from quelea_training.writer.export import card, export
from quelea_training.writer.model import SAMPLES, load
from quelea_training.writer.recipe import Recipe
from quelea_training.writer.training import LOOK, encode, fit, likelihood, train

KIND = "writer-training"
_PACKAGES = ("trl", "peft")


@dataclass(frozen=True)
class Order:
    """What is trained from what, into which folder."""

    samples: tuple[Path, ...]
    tested: tuple[Path, ...]
    base: Path
    out: Path
    device: str = ""
    dev_samples: int = 24
    """Looked at at each checkpoint, which takes from training's time."""


def run(order: Order, recipe: Recipe, budget: Budget, say: Callable[[str], None]) -> dict[str, Any]:
    """Train, and give the report, which is written beside the adapter.

    In a run of several processes each calls this; the first alone keeps the folder.

    Raises:
        BadInput: Something given cannot be used, or the folder holds a finished run.
        BadRun: Another run writes into the folder, or one with other settings or data.
    """
    say = only_first(say)
    if is_spread() and os.environ.get("FSDP_VERSION", "1") != "2":
        raise BadInput("FSDP is taken in version 2 alone: fsdp_version: 2, as in training/accelerate-fsdp.yaml")
    samples, manifests = load(order.samples, order.tested)
    to_train = [one for one in samples if one.split == "train"]
    if not to_train:
        raise BadInput(
            f"none of {len(samples)} samples is to train on: all are to develop on or held out; make them with a "
            "smaller --test, or name more folders"
        )
    develop = sorted((one for one in samples if one.split == "dev"), key=lambda one: one.id)[: order.dev_samples]
    data = {f"samples {folder}": hash_file(folder / SAMPLES) for folder in (*order.samples, *order.tested)}
    data["base"] = _hash_of(order.base)
    name = order.base.name if order.base.is_dir() else order.base.stem
    watched: dict[str, Any] = {"dev_samples": order.dev_samples}
    watched |= {"tested": sorted(data[f"samples {folder}"] for folder in order.tested)}
    with runs.begin(KIND, order.out, name, data, recipe, budget, watched=watched, can_spread=True) as mine:
        base = unpack(order.base, order.out / order.base.stem, say)
        writer = Writer(base, recipe, order.device)
        say(f"{len(to_train)} samples to train on, {len(develop)} to develop on")
        before = _before(order.out, writer, [encode(writer, one) for one in fit(writer, develop, recipe.max_tokens)])
        trained = train(writer, to_train, develop, recipe, budget, order.out, say)
        about = mine.account(trained, sorted(_licences(manifests)), _PACKAGES) | {
            "samples": {name: data[f"samples {one}"] for one, name in runs.names_of(order.samples).items()},
            "tested": {name: data[f"samples {one}"] for one, name in runs.names_of(order.tested).items()},
            "tasks": dict(Counter(one.task for one in to_train).most_common()),
            "measure": LOOK,
            "before": before,
            "seconds_a_step": round(trained.seconds / max(trained.steps, 1), 2),
            "developed": (
                f"{LOOK}: {before:.4f} before, {trained.best:.4f} after step {trained.best_step}."
                if trained.best >= 0
                else "No sample was to develop on: the weights are the last ones."
            ),
        }
        if mine.folder is None:
            return about
        if is_spread():  # its parts are in other processes, which have ended: the same weights in a whole model
            writer = Writer(base, recipe, "cpu")
            writer.load(_last_weights(order.out))
        export(writer, base, order.out, card(about), say)
        mine.finish(about, trained, LOOK, {})
    return about


def _licences(manifests: Mapping[str, Mapping[str, Any]]) -> set[str]:
    return {one["licence"] for each in manifests.values() for one in each["sources"]}


def _last_weights(out: Path) -> Path:
    """The weights that a training ended with."""
    best, last = out / BEST, last_checkpoint(out)
    return best if best.is_file() or last is None else last / WEIGHTS


def _before(out: Path, writer: Writer, shown: list[tuple[list[int], int]]) -> float:
    """The development measure of the base alone, kept for a run that goes on: an adapter begins as nothing."""
    file = out / "before.txt"
    if file.is_file():
        return float(file.read_text(encoding="utf-8"))
    found = likelihood(writer, shown)
    if is_first():
        write_whole(file, f"{found}\n")
    return found


def _hash_of(base: Path) -> str:
    """Of a GGUF file, or of a folder's first file of weights.

    Raises:
        BadInput: There are none.
    """
    files = [base] if base.is_file() else sorted(base.glob("*.safetensors"))
    if not files:
        raise BadInput(f"{base} has no weights: --base takes a folder with *.safetensors, or a GGUF file")
    return hash_file(files[0])
