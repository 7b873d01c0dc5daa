"""Evaluations: what is asked for, how far it is, and whether it may be asked for. The work is done elsewhere."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal, cast, get_args

from quelea_kit.errors import InvalidInput

Kind = Literal["omni", "arena"]
State = Literal["queued", "running", "cancelling", "succeeded", "failed", "cancelled"]
KINDS: tuple[Kind, ...] = get_args(Kind)
STATES: tuple[State, ...] = get_args(State)
OPEN: frozenset[str] = frozenset(("queued", "running", "cancelling"))
"""States after which something still comes."""
QUELEA = "quelea"
"""The system that is this deployment itself."""

Json = dict[str, Any]


@dataclass(frozen=True)
class Evaluation:
    """One evaluation, as its files say."""

    id: str
    kind: Kind
    name: str
    settings: Json
    created: str
    """RFC 3339 in UTC; so are all times here."""
    key: str = ""
    """Name of the key that asked for it; empty: it was published by a command."""
    seconds: float = 0.0
    """Longest run from its start; 0: it was published."""
    state: State = "queued"
    step: str = ""
    done: int = 0
    total: int = 0
    """0 while nobody knows."""
    started: str | None = None
    finished: str | None = None
    error: str | None = None

    @property
    def is_open(self) -> bool:
        """It waits or runs."""
        return self.state in OPEN

    @classmethod
    def of(cls, request: Json, told: Json, *, cancelled: bool) -> Evaluation:
        """Put together from its request, what the worker told, and whether somebody cancelled it.

        Raises:
            KeyError, ValueError: It is none.
        """
        kind, state = request["kind"], told.get("state", "queued")
        if kind not in KINDS or state not in STATES:
            raise ValueError(f"no evaluation: kind {kind!r}, state {state!r}")
        if cancelled and state in OPEN:
            state = "cancelling" if state == "running" else "cancelled"
        return cls(
            id=str(request["id"]),
            kind=cast("Kind", kind),
            name=str(request["name"]),
            settings=dict(request["settings"]),
            created=str(request["created"]),
            key=str(request.get("key", "")),
            seconds=float(request.get("seconds", 0)),
            state=cast("State", state),
            step=str(told.get("step", "")),
            done=int(told.get("done", 0)),
            total=int(told.get("total", 0)),
            started=told.get("started"),
            finished=told.get("finished"),
            error=told.get("error"),
        )


@dataclass(frozen=True)
class Worker:
    """The process that does evaluations, as it last said of itself."""

    updated: str = ""
    """When it last said so; empty: none ever did."""
    alive: bool = False
    models: tuple[str, ...] = ()
    question_sets: Mapping[str, int] = field(default_factory=dict)
    """Name → number of questions."""
    benches: Mapping[str, int] = field(default_factory=dict)
    """Name → number of items."""


@dataclass(frozen=True)
class Label:
    """A person's word on one aspect of one answer."""

    item_id: str
    rater: str
    turn: int
    """From 1."""
    aspect: str
    label: int
    judge: int | None
    """The judge's number, where one judge gave one."""


def make_labels(rater: str, given: Sequence[tuple[str, int, int]], item: Json, scales: Json) -> list[Label]:
    """A person's labels of an item, beside what its judge said.

    Args:
        rater: The person's name.
        given: Aspect, turn, number.
        item: The labelled item.
        scales: Aspect → the numbers that may be given.

    Raises:
        InvalidInput: An aspect, turn or number that there is not; the message says which there are.
    """
    turns = sum(turn["role"] == "answer" for one in item["dialogues"] for turn in one["turns"])
    found = []
    for at, (aspect, turn, number) in enumerate(given):
        field = f"labels.{at}"
        if aspect not in scales:
            there = ", ".join(scales) or "none: only items of a matrix have labels"
            raise InvalidInput(
                f"{field}.aspect: there is no {aspect[:40]!r}; there are {there}.", details={"field": f"{field}.aspect"}
            )
        if number not in scales[aspect]:
            allowed = ", ".join(map(str, scales[aspect]))
            raise InvalidInput(
                f"{field}.label of {aspect} must be one of {allowed}, got {number}.",
                details={"field": f"{field}.label"},
            )
        if not 1 <= turn <= turns:
            raise InvalidInput(f"{field}.turn must be from 1 to {turns}.", details={"field": f"{field}.turn"})
        about = aspect if turns == 1 else f"{aspect}, {turn}"
        said = [one for one in item["verdicts"] if one["about"] == about and not one["failed"]]
        judge = int(said[0]["verdict"]) if len(said) == 1 else None
        found.append(Label(str(item["id"]), rater, turn, aspect, number, judge))
    return found


def check_settings(kind: Kind, settings: Json, worker: Worker) -> None:
    """Whether the worker can do this. Raises InvalidInput, naming the field and what there is."""
    systems = (QUELEA, *worker.models)
    if kind == "omni":
        _check("questions", settings["questions"], worker.question_sets)
        _check("system", settings["system"], systems)
        for judge in settings["judges"]:
            _check("judges", judge, worker.models)
        return
    _check("bench", settings["bench"], worker.benches)
    for system in settings["systems"]:
        _check("systems", system, systems)
    if len(set(settings["systems"])) != len(settings["systems"]):
        raise _invalid("systems", "names a system twice; each stands in the arena once")
    _check("judge", settings["judge"], worker.models)
    if settings["user"]:
        _check("user", settings["user"], worker.models)


def _check(name: str, value: str, known: Mapping[str, int] | tuple[str, ...]) -> None:
    if value not in known:
        there = ", ".join(known) or "none: start the worker with some (quelea eval work --help)"
        raise _invalid(name, f"is {value[:100]!r}, which the worker does not have; there are {there}")


def _invalid(name: str, what: str) -> InvalidInput:
    return InvalidInput(f"settings.{name} {what}.", details={"field": f"settings.{name}"})
