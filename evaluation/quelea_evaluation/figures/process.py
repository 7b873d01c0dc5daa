"""The figure checker without a stack: `python -m quelea_gateway.check_lines` in a process of its own, a line a check.

And the items of docugami, whose passages a stack found once and which are kept beside it.
"""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import asdict
from pathlib import Path
from threading import Lock
from typing import Any

import typer

from quelea_evaluation.figures.items import Item
from quelea_evaluation.reports.store import RowFile, write_rows

Post = Callable[[Mapping[str, Any]], Mapping[str, Any]]
"""A body of POST /v1/check, and what it answers."""
_KEPT = "figures_items.jsonl"


@contextmanager
def checking_process() -> Iterator[Post]:
    """A checker in a process of its own; one call at a time, as it has one processor.

    Raises:
        RuntimeError: of the calls, when the process refuses a body or has ended.
    """
    command = [sys.executable, "-m", "quelea_gateway.check_lines"]
    process = subprocess.Popen(  # noqa: S603  # our own command line
        command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, encoding="utf-8"
    )
    with process:
        lock = Lock()

        def post(body: Mapping[str, Any]) -> Mapping[str, Any]:
            assert process.stdin and process.stdout  # noqa: S101  # for mypy: pipes were asked for
            with lock:
                process.stdin.write(json.dumps(body, ensure_ascii=False) + "\n")
                process.stdin.flush()
                line = process.stdout.readline()
            checked: Mapping[str, Any] = json.loads(line) if line else {"error": "the checker's process has ended"}
            if "error" in checked:
                raise RuntimeError(checked["error"])
            return checked

        yield post
        assert process.stdin  # noqa: S101  # for mypy
        process.stdin.close()


def keep(items: Sequence[Item], home: Path) -> None:
    """Write the items down, so that they can be checked again without a stack."""
    home.mkdir(parents=True, exist_ok=True)
    write_rows(home / _KEPT, (asdict(item) for item in items))


def load_items(home: Path) -> list[Item]:
    """The items as keep() wrote them.

    Raises:
        typer.BadParameter: No run with a stack has written them.
    """
    path = home / _KEPT
    if not path.is_file():
        raise typer.BadParameter(f"{path} is not there; run `quelea eval figures` once without --in-process")
    return [
        Item(**{**row, "passages": tuple(row["passages"]), "operands": tuple(row["operands"]), "table": ()})
        for row in RowFile(path)
    ]
