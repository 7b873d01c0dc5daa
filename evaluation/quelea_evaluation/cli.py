"""`quelea eval …`: the command line of the measurements."""

from __future__ import annotations

import json
import sys
from dataclasses import asdict
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console
from rich.table import Table

from quelea_evaluation import cross_language
from quelea_evaluation.answers import evaluate_answers
from quelea_evaluation.arena.commands import app as arena
from quelea_evaluation.binding_fit import binding
from quelea_evaluation.cli_gate import calibrate, gate
from quelea_evaluation.cli_web import web
from quelea_evaluation.figure_checks import figures
from quelea_evaluation.figure_regressions import regressions
from quelea_evaluation.pair_making import pairs
from quelea_evaluation.retrieval import VARIANTS, Row, evaluate
from quelea_evaluation.sets import SETS
from quelea_evaluation.statements import statements
from quelea_evaluation.tools import tools

app = typer.Typer(no_args_is_help=True, help="Measure retrieval and answers against real data.")

Data = Annotated[Path, typer.Option(help="Folder of the data sets (docs/experiments/README.md).")]
HomeOption = Annotated[Path, typer.Option(help="Where the stacks of the evaluation keep their data between runs.")]
AsJson = Annotated[bool, typer.Option("--json", help="One JSON document on standard output.")]


app.add_typer(arena, name="arena")
app.command()(binding)
app.command()(calibrate)
app.command()(gate)
app.command()(pairs)
app.command()(statements)
app.command()(web)
app.command()(tools)


def _say(line: str) -> None:
    sys.stderr.write(line + "\n")


@app.command()
def retrieval(
    sets: Annotated[list[str] | None, typer.Argument(help=f"Of {', '.join(SETS)}; all when none is named.")] = None,
    variants: Annotated[
        list[str] | None, typer.Option("--variant", help="Only variants whose name holds this.")
    ] = None,
    ordinary: Annotated[bool, typer.Option(help="Also the ordinary set-up, which embeds its windows anew.")] = True,
    data: Data = Path("../shared/data"),
    home: HomeOption = Path(".quelea/eval"),
    as_json: AsJson = False,
) -> None:
    """Right document, page and figure: hit@k, MRR@10, MAP@5, for every part of the recipe and the ordinary set-up."""
    chosen = [v for v in VARIANTS if not variants or any(word in v.name for word in variants)]
    results: dict[str, list[Row]] = {}
    for name in sets or list(SETS):
        if name not in SETS:
            raise typer.BadParameter(f"no set is called {name}; there are {', '.join(SETS)}")
        results[name] = evaluate(SETS[name](data), home, chosen, _say, ordinary=ordinary)
        if not as_json:
            _table(name, results[name])
    if as_json:
        print(json.dumps({n: [asdict(r) for r in rows] for n, rows in results.items()}, ensure_ascii=False, indent=1))


@app.command()
def answers(
    removed: Annotated[int, typer.Option(help="Questions that are asked with their document removed.")] = 60,
    data: Data = Path("../shared/data"),
    home: HomeOption = Path(".quelea/eval"),
    as_json: AsJson = False,
    misses: Annotated[bool, typer.Option(help="Show what was missed.")] = False,
    reader: Annotated[str, typer.Option(help="Who writes: extractive, or llama, the model of this machine.")] = (
        "extractive"
    ),
    most: Annotated[int, typer.Option(help="Ask at most so many figure questions; 0 asks all.")] = 0,
) -> None:
    """Figures in answers and quotes, quotes in the pages, and refusals, on the docugami 10-Q questions."""
    options = ("--reader", reader)
    report = evaluate_answers(SETS["docugami"](data), home, removed, _say, options=options, most=most or None)
    if as_json:
        print(json.dumps({**report.summary(), "misses": report.misses}, ensure_ascii=False, indent=1))
        return
    console = Console()
    for name, value in report.summary().items():
        console.print(f"{name:45} {value:8.3f}" if isinstance(value, float) else f"{name:45} {value:8}")
    if misses:
        for miss in report.misses:
            console.print_json(json.dumps(miss, ensure_ascii=False))


app.command()(figures)
app.command()(regressions)


@app.command("cross-language")
def cross(
    questions: Annotated[Path, typer.Option(help="The translated questions.")] = Path(
        "tests/eval/cross_language.jsonl"
    ),
    data: Data = Path("../shared/data"),
    home: HomeOption = Path(".quelea/eval"),
    as_json: AsJson = False,
) -> None:
    """Chinese questions on English filings and English ones on Chinese news, beside the same ones as written."""
    results = cross_language.evaluate(questions, data, home, _say)
    for name, rows in {} if as_json else results.items():
        _table(name, rows)
    if as_json:
        print(json.dumps({n: [asdict(r) for r in rows] for n, rows in results.items()}, ensure_ascii=False, indent=1))


def _table(name: str, rows: list[Row]) -> None:
    columns = ["hit@1", "hit@5", "hit@10", "MRR@10", "MAP@5"]
    table = Table(title=name)
    for head in ("set-up", "questions", "right", "n", *columns):
        table.add_column(head, justify="left" if head in ("set-up", "questions", "right") else "right")
    for row in sorted(rows, key=lambda r: (r.right, r.group)):
        cells = [f"{row.values[c]:.3f}" for c in columns]
        table.add_row(row.variant, row.group, row.right, f"{row.values['questions']:.0f}", *cells)
    Console(width=140).print(table)
