"""`quelea eval arena …`."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from enum import StrEnum
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.console import Console
from rich.table import Table

from quelea_evaluation.arena import leaderboard
from quelea_evaluation.arena.errors import ArenaError
from quelea_evaluation.arena.record import read_record

app = typer.Typer(no_args_is_help=True, help="Simulated users, a judge, ratings: which system serves people better.")

AsJson = Annotated[bool, typer.Option("--json", help="One JSON document on standard output.")]


class Compat(StrEnum):
    """Whose published arithmetic is repeated."""

    ucfe = "ucfe"


@app.callback()
def _main() -> None:
    """Simulated users, a judge, ratings: which system serves people better."""


@contextmanager
def _refusing() -> Iterator[None]:
    """An ArenaError becomes one line on standard error, and code 2."""
    try:
        yield
    except ArenaError as error:
        sys.stderr.write(f"quelea eval arena: {error}\n")
        raise typer.Exit(2) from error


@app.command()
def rate(
    record: Annotated[Path, typer.Argument(help="JSON: model → task → opponent → [wins, ties, losses].")],
    compat: Annotated[
        Compat | None, typer.Option(help="ucfe: Elo in the order of the file, as UCFE's Table 5 was computed.")
    ] = None,
    resamples: Annotated[int, typer.Option(min=1, max=100_000, help="Drawings for the intervals.")] = 1000,
    seed: Annotated[int, typer.Option(min=0, help="Of the drawings.")] = 0,
    as_json: AsJson = False,
) -> None:
    """Ratings of a record of wins, ties and losses: Bradley-Terry with bootstrap intervals, in no order."""
    with _refusing():
        read = read_record(record)
        if compat:
            table = leaderboard.published_table(read)
        else:
            table = leaderboard.rate_table(read, resamples=resamples, seed=seed)
    if as_json:
        _print_json(table)
    else:
        _print_leaderboard(table)


def _print_json(value: Any) -> None:  # whatever JSON holds
    sys.stdout.write(json.dumps(value, ensure_ascii=False, indent=1) + "\n")


def _print_leaderboard(table: dict[str, Any]) -> None:
    lines = table["leaderboard"]
    shown = Table(title=table["method"])
    for head in lines[0]:
        shown.add_column(head.replace("_", " "), justify="left" if head == "model" else "right", no_wrap=True)
    for line in lines:
        shown.add_row(*(_cell(name, value) for name, value in line.items()))
    console = Console()
    console.width = max(console.width, 120)  # else a narrow terminal, or a pipe, hides figures
    console.print(shown)
    for notice in table["notices"]:
        console.print(notice, markup=False)


def _cell(name: str, value: object) -> str:
    if value is None:
        return "–"
    if isinstance(value, float):
        return f"{value:.3f}" if name == "score" else f"{value:.2f}"
    return str(value)
