"""Runs of an arena: systems talk about every item, a judge judges every pair."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, TypeVar

from quelea_evaluation.arena.arena_folder import (
    DIALOGUES,
    JUDGE_KIND,
    JUDGEMENTS,
    TALK_KIND,
    Arena,
    count_statuses,
    dialogue_id,
    judgement_id,
    open_run,
)
from quelea_evaluation.arena.items import Bench, Item
from quelea_evaluation.arena.judge import VERSION as JUDGE_VERSION
from quelea_evaluation.arena.judge import Arrangement, judge_pair
from quelea_evaluation.arena.simulator import VERSION as TALK_VERSION
from quelea_evaluation.arena.simulator import hold_dialogue
from quelea_evaluation.arena.speakers import Speaker
from quelea_evaluation.endpoints.client import Address
from quelea_evaluation.endpoints.work import Liveness, run_all
from quelea_evaluation.inputs import BadInput
from quelea_evaluation.reports.store import Row, RowFile, RowIndex

T = TypeVar("T")
Done = Callable[[Row], None]


@dataclass(frozen=True)
class Going:
    """How a run goes, which changes no result."""

    at_once: int = 4
    resume: bool = False
    retry_failed: bool = False
    """Do again what failed; else a failure stands."""


def choose_items(bench: Bench, tasks: Sequence[str], ids: Sequence[int], most: int) -> list[Item]:
    """The items of these tasks with these ids (all where none is named), the first `most` of each task (0: all).

    Raises:
        BadInput: A task or an id is not in the bench.
    """
    for task in tasks:
        if task not in bench.tasks:
            raise BadInput(f"the bench has no task {task!r}; it has {', '.join(bench.tasks)}")
    known = {item.id for item in bench.items}
    if missing := [number for number in ids if number not in known]:
        raise BadInput(f"the bench has no item {missing[0]}; its ids are {min(known)} to {max(known)}")
    chosen = [i for i in bench.items if (not tasks or i.task in tasks) and (not ids or i.id in ids)]
    if not most:
        return chosen
    by_task = {task: [item for item in chosen if item.task == task] for task in bench.tasks}
    return [item for own in by_task.values() for item in own[:most]]


def talk(
    arena: Arena,
    name: str,
    items: Sequence[Item],
    make: Callable[[], tuple[Speaker | None, Speaker]],
    settings: dict[str, Any],
    bench: Bench,
    *,
    seed: int,
    going: Going,
    done: Done,
) -> dict[str, int]:
    """Dialogues of one system about these items; returns how many have which status.

    Args:
        arena: Where they go.
        name: The system's.
        items: What to talk about.
        make: Gives user and system; called inside the loop that they live in.
        settings: What the dialogues depend on.
        bench: Where the items are from.
        seed: Of every call.
        going: How the run goes.
        done: Told each dialogue.
    """
    folder = arena.system_folder(name)
    settings = {**settings, "seed": seed, "version": TALK_VERSION}
    with open_run(folder, TALK_KIND, settings, {"bench": bench.sha256}, resume=going.resume) as out:
        there = _finished(arena.dialogues(name), retry_failed=going.retry_failed)
        waiting = [item for item in items if dialogue_id(item.id) not in there]

        async def run() -> None:
            user, system = make()
            try:
                await _work_off(
                    waiting,
                    lambda item: hold_dialogue(item, user, system, name=name, seed=seed),
                    out.rows(DIALOGUES),
                    going.at_once,
                    done,
                )
            finally:
                await _close(user, system)

        asyncio.run(run())
    return count_statuses(arena.dialogues(name))


def judge(
    arena: Arena,
    name: str,
    bench: Bench,
    address: Address,
    how: Arrangement,
    *,
    make: Callable[[], Speaker],
    going: Going,
    done: Done,
) -> dict[str, int]:
    """Judgements of every pair on every item that one of the two talked about; returns how many have which status.

    Raises:
        BadInput: Fewer than two systems talked, or not about this bench.
    """
    if len(arena.systems) < 2:
        raise BadInput(f"a judge compares two systems; in {arena.path} there are {len(arena.systems)}")
    if arena.bench() != bench.sha256:
        raise BadInput("the systems talked about another bench; name theirs with --bench")
    settings = {"judge": address.text, "order": how.name, "version": JUDGE_VERSION}
    dialogues = {system: arena.dialogues(system) for system in arena.systems}
    data = {"bench": bench.sha256}
    with open_run(arena.judge_folder(name), JUDGE_KIND, settings, data, resume=going.resume) as out:
        there = _finished(arena.judgements(name), retry_failed=going.retry_failed)

        def units() -> Iterator[tuple[Item, str, str]]:
            for item in bench.items:
                for first, second in arena.pairs:
                    talked = any(dialogue_id(item.id) in dialogues[system] for system in (first, second))
                    if talked and judgement_id(item.id, first, second) not in there:
                        yield item, first, second

        async def run() -> None:
            speaker = make()

            async def compare(unit: tuple[Item, str, str]) -> Row:
                item, first, second = unit
                both = {system: dialogues[system].get(dialogue_id(item.id)) for system in (first, second)}
                return await judge_pair(item, both, speaker, how)

            try:
                await _work_off(units(), compare, out.rows(JUDGEMENTS), going.at_once, done)
            finally:
                await _close(speaker)

        asyncio.run(run())
    return count_statuses(arena.judgements(name))


async def _work_off(
    units: Iterable[T], work: Callable[[T], Awaitable[Row]], rows: RowFile, at_once: int, done: Done
) -> None:
    """Do every unit and append its row, in which `down` says that an endpoint could not be reached, `error` why.

    Raises:
        Gone: Too many were down in a row; their rows are written.
    """
    liveness = Liveness("mend it, then go on with --resume --retry-failed")

    async def do(unit: T) -> None:
        row = await work(unit)
        rows.append(row)
        done(row)
        if row["down"]:
            liveness.missed(str(row["error"]))
        else:
            liveness.succeeded()

    await run_all(units, do, at_once)


def _finished(lines: RowIndex, *, retry_failed: bool) -> set[str]:
    if not retry_failed:
        return set(lines)
    return {line["id"] for line in lines.latest() if line["status"] not in ("failed", "missing")}


async def _close(*speakers: Speaker | None) -> None:
    for speaker in speakers:
        if speaker is not None:
            await speaker.close()
