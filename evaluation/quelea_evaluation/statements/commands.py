"""`quelea eval statements` and `quelea eval statement-answers`."""

from __future__ import annotations

import typer

from quelea_evaluation.statements.amounts import statements
from quelea_evaluation.statements.asked import statement_answers

app = typer.Typer()
app.command()(statements)
app.command("statement-answers")(statement_answers)
