"""Blind votes of people: a ballot says who stood where, the page that people see does not.

A vote names the ballot and a number on it; only here does it become a comparison of two systems.
"""

from __future__ import annotations

import json
import random
import secrets
import threading
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from quelea_evaluation.arena.arena_folder import Arena, dialogue_id, open_run
from quelea_evaluation.arena.items import Bench
from quelea_evaluation.arena.people import Vote, read_score
from quelea_evaluation.inputs import BadInput, read_rows
from quelea_evaluation.reports.store import Row, RowFile, write_json

VOTES_KIND = "arena-votes"
CHOICES = ("left", "right", "equal")
_LONGEST_NAME = 60


@dataclass(frozen=True)
class Question:
    """One comparison on a ballot."""

    number: int
    item: int
    task: str
    left: str
    right: str


@dataclass(frozen=True)
class Ballot:
    """Comparisons in the order in which they are shown."""

    id: str
    questions: tuple[Question, ...]


def make_ballot(arena: Arena, bench: Bench, *, most: int, seed: int) -> Ballot:
    """Comparisons of complete dialogues, shuffled, each side left or right by chance; kept in the arena's folder.

    Args:
        arena: Where the dialogues are.
        bench: What they are about.
        most: How many comparisons, at most; 0: all.
        seed: The same seed over the same dialogues gives the same questions.

    Raises:
        BadInput: Nothing to compare, or another bench.
    """
    if arena.bench() != bench.sha256:
        raise BadInput("the systems talked about another bench; name theirs with --bench")
    complete = {
        system: {line["item"] for line in arena.dialogues(system).latest() if line["status"] == "complete"}
        for system in arena.systems
    }
    pairs = [
        (item, first, second)
        for item in bench.items
        for first, second in arena.pairs
        if item.id in complete[first] and item.id in complete[second]
    ]
    if not pairs:
        raise BadInput(f"no item has complete dialogues of two systems in {arena.path}, so there is nothing to vote on")
    rng = random.Random(seed)  # noqa: S311  an order, no secret
    rng.shuffle(pairs)
    questions = []
    for number, (item, first, second) in enumerate(pairs[:most] if most else pairs, 1):
        left, right = (first, second) if rng.random() < 0.5 else (second, first)
        questions.append(Question(number, item.id, item.task, left, right))
    ballot = Ballot(secrets.token_hex(8), tuple(questions))
    folder = _ballots(arena)
    folder.mkdir(parents=True, exist_ok=True)
    write_json(folder / f"{ballot.id}.json", asdict(ballot))
    return ballot


def read_ballot(arena: Arena, name: object) -> Ballot:
    """A ballot that was made in this arena.

    Raises:
        BadInput: There is none of that id.
    """
    path = _ballots(arena) / f"{name}.json"
    if not isinstance(name, str) or not name.isalnum() or not path.exists():
        raise BadInput(f"no ballot {name!r} was made in {arena.path}; votes belong to the arena of their ballot")
    value = json.loads(path.read_text(encoding="utf-8"))
    return Ballot(value["id"], tuple(Question(**question) for question in value["questions"]))


class VoteBox:
    """Votes of an arena, written one by one; for several threads, and one process."""

    def __init__(self, arena: Arena) -> None:
        self._arena = arena
        self._folder = open_run(_folder(arena), VOTES_KIND, {}, {"bench": arena.bench()}, resume=True)
        self._rows = self._folder.rows("votes")
        self._lock = threading.Lock()
        self._known: dict[str, Ballot] = {}

    def __enter__(self) -> VoteBox:
        return self

    def __exit__(self, *_: object) -> None:
        self._folder.close()

    def add(self, vote: object) -> Row:
        """Store a vote `{ballot, number, choice, rater}`; a rater's later vote on the same replaces the earlier one.

        Raises:
            BadInput: A field is missing or wrong; the message names it.
        """
        with self._lock:
            line = self._line(vote)
            self._rows.append(line)
        return line

    def add_file(self, path: Path) -> int:
        """Store the votes of a file that a page wrote, one JSON object a line; all of them or none.

        A line is a vote on a ballot, or one of the gateway's page, which names the item and both systems.

        Raises:
            BadInput: A line is wrong; the message names it.
        """
        lines = []
        with self._lock:
            for number, vote in read_rows(path, "an object with ballot, number, choice and rater"):
                try:
                    lines.append(self._named_line(vote) if "item_id" in vote else self._line(vote))
                except BadInput as error:
                    raise BadInput(f"{path}, line {number}: {error}; no vote of this file was stored") from error
            for line in lines:
                self._rows.append(line)
        return len(lines)

    def _named_line(self, vote: Row) -> Row:
        """Of a vote as `GET /v1/evaluations/ID/votes` lists it."""
        rater = read_rater(vote)
        for field in ("item_id", "task", "first", "second"):
            if not isinstance(vote.get(field), str):
                raise BadInput(f"field {field!r} must be a text, got {vote.get(field)!r}")
        score = vote.get("score")
        if score not in (0.0, 0.5, 1.0) or isinstance(score, bool):
            raise BadInput(f"field 'score' must be 0, 0.5 or 1, got {score!r}")
        first, second = sorted((vote["first"], vote["second"]))
        if unknown := [one for one in (first, second) if one not in self._arena.systems]:
            raise BadInput(f"this arena has no system {unknown[0]!r}; there are {', '.join(self._arena.systems)}")
        number = vote["item_id"].partition(":")[0]
        if not number.isdecimal() or dialogue_id(int(number)) not in self._arena.dialogues(first):
            raise BadInput(f"this arena has no dialogue on item {number!r}")
        return {
            "id": f"{number} {first} {second} {rater}",
            "rater": rater,
            "item": int(number),
            "task": vote["task"],
            "first": first,
            "second": second,
            "score": float(score) if first == vote["first"] else 1.0 - float(score),
            "at": str(vote.get("at", "")),
        }

    def _line(self, vote: object) -> Row:
        if not isinstance(vote, dict):
            raise BadInput("a vote must be an object with ballot, number, choice and rater")
        rater = read_rater(vote)
        if vote.get("choice") not in CHOICES:
            raise BadInput(f"field 'choice' must be one of {', '.join(CHOICES)}, got {vote.get('choice')!r}")
        question = self._question(vote.get("ballot"), vote.get("number"))
        first, second = sorted((question.left, question.right))
        sides = {"left": question.left, "right": question.right}
        return {
            "id": f"{question.item} {first} {second} {rater}",
            "rater": rater,
            "item": question.item,
            "task": question.task,
            "first": first,
            "second": second,
            "score": read_score(vote["choice"], sides, first),
            "ballot": vote["ballot"],
            "number": question.number,
            "at": datetime.now(UTC).isoformat(timespec="seconds"),
        }

    def _question(self, name: object, number: object) -> Question:
        if not isinstance(name, str):
            raise BadInput("field 'ballot' must be the id of a ballot")
        ballot = self._known.get(name) or read_ballot(self._arena, name)
        self._known[name] = ballot
        if type(number) is not int or not 1 <= number <= len(ballot.questions):
            raise BadInput(f"field 'number' must be one of 1 to {len(ballot.questions)}, got {number!r}")
        return ballot.questions[number - 1]


def read_rater(vote: Row) -> str:
    """The name of who votes or talks.

    Raises:
        BadInput: There is none, or it is too long.
    """
    rater = vote.get("rater")
    if not isinstance(rater, str) or not rater.strip() or len(rater) > _LONGEST_NAME or not rater.isprintable():
        raise BadInput(f"field 'rater' must be a name of at most {_LONGEST_NAME} characters")
    return rater.strip()


def read_all_votes(arena: Arena) -> list[Vote]:
    """Every vote that counts, in the order in which they came."""
    return [
        Vote(line["rater"], str(line["item"]), line["task"], line["first"], line["second"], float(line["score"]))
        for line in RowFile(_folder(arena) / "votes.jsonl").latest()
    ]


def shown_questions(arena: Arena, bench: Bench, ballot: Ballot) -> Iterator[dict[str, Any]]:
    """What a person sees of each comparison: the matter and two dialogues, no name of a system."""
    items = {item.id: item for item in bench.items}
    dialogues = {system: arena.dialogues(system) for system in arena.systems}
    for question in ballot.questions:
        item = items[question.item]
        both = (dialogues[system].get(dialogue_id(item.id)) for system in (question.left, question.right))
        left, right = ([{"role": t["role"], "text": t["content"]} for t in (d or {})["turns"]] for d in both)
        yield {
            "number": question.number,
            "task": item.task,
            "needs": item.needs,
            "information": item.information,
            "hints": item.evaluation_hints,
            "left": left,
            "right": right,
        }


def _folder(arena: Arena) -> Path:
    return arena.path / "votes"


def _ballots(arena: Arena) -> Path:
    return _folder(arena) / "ballots"
