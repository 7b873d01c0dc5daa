"""`quelea eval …`: the one place where the rooms' commands are registered.

A room is imported when one of its commands is called: `quelea eval omni score` does not wait for scikit-learn.
"""

from __future__ import annotations

from importlib import import_module
from typing import Any

import typer
from typer.core import TyperGroup
from typer.main import get_group

from quelea_evaluation.console import say

COMMANDS = {
    "analyst": "answers",
    "answers": "answers",
    "binding": "figures",
    "calibrate": "gate",
    "checker-cost": "figures",
    "cross-language": "retrieval",
    "figures": "figures",
    "gate": "gate",
    "pairs": "gate",
    "publish": "publishing",
    "regressions": "figures",
    "retrieval": "retrieval",
    "statement-answers": "statements",
    "statements": "statements",
    "tools": "tools",
    "web": "web",
    "work": "publishing",
}
"""Command → the room whose `commands.app` has it."""

GROUPS: tuple[str, ...] = ("arena", "feedback", "omni")
"""Rooms whose commands stand under the room's own name: `quelea eval omni score`."""


class _Rooms(TyperGroup):
    """Commands of the rooms, each imported when it is asked for."""

    def list_commands(self, ctx: Any) -> list[str]:  # typer's own context class is private
        del ctx
        return sorted((*COMMANDS, *GROUPS))

    def get_command(self, ctx: Any, cmd_name: str) -> Any:  # see above
        del ctx
        room = cmd_name if cmd_name in GROUPS else COMMANDS.get(cmd_name)
        if room is None:
            return None
        try:
            group = get_group(import_module(f"quelea_evaluation.{room}.commands").app)
        except ModuleNotFoundError as error:
            if error.name != "sklearn":
                raise
            say(f"error: {cmd_name} fits models and wants scikit-learn: pip install quelea-evaluation[fit]")
            raise typer.Exit(1) from error
        if cmd_name in GROUPS:
            group.name = cmd_name
            return group
        return group.commands[cmd_name]


app = typer.Typer(cls=_Rooms, no_args_is_help=True, help="Measure retrieval and answers against real data.")


@app.callback()
def _main() -> None:
    """Measure retrieval and answers against real data."""
