"""`quelea models …`."""

from __future__ import annotations

import contextlib
import json
from collections.abc import Iterator
from dataclasses import asdict
from pathlib import Path
from typing import Annotated, Any

import typer
from quelea_evaluation.console import STACK_HOME, say, tell, tell_json
from quelea_kit.errors import InvalidInput, QueleaError
from rich.console import Console
from rich.table import Table

from quelea_training.sets import take_up
from quelea_training.sets.card import card
from quelea_training.sets.manifest import PARTS, ModelSet, make, verify
from quelea_training.sets.shelf import PACKAGED, Shelf

app = typer.Typer(no_args_is_help=True, help="Sets of models that belong together.")

_Home = Annotated[Path, typer.Option("--home", envvar="QUELEA_HOME", help="Folder of the stack that uses the models.")]
_Json = Annotated[bool, typer.Option("--json", help="One JSON document on standard output.")]
_Name = Annotated[str, typer.Argument(metavar="SET")]


@contextlib.contextmanager
def _failures() -> Iterator[None]:
    try:
        yield
    except QueleaError as error:
        say(f"error: {error.message}")
        raise typer.Exit(1) from error


@app.command("list")
def list_sets(home: _Home = STACK_HOME, as_json: _Json = False) -> None:
    """The sets of a home, and which is in use."""
    shelf = Shelf(home)
    with _failures():
        found, active, previous = shelf.all(), shelf.active(), shelf.previous()
    if as_json:
        tell_json({"active": active, "previous": previous, "sets": [asdict(one) for one in found]})
        return
    table = Table("set", "in use", "made", "encoder", "parts")
    state = {previous: "before", active: "yes"}
    table.add_row(PACKAGED, state.get(PACKAGED, ""), "", "", "what comes with this version")
    for one in found:
        table.add_row(one.name, state.get(one.name, ""), one.created, one.encoder_id, ", ".join(one.parts))
    Console(width=140).print(table)


@app.command()
def show(name: _Name, home: _Home = STACK_HOME) -> None:
    """The model card of a set, when its files are as they were made."""
    with _failures():
        tell(card(verify(Shelf(home).folder(name))))


@app.command()
def compare(left: _Name, right: _Name, home: _Home = STACK_HOME, as_json: _Json = False) -> None:
    """Measures of two sets side by side, and the parts in which they differ."""
    shelf = Shelf(home)
    with _failures():
        a, b = verify(shelf.folder(left)), verify(shelf.folder(right))
    found = comparison(a, b)
    if as_json:
        tell_json(found)
        return
    table = Table("measure", a.name, b.name, "change")
    for name, (one, other) in found["metrics"].items():
        change = "" if one is None or other is None else f"{other - one:+.3f}"
        table.add_row(name, _shown(one), _shown(other), change)
    Console(width=120).print(table)
    tell("differing parts: " + (", ".join(found["differing"]) or "none"))


def comparison(left: ModelSet, right: ModelSet) -> dict[str, Any]:
    """Each measure of either, None where one has it not; and the parts whose files differ."""
    names = sorted(left.metrics.keys() | right.metrics.keys())
    files = {part: [one.parts[part].files if part in one.parts else None for one in (left, right)] for part in PARTS}
    return {
        "sets": [left.name, right.name],
        "metrics": {name: [left.metrics.get(name), right.metrics.get(name)] for name in names},
        "differing": [part for part, (one, other) in files.items() if one != other],
    }


@app.command("make")
def make_set(
    name: _Name,
    part: Annotated[list[str], typer.Option("--part", help=f"PART=PATH, of {', '.join(PARTS)}; repeatable.")],
    licence: Annotated[list[str], typer.Option("--licence", help="PART=LICENCE, for each part; repeatable.")],
    metrics: Annotated[
        list[Path] | None, typer.Option(help="JSON with measures as numbers by name; repeatable.")
    ] = None,
    data: Annotated[Path | None, typer.Option(help="The manifest of the training data, as JSON.")] = None,
    encoder_id: Annotated[
        str, typer.Option(help="Encoder (name@hash) of the set; by default the one that gate and ranker name.")
    ] = "",
    note: Annotated[str, typer.Option(help="A sentence for the model card.")] = "",
    home: _Home = STACK_HOME,
) -> None:
    """Copy models into a new set, with manifest and model card; nothing is taken up by this."""
    with _failures():
        measured: dict[str, float] = {}
        for path in metrics or []:
            measured |= {key: float(value) for key, value in _read(path).items() if isinstance(value, int | float)}
        found = make(
            Shelf(home).sets,
            name,
            {key: Path(value) for key, value in _pairs(part, "--part").items()},
            licences=_pairs(licence, "--licence"),
            metrics=measured,
            data=_read(data) if data else {},
            note=note,
            encoder_id=encoder_id,
        )
    say(f"made: {Shelf(home).sets / found.name}; take it up with `quelea models activate {found.name}`")


@app.command()
def activate(
    name: Annotated[str, typer.Argument(metavar="SET", help=f"A set, or {PACKAGED}.")], home: _Home = STACK_HOME
) -> None:
    """Use a set from now on; the one before is kept."""
    with _failures():
        take_up.activate(home, name, say)


@app.command("roll-back")
def roll_back(home: _Home = STACK_HOME) -> None:
    """Use the set before this one again."""
    with _failures():
        take_up.roll_back(home, say)


def _pairs(given: list[str], option: str) -> dict[str, str]:
    found = dict(one.partition("=")[::2] for one in given)
    if len(found) < len(given) or not all(found.values()):
        raise InvalidInput(f"{option} takes NAME=VALUE, each name once; got {' '.join(given)}.")
    return found


def _read(path: Path) -> dict[str, Any]:
    try:
        said = json.loads(path.read_text("utf-8"))
    except (OSError, ValueError) as error:
        raise InvalidInput(f"{path} cannot be read as JSON: {error}.") from error
    if not isinstance(said, dict):
        raise InvalidInput(f"{path} must hold one JSON object.")
    return said


def _shown(value: float | None) -> str:
    return "–" if value is None else f"{value:.3f}"
