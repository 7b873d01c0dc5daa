"""`quelea train verifier` from beginning to end: examples, train, test, export, report."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from quelea_evaluation.figures.items import Item
from quelea_evaluation.inputs import BadInput
from quelea_evaluation.reports.store import hash_file, write_json

from quelea_training import runs
from quelea_training.encoder.examples import load
from quelea_training.long_runs import Budget
from quelea_training.pairs.model import PAIRS, PASSAGES
from quelea_training.processes import only_first
from quelea_training.verifier import proof
from quelea_training.verifier.examples import Example, counted, make, split_passages
from quelea_training.verifier.recipe import Recipe
from quelea_training.verifier.training import LOOK, VerifierModel, train

KIND = "verifier-training"
MODEL, METRICS = "model", "metrics.json"
_PACKAGES = ("sentence-transformers",)


@dataclass(frozen=True)
class Order:
    """What is trained from what, into which folder."""

    pairs: tuple[Path, ...]
    base: Path
    out: Path
    data: Path
    """Folder of the public sets that are tested with; they are left out where they are not there."""
    device: str = ""
    test_answers: int = 60
    """True answers of each group to test with."""
    dev_examples: int = 200
    """Looked at at each checkpoint, which takes from training's time."""
    remember: int = 0
    """MiB of what the layers give that do not move; 0: they are computed each time."""


def run(order: Order, recipe: Recipe, budget: Budget, say: Callable[[str], None]) -> dict[str, Any]:
    """Train, and give the report, which is written beside the model.

    In a run of several processes each calls this; the first alone tests and writes.

    Raises:
        BadInput: Something given cannot be used, or the folder holds a finished run.
        BadRun: Another run writes into the folder, or one with other settings or data.
    """
    say = only_first(say)
    material = load(order.pairs)
    files = [(folder, name) for folder in order.pairs for name in (PAIRS, PASSAGES)]
    data = {f"{name} {folder}": hash_file(folder / name) for folder, name in files} | {
        "base": runs.hash_base(order.base)
    }
    with runs.begin(KIND, order.out, order.base.name, data, recipe, budget) as mine:
        tested = proof.all_tested(order.data)
        if not tested:
            say(
                f"TAT-QA and ConvFinQA are not both below {order.data}: only sentences made of held-out documents are "
                "tested with"
            )
        passages = split_passages(material.pairs, tested)
        examples = make(passages["train"], recipe.most, recipe.max_tokens, recipe.seed)
        if not examples:
            raise BadInput(
                "the passages to train on give no sentence; make pairs of more documents with `quelea train pairs`"
            )
        develop = make(passages["dev"], order.dev_examples, recipe.max_tokens, recipe.seed)
        items = _items(order, make(passages["test"], 3 * order.test_answers, recipe.max_tokens, recipe.seed), recipe)
        say(f"{len(examples)} examples to train on, {len(develop)} to develop on, of {len(passages['train'])} passages")
        start = order.out / f".start-{os.environ.get('RANK', '0')}"
        model = VerifierModel(order.base, start, recipe, order.device)
        model.remember(order.remember, say)
        trained = train(model, examples, develop, recipe, budget, order.out, say)
        about = mine.account(trained, material.licences(), _PACKAGES) | {
            "pairs": {name: data[f"{PAIRS} {one}"] for one, name in runs.names_of(order.pairs).items()},
            "examples": counted(examples),
        }
        if mine.folder is None:
            return about
        say(f"trained: {trained.steps} steps, {trained.seconds / 60:.1f} minutes; {trained.why}")
        rows = proof.prove(items, model.score, say)
        found = about | {"model": MODEL, "verdict": proof.verdict(rows), "rows": rows}
        model.export(order.out / MODEL, card(found), order.base / "LICENSE")
        write_json(order.out / METRICS, metrics(rows))
        mine.finish(found, trained, LOOK, {"verdict": found["verdict"]})
    return found


def _items(order: Order, own: Sequence[Example], recipe: Recipe) -> list[Item]:
    """What is tested with, true and false. Raises BadInput where there is nothing, before hours are spent."""
    true = proof.public_items(order.data, order.test_answers, recipe.seed)
    items = [*true, *(one for item in true for one in proof.false_ones(item)), *proof.own_items(own)]
    if not {bool(one.corruption) for one in items} >= {True, False}:
        raise BadInput(
            "there is nothing to test with: no public sets are below --data, and the documents that the pairs hold out "
            "give no true and false sentences; make pairs of more companies, or with another --seed"
        )
    return items


def metrics(rows: list[dict[str, Any]]) -> dict[str, float]:
    """For `quelea models make --metrics`."""
    return {
        f"verifier, {row['group']}/{name}": row[name]
        for row in rows
        if row["kind"] == "all"
        for name in ("auc", "rules_caught", "rules_flagged", "both_caught", "both_flagged")
    }


def card(found: Mapping[str, Any]) -> str:
    """A model card, Markdown."""
    kinds = "; ".join(
        f"{label}: {', '.join(f'{kind} {count}' for kind, count in each.items())}"
        for label, each in found["examples"].items()
    )
    developed = (
        f"{LOOK} on the development split: {found['best']:.3f} after step {found['best_step']}."
        if found["best"] >= 0
        else "Nothing was to develop on: the weights are the last ones."
    )
    what = (
        "A cross-encoder that says whether a passage supports a sentence (entailment, neutral, contradiction), for "
        "QUELEA_EMBEDDER_CROSS_ENCODER."
    )
    measured = f"""Examples: {kinds}.

{developed}

**Verdict**: {found["verdict"]}.

{proof.table(found["rows"])}

Caught are false answers, flagged are true ones. “At that rate”: of the verifier alone, where it flags as many true
answers as the rules do. “As served”: contradicted by it in the gateway."""
    return runs.card(found, what, measured, found["pairs"])
