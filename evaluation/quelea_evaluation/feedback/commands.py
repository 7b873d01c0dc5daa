"""`quelea eval feedback …`."""

from __future__ import annotations

import asyncio
import os
from dataclasses import asdict
from pathlib import Path
from typing import Annotated

import typer

from quelea_evaluation.console import AsJson, say, tell, tell_json
from quelea_evaluation.endpoints.client import EndpointError
from quelea_evaluation.feedback import export as exporting

app = typer.Typer(no_args_is_help=True, help="Thumbs that people gave on answers.")


@app.callback()
def _main() -> None:
    """Thumbs that people gave on answers."""


@app.command()
def export(
    out: Annotated[Path, typer.Argument(help="Folder for the files; made when it is not there.")],
    url: Annotated[str, typer.Option(help="The gateway.")] = "http://127.0.0.1:8080",
    as_json: AsJson = False,
) -> None:
    """An evaluation set of the thumbs under your key (QUELEA_API_KEY).

    questions.jsonl has questions whose answers were found right, for `quelea eval omni run`; to_review.jsonl those that
    were found wrong, for a person to write the right answer.
    """
    try:
        done = exporting.export(asyncio.run(exporting.fetch(url, os.environ.get("QUELEA_API_KEY", ""))), out)
    except (EndpointError, OSError) as error:
        say(f"quelea eval feedback: {error}")
        raise typer.Exit(2) from error
    if as_json:
        tell_json(asdict(done), None)
    else:
        tell(f"{done.questions} questions with answers, {done.to_review} to review, in {out}")
