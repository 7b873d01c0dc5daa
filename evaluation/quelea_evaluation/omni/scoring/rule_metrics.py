"""Rule metrics of one answer under all their names, and the choice that OmniEval's code or its paper makes of them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from quelea_evaluation.metrics import answers, retrieved
from quelea_evaluation.omni.scoring.cases import Case

COMPAT = "omnieval"

PAPER: Mapping[str, str] = {
    "em": "em_max",
    "f1": "f1_token",
    "rouge1": "rouge1",
    "rouge2": "rouge2",
    "rougeL": "rougeL",
    "map": "map_relevant",
    "mrr": "mrr",
}
"""What a plain name means: the paper's definitions."""

CODE: Mapping[str, str] = {**PAPER, "em": "em_mean", "f1": "f1_char", "map": "map_retrieved"}
"""What a plain name means with `--compat omnieval`: what the published code computes."""


def measure_answer(answer: str, references: Sequence[str]) -> dict[str, float]:
    """Every measure of the text by its full name, 0 to 1."""
    rouge = answers.rouge(answer, references)
    return {
        "em_max": answers.em_max(answer, references),
        "em_mean": answers.em_mean(answer, references),
        "f1_token": answers.f1_token(answer, references),
        "f1_char": answers.f1_char(answer, references),
        "rouge1": rouge.rouge1,
        "rouge2": rouge.rouge2,
        "rougeL": rouge.rouge_l,
    }


def measure_retrieval(found: Sequence[str], relevant: Sequence[str]) -> dict[str, float]:
    """Every measure of the retrieval by its full name, 0 to 1."""
    wanted = frozenset(relevant)
    return {
        "map_relevant": retrieved.map_relevant(found, wanted),
        "map_retrieved": retrieved.map_retrieved(found, wanted),
        "mrr": retrieved.reciprocal_rank(found, wanted),
    }


def score_case(case: Case) -> dict[str, float | None]:
    """All measures of a case by full name; those of retrieval are None where nothing says what was retrieved."""
    values: dict[str, float | None] = dict(measure_answer(case.answer, case.references))
    if case.retrieved is None or case.relevant is None:
        return {**values, "map_relevant": None, "map_retrieved": None, "mrr": None}
    return {**values, **measure_retrieval(case.retrieved, case.relevant)}


def score(cases: Iterable[Case], compat: bool, tolerance: float = 1e-9) -> dict[str, Any]:
    """The result file of `quelea eval omni score`.

    A plain name (`em`, `f1`, `map`) means the paper's definition, or with `compat` that of the published code; each
    case and the mean have all measures besides, under `measures`, by the full names. The mean is over the cases for
    which a value exists; `counted` says how many these are.
    """
    chosen = CODE if compat else PAPER
    rows: list[dict[str, Any]] = []
    different: list[dict[str, Any]] = []
    compared = 0
    for case in cases:
        full = score_case(case)
        plain = {name: full[of] for name, of in chosen.items()}
        rows.append({"name": case.name, **plain, "measures": full})
        for name, wanted in case.expected.items():
            got = plain[name]
            compared += 1
            if got is None or abs(got - wanted) > tolerance:
                different.append({"name": case.name, "measure": name, "expected": wanted, "got": got})
    return {
        "format": "quelea.omni.score/1",
        "compat": COMPAT if compat else None,
        "definitions": dict(chosen),
        "n": len(rows),
        **_means(rows, chosen),
        "expected": {"compared": compared, "different": different},
        "cases": rows,
    }


def _means(rows: Sequence[dict[str, Any]], chosen: Mapping[str, str]) -> dict[str, Any]:
    full: dict[str, float | None] = {}
    counted: dict[str, int] = {}
    for name in rows[0]["measures"] if rows else ():
        values = [row["measures"][name] for row in rows if row["measures"][name] is not None]
        counted[name] = len(values)
        full[name] = sum(values) / len(values) if values else None
    plain = {name: full.get(of) for name, of in chosen.items()}
    return {"mean": {**plain, "measures": full}, "counted": counted}
