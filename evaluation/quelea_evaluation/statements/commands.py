"""`quelea eval statements`."""

from __future__ import annotations

import typer

from quelea_evaluation.statements.amounts import statements

app = typer.Typer()
app.command()(statements)
