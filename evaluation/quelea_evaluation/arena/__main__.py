"""`python -m quelea_evaluation.arena`: the commands without the rest of Quelea's command line."""

from quelea_evaluation.arena.commands import app

app(prog_name="quelea eval arena")
