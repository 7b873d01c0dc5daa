"""Win, tie and loss counts of pairs of models: read, checked, written.

The shape is UCFE's `win_loss_record.json`: model → task → opponent → `[wins, ties, losses]`, every pair recorded twice,
once from either side. File order is kept, for UCFE's ratings depend on it.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from quelea_evaluation.inputs import BadInput, read_json, show

ZERO_SHOT = "0_"
"""Tasks whose names begin so are asked in one round, without a simulated user."""

SHAPE = "model → task → opponent → [wins, ties, losses]"

MOST_GAMES = 1_000_000
"""In one cell: more is a mistake, and UCFE's ratings play every game."""
MOST_MODELS = 500

Counts = tuple[int, int, int]
"""Wins, ties, losses of the one who stands first."""


@dataclass(frozen=True)
class Cell:
    """What two models did against each other in one task."""

    task: str
    first: str
    second: str
    counts: Counts


@dataclass(frozen=True)
class Record:
    """All counts, from both sides, in the order of the file."""

    counts: Mapping[str, Mapping[str, Mapping[str, Counts]]]

    @property
    def models(self) -> list[str]:
        """In the order of the file."""
        return list(self.counts)

    @property
    def tasks(self) -> list[str]:
        """In the order in which the file first names them."""
        return list(dict.fromkeys(task for tasks in self.counts.values() for task in tasks))

    def sides(self, tasks: Iterable[str] | None = None) -> Iterator[Cell]:
        """Every cell from both sides, in file order."""
        wanted = None if tasks is None else set(tasks)
        for model, by_task in self.counts.items():
            for task, opponents in by_task.items():
                if wanted is None or task in wanted:
                    for opponent, counts in opponents.items():
                        yield Cell(task, model, opponent, counts)

    def cells(self, tasks: Iterable[str] | None = None) -> list[Cell]:
        """Every pair and task once: the side whose model stands first in the file."""
        place = {model: index for index, model in enumerate(self.counts)}
        return [cell for cell in self.sides(tasks) if place[cell.first] < place[cell.second]]

    def total(self, model: str) -> Counts:
        """Wins, ties and losses of a model over all tasks."""
        own = [counts for opponents in self.counts[model].values() for counts in opponents.values()]
        return (sum(c[0] for c in own), sum(c[1] for c in own), sum(c[2] for c in own))


def zero_shot(tasks: Iterable[str]) -> list[str]:
    """Those that are asked in one round."""
    return [task for task in tasks if task.startswith(ZERO_SHOT)]


def few_shot(tasks: Iterable[str]) -> list[str]:
    """Those that are conversations with a simulated user."""
    return [task for task in tasks if not task.startswith(ZERO_SHOT)]


def read_record(path: Path) -> Record:
    """A record of a JSON file, or of one compressed with gzip (`.gz`).

    Raises:
        BadInput: The file cannot be read, is not JSON, or is not such a record; the message names the place.
    """
    return parse_record(read_json(path, f"one object {SHAPE}"))


def parse_record(data: Any) -> Record:  # whatever was in the JSON
    """Check every cell and its mirror.

    Raises:
        BadInput: A level is not an object, a cell is not three counts, a model is unknown or plays itself, a mirror
            is missing or says otherwise.
    """
    counts: dict[str, dict[str, dict[str, Counts]]] = {}
    for model, tasks in _object(data, "the record", SHAPE).items():
        counts[model] = {}
        for task, opponents in _object(tasks, f"record[{model!r}]", "task → opponent → [wins, ties, losses]").items():
            place = f"record[{model!r}][{task!r}]"
            cells = _object(opponents, place, "opponent → [wins, ties, losses]")
            counts[model][task] = {name: _counts(cell, f"{place}[{name!r}]") for name, cell in cells.items()}
    record = Record(counts)
    for cell in record.sides():
        _check_mirror(record, cell)
    if len(record.models) > MOST_MODELS:
        raise BadInput(f"the record has {len(record.models):,} models; {MOST_MODELS} can be rated together")
    if not any(sum(cell.counts) for cell in record.sides()):
        raise BadInput("the record holds no game: every cell is [0, 0, 0], or there is none")
    return record


def build_record(games: Iterable[tuple[str, str, str, float]]) -> Record:
    """A record of single games.

    Args:
        games: Task, first model, second model, and the score of the first: 1 won, 0.5 tied, 0 lost.
    """
    counts: dict[str, dict[str, dict[str, Counts]]] = {}
    for task, first, second, score in games:
        for model, opponent, own in ((first, second, score), (second, first, 1 - score)):
            cells = counts.setdefault(model, {}).setdefault(task, {})
            wins, ties, losses = cells.get(opponent, (0, 0, 0))
            cells[opponent] = (wins + (own == 1), ties + (own == 0.5), losses + (own == 0))
    return Record(counts)


def _object(value: Any, place: str, shape: str) -> dict[str, Any]:
    if not isinstance(value, dict):
        raise BadInput(f"{place} must be an object {shape}, got {show(value)}")
    return value


def _counts(value: Any, place: str) -> Counts:
    if not isinstance(value, list) or len(value) != 3:
        raise BadInput(f"{place} must be [wins, ties, losses], got {show(value)}")
    for name, count in zip(("wins", "ties", "losses"), value, strict=True):
        if type(count) is not int:  # a bool is an int to isinstance
            raise BadInput(f"{place}: {name} must be a whole number, got {show(count)}")
        if count < 0:
            raise BadInput(f"{place}: {name} must not be negative, got {count}")
        if count > MOST_GAMES:
            raise BadInput(f"{place}: {name} must be at most {MOST_GAMES:,}, got {count}")
    return (value[0], value[1], value[2])


def _check_mirror(record: Record, cell: Cell) -> None:
    place = f"record[{cell.first!r}][{cell.task!r}][{cell.second!r}]"
    mirror = f"record[{cell.second!r}][{cell.task!r}][{cell.first!r}]"
    if cell.first == cell.second:
        raise BadInput(f"{place}: a model cannot play against itself")
    wins, ties, losses = cell.counts
    wanted = [losses, ties, wins]
    other = record.counts.get(cell.second, {}).get(cell.task, {}).get(cell.first)
    if other is None:
        raise BadInput(f"{place} has no mirror: {mirror} is missing, and would be {wanted}")
    if list(other) != wanted:
        raise BadInput(
            f"{place} is {list(cell.counts)}, so its mirror {mirror} must be {wanted}, but it is {list(other)}"
        )
