"""`quelea eval figures`, `regressions`, `binding` and `checker-cost`."""

from __future__ import annotations

import typer

from quelea_evaluation.figures.binding_fit import binding
from quelea_evaluation.figures.checks import figures
from quelea_evaluation.figures.cost import checker_cost
from quelea_evaluation.figures.regressions import regressions

app = typer.Typer()
app.command()(binding)
app.command()(checker_cost)
app.command()(figures)
app.command()(regressions)
