"""What answers and verdicts took: tokens, and their cost where prices are known."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from quelea_evaluation.endpoints.prices import Prices
from quelea_evaluation.reports.store import Row, RowFile


def spent_on_answers(answers: RowFile, settings: Mapping[str, Any], prices: Prices) -> Row:
    """`prompt_tokens`, `completion_tokens`, `uncounted` (replies of which the endpoint told no tokens) and `cost`.

    All None for Quelea, which tells no tokens; the cost is None, too, where a reply was not counted.
    """
    model = settings.get("model")
    if not model:
        return dict.fromkeys(("prompt_tokens", "completion_tokens", "uncounted", "cost"))
    return _sum((turn for answer in answers.latest() for turn in answer["turns"]), str(model), prices)


def spent_on_verdicts(verdicts: RowFile, judge: str, prices: Prices) -> Row:
    """The same of a judge's verdicts."""
    return _sum(verdicts.latest(), judge, prices)


def _sum(rows: Iterable[Row], model: str, prices: Prices) -> Row:
    prompt = completion = uncounted = 0
    for row in rows:
        prompt += row["prompt_tokens"]
        completion += row["completion_tokens"]
        uncounted += bool(row.get("text")) and not row["prompt_tokens"]
    cost = None if uncounted else prices.cost(model, prompt, completion)
    return {"prompt_tokens": prompt, "completion_tokens": completion, "uncounted": uncounted, "cost": cost}
