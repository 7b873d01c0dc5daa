"""`quelea eval figures`, `regressions` and `binding`."""

from __future__ import annotations

import typer

from quelea_evaluation.figures.binding_fit import binding
from quelea_evaluation.figures.checks import figures
from quelea_evaluation.figures.regressions import regressions

app = typer.Typer()
app.command()(binding)
app.command()(figures)
app.command()(regressions)
