"""`quelea eval answers`."""

from __future__ import annotations

import json
from typing import Annotated

import typer
from rich.console import Console

from quelea_evaluation.answers.quotes import evaluate_answers
from quelea_evaluation.console import DATA, HOME, AsJson, Data, Home, say, tell_json
from quelea_evaluation.sets import SETS

app = typer.Typer()


@app.command()
def answers(
    removed: Annotated[int, typer.Option(help="Questions that are asked with their document removed.")] = 60,
    data: Data = DATA,
    home: Home = HOME,
    as_json: AsJson = False,
    misses: Annotated[bool, typer.Option(help="Show what was missed.")] = False,
    reader: Annotated[str, typer.Option(help="Who writes: extractive, or llama, the model of this machine.")] = (
        "extractive"
    ),
    most: Annotated[int, typer.Option(help="Ask at most so many figure questions; 0 asks all.")] = 0,
) -> None:
    """Figures in answers and quotes, quotes in the pages, and refusals, on the docugami 10-Q questions."""
    options = ("--reader", reader)
    report = evaluate_answers(SETS["docugami"](data), home, removed, say, options=options, most=most or None)
    if as_json:
        tell_json({**report.summary(), "misses": report.misses})
        return
    console = Console()
    for name, value in report.summary().items():
        console.print(f"{name:45} {value:8.3f}" if isinstance(value, float) else f"{name:45} {value:8}")
    if misses:
        for miss in report.misses:
            console.print_json(json.dumps(miss, ensure_ascii=False))
