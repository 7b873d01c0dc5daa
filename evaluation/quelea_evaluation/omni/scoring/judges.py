"""`quelea eval omni judge`: accuracy, completeness, use of documents, hallucination and figures, by language models.

The scales are those of OmniEval's code. A verdict that cannot be read is asked for once more and then counted as
failed: it is in no mean and in its own column.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from quelea_evaluation.endpoints.chat import Chat, Reply, Sampling, Unparseable, parse_object
from quelea_evaluation.endpoints.client import EndpointError
from quelea_evaluation.endpoints.work import Liveness, run_all
from quelea_evaluation.omni.matrix import LANGUAGES
from quelea_evaluation.omni.prompts import load_prompts
from quelea_evaluation.omni.questions.model import Question, passage_of
from quelea_evaluation.omni.runs.systems import as_text
from quelea_evaluation.reports.store import Row, RowFile, hash_json


@dataclass(frozen=True)
class Aspect:
    """One model metric.

    Args:
        scale: What the judge may say.
        divisor: A verdict over this is the value, 0 to 1.
        not_applicable: The verdict that says the aspect does not apply; it is in no mean.
        needs_documents: Judged only where the system had documents to read.
        lower_is_better: Of hallucination.
    """

    id: str
    short: str
    scale: tuple[int, ...]
    divisor: int
    not_applicable: int | None = None
    needs_documents: bool = False
    lower_is_better: bool = False


ASPECTS = (
    Aspect("accuracy", "ACC", (0, 1, 2), 2),
    Aspect("completeness", "COM", (-1, 0, 1, 2), 2, not_applicable=-1),
    Aspect("utilization", "UTL", (0, 1, 2), 2, needs_documents=True),
    Aspect("hallucination", "HAL", (0, 1), 1, needs_documents=True, lower_is_better=True),
    Aspect("numerical_accuracy", "NAC", (-1, 0, 1), 1, not_applicable=-1),
)


@dataclass(frozen=True)
class Task:
    """One verdict to be given."""

    key: str
    question: Question
    turn: int
    aspect: Aspect
    answer: str
    documents: str


def schema_of(aspect: Aspect) -> Mapping[str, Any]:
    """JSON schema of a verdict."""
    return {
        "type": "object",
        "properties": {"reason": {"type": "string"}, "prediction": {"type": "integer", "enum": list(aspect.scale)}},
        "required": ["reason", "prediction"],
        "additionalProperties": False,
    }


def read_verdict(text: str, aspect: Aspect) -> int:
    """The number that a judge chose.

    Raises:
        Unparseable: No JSON object, no `prediction` (or field with the aspect's name), or not a number of the scale.
    """
    found = parse_object(text)
    value = found.get("prediction", found.get(aspect.id))
    if not isinstance(value, int) or isinstance(value, bool) or value not in aspect.scale:
        raise Unparseable(f"prediction must be one of {aspect.scale}, got {value!r}")
    return value


def verdict_key(question_id: str, turn: int, aspect: str, answer: str) -> str:
    """Question, turn, aspect and the answer's hash: a verdict on another answer is another verdict."""
    return f"{question_id}:{turn}:{aspect}:{hash_json(answer)[:12]}"


def tasks_of(question: Question, answer: Row, aspects: Iterable[Aspect]) -> Iterator[Task]:
    """The verdicts that an answered question needs; none where the system failed."""
    if "error" in answer:
        return
    for turn, told in enumerate(answer["turns"]):
        passages = [passage_of("documents", one) for one in told.get("documents") or ()]
        documents = as_text(passages)
        # Those that read the documents last: the text before the aspect is then read twice, and not at every change.
        for aspect in sorted(aspects, key=lambda one: one.needs_documents):
            if passages or not aspect.needs_documents:
                key = verdict_key(question.id, turn, aspect.id, told["text"])
                yield Task(key, question, turn, aspect, told["text"], documents)


async def judge_all(
    tasks: Iterable[Task],
    chat: Chat,
    rows: RowFile,
    concurrency: int,
    on_progress: Callable[[int, int], None] = lambda _done, _failed: None,
) -> tuple[int, int]:
    """Give every verdict that has no row yet; returns how many were given and how many of them failed.

    Raises:
        Gone: The judge stopped answering.
    """
    done = rows.done(lambda row: not row.get("passing"))
    liveness = Liveness()
    given = failed = 0

    async def judge(task: Task) -> None:
        nonlocal given, failed
        row = await _verdict(task, chat, liveness)
        rows.append(row)
        given += 1
        failed += row["status"] != "given"
        on_progress(given, failed)

    await run_all((one for one in tasks if one.key not in done), judge, concurrency)
    liveness.check()
    return given, failed


async def _verdict(task: Task, chat: Chat, liveness: Liveness) -> Row:
    prompts = load_prompts(next((one for one in LANGUAGES if one == task.question.language), "en"))
    turn = task.question.turns[task.turn]
    before = [one.question for one in task.question.turns[: task.turn]]
    messages = prompts.messages(
        "judge",
        "with_documents" if task.aspect.needs_documents else "user",
        aspect=prompts.text("aspects", task.aspect.id),
        question="\n".join([*before, turn.question]),
        references="\n".join(turn.answers),
        answer=task.answer,
        documents=task.documents,
    )
    row: Row = {
        "id": task.key,
        "question": task.question.id,
        "turn": task.turn,
        "aspect": task.aspect.id,
        "judge": chat.model,
        "prompt_version": prompts.version,
        "prompt_tokens": 0,
        "completion_tokens": 0,
    }
    problem = ""
    for attempt in (1, 2):
        try:
            sampling = Sampling(seed=attempt - 1)
            reply = await chat.complete(messages, schema=schema_of(task.aspect), max_tokens=512, sampling=sampling)
        except EndpointError as error:
            liveness.failed(error)
            return {**row, "status": "failed", "value": None, "problem": str(error), "passing": error.passing}
        liveness.succeeded()
        row["prompt_tokens"] += reply.prompt_tokens
        row["completion_tokens"] += reply.completion_tokens
        try:
            value = read_verdict(reply.text, task.aspect)
        except Unparseable as error:
            problem = _why(error, reply)
            continue
        return {**row, "status": "given", "value": value, "attempts": attempt, "text": reply.text}
    return {**row, "status": "unparseable", "value": None, "attempts": 2, "problem": problem}


def _why(error: Unparseable, reply: Reply) -> str:
    return f"{error} (cut at the limit of tokens)" if reply.finish_reason == "length" else str(error)
