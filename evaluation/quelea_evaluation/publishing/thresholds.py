"""The gate of a job: limits, and the last evaluation beside it that kept its own gate."""

from __future__ import annotations

from quelea_evaluation.inputs import BadInput
from quelea_evaluation.omni.reporting.comparison import find_breaches
from quelea_evaluation.publishing.shelf import Shelf
from quelea_evaluation.reports.store import Row

_SAME = ("system", "route", "model", "passages", "questions", "judges")
"""Of `run` in a result: what must be the same for two of them to be compared."""


def hold_thresholds(shelf: Shelf, evaluation_id: str, thresholds: Row) -> tuple[str, list[str]]:
    """Hold a finished evaluation against limits and the last one like it; what is found is noted in its state.

    One that did not keep its gate is no measure for the next: else the same fall would pass the second time.

    Args:
        shelf: Where evaluations are.
        evaluation_id: Of one that succeeded, of kind omni.
        thresholds: See `read_thresholds`.

    Returns:
        The id of the evaluation that it was held against ("": there is none), and a sentence for each breach.

    Raises:
        BadInput: It has no result.
    """
    now = shelf.read(evaluation_id, "result")
    if now is None:
        raise BadInput(f"{evaluation_id} has no result, so no gate can be held against it")
    last = _last_like(shelf, evaluation_id, now)
    breaches = find_breaches(thresholds, now, shelf.read(last, "result") if last else None)
    told = shelf.read(evaluation_id, "state") or {}
    error = f"gate: {'; '.join(breaches)}" if breaches else None
    shelf.write(evaluation_id, "state", {**told, "error": error, "gate": {"beside": last, "breaches": breaches}})
    return last, breaches


def _last_like(shelf: Shelf, evaluation_id: str, now: Row) -> str:
    for one in reversed([older for older in shelf.ids() if older < evaluation_id]):
        told = shelf.read(one, "state") or {}
        if told.get("state") != "succeeded" or (told.get("gate") or {}).get("breaches"):
            continue
        result = shelf.read(one, "result") or {}
        if result.get("format") == now.get("format") and _of(result) == _of(now):
            return one
    return ""


def _of(result: Row) -> Row:
    return {name: (result.get("run") or {}).get(name) for name in _SAME}
