"""`quelea eval work`: does what was asked for over REST, one evaluation at a time, each step a process of its own.

A step that is killed is called again and goes on where it was, for so do the commands. What was cancelled ends within
seconds, what passes its deadline fails; both keep what they have in their folder.
"""

from __future__ import annotations

import ctypes
import os
import shutil
import signal
import subprocess
import time
from collections.abc import Callable, Iterable
from contextlib import suppress
from pathlib import Path
from typing import Any

from quelea_kit.errors import QueleaError

from quelea_evaluation.arena.arena_folder import Arena
from quelea_evaluation.console import say
from quelea_evaluation.inputs import BadInput
from quelea_evaluation.omni.matrix import read_matrix
from quelea_evaluation.omni.reporting.report import read_run
from quelea_evaluation.publishing import views
from quelea_evaluation.publishing.shelf import Shelf, now
from quelea_evaluation.publishing.steps import Means, Step, steps_of
from quelea_evaluation.reports.store import BadRun, Row

READY = "evaluations: the worker is ready"
"""What `quelea up` waits for."""
_LOOK_SECONDS = 1.0
_TELL_SECONDS = 10.0
_GRACE_SECONDS = 10.0
_TRIES = 5
_LONGEST_ERROR = 500
_TAIL_BYTES = 20_000
_PR_SET_PDEATHSIG = 1


class _EndedError(Exception):
    """The evaluation has ended; how, and why."""

    def __init__(self, state: str, why: str | None) -> None:
        super().__init__(why)
        self.state = state
        self.why = why


def publish_folder(shelf: Shelf, evaluation_id: str, folder: Path, tree: Path | None = None) -> int:
    """Put a run's result and items where the gateway reads them; returns how many items.

    Raises:
        BadInput, BadRun: The folder is none of a run, or has nothing to show yet.
    """
    if views.is_arena(folder):
        arena = Arena(folder)
        return shelf.publish(evaluation_id, views.arena_result(arena), views.arena_items(arena))
    run = read_run(folder)
    return shelf.publish(evaluation_id, views.omni_result(run, read_matrix(tree)), views.omni_items(run))


class Worker:
    """Does evaluations.

    Args:
        shelf: Where they are asked for, and shown.
        means: What they may use.
        folder: Where their runs are, one folder each; those of evaluations that were deleted are removed.
        tree: The topics, if others than the published.
        make_steps: From an evaluation to its commands; a test has its own.
    """

    def __init__(
        self,
        shelf: Shelf,
        means: Means,
        folder: Path,
        tree: Path | None = None,
        make_steps: Callable[[str, Row, Means, Path], list[Step]] = steps_of,
    ) -> None:
        self._shelf = shelf
        self._means = means
        self._folder = folder
        self._tree = tree
        self._make_steps = make_steps
        self._ended: set[str] = set()
        self._told = 0.0

    def work(self, *, once: bool = False) -> int:
        """Do one after the other; with `once` until none waits. Returns how many were done."""
        done = 0
        while True:
            try:
                self._tell()
                one = self._next()
                if one:
                    self._do(one)
                    done += 1
                    continue
            except QueleaError as error:  # the store is away; it may come back
                say(f"evaluations: {error.message}")
            except OSError as error:  # the disk of its own folder is full; the evaluation is taken up again
                say(f"evaluations: {error}")
            if once:
                return done
            time.sleep(_LOOK_SECONDS)

    def _tell(self) -> None:
        if not self._told or time.monotonic() - self._told > _TELL_SECONDS:
            self._means = self._means.look_again()
            self._shelf.tell_worker(self._means.as_row())
            if not self._told:
                say(READY)
            self._told = time.monotonic()

    def _next(self) -> Row | None:
        """The oldest that waits, or was under way when a worker died."""
        ids = self._shelf.ids()
        self._forget_others(set(ids))
        for one in ids:
            if one in self._ended:
                continue
            told = self._shelf.read(one, "state") or {}
            if told.get("state", "queued") not in ("queued", "running"):
                self._ended.add(one)
                continue
            request = self._shelf.read(one, "request")
            if request is None or "seconds" not in request:
                continue  # being asked for, or published by a command
            if self._shelf.is_cancelled(one):
                self._shelf.write(one, "state", {**told, "state": "cancelled", "finished": now()})
                continue
            return request
        return None

    def _forget_others(self, ids: set[str]) -> None:
        for folder in self._folder.iterdir():
            if folder.is_dir() and folder.name not in ids and folder.name[:20].isdigit():
                shutil.rmtree(folder, ignore_errors=True)

    def _do(self, request: Row) -> None:
        one, folder = str(request["id"]), self._folder / str(request["id"])
        folder.mkdir(parents=True, exist_ok=True)
        earlier = self._shelf.read(one, "state") or {}
        told: Row = {"state": "running", "step": "", "done": 0, "total": 0, "started": earlier.get("started") or now()}
        say(f"evaluation {one}: {request['kind']} {request['name']}")
        ends = time.monotonic() + float(request["seconds"])
        try:
            for step in self._make_steps(request["kind"], request["settings"], self._means, folder / "run"):
                told |= {"step": step.name, "done": 0, "total": step.total}
                self._shelf.write(one, "state", told)
                self._run(one, step, folder, told, ends)
            self._shelf.write(one, "state", {**told, "step": "publish"})
            publish_folder(self._shelf, one, folder / "run", self._tree)
            told |= {"state": "succeeded", "step": ""}
        except _EndedError as ended:
            told |= {"state": ended.state, "error": ended.why}
        except (BadInput, BadRun) as error:
            told |= {"state": "failed", "error": str(error)}
        self._finish(one, {**told, "finished": now()})

    def _finish(self, one: str, told: Row) -> None:
        """Tell how it ended, even if the store is away for a while."""
        say(f"evaluation {one}: {told['state']}{': ' + told['error'] if told.get('error') else ''}")
        for left in reversed(range(_TRIES)):
            try:
                if self._shelf.read(one, "request"):  # else it was deleted meanwhile
                    self._shelf.write(one, "state", told)
            except QueleaError:
                if not left:
                    raise
                time.sleep(_LOOK_SECONDS)
            else:
                return

    def _run(self, one: str, step: Step, folder: Path, told: Row, ends: float) -> None:
        """One step to its end. Raises _EndedError when it fails, is cancelled, or takes too long."""
        log = folder / f"{step.name}.log"
        with log.open("ab") as output:
            process = subprocess.Popen(  # noqa: S603  # our own commands
                step.command,
                stdin=subprocess.DEVNULL,
                stdout=output,
                stderr=output,
                env=step.environment(os.environ),
                start_new_session=True,
                preexec_fn=_die_with_parent,  # noqa: PLW1509  # this process has one thread
            )
        try:
            while process.poll() is None:
                time.sleep(_LOOK_SECONDS)
                if time.monotonic() > ends:
                    raise _EndedError(
                        "failed", "The deadline has passed; what was done is kept in the worker's folder."
                    )
                with suppress(QueleaError):  # a store that is away stops no work
                    self._tell()
                    if self._shelf.is_cancelled(one):
                        raise _EndedError("cancelled", None)
                    done = _count_lines(step.rows or (folder / "run" / "judges").glob("*/*.jsonl"))
                    if done != told["done"]:
                        told["done"] = done
                        self._shelf.write(one, "state", told)
        finally:
            _end(process)
        if process.returncode:
            raise _EndedError("failed", f"{step.name}: {_last_line(log) or f'exit code {process.returncode}'}")


def _die_with_parent() -> None:
    """Between fork and exec: a worker that is killed leaves no step behind that would hold the run's folder."""
    ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)


def _end(process: subprocess.Popen[Any]) -> None:
    if process.poll() is None:
        process.terminate()
        try:
            process.wait(_GRACE_SECONDS)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()


def _count_lines(files: Iterable[Path]) -> int:
    count = 0
    for path in files:
        with suppress(FileNotFoundError), path.open("rb") as file:
            count += sum(1 for _ in file)
    return count


def _last_line(log: Path) -> str:
    """What the command said last, without the word before it."""
    with log.open("rb") as file:
        file.seek(max(0, log.stat().st_size - _TAIL_BYTES))
        lines = file.read().decode("utf-8", "replace").splitlines()
    said = [line.strip() for line in lines if line.strip()]
    named = [line for line in said if line.startswith(("error: ", "quelea eval arena: "))]
    return (named or said or [""])[-1].removeprefix("error: ")[:_LONGEST_ERROR]
