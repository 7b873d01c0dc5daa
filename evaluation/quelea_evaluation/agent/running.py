"""Every question as a run of the agent; a row for each that has ended."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Sequence
from typing import Any

from quelea_evaluation.agent.questions import AgentQuestion
from quelea_evaluation.endpoints.client import Client, EndpointError
from quelea_evaluation.endpoints.work import Liveness, run_all
from quelea_evaluation.reports.store import Row, RowFile

PATH = "/v1/agent/runs"
_ENDED = frozenset({"finished", "failed", "cancelled", "interrupted"})
_POLL_SECONDS = 1.0
_OF_THE_KEY = frozenset({401, 403})
"""Statuses that say nothing of a question: with another key it is answered."""
_ANSWER = ("text", "complete", "grounded", "missing", "withheld", "notices", "figures", "ended_by")
_USAGE = ("steps", "model_calls", "prompt_tokens", "completion_tokens", "calls", "repairs", "fallbacks", "seconds")


def is_final(row: Row) -> bool:
    """The row stays when the evaluation is taken up again: a run that finished, or a failure that would come again."""
    return not row.get("passing")


async def ask_all(
    questions: Sequence[AgentQuestion],
    client: Client,
    rows: RowFile,
    *,
    concurrency: int,
    seconds: float,
    limits: dict[str, float],
    model: str = "",
    on_progress: Callable[[int, int], None] = lambda done, failed: None,
) -> None:
    """Ask what has no final row yet.

    Args:
        client: A gateway.
        rows: Where the runs are written down.
        concurrency: Runs at a time.
        seconds: How long a run may take, its time in the queue included; one that takes longer is cancelled.
        limits: Of each run, as `limits` of POST /v1/agent/runs.
        model: Which of the gateway's models; empty: its own.
        on_progress: Told how many have a row, and how many of them failed.

    Raises:
        Gone: The gateway stopped answering.
    """
    done = rows.done(is_final)
    counts = [len(done), 0]
    liveness = Liveness()

    async def ask(question: AgentQuestion) -> None:
        body: dict[str, Any] = {"question": question.text, "limits": limits, "model": model}
        if question.as_of:
            body["as_of"] = question.as_of
        row: Row = {"id": question.id, "kind": question.kind}
        try:
            run = await _run(client, body, seconds)
        except EndpointError as error:
            liveness.failed(error)
            row |= {"error": str(error), "passing": error.passing or error.status in _OF_THE_KEY}
        else:
            liveness.succeeded()
            row |= _keep_of_run(run)
        rows.append(row)
        counts[0] += 1
        counts[1] += "error" in row
        on_progress(*counts)

    await run_all((one for one in questions if one.id not in done), ask, concurrency)
    liveness.check()


async def _run(client: Client, body: dict[str, Any], seconds: float) -> dict[str, Any]:
    end = time.monotonic() + seconds
    run, _ = await client.post(PATH, body)
    path = f"{PATH}/{run.get('id')}"
    while run.get("state") not in _ENDED:
        if time.monotonic() > end:
            await client.post(f"{path}/cancel", {})
            raise EndpointError(f"the run {run.get('id')} did not end within {seconds:g} s", passing=False)
        await asyncio.sleep(_POLL_SECONDS)
        run = await client.get(path)
    return run


def _keep_of_run(run: dict[str, Any]) -> Row:
    """What is kept of a run; its events, code and files stay with the gateway, under its id."""
    answer, usage = run.get("answer") or {}, run.get("usage") or {}
    row: Row = {
        "run": run["id"],
        "state": run["state"],
        "model": run.get("model", ""),
        "answer": {name: answer[name] for name in _ANSWER if name in answer} or None,
        "usage": {name: usage.get(name) for name in _USAGE},
    }
    if run["state"] != "finished":  # a gateway that was stopped says nothing of the question
        row |= {"error": run.get("error") or f"the run was {run['state']}", "passing": run["state"] != "failed"}
    return row
