"""Questions for the agent, and what a right answer says.

Our own form is a JSON object a line: `{"id", "kind", "question"}`, with `figures`, each a number that must be stated at
any scale or rounding, as text in full ("81797000000", "-25.93%"); `says`, things that must be said, each as its
acceptable wordings; or `"absent": true` where the stored documents do not have it and the run must say so. `as_of` is
the day of the question, YYYY-MM-DD.

vals.ai's public questions of its Finance Agent benchmark (data/public.csv of github.com/vals-ai/finance-agent) are
read as they are: columns `Question`, `Answer`, `Question Type`, and `Rubric`, a JSON list of `{"operator",
"criteria"}`. They carry no licence, so none of them is here.
"""

from __future__ import annotations

import csv
import json
from collections.abc import Mapping
from dataclasses import dataclass
from decimal import Decimal, InvalidOperation
from pathlib import Path
from typing import Any

from quelea_evaluation.inputs import BadInput, read_rows, show
from quelea_evaluation.reports.store import hash_text

SHAPE = "a JSON object with “id”, “kind”, “question” and one of “figures”, “says”, “absent”"
CONTRADICTION = "contradiction"
_LONGEST_FIELD = 1_000_000
"""Characters of a field of a CSV file; rubrics repeat whole answers."""
_MOST_CRITERIA = 60


@dataclass(frozen=True)
class Figure:
    """A number that must be stated; a share is in percent."""

    value: Decimal
    is_percent: bool = False


@dataclass(frozen=True)
class Criterion:
    """A point of a rubric, for a judge: the answer must say it, or must not contradict it."""

    text: str
    is_contradiction: bool = False


@dataclass(frozen=True)
class AgentQuestion:
    """A question with its key; see the module."""

    id: str
    kind: str
    text: str
    as_of: str = ""
    figures: tuple[Figure, ...] = ()
    says: tuple[tuple[str, ...], ...] = ()
    absent: bool = False
    rubric: tuple[Criterion, ...] = ()


def read_questions(path: Path) -> list[AgentQuestion]:
    """A file of questions, .jsonl of ours or vals.ai's .csv.

    Raises:
        BadInput: It cannot be read, a line is of neither form, two have one id, or there are none.
    """
    csv.field_size_limit(_LONGEST_FIELD)
    is_table = path.suffix.lower() == ".csv"
    found: dict[str, AgentQuestion] = {}
    for number, row in read_rows(path, SHAPE):
        try:
            one = _of_rubric(row) if is_table else _of_ours(row)
        except (KeyError, TypeError, ValueError, InvalidOperation) as error:
            shape = "a row with “Question” and “Answer” or “Rubric”" if is_table else SHAPE
            raise BadInput(f"{path}, line {number} must be {shape}, got {show(row)} ({error})") from error
        if one.id in found:
            raise BadInput(f"{path}, line {number}: there are two questions of the id {one.id}")
        found[one.id] = one
    if not found:
        raise BadInput(f"{path} holds no questions")
    return list(found.values())


def _of_ours(row: Mapping[str, Any]) -> AgentQuestion:
    one = AgentQuestion(
        id=str(row["id"]),
        kind=str(row["kind"]),
        text=_text(row["question"]),
        as_of=str(row.get("as_of", "")),
        figures=tuple(_figure(str(each)) for each in row.get("figures", ())),
        says=tuple(tuple(str(wording) for wording in each) for each in row.get("says", ())),
        absent=bool(row.get("absent", False)),
    )
    if bool(one.figures or one.says) == one.absent:
        raise ValueError("it needs a key, and only one")
    return one


def _figure(text: str) -> Figure:
    is_percent = text.endswith("%")
    value = Decimal(text.removesuffix("%"))
    if not value.is_finite():
        raise ValueError(f"{text} is no figure")
    return Figure(value, is_percent)


def _of_rubric(row: Mapping[str, Any]) -> AgentQuestion:
    text = _text(row["Question"])
    given = (row.get("Rubric") or "").strip()
    points = json.loads(given) if given else [{"operator": "correctness", "criteria": _text(row["Answer"])}]
    if not isinstance(points, list) or not 0 < len(points) <= _MOST_CRITERIA:
        raise ValueError(f"a rubric must be a list of 1 to {_MOST_CRITERIA} criteria")
    rubric = tuple(Criterion(_text(one["criteria"]), one.get("operator") == CONTRADICTION) for one in points)
    return AgentQuestion(hash_text(text)[:12], (row.get("Question Type") or "other").strip(), text, rubric=rubric)


def _text(given: Any) -> str:
    if not isinstance(given, str) or not given.strip():
        raise ValueError("a text is missing")
    return given.strip()
