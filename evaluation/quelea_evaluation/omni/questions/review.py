"""Questions as a table that a person edits, one row for each turn, and the way back."""

from __future__ import annotations

import csv
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from pathlib import Path

from quelea_evaluation.inputs import BadInput
from quelea_evaluation.omni.questions.model import Question, Turn

FIELDS = ("id", "turn", "keep", "topic", "task", "question", "answers", "passages", "note")
SEPARATOR = " || "
_FORMULA = tuple("=+-@\t\r")
_YES, _NO = frozenset(("", "yes", "y", "1", "true", "是")), frozenset(("no", "n", "0", "false", "否"))


def write_review(path: Path, questions: Iterable[Question]) -> int:
    """Write the table; returns how many questions it has. What a spreadsheet would compute gets an apostrophe."""
    count = 0

    def rows() -> Iterator[dict[str, str]]:
        nonlocal count
        for one in questions:
            count += 1
            evidence = SEPARATOR.join(f"{p.title}, p. {p.page}: {p.text}" for p in one.passages)
            for at, turn in enumerate(one.turns, 1):
                answers = SEPARATOR.join(turn.answers)
                cells = (one.id, str(at), "yes", one.topic, one.task, turn.question, answers, evidence, "")
                yield dict(zip(FIELDS, cells, strict=True))

    write_table(path, rows())
    return count


def write_table(path: Path, rows: Iterable[dict[str, str]]) -> None:
    """Write rows with all `FIELDS`, whole or not at all; see `write_review`."""
    scratch = path.with_name(path.name + ".new")
    with scratch.open("w", encoding="utf-8-sig", newline="") as file:
        table = csv.writer(file)
        table.writerow(FIELDS)
        for row in rows:
            table.writerow([harmless(row[name]) for name in FIELDS])
    scratch.replace(path)


def read_review(path: Path, questions: Iterable[Question]) -> tuple[list[Question], int, int]:
    """The questions that are kept, edited ones with `edited` in their source; then how many were edited and dropped.

    An edited question keeps its id, so that its answers stay its own only in runs over the same file.

    Raises:
        BadInput: A column or a row is missing, an id is unknown, or `keep` is neither yes nor no.
    """
    rows = read_table(path)
    kept: list[Question] = []
    edited = dropped = 0
    for one in questions:
        told = rows.pop(one.id, None)
        if told is None or any(row["keep"] == "no" for row in told.values()):
            dropped += 1
            continue
        if missing := [at for at in range(1, len(one.turns) + 1) if str(at) not in told]:
            raise BadInput(f"{path.name}: question {one.id} has no row for turn {missing[0]}; set keep to no instead")
        turns = tuple(_apply_edit(turn, told[str(at)]) for at, turn in enumerate(one.turns, 1))
        notes = " ".join(row["note"] for row in told.values() if row["note"])
        changed = turns != one.turns
        edited += changed
        source = {**one.source, **({"edited": True} if changed else {}), **({"note": notes} if notes else {})}
        kept.append(replace(one, turns=turns, source=source))
    if rows:
        raise BadInput(f"{path.name}: no question has the id {min(rows)!r}; the table belongs to other questions")
    return kept, edited, dropped


def reviewed_ids(path: Path) -> set[str]:
    """Ids of the questions that have a row in the table; one row in memory at a time.

    Raises:
        BadInput: It cannot be read as such a table.
    """
    return {row["id"] for row in _read_rows(path)}


def read_table(path: Path) -> dict[str, dict[str, dict[str, str]]]:
    """Question's id → turn → its row, with `keep` as yes or no.

    Raises:
        BadInput: It cannot be read as such a table.
    """
    rows: dict[str, dict[str, dict[str, str]]] = {}
    for row in _read_rows(path):
        rows.setdefault(row["id"], {})[row["turn"]] = row
    return rows


def _read_rows(path: Path) -> Iterator[dict[str, str]]:
    try:
        with path.open(encoding="utf-8-sig", newline="") as file:
            table = csv.DictReader(file)
            lacking = [name for name in FIELDS if name != "passages" and name not in (table.fieldnames or ())]
            if lacking:
                raise BadInput(f"{path.name}: no column {lacking[0]!r}; there must be {', '.join(FIELDS)}")
            for line, given in enumerate(table, 2):
                yield _read_row(f"{path.name}, row {line}", given)
    except (OSError, UnicodeDecodeError, csv.Error) as error:
        raise BadInput(f"{path} cannot be read as CSV in UTF-8: {error}") from error


def _read_row(place: str, given: Mapping[str, str | None]) -> dict[str, str]:
    row = {name: plain((given.get(name) or "").strip()) for name in FIELDS}
    keep = row["keep"].lower()
    if keep not in _YES | _NO:
        raise BadInput(f"{place}: keep must be yes or no, got {row['keep']!r}")
    row["keep"] = "no" if keep in _NO else "yes"
    if row["keep"] == "yes" and not (row["question"] and row["answers"]):
        raise BadInput(f"{place}: question and answers must not be empty; set keep to no to drop it")
    return row


def _apply_edit(turn: Turn, row: dict[str, str]) -> Turn:
    answers = tuple(part.strip() for part in row["answers"].split(SEPARATOR.strip()) if part.strip())
    same = row["question"] == turn.question.strip() and answers == tuple(one.strip() for one in turn.answers)
    return turn if same else Turn(row["question"], answers)


def harmless(cell: str) -> str:
    """A cell that a spreadsheet does not compute, though it begins like a formula; documents are others' data."""
    return f"'{cell}" if cell.startswith(_FORMULA) else cell


def plain(cell: str) -> str:
    """What `harmless` was given."""
    return cell[1:] if cell.startswith("'") and cell[1:].startswith(_FORMULA) else cell
