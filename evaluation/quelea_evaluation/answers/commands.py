"""`quelea eval answers` and `quelea eval analyst`."""

from __future__ import annotations

import json
from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console

from quelea_evaluation.answers.analyst import ask_all
from quelea_evaluation.answers.quotes import evaluate_answers
from quelea_evaluation.console import DATA, HOME, AsJson, Data, Home, Writer, say, tell, tell_json
from quelea_evaluation.sets import SETS
from quelea_evaluation.sets.analyst import load
from quelea_evaluation.stack.running import running_stack

app = typer.Typer()


@app.command()
def answers(
    removed: Annotated[int, typer.Option(help="Questions that are asked with their document removed.")] = 60,
    data: Data = DATA,
    home: Home = HOME,
    as_json: AsJson = False,
    misses: Annotated[bool, typer.Option(help="Show what was missed.")] = False,
    reader: Writer = "extractive",
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


class Part(StrEnum):
    """Which questions: those whose misses were looked at while the product was written, or the others."""

    DIRECTION = "direction"
    HELD = "held"
    ALL = "all"


@app.command()
def analyst(
    questions: Annotated[Path, typer.Option(help="Questions and documents, one JSON object a line.")] = Path(
        "tests/eval/analyst.jsonl"
    ),
    part: Annotated[Part, typer.Option(help="Questions for direction, those held out, or all.")] = Part.ALL,
    removed: Annotated[bool, typer.Option(help="Ask each once more of the other documents alone.")] = True,
    reader: Writer = "extractive",
    data: Data = DATA,
    home: Home = HOME,
    as_json: AsJson = False,
    show_answers: Annotated[bool, typer.Option("--answers", help="Show every answer.")] = False,
) -> None:
    """Questions in analysts' words on filings and notes: right answer, right page in five, rightly declined."""
    one = load(questions, data)
    with running_stack(home / "analyst", arguments=("--reader", reader)) as stack:
        report = ask_all(stack, one, stack.ingest(one.documents, say), part, removed=removed, say=say)
    if as_json:
        tell_json({**report.summary(), "answers": report.answers})
        return
    for name, value in report.summary().items():
        tell(f"{name:55} {value:9.3f}")
    for answer in report.answers if show_answers else ():
        tell_json(answer)
