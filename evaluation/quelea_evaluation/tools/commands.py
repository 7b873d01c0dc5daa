"""`quelea eval tools`."""

from __future__ import annotations

import typer

from quelea_evaluation.tools.ranking import tools

app = typer.Typer()
app.command()(tools)
