"""What the commands of this room share: options, errors as sentences, progress."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

from quelea_evaluation.console import say
from quelea_evaluation.endpoints.client import EndpointError
from quelea_evaluation.endpoints.work import MOST_AT_ONCE, Gone
from quelea_evaluation.inputs import BadInput
from quelea_evaluation.reports.store import BadRun

Concurrency = Annotated[int, typer.Option(help="Requests at a time.", min=1, max=MOST_AT_ONCE)]
Seconds = Annotated[float, typer.Option(help="Deadline of a request.", min=1, max=3600)]
Key = Annotated[
    str, typer.Option(envvar="QUELEA_EVAL_API_KEY", help="Sent as bearer token; better given by the environment.")
]
TreeFile = Annotated[Path | None, typer.Option("--tree", help="Another tree of topics, TOML or JSON like matrix.toml.")]


@contextmanager
def plain_errors() -> Iterator[None]:
    """What is wrong with files, folders and endpoints as one sentence and exit code 1."""

    try:
        yield
    except (BadInput, BadRun, EndpointError, Gone, OSError) as error:  # OSError names the file that cannot be written
        say(f"error: {error}")
        raise typer.Exit(1) from error


@contextmanager
def progress(what: str, total: int | None) -> Iterator[Any]:
    """A bar on standard error; the function that it gives sets how many are done, and a note. None: nobody knows."""

    columns = (TextColumn(what), BarColumn(), MofNCompleteColumn(), TextColumn("{task.fields[note]}"))
    with Progress(*columns, TimeRemainingColumn(), console=Console(stderr=True)) as bar:
        task = bar.add_task(what, total=total, note="")
        yield lambda done, note="": bar.update(task, completed=done, note=note)
