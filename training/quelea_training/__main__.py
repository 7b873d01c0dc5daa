"""`python -m quelea_training`: `quelea train` without the rest of Quelea's command line."""

from quelea_training.cli import app

app(prog_name="quelea train")
