"""`quelea eval …`: the one place where the rooms' commands are registered.

A room is imported when one of its commands is called: `quelea eval omni score` does not wait for scikit-learn.
"""

from __future__ import annotations

import typer

from quelea_evaluation.rooms import make_group

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

GROUPS: tuple[str, ...] = ("agent", "arena", "feedback", "omni")
"""Rooms whose commands stand under the room's own name: `quelea eval omni score`."""


_ADVICE = {"sklearn": "fits models and wants scikit-learn: pip install quelea-evaluation[fit]"}

app = typer.Typer(
    cls=make_group("quelea_evaluation", COMMANDS, GROUPS, _ADVICE),
    no_args_is_help=True,
    help="Measure retrieval and answers against real data.",
)


@app.callback()
def _main() -> None:
    """Measure retrieval and answers against real data."""
