"""`python -m quelea_evaluation`: `quelea eval` without the rest of Quelea's command line."""

from quelea_evaluation.cli import app

app(prog_name="quelea eval")
