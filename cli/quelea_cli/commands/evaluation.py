"""`quelea eval` and `quelea calibrate`: what the package quelea-evaluation does, where it is installed."""

from __future__ import annotations

import importlib
from collections.abc import Sequence

import typer

from quelea_cli.errors import CliError

_PACKAGE = "quelea_evaluation"


def evaluate(context: typer.Context) -> None:
    """Measure retrieval and answers against real data: `quelea eval retrieval`."""
    _run(context.args, "quelea eval")


def calibrate(context: typer.Context) -> None:
    """Compute the gate's c from a file of positive pairs: `quelea calibrate PAIRS`."""
    _run(["calibrate", *context.args], "quelea")


def register(app: typer.Typer) -> None:
    """Add both; their arguments are those of the evaluation's own command."""
    passed_on = {"allow_extra_args": True, "ignore_unknown_options": True}
    for name, command in (("calibrate", calibrate), ("eval", evaluate)):
        app.command(name, add_help_option=False, context_settings=passed_on)(command)


def _run(args: Sequence[str], called: str) -> None:
    try:
        evaluation = importlib.import_module(f"{_PACKAGE}.cli")
    except ModuleNotFoundError as error:
        if (error.name or "").partition(".")[0] != _PACKAGE:
            raise
        raise CliError(
            "The package quelea-evaluation is not installed; pip install quelea-evaluation, in a checkout `make setup`."
        ) from error
    evaluation.app(args=list(args), prog_name=called)
