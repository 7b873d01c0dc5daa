"""Work of many items at once, each written down when it is done."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Iterable
from typing import TypeVar

from quelea_evaluation.arena.errors import ArenaError
from quelea_evaluation.arena.json_lines import Line
from quelea_evaluation.reports.store import RowFile

MOST_AT_ONCE = 64
MOST_DOWN = 10
"""Calls in a row that reached nobody, after which a run stops: time and money would go to nothing."""

T = TypeVar("T")


async def work_off(
    units: Iterable[T],
    work: Callable[[T], Awaitable[Line]],
    rows: RowFile,
    *,
    at_once: int,
    done: Callable[[Line], None] = lambda line: None,
    most_down: int = MOST_DOWN,
) -> None:
    """Do every unit and append its line; a kill loses what is under way and nothing else.

    Args:
        units: Taken one at a time, so they need not fit in memory.
        work: Makes a line of a unit; `down` in it says that an endpoint could not be reached, `error` what happened.
        rows: Where lines go; closed at the end.
        at_once: How many units are under way, at most.
        done: Told each line.
        most_down: So many units in a row that were down end the run.

    Raises:
        ArenaError: Too many were down in a row; their lines are written.
    """
    waiting = iter(units)
    in_a_row = 0

    async def worker() -> None:
        nonlocal in_a_row
        for unit in waiting:
            line = await work(unit)
            rows.append(line)
            done(line)
            in_a_row = in_a_row + 1 if line["down"] else 0
            if in_a_row >= most_down:
                raise ArenaError(
                    f"stopped after {in_a_row} failures in a row, the last: {line['error']}. "
                    "Mend it, then go on with --resume --retry-failed"
                )

    tasks = [asyncio.create_task(worker()) for _ in range(at_once)]
    try:
        await asyncio.gather(*tasks)
    finally:
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        rows.close()
