"""Answers to be scored, read from a file: a JSON list, `{"cases": […]}`, or a JSON object a line.

A case is `{"name"?, "pred", "golds", "retrieved"?, "relevant"?}`. The rows of OmniEval's own prediction files are read
as well: `golden_answers`, `output.pred`, `output.retrieval_result[].id`, `relevant_node`.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from quelea_evaluation.inputs import BadInput, read_rows

VALUES = ("em", "f1", "rouge1", "rouge2", "rougeL", "map", "mrr")
"""Names under which a file may state what a case's values should be."""


@dataclass(frozen=True)
class Case:
    """One answer with its references, and the ids that were retrieved and that are relevant where they are known."""

    name: str
    answer: str
    references: tuple[str, ...]
    retrieved: tuple[str, ...] | None = None
    relevant: tuple[str, ...] | None = None
    expected: Mapping[str, float] = field(default_factory=dict)


def read_cases(path: Path) -> list[Case]:
    """The cases of a file, in its order.

    Raises:
        BadInput: The file cannot be read, holds no cases, or a field is missing or of another kind.
    """
    try:
        text = path.read_text(encoding="utf-8-sig")
    except (OSError, UnicodeDecodeError) as error:
        raise BadInput(f"{path} cannot be read: {error}") from error
    rows = _rows(path, text)
    if not rows:
        raise BadInput(f'{path} holds no cases; one is {{"pred": text, "golds": [text, …]}}')
    return [_case(f"{path.name}: cases[{at}]", at, row) for at, row in enumerate(rows)]


def _rows(path: Path, text: str) -> list[Any]:
    try:
        document = json.loads(text)
    except ValueError as error:
        if len(text.split("\n", 2)) < 2:  # one line that is no JSON is a broken document, several may be JSONL
            raise BadInput(f"{path} is no JSON: {error}") from error
        return [row for _, row in read_rows(path, "an object with pred and golds")]
    if isinstance(document, dict) and "cases" in document:
        document = document["cases"]
    elif isinstance(document, dict):
        document = [document]
    if not isinstance(document, list):
        raise BadInput(f'{path}: cases must be a list, or an object with the field "cases", got {_kind(document)}')
    return document


def _case(place: str, at: int, row: Any) -> Case:  # JSON
    if not isinstance(row, dict):
        raise BadInput(f"{place} must be an object, got {_kind(row)}")
    output = row.get("output")
    own = output if isinstance(output, dict) else {}
    answer = _first(row, ("pred", "prediction"), own.get("pred"))
    if not isinstance(answer, str):
        raise BadInput(f"{place}.pred must be a text, got {_kind(answer)}")
    references = _first(row, ("golds", "golden_answers", "answer"), None)
    results = own.get("retrieval_result")
    found = [one.get("id") if isinstance(one, dict) else one for one in results] if isinstance(results, list) else None
    retrieved = _first(row, ("retrieved", "retrieved_ids"), found)
    relevant = _first(row, ("relevant", "relevant_ids", "relevant_node"), None)
    name = row.get("name", row.get("id"))
    return Case(
        name=str(at if name is None else name),
        answer=answer,
        references=_texts(f"{place}.golds", references),
        retrieved=None if retrieved is None else _ids(f"{place}.retrieved", retrieved),
        relevant=None if relevant is None else _ids(f"{place}.relevant", relevant),
        expected={name: _number(f"{place}.{name}", row[name]) for name in VALUES if row.get(name) is not None},
    )


def _first(row: dict[str, Any], names: Iterable[str], otherwise: Any) -> Any:  # JSON
    return next((row[name] for name in names if row.get(name) is not None), otherwise)


def _texts(place: str, value: Any) -> tuple[str, ...]:  # JSON
    if isinstance(value, str):
        return (value,)
    if not isinstance(value, list) or not all(isinstance(one, str) for one in value):
        wrong = next((f"[{i}]" for i, one in enumerate(value) if not isinstance(one, str)), "") if value else ""
        raise BadInput(f"{place}{wrong} must be a list of texts, got {_kind(value)}")
    return tuple(value)


def _ids(place: str, value: Any) -> tuple[str, ...]:  # JSON
    listed = value if isinstance(value, list) else [value]
    for at, one in enumerate(listed):
        if not isinstance(one, (str, int)) or isinstance(one, bool):
            raise BadInput(f"{place}[{at}] must be an id, got {_kind(one)}")
    return tuple(str(one) for one in listed)


def _number(place: str, value: Any) -> float:  # JSON
    if not isinstance(value, (int, float)) or isinstance(value, bool):
        raise BadInput(f"{place} must be a number, got {_kind(value)}")
    return float(value)


def _kind(value: Any) -> str:  # JSON
    return "nothing" if value is None else type(value).__name__
