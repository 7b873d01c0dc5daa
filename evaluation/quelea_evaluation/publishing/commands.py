"""`quelea eval work` and `quelea eval publish`."""

from __future__ import annotations

import fcntl
import signal
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated, Any

import typer
from quelea_kit.errors import QueleaError

from quelea_evaluation.arena.arena_folder import Arena, check_name
from quelea_evaluation.console import say, tell
from quelea_evaluation.endpoints.client import read_address
from quelea_evaluation.inputs import BadInput
from quelea_evaluation.omni.console import TreeFile
from quelea_evaluation.omni.reporting.comparison import read_thresholds
from quelea_evaluation.omni.reporting.report import read_run
from quelea_evaluation.publishing.shelf import Shelf
from quelea_evaluation.publishing.steps import QUELEA, Means, find_benches, find_questions, read_request
from quelea_evaluation.publishing.thresholds import hold_thresholds
from quelea_evaluation.publishing.views import is_arena
from quelea_evaluation.publishing.worker import READY, Worker, publish_folder
from quelea_evaluation.reports.store import BadRun

app = typer.Typer()
AGAIN = 75
"""Exit code when the store cannot be reached: worth another try (EX_TEMPFAIL of sysexits.h)."""

Store = Annotated[
    str, typer.Option(help="Where the gateway looks (QUELEA_GATEWAY_EVALUATIONS_URL): a folder, or s3://bucket/prefix.")
]


@contextmanager
def _plain_errors() -> Iterator[None]:
    try:
        yield
    except (BadInput, BadRun, OSError) as error:
        say(f"error: {error}")
        raise typer.Exit(1) from error
    except QueleaError as error:
        say(f"error: {error.message}")
        raise typer.Exit(AGAIN) from error


@app.command()
def work(
    store: Store,
    folder: Annotated[Path, typer.Option(help="Where runs are while they go; a killed one goes on from there.")],
    model: Annotated[
        list[str] | None,
        typer.Option(
            envvar="QUELEA_EVAL_MODELS",
            help="NAME=MODEL@URL of an OpenAI-compatible endpoint; can be repeated, in the variable parted by blanks.",
        ),
    ] = None,
    questions: Annotated[
        Path | None, typer.Option(help="Folder with sets of questions: NAME.jsonl, or folders of `omni generate`.")
    ] = None,
    benches: Annotated[Path | None, typer.Option(help="Folder with benches for the arena beside UCFE's own.")] = None,
    gateway: Annotated[str, typer.Option(help="The Quelea that is tested.")] = "http://127.0.0.1:8080",
    tree: TreeFile = None,
    wait: Annotated[
        bool, typer.Option("--wait", help="Where another worker has the folder, wait until it ends.")
    ] = False,
    once: Annotated[bool, typer.Option("--once", help="End when nothing waits.")] = False,
    ask: Annotated[
        str,
        typer.Option(
            help="JSON as POST /v1/evaluations takes it: ask for that first. With --once, exit code 1 when it fails."
        ),
    ] = "",
    gate: Annotated[
        Path | None,
        typer.Option(
            help="With --once --ask: YAML with limits; exit code 1 when one is passed, or a metric is worse than last."
        ),
    ] = None,
) -> None:
    """Do the evaluations that are asked for over POST /v1/evaluations, one at a time.

    Keys: QUELEA_API_KEY of the gateway, QUELEA_EVAL_API_KEY of the models.
    """
    if gate and not (once and ask):
        raise typer.BadParameter("--gate is for one evaluation; it wants --once and --ask")
    breaches: list[str] = []
    with _plain_errors():
        thresholds = read_thresholds(gate) if gate else None
        folder.mkdir(parents=True, exist_ok=True)
        models = {}
        for one in model or ():
            name, _, address = one.partition("=")
            if check_name(name, "--model") == QUELEA:
                raise BadInput(f"--model may not be called {QUELEA}; that is the gateway")
            models[name] = read_address(address, "--model")
        folders = (questions, benches)
        means = Means(gateway, models, find_questions(questions), find_benches(benches), folders)
        with (folder / ".lock").open("w") as lock:
            signal.signal(signal.SIGTERM, _leave)
            try:
                fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except OSError as error:
                if not wait:
                    raise BadInput(f"another worker has {folder}; a store has one worker") from error
                say(f"{READY}, and waits: another has {folder}")
                fcntl.flock(lock, fcntl.LOCK_EX)
            shelf = Shelf(store)
            request = read_request(ask, means) if ask else None
            if thresholds is not None and request and request["kind"] != "omni":
                raise BadInput("--gate holds metrics of the matrix; --ask must be of kind omni")
            asked = shelf.ask(request) if request else ""
            done = Worker(shelf, means, folder, tree).work(once=once)
            ended = (shelf.read(asked, "state") or {}) if asked else {"state": "succeeded"}
            if thresholds is not None and ended.get("state") == "succeeded":
                last, breaches = hold_thresholds(shelf, asked, thresholds)
                say(
                    f"gate: beside {last}"
                    if last
                    else "gate: no earlier evaluation like it by this version; only the limits are held"
                )
    tell(f"{done} evaluations done")
    if ended.get("state") != "succeeded":
        say(f"error: {asked}: {ended.get('state')}: {ended.get('error') or 'no reason was told'}")
        raise typer.Exit(1)
    for one in breaches:
        say(f"gate: {one}")
    if breaches:
        raise typer.Exit(1)


def _leave(*_: Any) -> None:
    """The evaluation under way is taken up by the next worker."""
    sys.exit(0)


@app.command()
def publish(
    run: Annotated[Path, typer.Argument(help="Folder of a reported run of OmniEval, or of a judged arena.")],
    store: Store,
    name: Annotated[str, typer.Option(help="What the page calls it; the folder's name when left out.")] = "",
    tree: TreeFile = None,
) -> None:
    """Show a run that was made by hand on the gateway's page."""
    with _plain_errors():
        shelf = Shelf(store)
        if is_arena(run):
            arena = Arena(run)
            kind, settings = "arena", {"systems": arena.systems, "judge": arena.only_judge(None)}
        else:
            found = read_run(run)
            kind, settings = "omni", {**found.manifest["settings"], "judges": list(found.verdict_files())}
        one = shelf.new_id()
        try:
            count = publish_folder(shelf, one, run, tree)
        except BaseException:
            shelf.remove(one)
            raise
        shelf.announce(one, kind, name or run.resolve().name, settings)
    tell(f"{count} items: {one}")
