"""What `quelea demo --agent` shows: a whole run of the agent, offline.

The decisions of the language model are recorded (samples/agent), and so are the replies of the data providers, on
made-up figures; catalogue, door, sandbox, code, checks and report are the real ones.
"""

from __future__ import annotations

import subprocess
import sys
import tempfile
import time
from pathlib import Path

from quelea_client import ApiError, Client, QueleaError
from rich.console import Console

from quelea_cli.commands.agent import run_question, save_files
from quelea_cli.commands.market import import_file
from quelea_cli.errors import CliError, told
from quelea_cli.output import Json, say

DECISIONS = Path("agent/nvidia_two_weeks.json")
_INDEX_SECONDS = 900.0
_POLL_SECONDS = 1.0
_WRITE_SECONDS = 120


def show(gateway: Client, recorded: Json, out: Path, console: Console) -> None:
    """Import the recorded replies, run the question, keep what the run made; CliError when it did not end well.

    Args:
        gateway: Of a stack whose language model is the recorded one.
        recorded: The file of decisions.
        out: Folder for plots, tables and the report.
        console: Where it is shown.
    """
    say(
        console, "\n1. Replies of data providers, recorded on made-up figures (they say nothing about a market)", "bold"
    )
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "samples.bundle"
        command = [sys.executable, "-m", "quelea_search.door.samples", str(file)]
        done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=_WRITE_SECONDS)  # noqa: S603  # our own command
        if done.returncode:
            raise CliError(f"The sample replies could not be written: {done.stderr.strip()[-300:]}")
        bundle = import_file(gateway, file)
    say(console, f"{bundle['calls']} calls imported as {bundle['id']}")
    say(console, "\n2. A catalogue of data APIs for the agent to choose from; the first time it is indexed", "bold")
    began = time.monotonic()
    wait_for_catalogue(gateway, console)
    say(console, f"ready, {time.monotonic() - began:.0f} s")
    say(console, "\n3. A question, planned and answered by code (the model's decisions are recorded)", "bold")
    say(console, f"> {recorded['question']}", "bold magenta")
    body = {"question": recorded["question"], "as_of": recorded["as_of"], "bundle_ids": [bundle["id"]]}
    run = run_question(console, gateway, body)
    save_files(console, gateway, run["id"], out)
    answer = run["answer"] or {}
    if run["state"] != "finished" or not answer.get("grounded"):
        raise CliError(f"The demo failed: the run was {run['state']}: {run['error'] or 'its answer is not grounded'}")


def wait_for_catalogue(gateway: Client, console: Console) -> None:
    """Until a search in the catalogue of tools finds something. Raises CliError after a quarter of an hour."""
    end = time.monotonic() + _INDEX_SECONDS
    shown = ""
    while True:
        try:
            if gateway.request("GET", "/v1/tools", params={"q": "daily stock prices", "page_size": 1})["tools"]:
                return
            problem = "it finds nothing"
        except QueleaError as error:
            problem = told(error).message
            progress = error.details if isinstance(error, ApiError) else {}
            if (done := progress.get("indexed", "")) != shown:
                shown = done
                say(console, f"  {done} of {progress.get('tools', '?')} indexed", "dim")
        if time.monotonic() > end:
            raise CliError(f"The catalogue was not ready within {_INDEX_SECONDS / 60:.0f} minutes: {problem}")
        time.sleep(_POLL_SECONDS)
