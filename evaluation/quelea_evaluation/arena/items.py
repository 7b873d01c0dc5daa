"""The bench: tasks with items, UCFE's 330 or a team's own in the same form."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from quelea_evaluation.arena.record import ZERO_SHOT
from quelea_evaluation.inputs import BadInput, read_json, show
from quelea_evaluation.reports.store import hash_file

UCFE = Path(__file__).parent / "data" / "ucfe_bench.json.gz"

_TEXTS = ("role_prompt", "model_prompt", "information", "needs", "evaluation_prompt", "evaluation_hints")
_IN_PROMPTS = ("information", "needs")
_IN_EVALUATION = ("needs", "evaluation_hints", "information", "dialogue1", "dialogue2")
_PLACE = re.compile(r"\{([a-z_0-9]{1,40})\}")


@dataclass(frozen=True)
class Item:
    """One conversation to have."""

    id: int
    """Unique in the bench; its parity decides the order under `--compat ucfe`."""
    task: str
    role_prompt: str
    """Tells the simulated user who he is; empty where the task has one round."""
    model_prompt: str
    """The tested system's system message."""
    information: str
    needs: str
    evaluation_prompt: str
    """What UCFE's judge is asked, with {needs}, {evaluation_hints}, {dialogue1} and {dialogue2}."""
    evaluation_hints: str
    """The rubric, for the judge."""

    @property
    def one_round(self) -> bool:
        """Asked once, without a simulated user."""
        return self.task.startswith(ZERO_SHOT)

    @property
    def system_message(self) -> str:
        """What the tested system is told; of a task with one round also what it is asked."""
        return fill(self.model_prompt, {"information": self.information, "needs": self.needs})

    @property
    def user_message(self) -> str:
        """What the simulated user is told."""
        return fill(self.role_prompt, {"information": self.information, "needs": self.needs})


@dataclass(frozen=True)
class Bench:
    """Items in the order of the file."""

    items: tuple[Item, ...]
    sha256: str

    @property
    def tasks(self) -> list[str]:
        """In the order of the file."""
        return list(dict.fromkeys(item.task for item in self.items))


def fill(text: str, values: Mapping[str, str]) -> str:
    """Put values for their names in braces, all at once: braces inside a value stay as they are."""
    return _PLACE.sub(lambda place: values.get(place[1], place[0]), text)


def read_bench(path: Path = UCFE) -> Bench:
    """Items of a file in UCFE's form: task → list of items.

    Raises:
        BadInput: Something is missing or wrong; the message names task, item and field.
    """
    shape = "one object task → list of items"
    data = read_json(path, shape)
    if not isinstance(data, dict):
        raise BadInput(f"{path} must be {shape}, got {show(data)}")
    items: list[Item] = []
    for task, entries in data.items():
        if not isinstance(entries, list):
            raise BadInput(f"{path}, task {task!r} must be a list of items, got {show(entries)}")
        items += [_item(task, number, entry, f"{path}, ") for number, entry in enumerate(entries, 1)]
    if not items:
        raise BadInput(f"{path} holds no item")
    seen: dict[int, Item] = {}
    for item in items:
        if other := seen.get(item.id):
            raise BadInput(
                f"{path}, task {item.task!r}: field 'id' must be unique, but task {other.task!r} has {item.id} too"
            )
        seen[item.id] = item
    return Bench(tuple(items), hash_file(path))


def _item(task: str, number: int, entry: Any, file: str) -> Item:
    place = f"{file}task {task!r}, item {number}"
    if not isinstance(entry, dict):
        raise BadInput(f"{place} must be an object, got {show(entry)}")
    own = entry.get("id")
    if type(own) is not int or own < 1:
        raise BadInput(f"{place}: field 'id' must be a whole number from 1 up, got {_got(entry, 'id')}")
    place = f"{place} (id {own})"
    for field in _TEXTS:
        if not isinstance(entry.get(field), str):
            raise BadInput(f"{place}: field {field!r} must be a text, got {_got(entry, field)}")
    if unknown := sorted(set(entry) - {*_TEXTS, "id"}):
        raise BadInput(f"{place}: field {unknown[0]!r} is unknown; an item has id, {', '.join(_TEXTS)}")
    item = Item(id=own, task=task, **{field: entry[field] for field in _TEXTS})
    _check(item, place)
    return item


def _check(item: Item, place: str) -> None:
    needed = ["model_prompt", "needs"] if item.one_round else ["role_prompt", "model_prompt", "needs"]
    for field in needed:
        if not getattr(item, field).strip():
            why = "" if item.one_round else f" (a task whose name begins with {ZERO_SHOT!r} needs no simulated user)"
            raise BadInput(f"{place}: field {field!r} must not be empty{why}")
    for field in ("role_prompt", "model_prompt"):
        for name in _PLACE.findall(getattr(item, field)):
            if name not in _IN_PROMPTS:
                raise BadInput(f"{place}: field {field!r} has {{{name}}}; it may have {{information}} and {{needs}}")
    for name in ("dialogue1", "dialogue2"):
        if f"{{{name}}}" not in item.evaluation_prompt:
            raise BadInput(f"{place}: field 'evaluation_prompt' must have {{{name}}}")
    for name in _PLACE.findall(item.evaluation_prompt):
        if name not in _IN_EVALUATION:
            raise BadInput(
                f"{place}: field 'evaluation_prompt' has {{{name}}}; it may have "
                + ", ".join(f"{{{known}}}" for known in _IN_EVALUATION)
            )


def _got(entry: Mapping[str, Any], field: str) -> str:
    return show(entry[field]) if field in entry else "nothing: the field is missing"
