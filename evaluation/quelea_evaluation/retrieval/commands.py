"""`quelea eval retrieval` and `quelea eval cross-language`."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, replace
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console
from rich.table import Table

from quelea_evaluation.console import DATA, HOME, AsJson, Data, Home, say, tell_json
from quelea_evaluation.inputs import BadInput, read_rows
from quelea_evaluation.retrieval import cross_language
from quelea_evaluation.retrieval.variants import VARIANTS, Row, evaluate
from quelea_evaluation.sets import SETS, load_set
from quelea_evaluation.sets.model import EvaluationSet

app = typer.Typer()


def _out(results: dict[str, list[Row]]) -> None:
    tell_json({name: [asdict(row) for row in rows] for name, rows in results.items()})


@app.command()
def retrieval(
    sets: Annotated[list[str] | None, typer.Argument(help=f"Of {', '.join(SETS)}; all when none is named.")] = None,
    variants: Annotated[
        list[str] | None, typer.Option("--variant", help="Only variants whose name holds this.")
    ] = None,
    ordinary: Annotated[bool, typer.Option(help="Also the ordinary set-up, which embeds its windows anew.")] = True,
    held_out: Annotated[
        list[Path] | None,
        typer.Option(help="Folder of `quelea train pairs`: only its held-out queries are asked; all are stored."),
    ] = None,
    data: Data = DATA,
    home: Home = HOME,
    as_json: AsJson = False,
) -> None:
    """Right document, page and figure: hit@k, MRR@10, MAP@5, for every part of the recipe and the ordinary set-up."""
    chosen = [v for v in VARIANTS if not variants or any(word in v.name for word in variants)]
    try:
        asked = {name: load_set(name, data) for name in sets or list(SETS)}
        if held_out:  # before anything is measured, as a set may be refused
            asked = {name: only_held_out(one, held_out) for name, one in asked.items()}
    except BadInput as error:
        raise typer.BadParameter(str(error)) from error
    results: dict[str, list[Row]] = {}
    for name, one in asked.items():
        results[name] = evaluate(one, home, chosen, say, ordinary=ordinary)
        if not as_json:
            _table(name, results[name])
    if as_json:
        _out(results)


def only_held_out(one: EvaluationSet, folders: Sequence[Path]) -> EvaluationSet:
    """The set with those questions alone that folders of pairs hold out; nothing of them was trained on.

    Raises:
        BadInput: A folder has no pairs, or none that is held out is of this set.
    """
    queries: set[str] = set()
    for folder in folders:
        rows = read_rows(folder / "pairs.jsonl", "a pair with query and split")
        queries |= {row["query"] for _, row in rows if row.get("split") == "test" and "query" in row}
    kept = tuple(question for question in one.questions if question.text in queries)
    if not kept:
        raise BadInput(f"none of the {len(one.questions)} questions of {one.name} is held out by the folders of pairs")
    return replace(one, questions=kept)


@app.command("cross-language")
def cross(
    questions: Annotated[Path, typer.Option(help="The translated questions.")] = Path(
        "tests/eval/cross_language.jsonl"
    ),
    data: Data = DATA,
    home: Home = HOME,
    as_json: AsJson = False,
) -> None:
    """Chinese questions on English filings and English ones on Chinese news, beside the same ones as written."""
    results = cross_language.evaluate(questions, data, home, say)
    for name, rows in {} if as_json else results.items():
        _table(name, rows)
    if as_json:
        _out(results)


def _table(name: str, rows: list[Row]) -> None:
    columns = ["hit@1", "hit@5", "hit@10", "MRR@10", "MAP@5"]
    table = Table(title=name)
    for head in ("set-up", "questions", "right", "n", *columns):
        table.add_column(head, justify="left" if head in ("set-up", "questions", "right") else "right")
    for row in sorted(rows, key=lambda r: (r.right, r.group)):
        cells = [f"{row.values[c]:.3f}" for c in columns]
        table.add_row(row.variant, row.group, row.right, f"{row.values['questions']:.0f}", *cells)
    Console(width=140).print(table)
