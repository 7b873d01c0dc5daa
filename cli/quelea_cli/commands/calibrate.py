"""`quelea calibrate`: the threshold of the paper's gate, for the encoder of this deployment."""

from __future__ import annotations

import importlib

import typer

from quelea_cli.errors import CliError


def calibrate(context: typer.Context) -> None:
    """Compute the gate's c from a file of positive pairs: `quelea calibrate PAIRS`."""
    try:
        evaluation = importlib.import_module("quelea_evaluation.cli")
    except ModuleNotFoundError as error:
        if (error.name or "").partition(".")[0] != "quelea_evaluation":
            raise
        raise CliError("The package quelea-evaluation is not installed; `make setup` installs it.") from error
    evaluation.app(args=["calibrate", *context.args], prog_name="quelea")


def register(app: typer.Typer) -> None:
    """Add the command; its arguments are those of the evaluation's."""
    passed_on = {"allow_extra_args": True, "ignore_unknown_options": True}
    app.command("calibrate", add_help_option=False, context_settings=passed_on)(calibrate)
