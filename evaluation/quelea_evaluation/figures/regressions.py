"""`quelea eval regressions`: answers written by hand whose verdict must not change unnoticed.

They stand in tests/eval/figure_regressions.jsonl: a line with `evidence` and `passages`, then lines with `of`,
`answer`, `kind`, `language`, `true` and `origin`, the set that the answer was written for. Rules were written on
them, so the share that is judged rightly says nothing of other answers, and is not reported. What is judged wrongly
today stands in figure_regressions_failing.txt beside it, an id a line.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import typer

from quelea_evaluation.figures.pairs import Pair, check_pairs
from quelea_evaluation.figures.process import checking_process


@dataclass(frozen=True)
class Change:
    """Ids of answers that are judged otherwise than recorded."""

    newly_wrong: Sequence[str]
    newly_right: Sequence[str]


def load_pairs(path: Path) -> list[Pair]:
    """The answers of a file.

    Raises:
        ValueError: A line names evidence that no line before it has.
    """
    evidence: dict[str, tuple[dict[str, str], ...]] = {}
    pairs = []
    for line in path.read_text(encoding="utf-8").splitlines():
        row = json.loads(line)
        if "evidence" in row:
            evidence[row["evidence"]] = tuple(row["passages"])
        elif row["of"] not in evidence:
            raise ValueError(f"{path}: {row['id']} is of {row['of']}, which no line before it has")
        else:
            passages = evidence[row["of"]]
            pairs.append(Pair(row["id"], row["kind"], row["language"], row["true"], row["answer"], passages))
    return pairs


def find_failing(path: Path) -> list[str]:
    """Ids of the answers that the checker judges wrongly, in the file's order."""
    with checking_process() as post:
        wrong = check_pairs(
            load_pairs(path), lambda pair: post({"answer": pair.answer, "passages": list(pair.passages)})
        )
    return [pair.id for pair in wrong]


def load_recorded(path: Path) -> list[str]:
    """Ids of the answers that were judged wrongly when they were recorded last."""
    return _record_of(path).read_text(encoding="utf-8").splitlines()


def record(path: Path, failing: Sequence[str]) -> None:
    """Write down what is judged wrongly."""
    _record_of(path).write_text("".join(f"{name}\n" for name in failing), encoding="utf-8")


def compare(before: Sequence[str], now: Sequence[str]) -> Change:
    """What changed between two lists of failing answers."""
    return Change([name for name in now if name not in before], [name for name in before if name not in now])


def _record_of(path: Path) -> Path:
    return path.with_name(f"{path.stem}_failing.txt")


def regressions(
    pairs: Annotated[Path, typer.Option(help="The answers written by hand.")] = Path(
        "tests/eval/figure_regressions.jsonl"
    ),
    write: Annotated[
        bool, typer.Option("--record", help="Record today's verdicts, after a deliberate change.")
    ] = False,
) -> None:
    """Answers written by hand that the checker judges otherwise than recorded."""
    now = find_failing(pairs)
    change = compare(load_recorded(pairs), now)
    for what, names in (("wrong since", change.newly_wrong), ("right since", change.newly_right)):
        for name in names:
            typer.echo(f"{what} the record: {name}")
    if write:
        record(pairs, now)
    elif change.newly_wrong or change.newly_right:
        typer.echo("run `quelea eval regressions --record` if these changes are meant", err=True)
        raise typer.Exit(1)
