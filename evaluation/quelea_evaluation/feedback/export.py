"""From the thumbs of a gateway to questions: what was found right is a reference, what was found wrong needs one."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from quelea_fintext.text import language_of

from quelea_evaluation.endpoints.client import Client
from quelea_evaluation.omni.questions.model import Question, Turn, question_id
from quelea_evaluation.reports.store import write_rows

TOPIC = "feedback"
TASK = "extractive"
"""Of the matrix; a thumb says nothing of the kind of question, so a person may set another in the file."""
QUESTIONS = "questions.jsonl"
TO_REVIEW = "to_review.jsonl"
_SECONDS = 60.0


@dataclass(frozen=True)
class Exported:
    """What was written."""

    questions: int
    to_review: int
    replaced: int
    """Thumbs that a later one on the same question and answer replaced."""


async def fetch(url: str, key: str = "") -> list[dict[str, Any]]:
    """Every thumb of the key, newest first.

    Raises:
        EndpointError: The gateway cannot be reached, refuses, or answers something else.
    """
    async with Client(url, key, _SECONDS) as gateway:
        return [one async for one in gateway.each("/v1/feedback", "feedback", 500)]


def export(thumbs: Iterable[dict[str, Any]], out: Path) -> Exported:
    """Write `questions.jsonl`, which `quelea eval omni run` takes, and `to_review.jsonl` into a folder.

    Args:
        thumbs: Newest first; of several on the same question and answer the newest counts.
        out: Made when it is not there; files of an earlier export are replaced.
    """
    newest: dict[tuple[str, str], dict[str, Any]] = {}
    given = 0
    for one in thumbs:
        given += 1
        newest.setdefault((one["question"], one["answer"]), one)
    answers: dict[str, list[dict[str, Any]]] = {}
    review = []
    for one in reversed(newest.values()):
        if one["thumb"] == "up":
            answers.setdefault(one["question"], []).append(one)
        else:
            review.append(_to_review(one))
    questions = [_question(question, own).as_row() for question, own in answers.items()]
    out.mkdir(parents=True, exist_ok=True)
    write_rows(out / QUESTIONS, questions)
    write_rows(out / TO_REVIEW, review)
    return Exported(len(questions), len(review), given - len(newest))


def _question(question: str, found: list[dict[str, Any]]) -> Question:
    turns = (Turn(question, tuple(one["answer"] for one in found)),)
    return Question(
        id=question_id(TOPIC, TASK, turns, ()),
        topic=TOPIC,
        task=TASK,
        language=language_of(question),
        turns=turns,
        passages=(),
        source={"feedback": [{n: one[n] for n in one if n not in ("question", "answer")} for one in found]},
    )


def _to_review(one: dict[str, Any]) -> dict[str, Any]:
    """A question whose right answer a person writes."""
    return {"question": one["question"], "right_answer": "", "wrong_answer": one["answer"], "why": one["why"]} | {
        "reasons": one.get("reasons", []),  # gateways before them have none
        "feedback_id": one["id"],
        "model": one["model"],
        "document_ids": one["document_ids"],
    }
