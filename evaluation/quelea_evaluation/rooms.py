"""A command whose subcommands live in rooms, each imported when one of its commands is called."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from importlib import import_module
from typing import Any

import typer
from typer.core import TyperGroup
from typer.main import get_group

from quelea_evaluation.console import say


def make_group(
    package: str, commands: Mapping[str, str], groups: Collection[str], advice: Mapping[str, str]
) -> type[TyperGroup]:
    """A class for `typer.Typer(cls=…)`.

    Args:
        package: That has the rooms.
        commands: Command -> the room whose `commands.app` has it.
        groups: Rooms whose commands stand under the room's own name.
        advice: Package that a room may lack -> what to do, after "NAME wants …".
    """

    class _Rooms(TyperGroup):
        """Commands of the rooms."""

        def list_commands(self, ctx: Any) -> list[str]:  # typer's own context class is private
            del ctx
            return sorted((*commands, *groups))

        def get_command(self, ctx: Any, cmd_name: str) -> Any:  # see above
            del ctx
            room = cmd_name if cmd_name in groups else commands.get(cmd_name)
            if room is None:
                return None
            try:
                group = get_group(import_module(f"{package}.{room}.commands").app)
            except ModuleNotFoundError as error:
                if error.name is None or error.name not in advice:
                    raise
                say(f"error: {cmd_name} {advice[error.name]}")
                raise typer.Exit(1) from error
            if cmd_name in groups:
                group.name = cmd_name
                return group
            return group.commands[cmd_name]

    return _Rooms
