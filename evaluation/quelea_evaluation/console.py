"""What the commands of all rooms share: options, and lines of results and about the work."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Annotated, Any

import typer

AsJson = Annotated[bool, typer.Option("--json", help="One JSON document on standard output.")]
Data = Annotated[Path, typer.Option(help="Folder of the data sets (docs/experiments/README.md).")]
Home = Annotated[Path, typer.Option(help="Where the stacks of the evaluation keep their data between runs.")]
StackHome = Annotated[
    Path, typer.Option("--home", envvar="QUELEA_HOME", help="Folder of the stack whose model “stack” names.")
]
Writer = Annotated[str, typer.Option("--reader", help="Who writes: extractive, or llama, the model of this machine.")]
STACK_HOME = Path(".quelea/home")
DATA = Path("../shared/data")
HOME = Path(".quelea/eval")


def tell(text: str) -> None:
    """A line of the result."""
    sys.stdout.write(text + "\n")


def tell_json(value: Any, indent: int | None = 1) -> None:  # whatever JSON holds
    """The result as one document."""
    tell(json.dumps(value, ensure_ascii=False, indent=indent))


def say(line: str) -> None:
    """A line about the work."""
    sys.stderr.write(line + "\n")
