"""From the thumbs of a gateway to questions: what was found right is a reference, what was found wrong needs one."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import httpx2
from quelea_fintext.text import language_of

from quelea_evaluation.omni.questions import Question, Turn, question_id
from quelea_evaluation.reports.store import write_rows

TOPIC = "feedback"
TASK = "extractive"
"""Of the matrix; a thumb says nothing of the kind of question, so a person may set another in the file."""
QUESTIONS = "questions.jsonl"
TO_REVIEW = "to_review.jsonl"
_SECONDS = 60.0
_PAGE = 500
_MOST_PAGES = 10_000


class FeedbackError(Exception):
    """The gateway gave no thumbs, or the folder takes no files; the message says why."""


@dataclass(frozen=True)
class Exported:
    """What was written."""

    questions: int
    to_review: int
    replaced: int
    """Thumbs that a later one on the same question and answer replaced."""


def fetch(url: str, key: str = "") -> Iterator[dict[str, Any]]:
    """Every thumb of the key, newest first, a page at a time.

    Raises:
        FeedbackError: The gateway cannot be reached, refuses, or answers something else.
    """
    token: str | None = ""
    with _client(url, key) as client:
        for _ in range(_MOST_PAGES):
            try:
                answer = client.get("/v1/feedback", params={"page_size": _PAGE, "page_token": token or ""})
            except httpx2.HTTPError as error:
                raise FeedbackError(f"{url} does not answer: {error}") from error
            if answer.status_code != 200:
                raise FeedbackError(f"{url} answered {answer.status_code}: {_message(answer)}")
            try:
                page = answer.json()
                found, token = page["feedback"], page["next_page_token"]
            except (ValueError, KeyError, TypeError) as error:
                raise FeedbackError(f"{url} does not answer as a Quelea gateway does") from error
            yield from found
            if token is None:
                return
    raise FeedbackError(f"{url} has more than {_MOST_PAGES * _PAGE:,} thumbs")


def _client(url: str, key: str) -> httpx2.Client:
    """A proxy of the environment is for the world outside this machine."""
    try:
        host = httpx2.URL(url).host
    except httpx2.InvalidURL as error:
        raise FeedbackError(f"{url} is no address: {error}") from error
    if not host:
        raise FeedbackError(f"{url} is no address; use one such as http://127.0.0.1:8080")
    local = host in ("localhost", "::1") or host.startswith("127.")
    headers = {"Authorization": f"Bearer {key}"} if key else {}
    return httpx2.Client(base_url=url, headers=headers, timeout=_SECONDS, trust_env=not local)


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
    try:
        out.mkdir(parents=True, exist_ok=True)
        write_rows(out / QUESTIONS, questions)
        write_rows(out / TO_REVIEW, review)
    except OSError as error:
        raise FeedbackError(f"cannot write into {out}: {error.strerror}") from error
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
        "feedback_id": one["id"],
        "model": one["model"],
        "document_ids": one["document_ids"],
    }


def _message(answer: httpx2.Response) -> str:
    try:
        return str(answer.json()["error"]["message"])
    except (ValueError, KeyError, TypeError):
        return answer.text[:200]
