"""`quelea train verifier`."""

from __future__ import annotations

from importlib import import_module
from pathlib import Path
from typing import Annotated

import typer
from quelea_evaluation.console import DATA, AsJson, Data, say, tell, tell_json
from quelea_evaluation.omni.console import plain_errors

from quelea_training.training_options import (
    Base,
    Device,
    Epochs,
    Interval,
    Minutes,
    Out,
    Patience,
    Remember,
    Seed,
    Threads,
    base_or_default,
)
from quelea_training.verifier.recipe import Recipe

_USUAL = Recipe()

app = typer.Typer()


@app.callback()
def _main() -> None:
    """Verifiers."""


@app.command()
def verifier(
    pairs: Annotated[list[Path], typer.Argument(help="Folders of `quelea train pairs`: their passages are used.")],
    out: Out,
    base: Base = None,
    layers: Annotated[int, typer.Option(min=0, help="The last ones, which move; 0: every weight.")] = _USUAL.layers,
    most: Annotated[int, typer.Option(min=3, help="Examples to train on, at most.")] = _USUAL.most,
    rate: Annotated[float, typer.Option(min=0, help="Highest learning rate.")] = _USUAL.rate,
    batch: Annotated[int, typer.Option(min=1, help="Examples in a step.")] = _USUAL.batch,
    max_tokens: Annotated[
        int, typer.Option(min=8, max=512, help="Passage and sentence together are cut here in training.")
    ] = _USUAL.max_tokens,
    epochs: Epochs = _USUAL.epochs,
    minutes: Minutes = 0.0,
    interval: Interval = 50,
    patience: Patience = 4,
    threads: Threads = 0,
    seed: Seed = _USUAL.seed,
    test_answers: Annotated[int, typer.Option(min=10, help="True answers of each group to test with.")] = 60,
    remember: Remember = 2048,
    device: Device = "",
    data: Data = DATA,
    as_json: AsJson = False,
) -> None:
    """Train a cross-encoder that judges sentences by passages, and test it beside the checker's rules."""
    running, long_runs = (import_module(f"quelea_training.{name}") for name in ("verifier.running", "long_runs"))
    recipe = Recipe(layers=layers, most=most, rate=rate, batch=batch, max_tokens=max_tokens, epochs=epochs, seed=seed)
    with plain_errors():
        recipe.check()
        order = running.Order(tuple(pairs), base_or_default(base), out, data, device, test_answers, remember=remember)
        found = running.run(order, recipe, long_runs.Budget(minutes, interval, patience, threads), say)
    if not long_runs.is_first():
        return
    if as_json:
        tell_json(found)
        return
    tell(import_module("quelea_training.verifier.proof").table(found["rows"]))
    say(f"verdict: {found['verdict']}")
    say(
        f"written: {', '.join(str(out / name) for name in (found['model'], 'report.json', 'metrics.json', 'loss.png'))}"
    )
    say(f"for the embedder: QUELEA_EMBEDDER_CROSS_ENCODER={(out / found['model']).resolve()}")
    say("for the gateway: QUELEA_GATEWAY_VERIFIER=cross-encoder")
