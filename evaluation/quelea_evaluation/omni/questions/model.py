"""A question of the matrix: its turns with reference answers, and the passages that are relevant to it."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from quelea_evaluation.inputs import BadInput
from quelea_evaluation.omni.matrix import TASKS
from quelea_evaluation.reports.store import RowFile, RowIndex, hash_json

_TASK_IDS = frozenset(one.id for one in TASKS)


@dataclass(frozen=True)
class Passage:
    """A piece of a document: pages[page].text[start:end], in code points."""

    document_id: str
    page: int
    start: int
    end: int
    text: str
    title: str = ""

    @property
    def id(self) -> str:
        """Document, page and span in one word."""
        return f"{self.document_id}:{self.page}:{self.start}-{self.end}"

    def overlaps(self, other: Passage) -> bool:
        """They share a character of the same page."""
        same = self.document_id == other.document_id and self.page == other.page
        return same and self.start < other.end and other.start < self.end


@dataclass(frozen=True)
class Turn:
    """A question with the answers that are right."""

    question: str
    answers: tuple[str, ...]


@dataclass(frozen=True)
class Question:
    """One item of the matrix; only conversations have more than one turn.

    Args:
        id: From topic, task, turns and passages: the same content has the same id.
        source: Prompt version, model, number of sections, inspection and what else is known of its making.
    """

    id: str
    topic: str
    task: str
    language: str
    turns: tuple[Turn, ...]
    passages: tuple[Passage, ...]
    source: dict[str, Any] = field(default_factory=dict)

    def as_row(self) -> dict[str, Any]:
        """As a line of questions.jsonl."""
        row = asdict(self)
        row["passages"] = [{"id": one.id, **asdict(one)} for one in self.passages]
        return row


def question_id(topic: str, task: str, turns: Sequence[Turn], passages: Sequence[Passage]) -> str:
    """16 hexadecimal digits of the content."""
    content = [topic, task, [[one.question, *one.answers] for one in turns], sorted(one.id for one in passages)]
    return hash_json(content)[:16]


def questions_file(path: Path) -> Path:
    """The file of a path: itself, or of a folder what was reviewed, else what was generated.

    Raises:
        BadInput: There is none.
    """
    for candidate in (path,) if path.is_file() else (path / "reviewed.jsonl", path / "questions.jsonl"):
        if candidate.is_file():
            return candidate
    raise BadInput(f"{path} is no file of questions, and no folder with questions.jsonl")


def read_questions(path: Path) -> Iterator[Question]:
    """The questions of a file, one at a time.

    Raises:
        BadInput: A field is missing or of another kind, or an id comes twice.
    """
    seen: set[str] = set()
    for at, row in enumerate(RowFile(path, of_others=True), 1):
        question = question_of(f"{path.name}, line {at}", row)
        if question.id in seen:
            raise BadInput(f"{path.name}, line {at}: the id {question.id!r} comes twice")
        seen.add(question.id)
        yield question


class QuestionIndex(Mapping[str, Question]):
    """The questions of a file by id; only their places are in memory, a question is read when it is asked for."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._rows = RowIndex(RowFile(path, of_others=True))

    def __getitem__(self, question_id: str) -> Question:
        """See the class.

        Raises:
            KeyError: There is none of this id.
            BadInput: A field is missing or of another kind.
        """
        row = self._rows.get(question_id)
        if row is None:
            raise KeyError(question_id)
        return question_of(f"{self._path.name}, question {question_id}", row)

    def __iter__(self) -> Iterator[str]:
        return iter(self._rows)

    def __len__(self) -> int:
        return len(self._rows)


def question_of(place: str, row: dict[str, Any]) -> Question:
    """A question from its row.

    Raises:
        BadInput: A field is missing or of another kind.
    """
    words = {name: _text(place, name, row.get(name)) for name in ("id", "topic", "task")}
    if words["task"] not in _TASK_IDS:
        raise BadInput(f"{place}: task must be one of {', '.join(sorted(_TASK_IDS))}, got {words['task']!r}")
    turns = row.get("turns")
    if not isinstance(turns, list) or not turns:
        raise BadInput(f"{place}: turns must be a list of {{question, answers}}, got {json.dumps(turns)[:80]}")
    passages = row.get("passages", [])
    if not isinstance(passages, list):
        raise BadInput(f"{place}: passages must be a list")
    return Question(
        **words,
        language=_text(place, "language", row.get("language", "en")),
        turns=tuple(_turn(f"{place}: turns[{at}]", one) for at, one in enumerate(turns)),
        passages=tuple(passage_of(f"{place}: passages[{at}]", one) for at, one in enumerate(passages)),
        source=dict(row.get("source") or {}),
    )


def _turn(place: str, row: Any) -> Turn:
    if not isinstance(row, dict):
        raise BadInput(f"{place} must be an object")
    answers = row.get("answers")
    answers = [answers] if isinstance(answers, str) else answers
    if not isinstance(answers, list) or not answers or not all(isinstance(one, str) and one for one in answers):
        raise BadInput(f"{place}.answers must be a list of texts, got {json.dumps(answers, ensure_ascii=False)[:80]}")
    return Turn(_text(place, "question", row.get("question")), tuple(answers))


def passage_of(place: str, row: Any) -> Passage:
    """A passage from its row.

    Raises:
        BadInput: A field is missing or of another kind.
    """
    if not isinstance(row, dict):
        raise BadInput(f"{place} must be an object")
    numbers = {}
    for name in ("page", "start", "end"):
        value = row.get(name)
        if not isinstance(value, int) or isinstance(value, bool):
            raise BadInput(f"{place}.{name} must be a whole number, got {value!r}")
        numbers[name] = value
    document = _text(place, "document_id", row.get("document_id"))
    return Passage(document, **numbers, text=str(row.get("text", "")), title=str(row.get("title", "")))


def _text(place: str, name: str, value: Any) -> str:
    if not isinstance(value, str) or not value:
        raise BadInput(f"{place}: {name} must be a text, got {json.dumps(value, ensure_ascii=False)}")
    return value
