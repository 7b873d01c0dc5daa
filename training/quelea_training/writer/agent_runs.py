"""FinVerse's sub-tasks (arXiv 2406.06379) from recorded runs of the agent that ended well (docs/trajectories.md)."""

from __future__ import annotations

import unicodedata
from collections import Counter
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

from quelea_evaluation.inputs import BadInput
from quelea_evaluation.reports.store import RowFile

from quelea_training.pairs.model import Passage
from quelea_training.pairs.splits import split_of
from quelea_training.writer.model import Sample, Task

SOURCE = "agent runs"
_TASKS: dict[str, Task] = {"plan": "plan", "action": "action", "code": "code", "answer": "answer"}
_GOOD = frozenset({"ok", "grounded"})
_ENDED_WELL = ("answer", "grounded")
_SHORTEST, _SHOWN = 80, 200
"""Characters of a passage that tell it from others, and how many are looked for."""


def samples_of(
    folder: Path, licence: str, test: Iterable[Passage], *, seed: int, dev: float, test_share: float
) -> tuple[list[Sample], Counter[str]]:
    """What was asked and answered in runs whose conclusion was grounded, and how many others were left out.

    Args:
        folder: Of `QUELEA_GATEWAY_TRAJECTORIES`.
        licence: Of the questions and documents in it.
        test: Passages of documents that models are tested with: what quotes one is left out of training.
        seed: Of the split, which keeps a run whole.
        dev: Share of runs to develop on.
        test_share: Share to test on.

    Raises:
        BadInput: There are no recordings.
        BadRun: A line is no JSON object.
    """
    files = sorted(folder.glob("*.jsonl"))
    if not files:
        raise BadInput(
            f"{folder} has no recordings (*.jsonl); the gateway writes them with QUELEA_GATEWAY_TRAJECTORIES"
        )
    runs: dict[str, list[dict[str, Any]]] = {}
    for file in files:
        for row in RowFile(file, "run"):
            runs.setdefault(str(row.get("run", "")), []).append(row)
    held = [_bare(one.text)[:_SHOWN] for one in test if len(one.text) >= _SHORTEST]
    found: dict[str, Sample] = {}
    dropped: Counter[str] = Counter()
    for run, rows in runs.items():
        if not any((row.get("subtask"), row.get("outcome")) == _ENDED_WELL for row in rows):
            dropped["steps of runs that did not end well"] += len(rows)
            continue
        split = split_of(f"run {run}", seed, dev, test_share)
        for row in rows:
            task = _TASKS.get(str(row.get("subtask")))
            if task is None or row.get("outcome") not in _GOOD or not row.get("messages") or not row.get("output"):
                dropped["steps that failed, or were repeated"] += 1
            elif split != "test" and _quotes(row["messages"], held):
                dropped["steps that quote what is tested with"] += 1
            else:
                one = _sample(task, run, row, licence)
                found[one.id] = Sample(**{**vars(one), "split": split})
    return list(found.values()), dropped


def _sample(task: Task, run: str, row: dict[str, Any], licence: str) -> Sample:
    messages = tuple({"role": str(one["role"]), "content": str(one["content"])} for one in row["messages"])
    return Sample(
        id=Sample.name(task, SOURCE, run, str(row.get("step")), str(row["output"])),
        task=task,
        messages=messages,
        output=str(row["output"]),
        language=str(row.get("language", "en")),
        source=SOURCE,
        licence=licence,
        split="train",
        documents=(),
    )


def _quotes(messages: Sequence[dict[str, Any]], held: Sequence[str]) -> bool:
    said = _bare("\n".join(str(one["content"]) for one in messages))
    return any(one in said for one in held)


def _bare(text: str) -> str:
    return "".join(unicodedata.normalize("NFKC", text).casefold().split())
