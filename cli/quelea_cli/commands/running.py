"""`quelea down` and `quelea status`: the stack that runs in a home."""

from __future__ import annotations

import os
import signal
import time

import typer

from quelea_cli.errors import CliError
from quelea_cli.options import DEFAULT_HOME, AsJson, HomeDir
from quelea_cli.output import consoles, print_json, say
from quelea_cli.stack.home import Home, StackRecord, is_same_process

_DOWN_SECONDS = 90.0


def down(home: HomeDir = DEFAULT_HOME, as_json: AsJson = False) -> None:
    """Stop the stack of a home; nothing to do when none runs."""
    place = Home(home)
    out, _ = consoles()
    record = place.read() if place.run.is_dir() else None
    stopped = False
    if record and is_same_process(record.pid, record.started):
        _stop(place, record)
        stopped = True
    elif place.run.is_dir():
        with place.locked():
            stopped = bool(place.end_stale())
    if as_json:
        print_json({"stopped": stopped})
    else:
        say(out, f"Stopped the stack in {place.root}." if stopped else f"No stack runs in {place.root}.")


def _stop(place: Home, record: StackRecord) -> None:
    os.kill(record.pid, signal.SIGTERM)
    end = time.monotonic() + _DOWN_SECONDS
    while place.is_locked():
        if time.monotonic() > end:
            raise CliError(f"The stack (process {record.pid}) did not stop; see {place.logs}.")
        time.sleep(0.1)


def status(home: HomeDir = DEFAULT_HOME, as_json: AsJson = False) -> None:
    """Show what runs in a home: every process with its state and restarts."""
    place = Home(home)
    record = place.read()
    runs = bool(record and is_same_process(record.pid, record.started))
    for one in record.services.values() if record else ():
        if not is_same_process(one.pid, one.started) and one.state in ("ready", "unready", "starting"):
            one.state = "ended"  # the supervisor has not noticed yet, or could not write it
    if as_json:
        services = {name: vars(one) for name, one in record.services.items()} if record and runs else {}
        print_json({"running": runs, "url": record.url if record and runs else "", "services": services})
    elif record and runs:
        out, _ = consoles()
        say(out, f"{record.url}  {record.state}  (process {record.pid})", "bold")
        for name, one in record.services.items():
            say(out, f"  {name:<10} {one.state:<11} pid {one.pid}, port {one.port or '-'}, {one.restarts} restarts")
    else:
        say(consoles()[0], f"No stack runs in {place.root}.")
    if not runs:
        raise typer.Exit(3)
