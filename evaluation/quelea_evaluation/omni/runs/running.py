"""`quelea eval omni run`: every question to a system, conversations turn by turn, one row for each question."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import asdict, dataclass
from typing import Any

from quelea_evaluation.endpoints.client import EndpointError
from quelea_evaluation.endpoints.work import Liveness, run_all
from quelea_evaluation.omni.questions.model import Question
from quelea_evaluation.omni.runs.systems import System
from quelea_evaluation.reports.store import RowFile


@dataclass
class Progress:
    """What a run has done so far."""

    done: int = 0
    before: int = 0
    failures: int = 0


def is_final(row: dict[str, Any]) -> bool:
    """The row stays at a resumption: an answer, or a failure that would come again."""
    return not row.get("passing")


async def ask_all(
    questions: Iterable[Question],
    system: System,
    rows: RowFile,
    concurrency: int,
    on_progress: Callable[[Progress], None] = lambda _: None,
) -> Progress:
    """Ask what has no row yet; each answer is in the file before the next question of its worker goes out.

    A question whose turn failed has a row with `error`, and counts. One that failed for a reason that may pass
    (unreachable, busy, too slow) is asked again when the run is taken up again.

    Raises:
        Gone: The system stopped answering.
    """
    done = rows.done(is_final)
    progress = Progress(before=len(done))
    liveness = Liveness()

    async def ask(question: Question) -> None:
        row = await _row(question, system, liveness)
        rows.append(row)
        progress.done += 1
        progress.failures += "error" in row
        on_progress(progress)

    await run_all((one for one in questions if one.id not in done), ask, concurrency)
    liveness.check()
    return progress


async def _row(question: Question, system: System, liveness: Liveness) -> dict[str, Any]:
    row: dict[str, Any] = {"id": question.id, "topic": question.topic, "task": question.task, "turns": []}
    said: list[str] = []
    for turn in range(len(question.turns)):
        try:
            answer = await system.answer(question, turn, said)
        except EndpointError as error:
            liveness.failed(error)
            return {**row, "error": str(error), "passing": error.passing}
        liveness.succeeded()
        said.append(answer.text)
        told = asdict(answer)
        for name in ("retrieved", "documents"):
            passages = getattr(answer, name)
            told[name] = None if passages is None else [{"id": one.id, **asdict(one)} for one in passages]
        row["turns"].append(told)
    return row
