"""`quelea agent`: have a question analysed by code that runs in a sandbox; look at runs and what they made."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated

import typer
from quelea_client import Client
from rich.console import Console

from quelea_cli.agent_view import show_answer, show_event, show_run_line
from quelea_cli.errors import EXIT_FAILED, EXIT_NOT_FOUND, CliError
from quelea_cli.options import DEFAULT_URL, ApiKey, AsJson, Url, connect
from quelea_cli.output import Json, consoles, print_json, say

_RUNS = "/v1/agent/runs"
_LISTED = 20


def agent(
    question: Annotated[
        str, typer.Argument(help="In English or Chinese; - reads it from standard input.", show_default=False)
    ] = "",
    as_of: Annotated[str, typer.Option(help="Use data as it was on this day, YYYY-MM-DD; default: today.")] = "",
    model: Annotated[str, typer.Option(help="Model; default: the server's.")] = "",
    steps: Annotated[int, typer.Option(help="Maximum number of actions; 0: the server's default.", min=0)] = 0,
    tokens: Annotated[int, typer.Option(help="Maximum number of tokens; 0: the server's default.", min=0)] = 0,
    seconds: Annotated[float, typer.Option(help="Maximum time in seconds; 0: the server's default.", min=0)] = 0,
    calls: Annotated[
        int, typer.Option(help="Maximum number of calls to data providers; 0: the server's default.", min=0)
    ] = 0,
    bundle: Annotated[
        list[str] | None, typer.Option(help="Replay the recorded calls of this bundle; repeatable.")
    ] = None,
    follows: Annotated[
        str,
        typer.Option(
            metavar="ID", help="Go on from a finished run: its session, files and sources.", show_default=False
        ),
    ] = "",
    out: Annotated[
        Path | None, typer.Option(help="Folder to save plots, tables and the PDF report in.", show_default=False)
    ] = None,
    list_runs: Annotated[bool, typer.Option("--list", help="List the newest runs.")] = False,
    show: Annotated[
        str, typer.Option("--show", metavar="ID", help="Show the answer of a run.", show_default=False)
    ] = "",
    replay: Annotated[
        str,
        typer.Option(
            "--replay",
            metavar="ID",
            help="Show a run again, step by step (press Enter to continue).",
            show_default=False,
        ),
    ] = "",
    cancel: Annotated[str, typer.Option("--cancel", metavar="ID", help="Cancel a run.", show_default=False)] = "",
    delete: Annotated[str, typer.Option("--delete", metavar="ID", help="Delete a run.", show_default=False)] = "",
    notebook: Annotated[
        Path | None,
        typer.Option(help="Save the run as a Jupyter notebook in this file; also with --show.", show_default=False),
    ] = None,
    url: Url = DEFAULT_URL,
    api_key: ApiKey = "",
    as_json: AsJson = False,
) -> None:
    """Analyse a question: the agent plans, finds data APIs, writes and runs Python, and concludes with checked figures.

    Every figure of the answer is traced to a run of code, a call to a data provider or a passage. Ctrl-C ends the run.
    """
    console, errors = consoles()
    with connect(url, api_key) as gateway:
        if list_runs:
            _list(console, gateway, as_json=as_json)
        elif show or replay:
            _look(console, gateway, show or replay, step_by_step=bool(replay), as_json=as_json)
            _save(errors, gateway, show or replay, out, notebook)
        elif cancel:
            done = gateway.request("POST", f"{_RUNS}/{cancel}/cancel")
            say(console, "Cancelled." if done["cancelled"] else "It had ended already.")
        elif delete:
            gateway.request("DELETE", f"{_RUNS}/{delete}")
            say(console, "Deleted.")
        elif question:
            limits = {"steps": steps, "tokens": tokens, "seconds": seconds, "calls": calls}
            body: Json = {"question": sys.stdin.read() if question == "-" else question}
            given = {"as_of": as_of, "model": model, "bundle_ids": bundle, "follows": follows}
            body |= {name: value for name, value in given.items() if value}
            if any(limits.values()):
                body["limits"] = {name: value for name, value in limits.items() if value}
            run = run_question(console, gateway, body, as_json=as_json)
            _save(errors, gateway, run["id"], out, notebook)
            if run["state"] != "finished":
                raise CliError(f"The run {run['id']} was {run['state']}: {run['error'] or 'no answer'}", EXIT_FAILED)
        else:
            raise CliError("Give a question, or --list, --show ID, --replay ID, --cancel ID.", 2)


def run_question(console: Console, gateway: Client, body: Json, *, as_json: bool = False) -> Json:
    """Start a run, show it as it happens, and return it ended."""
    run: Json = gateway.request("POST", _RUNS, json=body)
    try:
        _watch(console, gateway, run["id"], quiet=as_json)
    except KeyboardInterrupt:
        gateway.request("POST", f"{_RUNS}/{run['id']}/cancel")
        raise CliError(f"Cancelled; `quelea agent --show {run['id']}` shows what was done.", EXIT_FAILED) from None
    done: Json = gateway.request("GET", f"{_RUNS}/{run['id']}")
    if as_json:
        print_json(done)
    else:
        show_answer(console, done, gateway.url)
    return done


def _watch(console: Console, gateway: Client, run_id: str, *, quiet: bool) -> None:
    """Show events until the run has ended."""
    for event in gateway.run_events(run_id):
        if event.data.get("run") and not quiet:
            show_event(console, event)


def _list(console: Console, gateway: Client, *, as_json: bool) -> None:
    found = gateway.request("GET", _RUNS, params={"page_size": _LISTED})
    if as_json:
        print_json(found)
        return
    for run in found["runs"]:
        show_run_line(console, run)
    if not found["runs"]:
        say(console, 'No runs yet; `quelea agent "…"` starts one.')


def _look(console: Console, gateway: Client, run_id: str, *, step_by_step: bool, as_json: bool) -> None:
    run = gateway.request("GET", f"{_RUNS}/{run_id}")
    if as_json:
        print_json(run)
        return
    show_run_line(console, run)
    if step_by_step:
        waits = console.is_terminal and sys.stdin.isatty()
        for event in gateway.events("GET", f"{_RUNS}/{run_id}/events"):
            if event.name == "step" and waits:
                input()
            show_event(console, event)
    show_answer(console, run, gateway.url)


def _save(errors: Console, gateway: Client, run_id: str, out: Path | None, notebook: Path | None) -> None:
    if notebook is not None:
        notebook.write_bytes(gateway.download(f"{_RUNS}/{run_id}/notebook"))
        say(errors, f"written: {notebook}")
    if out is not None:
        save_files(errors, gateway, run_id, out)


def save_files(console: Console, gateway: Client, run_id: str, out: Path) -> None:
    """Plots, tables, the report and the data of a run, into a folder."""
    out.mkdir(parents=True, exist_ok=True)
    run = gateway.request("GET", f"{_RUNS}/{run_id}")
    wanted = [(one["name"], one["url"]) for one in run["artifacts"]]
    wanted.append(("report.pdf", f"{_RUNS}/{run_id}/report.pdf"))
    if run["has_bundle"]:
        wanted.append(("bundle.quelea", f"{_RUNS}/{run_id}/bundle"))
    for name, path in wanted:
        if Path(name).name != name:
            raise CliError(f"{name!r} is not a file name.", EXIT_NOT_FOUND)
        (out / name).write_bytes(gateway.download(path))
        say(console, f"written: {out / name}")
