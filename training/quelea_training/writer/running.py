"""`quelea train sft` from beginning to end: samples, base, train, export, report."""

from __future__ import annotations

import contextlib
import os
import platform
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from importlib import metadata
from pathlib import Path
from typing import Any

from quelea_evaluation.inputs import BadInput
from quelea_evaluation.reports.store import RunFolder, git_commit, hash_file, write_json, write_whole

from quelea_training.long_runs import BEST, WEIGHTS, Budget, draw_log, is_first, last_checkpoint, names_of
from quelea_training.writer.base import Writer, unpack
from quelea_training.writer.export import card, export
from quelea_training.writer.model import SAMPLES, load
from quelea_training.writer.recipe import Recipe
from quelea_training.writer.training import LOOK, encode, fit, likelihood, train

KIND = "writer-training"
REPORT = "report.json"
_PACKAGES = ("quelea-training", "trl", "transformers", "torch", "peft", "accelerate")


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
    recipe.check()
    spread = os.environ.get("ACCELERATE_USE_FSDP", "").lower() == "true"
    if spread and os.environ.get("FSDP_VERSION", "1") != "2":
        raise BadInput("FSDP is taken in version 2 alone: fsdp_version: 2, as in training/accelerate-fsdp.yaml")
    commit = git_commit()  # of the code that runs, whatever becomes of the files meanwhile
    samples, manifests = load(order.samples, order.tested)
    mine = [one for one in samples if one.split == "train"]
    if not mine:
        raise BadInput(
            f"none of {len(samples)} samples is to train on: all are to develop on or held out; make them with a "
            "smaller --test, or name more folders"
        )
    develop = sorted((one for one in samples if one.split == "dev"), key=lambda one: one.id)[: order.dev_samples]
    data = {f"samples {folder}": hash_file(folder / SAMPLES) for folder in (*order.samples, *order.tested)}
    data["base"] = _hash_of(order.base)
    settings = recipe.as_row()
    notes = {"minutes": budget.minutes, "threads": budget.threads, "processes": os.environ.get("WORLD_SIZE", "1")}
    with contextlib.ExitStack() as stack:
        folder = stack.enter_context(RunFolder(order.out, KIND, settings, data, notes)) if is_first() else None
        if folder is not None and "finished" in folder.manifest:
            raise BadInput(f"{order.out} holds a finished run; choose another folder, or remove it")
        base = unpack(order.base, order.out / order.base.stem, say)
        writer = Writer(base, recipe, order.device)
        if is_first():
            say(f"{len(mine)} samples to train on, {len(develop)} to develop on")
        before = _before(order.out, writer, [encode(writer, one) for one in fit(writer, develop, recipe.max_tokens)])
        trained = train(writer, mine, develop, recipe, budget, order.out, say)
        about = {
            "name": order.out.name,
            "base": base.name,
            "base_sha256": data["base"],
            "samples": {name: data[f"samples {one}"] for one, name in names_of(order.samples).items()},
            "tested": {name: data[f"samples {one}"] for one, name in names_of(order.tested).items()},
            "licences": sorted({one["licence"] for each in manifests.values() for one in each["sources"]}),
            "tasks": dict(Counter(one.task for one in mine).most_common()),
            "recipe": settings,
            "budget": {"minutes": budget.minutes, "threads": budget.threads},
            "machine": {"cores": os.cpu_count(), "load": os.getloadavg(), "processor": platform.machine()},
            "versions": {name: metadata.version(name) for name in _PACKAGES},
            "commit": commit,
            "measure": LOOK,
            "before": before,
            "steps": trained.steps,
            "seconds": trained.seconds,
            "seconds_a_step": round(trained.seconds / max(trained.steps, 1), 2),
            "why": trained.why,
            "best": trained.best,
            "best_step": trained.best_step,
            "developed": (
                f"{LOOK}: {before:.4f} before, {trained.best:.4f} after step {trained.best_step}."
                if trained.best >= 0
                else "No sample was to develop on: the weights are the last ones."
            ),
        }
        if folder is None:
            return about
        draw_log(trained.log, order.out / "loss.png", LOOK)
        if spread:  # its parts are in other processes, which have ended: the same weights in a whole model
            writer = Writer(base, recipe, "cpu")
            writer.load(_last_weights(order.out))
        export(writer, base, order.out, card(about), say)
        write_json(order.out / REPORT, about | {"log": trained.log})
        folder.finish({"steps": trained.steps})
    return about


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
