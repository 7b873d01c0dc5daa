"""Commands of packages that need not be installed: `quelea eval` and `calibrate`, `quelea train` and `models`."""

from __future__ import annotations

import importlib
from collections.abc import Sequence

import typer

from quelea_cli.errors import CliError

_EVALUATION = "quelea_evaluation"
_TRAINING = "quelea_training"


def evaluate(context: typer.Context) -> None:
    """Measure retrieval and answers against real data: `quelea eval retrieval`."""
    _run(_EVALUATION, context.args, "quelea eval")


def calibrate(context: typer.Context) -> None:
    """Compute the gate's threshold c from a file of positive pairs: `quelea calibrate PAIRS`."""
    _run(_EVALUATION, ["calibrate", *context.args], "quelea")


def train(context: typer.Context) -> None:
    """Train models on your own documents: `quelea train pairs`, `quelea train encoder`."""
    _run(_TRAINING, context.args, "quelea train")


def models(context: typer.Context) -> None:
    """Keep, compare, take up and roll back sets of models: `quelea models list`."""
    _run(_TRAINING, context.args, "quelea models", module="sets.commands")


def register(app: typer.Typer) -> None:
    """Add all; their arguments are those of the packages' own commands."""
    passed_on = {"allow_extra_args": True, "ignore_unknown_options": True}
    for name, command in (("calibrate", calibrate), ("eval", evaluate), ("models", models), ("train", train)):
        app.command(name, add_help_option=False, context_settings=passed_on)(command)


def _run(package: str, args: Sequence[str], called: str, module: str = "cli") -> None:
    try:
        rooms = importlib.import_module(f"{package}.{module}")
    except ModuleNotFoundError as error:
        if (error.name or "").partition(".")[0] != package:
            raise
        name = package.replace("_", "-")
        raise CliError(
            f"The package {name} is not installed; pip install {name}, in a checkout `make setup`."
        ) from error
    rooms.app(args=list(args), prog_name=called)
