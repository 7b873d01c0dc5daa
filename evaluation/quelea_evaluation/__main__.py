"""`python -m quelea_evaluation`: `quelea eval` without the rest of Quelea's command line."""

import atexit
import gc

from quelea_evaluation.cli import app

atexit.register(gc.freeze)  # as in quelea_kit.server.serve
app(prog_name="quelea eval")
