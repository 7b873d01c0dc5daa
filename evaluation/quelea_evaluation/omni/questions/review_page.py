"""The page on which generated questions are read, edited and dropped; review.csv is all that it keeps."""

from __future__ import annotations

import threading
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from quelea_evaluation.inputs import BadInput
from quelea_evaluation.omni.matrix import TASKS, Matrix
from quelea_evaluation.omni.questions.model import Question, Turn
from quelea_evaluation.omni.questions.review import FIELDS, SEPARATOR, read_review, read_table, write_table
from quelea_evaluation.reports.page_server import PageServer, fill_page
from quelea_evaluation.reports.store import Row, write_rows

_MOST_BYTES = 200_000
_LONGEST = 20_000
"""Characters of a question, of its answers, of a note."""


class Review:
    """The questions of a folder and its review.csv, which is read anew each time: a spreadsheet may have it too.

    Args:
        folder: Of `omni generate`.
        table: The CSV.
        made: The questions as they were generated.
        matrix: The topics' names.
    """

    def __init__(self, folder: Path, table: Path, made: Sequence[Question], matrix: Matrix) -> None:
        self._folder = folder
        self._path = table
        self._made = {one.id: one for one in made}
        self._matrix = matrix
        self._lock = threading.Lock()

    def page(self) -> str:
        """The page with every question as it stands in the table.

        Raises:
            BadInput: The table cannot be read as such.
        """
        rows = read_table(self._path)
        shown = [self._shown(one, rows[one.id]) for one in self._made.values() if one.id in rows]
        topics = {one.id: one.label("en") for one in self._matrix.topics}
        value = {
            "table": self._path.name,
            "questions": shown,
            "topics": {one: topics.get(one, one) for one in dict.fromkeys(q["topic"] for q in shown)},
            "tasks": {one.id: one.name["en"] for one in TASKS if any(q["task"] == one.id for q in shown)},
            "missing": len(self._made) - len(shown),
        }
        return fill_page(Path(__file__).parent / "review.html", "review", value)

    def _shown(self, question: Question, turns: dict[str, dict[str, str]]) -> Row:
        found = [turns.get(str(at)) for at in range(1, len(question.turns) + 1)]
        return {
            "id": question.id,
            "topic": question.topic,
            "task": question.task,
            "language": question.language,
            "keep": all(row is not None and row["keep"] == "yes" for row in found),
            "note": " ".join(dict.fromkeys(row["note"] for row in found if row and row["note"])),
            "corrected": question.source.get("inspection") == 1,
            "model": question.source.get("model", ""),
            "turns": [
                {"question": row["question"], "answers": _answers(row["answers"])} if row else _as_made(turn)
                for row, turn in zip(found, question.turns, strict=True)
            ],
            "made": [_as_made(turn) for turn in question.turns],
            "passages": [{"title": one.title, "page": one.page, "text": one.text} for one in question.passages],
        }

    def take(self, said: object) -> Row:
        """Store `{id, keep, note, turns: [{question, answers}]}` in the table; `{done: true}` reads all of it back.

        Returns:
            How many are kept, edited and dropped.

        Raises:
            BadInput: A field is missing or wrong; the message names it.
        """
        if not isinstance(said, dict):
            raise BadInput("what is sent must be an object with id, keep, note and turns")
        with self._lock:
            if not said.get("done"):
                self._store(said)
            return self._finish() if said.get("done") else {"id": said["id"], "keep": said["keep"]}

    def _finish(self) -> Row:
        kept, edited, dropped = read_review(self._path, self._made.values())
        write_rows(self._folder / "reviewed.jsonl", (one.as_row() for one in kept))
        return {"kept": len(kept), "edited": edited, "dropped": dropped, "file": "reviewed.jsonl"}

    def _store(self, said: dict[str, Any]) -> None:
        question = self._made.get(said["id"]) if isinstance(said.get("id"), str) else None
        if question is None:
            raise BadInput(f"field 'id': there is no question {said.get('id')!r}")
        keep, note, turns = said.get("keep"), said.get("note", ""), said.get("turns")
        if not isinstance(keep, bool):
            raise BadInput(f"field 'keep' must be true or false, got {keep!r}")
        if not isinstance(note, str) or len(note) > _LONGEST:
            raise BadInput(f"field 'note' must be a text of at most {_LONGEST:,} characters")
        if not isinstance(turns, list) or len(turns) != len(question.turns):
            raise BadInput(f"field 'turns' must be a list of {len(question.turns)}")
        read = [_turn(one, at, needed=keep) for at, one in enumerate(turns, 1)]
        rows = read_table(self._path)
        evidence = next(iter(rows.get(question.id, {}).values()), {}).get("passages", "")
        rows[question.id] = {
            str(at): dict(
                zip(
                    FIELDS,
                    (
                        *(question.id, str(at), "yes" if keep else "no", question.topic, question.task),
                        *(one.question, SEPARATOR.join(one.answers), evidence, note.strip() if at == 1 else ""),
                    ),
                    strict=True,
                )
            )
            for at, one in enumerate(read, 1)
        }
        write_table(self._path, (row for of_one in rows.values() for row in of_one.values()))


def _answers(cell: str) -> list[str]:
    return [part.strip() for part in cell.split(SEPARATOR.strip()) if part.strip()]


def _as_made(turn: Turn) -> Row:
    return {"question": turn.question, "answers": list(turn.answers)}


def _turn(value: object, at: int, *, needed: bool) -> Turn:
    question = value.get("question") if isinstance(value, dict) else None
    answers = value.get("answers") if isinstance(value, dict) else None
    if not isinstance(question, str) or not isinstance(answers, list) or not all(isinstance(a, str) for a in answers):
        raise BadInput(f"field 'turns', {at}: there must be a question and a list of answers")
    question, answers = question.strip(), [one.strip() for one in answers if one.strip()]
    if len(question) > _LONGEST or sum(map(len, answers)) > _LONGEST:
        raise BadInput(f"field 'turns', {at}: question and answers have at most {_LONGEST:,} characters")
    if any(SEPARATOR.strip() in one for one in answers):
        raise BadInput(f"field 'turns', {at}: an answer may not hold {SEPARATOR.strip()!r}, which parts answers")
    if needed and not (question and answers):
        raise BadInput(f"Question and answers of turn {at} must not be empty; drop the question instead.")
    return Turn(question, tuple(answers))


class ReviewServer(PageServer):
    """Serves the page of a review on loopback.

    Args:
        review: What is read and edited.
        port: 0 takes a free one.
    """

    def __init__(self, review: Review, port: int = 0) -> None:
        super().__init__(review.page, "/questions", review.take, port, _MOST_BYTES)
