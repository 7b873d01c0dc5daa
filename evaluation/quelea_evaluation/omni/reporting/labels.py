"""People's labels from a file, and how far judges agree with them.

A label is {"question", "aspect", "label", "turn"? (from 1), "rater"?, "judge"?}: `label` is a number of the aspect's
scale. With `judge`, the number that a judge gave to the same answer (empty where it gave none), the file stands alone;
without, the verdicts of a run are looked up.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from quelea_evaluation.inputs import BadInput, read_rows
from quelea_evaluation.judging.agreement import agreement
from quelea_evaluation.omni.reporting.report import Run
from quelea_evaluation.omni.scoring.judges import ASPECTS
from quelea_evaluation.reports.store import Row

_SHAPE = 'an object {"question", "aspect", "label"}; or the file is a .csv with these columns'
_SCALES = {name: aspect for aspect in ASPECTS for name in (aspect.id, aspect.short.lower())}


@dataclass(frozen=True)
class Label:
    """One person's word on one aspect of one answer.

    Args:
        judge: The judge's number; None where it gave none.
        has_judge: The file says what the judge gave.
    """

    question: str
    turn: int
    aspect: str
    label: int
    judge: int | None
    has_judge: bool


def read_labels(path: Path) -> list[Label]:
    """The labels of a CSV or JSONL file.

    Raises:
        BadInput: The file cannot be read, holds none, or a field is missing or of another kind.
    """
    found = [_label(f"{path.name}, row {at}", row) for at, (_, row) in enumerate(read_rows(path, _SHAPE), 1)]
    if not found:
        raise BadInput(f"{path} holds no labels")
    return found


def _label(place: str, row: Row) -> Label:
    question = str(row.get("question") or row.get("id") or "")
    if not question:
        raise BadInput(f"{place}: question must be the id of a question")
    named = str(row.get("aspect") or row.get("metric") or "").lower()
    aspect = _SCALES.get(named)
    if aspect is None:
        raise BadInput(f"{place}: aspect must be one of {', '.join(one.id for one in ASPECTS)}, got {named!r}")
    said = row.get("label", row.get("human"))
    label = _number(f"{place}: label", said)
    if label not in aspect.scale:
        raise BadInput(f"{place}: label of {aspect.id} must be one of {aspect.scale}, got {said!r}")
    given = row.get("judge")
    judge = None if given in (None, "") else _number(f"{place}: judge", given)
    turn = row.get("turn")
    return Label(
        question=question,
        turn=1 if turn in (None, "") else _number(f"{place}: turn", turn),
        aspect=aspect.id,
        label=label,
        judge=judge if judge in aspect.scale else None,
        has_judge="judge" in row,
    )


def _number(place: str, value: Any) -> int:
    try:
        number = float(value)
    except (TypeError, ValueError) as error:
        raise BadInput(f"{place} must be a whole number, got {value!r}") from error
    if not number.is_integer():
        raise BadInput(f"{place} must be a whole number, got {value!r}")
    return int(number)


def measure_agreement(labels: Sequence[Label], run: Run | None) -> list[Row]:
    """For each judge every aspect, then all of them (`aspect` "all"); a person's label counts once each.

    Raises:
        BadInput: The labels hold no judge's numbers and no run is given, or nothing of the run was labelled.
    """
    judges: dict[str, list[tuple[Label, int | None]]] = {}
    if run is None:
        if not any(one.has_judge for one in labels):
            raise BadInput("The labels hold no numbers of a judge: name the judged run with --run.")
        judges[""] = [(one, one.judge) for one in labels]
    else:
        for judge, rows in run.verdict_files().items():
            said = {(row["question"], row["turn"] + 1, row["aspect"]): row["value"] for row in rows}
            paired = [(one, said.get((one.question, one.turn, one.aspect), "none")) for one in labels]
            judges[judge] = [(one, value) for one, value in paired if value != "none"]
    found: list[Row] = []
    for judge, pairs in judges.items():
        for aspect in (*(one.id for one in ASPECTS), "all"):
            chosen = [(one, value) for one, value in pairs if aspect in (one.aspect, "all")]
            measured = agreement([one.label for one, _ in chosen], [value for _, value in chosen])
            if measured is not None:
                found.append({"judge": judge, "aspect": aspect, **asdict(measured)})
    if not found:
        raise BadInput("No label is of an answer that a judge gave a verdict on.")
    return found
