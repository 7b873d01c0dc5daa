"""`quelea train encoder`."""

from __future__ import annotations

from importlib import import_module
from pathlib import Path
from typing import Annotated

import typer
from quelea_evaluation.console import AsJson, say, tell, tell_json
from quelea_evaluation.omni.console import plain_errors

from quelea_training.encoder.recipe import OBJECTIVES, Recipe
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

_USUAL = Recipe()
RATES = {"lora": 2e-4, "last": 5e-5, "full": 2e-5}
"""Highest learning rate where none is given."""

app = typer.Typer()


@app.callback()
def _main() -> None:
    """Encoders."""


@app.command()
def encoder(
    pairs: Annotated[list[Path], typer.Argument(help="Folders of `quelea train pairs`.")],
    out: Out,
    test_with: Annotated[
        list[Path] | None, typer.Option(help="More folders, of which only what they hold out is used: to test.")
    ] = None,
    base: Base = None,
    objective: Annotated[str, typer.Option(help=f"Of {', '.join(OBJECTIVES)}.")] = _USUAL.objective,
    towers: Annotated[int, typer.Option(help="1: one for queries and passages; 2: one for each.")] = _USUAL.towers,
    tune: Annotated[str, typer.Option(help="What moves: lora, full, or last:N layers.")] = _USUAL.tune,
    rank: Annotated[int, typer.Option(min=1, help="Of LoRA.")] = _USUAL.rank,
    alpha: Annotated[int, typer.Option(min=1, help="Of LoRA.")] = _USUAL.alpha,
    dropout: Annotated[float, typer.Option(min=0, max=0.9, help="Of LoRA.")] = _USUAL.dropout,
    rate: Annotated[float, typer.Option(min=0, help="Highest learning rate; 0: the usual one of --tune.")] = 0.0,
    batch: Annotated[int, typer.Option(min=2, help="Queries in a step.")] = _USUAL.batch,
    chunk: Annotated[
        int, typer.Option(min=0, help="Texts in memory at once, for larger batches; 0: the whole batch.")
    ] = _USUAL.chunk,
    scale: Annotated[
        float, typer.Option(min=0, help="Of cosines (infonce), 1 / temperature: that of the base's own training.")
    ] = _USUAL.scale,
    hard: Annotated[int, typer.Option(min=0, max=20, help="Hard negatives of a query (infonce).")] = _USUAL.hard,
    swap_headers: Annotated[
        bool,
        typer.Option(
            help="Where a query names its company, one of these is the right passage under another document's header, "
            "so that company and period are learned."
        ),
    ] = _USUAL.swap_headers,
    random: Annotated[int, typer.Option(min=1, max=50, help="Random ones (weaverbird).")] = _USUAL.random,
    max_tokens: Annotated[int, typer.Option(min=8, help="Texts are cut here in training.")] = _USUAL.max_tokens,
    epochs: Epochs = _USUAL.epochs,
    minutes: Minutes = 0.0,
    interval: Interval = 25,
    patience: Patience = 4,
    threads: Threads = 0,
    seed: Seed = _USUAL.seed,
    test_passages: Annotated[int, typer.Option(min=0, help="Passages that a test chooses from; 0: all.")] = 0,
    dev_passages: Annotated[
        int, typer.Option(min=10, help="The same for each look at the development split, which takes training's time.")
    ] = 200,
    anchor: Annotated[
        list[Path] | None,
        typer.Option(
            help="Folders of pairs, of other kinds and languages, whose texts keep the vectors of the base, so that "
            "less is forgotten."
        ),
    ] = None,
    anchor_weight: Annotated[float, typer.Option(min=0, help="How much that counts beside what is learned.")] = 10.0,
    remember: Remember = 2048,
    device: Device = "",
    as_json: AsJson = False,
) -> None:
    """Train the encoder on pairs, measure it on what they hold out, and write it as the embedder serves it."""
    running, long_runs = (import_module(f"quelea_training.{name}") for name in ("encoder.running", "long_runs"))
    recipe = Recipe(
        objective=objective,  # type: ignore[arg-type]  # check says when it is none
        towers=towers,
        tune=tune,
        rank=rank,
        alpha=alpha,
        dropout=dropout,
        rate=rate or RATES.get(tune.partition(":")[0], _USUAL.rate),
        batch=batch,
        chunk=chunk,
        scale=scale,
        hard=hard,
        swap_headers=swap_headers,
        random=random,
        max_tokens=max_tokens,
        epochs=epochs,
        anchor=anchor_weight if anchor else 0.0,
        seed=seed,
    )
    budget = long_runs.Budget(minutes, interval, patience, threads)
    with plain_errors():
        recipe.check()
        begin = base_or_default(base)
        order = running.Order(
            tuple(pairs),
            tuple(test_with or ()),
            begin,
            out,
            device,
            test_passages,
            dev_passages,
            tuple(anchor or ()),
            remember,
        )
        found = running.run(order, recipe, budget, say)
    if not long_runs.is_first():
        return
    if as_json:
        tell_json(found)
        return
    report = import_module("quelea_training.encoder.report")
    tell(report.table(found["scores"]))
    say(
        f"written: {', '.join(str(out / name) for name in (*found['models'], 'report.json', 'report.png', 'loss.png'))}"
    )
    _say_models(out, found["models"])


@app.command()
def blend(
    trained: Annotated[Path, typer.Argument(help="Folder of a finished `quelea train encoder`.")],
    out: Annotated[Path, typer.Option(help="Folder to write; an interrupted run is resumed.")],
    test_with: Annotated[
        list[Path] | None,
        typer.Option(
            help="Folders of pairs that watch for losses: their development split chooses, their test split measures; "
            "none: those of the training."
        ),
    ] = None,
    base: Base = None,
    share: Annotated[
        list[float] | None, typer.Option(help="Of the trained weights, above 0 and below 1; may be given often.")
    ] = None,
    allowed: Annotated[float, typer.Option(min=0, help="Points of MAP@5 that any source may lose.")] = 1.0,
    seed: Annotated[int, typer.Option(help="Of the passages that are chosen from.")] = 0,
    test_passages: Annotated[int, typer.Option(min=0, help="Passages that a test chooses from; 0: all.")] = 0,
    dev_passages: Annotated[
        int, typer.Option(min=10, help="The same for the development split, which is encoded once a share.")
    ] = 300,
    remember: Remember = 2048,
    device: Device = "",
    as_json: AsJson = False,
) -> None:
    """Average a trained encoder with what it was trained from, so that it gains and forgets little (WiSE-FT)."""
    blending, report = (import_module(f"quelea_training.encoder.{name}") for name in ("blending", "report"))
    with plain_errors():
        rule = blending.Rule(tuple(share), allowed, seed) if share else blending.Rule(allowed=allowed, seed=seed)
        rule.check()
        order = blending.Order(
            trained, tuple(test_with or ()), base_or_default(base), out, device, test_passages, dev_passages, remember
        )
        found = blending.run(order, rule, say)
    if as_json:
        tell_json(found)
        return
    tell(report.table_of_shares(found["scores"]))
    if not found["models"]:
        say(f"no share gains and loses at most {allowed:g} points: keep the encoder that you have")
    _say_models(out, found["models"])


def _say_models(out: Path, models: list[str]) -> None:
    settings = ("MODEL",) if len(models) == 1 else ("QUERY_MODEL", "PASSAGE_MODEL")
    for name, model in zip(settings, models, strict=False):
        say(f"for the embedder: QUELEA_EMBEDDER_{name}={(out / model).resolve()}")
