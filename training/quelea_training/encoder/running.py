"""`quelea train encoder` from beginning to end: material, measure, train, measure, export, report."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from quelea_evaluation.inputs import BadInput
from quelea_evaluation.reports.store import hash_file, write_json

from quelea_training import runs
from quelea_training.encoder import report
from quelea_training.encoder.examples import Bench, anchors, benches, load, rows
from quelea_training.encoder.export import export
from quelea_training.encoder.measures import K, best, score, similarities
from quelea_training.encoder.recipe import Recipe
from quelea_training.encoder.towers import Towers
from quelea_training.encoder.training import LOOK, train
from quelea_training.long_runs import Budget
from quelea_training.pairs.model import PAIRS
from quelea_training.processes import is_first, only_first

KIND = "encoder-training"
_PACKAGES = ("sentence-transformers", "peft", "openvino")


@dataclass(frozen=True)
class Order:
    """What is trained from what, into which folder."""

    pairs: tuple[Path, ...]
    tested: tuple[Path, ...]
    base: Path
    out: Path
    device: str = ""
    test_passages: int = 0
    """Passages of a source that a test chooses from; 0: all."""
    dev_passages: int = 200
    """The same for each look at the development split, which takes from training's time."""
    anchors: tuple[Path, ...] = ()
    """Folders of pairs whose texts keep the vectors of the base."""
    remember: int = 0
    """MiB of what the layers give that do not move; 0: they are computed each time."""


def run(order: Order, recipe: Recipe, budget: Budget, say: Callable[[str], None]) -> dict[str, Any]:
    """Train, and give the report, which is written beside the model.

    In a run of several processes each calls this; the first alone measures what came out, and writes.

    Raises:
        BadInput: Something given cannot be used, or the folder holds a finished run.
        BadRun: Another run writes into the folder, or one with other settings or data.
    """
    say = only_first(say)
    material = load(order.pairs, order.tested)
    data = {f"pairs {folder}": hash_file(folder / PAIRS) for folder in (*order.pairs, *order.tested)}
    data |= {f"anchor {folder}": hash_file(folder / PAIRS) for folder in order.anchors}
    data["base"] = runs.hash_base(order.base)
    watched: dict[str, Any] = {"test_passages": order.test_passages, "dev_passages": order.dev_passages}
    watched |= {"tested": sorted(data[f"pairs {folder}"] for folder in order.tested)}
    # How much is in memory at once does not change what is learned.
    with runs.begin(KIND, order.out, order.base.name, data, recipe, budget, free=("chunk",), watched=watched) as mine:
        tests = benches(material, "test", order.test_passages, recipe.seed)
        develop = benches(material, "dev", order.dev_passages, recipe.seed)
        columns = rows(material, recipe)
        held = anchors(order.anchors, material, len(columns["query"]), recipe.seed) if recipe.anchor else None
        if not tests:
            raise BadInput(
                "no pair is held out, so what training does could not be measured: make pairs of documents of more "
                "companies (three are enough) with `quelea train pairs`, or name a folder with --test-with"
            )
        if not develop:
            say("nothing is to develop on: the last weights count, and --minutes or --epochs alone end the training")
        say(f"{len(columns['query'])} pairs to train on; tested with {sum(len(one.queries) for one in tests)} queries")
        towers = Towers(order.base, recipe, order.device)
        before = _before(order.out, towers, tests, say)
        towers.remember(order.remember, say)  # from here on: texts of the tests come up once, and would fill it
        look = (lambda: _look(towers, develop)) if develop else None
        trained = train(towers, columns, recipe, budget, order.out, look=look, say=say, anchors=held)
        about = mine.account(trained, material.licences(), _PACKAGES) | {
            "pairs": {name: data[f"pairs {one}"] for one, name in runs.names_of(order.pairs).items()},
            "tested": {name: data[f"pairs {one}"] for one, name in runs.names_of(order.tested).items()},
        }
        if mine.folder is None:
            return about
        say(f"trained: {trained.steps} steps, {trained.seconds / 60:.1f} minutes; {trained.why}")
        measured = [*before, *report.measure(towers, tests, "after", say)]
        report.draw(measured, order.out / "report.png")
        models = export(order.base, towers, order.out, report.card(about, report.table(measured)))
        found = {**about, "models": [one.name for one in models], "scores": measured}
        mine.finish(found, trained, LOOK, {"models": found["models"]})
    return found


def _before(out: Path, towers: Towers, tests: Sequence[Bench], say: Callable[[str], None]) -> list[report.Row]:
    """The base model's measures, kept for a run that goes on.

    An adapter begins as nothing, so the model is its base until the first step. Each process measures: training
    begins with all of them, and none waits for another longer than the group's time-out.
    """
    file = out / "before.json"
    if file.is_file():
        kept: Mapping[str, Any] = _read(file)
        return list(kept["scores"])
    scores = report.measure(towers, tests, "before", say)
    if is_first():
        write_json(file, {"scores": scores})
    return scores


def _read(file: Path) -> Mapping[str, Any]:
    found: Mapping[str, Any] = json.loads(file.read_text(encoding="utf-8"))
    return found


def _look(towers: Towers, develop: Sequence[Bench]) -> float:
    """MAP of passages by cosine, the mean over sources."""
    values = []
    for bench in develop:
        passages = towers.encode([one.encoded for one in bench.passages], "passage")
        queries = towers.encode([one.query for one in bench.queries], "query")
        places = best(similarities(queries, passages, "cosine"), K)
        names = [one.id for one in bench.passages]
        values.append(score([[names[place] for place in each] for each in places], bench.right()).map)
    return float(np.mean(values))
