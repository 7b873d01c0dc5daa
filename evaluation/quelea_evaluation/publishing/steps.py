"""From what was asked for over REST to the commands that do it, and what they write while they do."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from functools import lru_cache
from pathlib import Path

from quelea_evaluation.arena.items import UCFE, read_bench
from quelea_evaluation.console import say
from quelea_evaluation.endpoints.client import Address
from quelea_evaluation.inputs import BadInput
from quelea_evaluation.omni.questions.model import questions_file, read_questions
from quelea_evaluation.reports.store import BadRun, Row

QUELEA = "quelea"


@dataclass(frozen=True)
class Step:
    """One command.

    Args:
        rows: Files to which it adds a line for each thing done, whose number is shown; none: everything below
            `judges/`, the work of judges.
        total: How many lines there will be; 0: nobody knows.
        asks_quelea: The tested system is Quelea, whose key is another than that of models.
    """

    name: str
    command: tuple[str, ...]
    rows: tuple[Path, ...] = ()
    total: int = 0
    asks_quelea: bool = False

    def environment(self, given: Mapping[str, str]) -> dict[str, str]:
        """The worker's environment, keys under the names that the commands read.

        QUELEA_API_KEY is the gateway's, QUELEA_EVAL_API_KEY that of the models.
        """
        quelea, models = given.get("QUELEA_API_KEY", ""), given.get("QUELEA_EVAL_API_KEY", "")
        tested = quelea if self.asks_quelea else models
        return {
            **given,
            "QUELEA_EVAL_API_KEY": tested,
            "QUELEA_ARENA_SYSTEM_KEY": tested,
            "QUELEA_ARENA_USER_KEY": models,
            "QUELEA_ARENA_JUDGE_KEY": models,
        }


@dataclass(frozen=True)
class Means:
    """What the worker has.

    Args:
        gateway: Address of the Quelea that is tested.
        models: Name → where it is asked.
        questions: Name → file or folder of questions.
        benches: Name → file of items.
        folders: Where question sets and benches are looked for anew; None: only those that are given.
    """

    gateway: str
    models: Mapping[str, Address]
    questions: Mapping[str, Path]
    benches: Mapping[str, Path]
    folders: tuple[Path | None, Path | None] | None = None

    def look_again(self) -> Means:
        """The same with the question sets and benches that are in the folders now."""
        if self.folders is None:
            return self
        questions, benches = self.folders
        return replace(self, questions=find_questions(questions), benches=find_benches(benches))

    def as_row(self) -> Row:
        """For the gateway, which offers them."""
        return {
            "models": list(self.models),
            "question_sets": _counts(self.questions, _count),
            "benches": _counts(self.benches, _count_items),
        }


def find_questions(folder: Path | None) -> dict[str, Path]:
    """Sets of questions in a folder, by name: files NAME.jsonl, and folders of `quelea eval omni generate`."""
    found: dict[str, Path] = {}
    for path in sorted(folder.iterdir()) if folder else ():
        if path.name.startswith("."):
            continue  # a mounted ConfigMap has its versions there
        is_set = path.suffix == ".jsonl" or any((path / f"{one}.jsonl").is_file() for one in ("reviewed", "questions"))
        if is_set:
            found[path.stem if path.is_file() else path.name] = path
    return found


def find_benches(folder: Path | None) -> dict[str, Path]:
    """UCFE's own bench, and the files *.json and *.json.gz of a folder by name."""
    own = (path for path in sorted(folder.iterdir()) if path.name.endswith((".json", ".json.gz"))) if folder else ()
    return {"ucfe": UCFE, **{path.name.partition(".json")[0]: path for path in own}}


_OMNI: Row = {"system": QUELEA, "route": "local", "passages": "none", "judges": []}
_ARENA: Row = {"bench": "ucfe", "user": "", "tasks": [], "per_task": 0}
_NEEDED = {"omni": ("questions",), "arena": ("systems", "judge")}
_LONGEST_SECONDS = 86_400.0


def read_request(text: str, means: Means) -> Row:
    """What `POST /v1/evaluations` takes, with everything that it leaves out.

    Raises:
        BadInput: It is none, or names what the worker does not have; the message names the field.
    """
    try:
        given = json.loads(text)
    except ValueError as error:
        raise BadInput(f"--ask must be JSON: {error}") from error
    if not isinstance(given, dict) or given.get("kind") not in _NEEDED or not isinstance(given.get("settings"), dict):
        raise BadInput('--ask must be like {"kind": "omni", "settings": {"questions": NAME}}; kind is omni or arena')
    kind = given["kind"]
    settings = {**(_OMNI if kind == "omni" else _ARENA), **given["settings"]}
    if missing := [name for name in _NEEDED[kind] if not settings.get(name)]:
        raise BadInput(f"--ask: settings.{missing[0]} is missing")
    try:
        steps_of(kind, settings, means, Path())
    except BadInput as error:
        raise BadInput(f"--ask: {error}") from error
    seconds = float(given.get("seconds") or _LONGEST_SECONDS)
    return {"kind": kind, "name": str(given.get("name") or kind), "settings": settings, "seconds": seconds}


def _count(path: Path) -> int:
    return sum(1 for _ in read_questions(questions_file(path)))


def _count_items(path: Path) -> int:
    return len(read_bench(path).items)


def _counts(files: Mapping[str, Path], count: Callable[[Path], int]) -> dict[str, int]:
    """How many each holds; those that cannot be read are left out."""
    found = {}
    for name, path in files.items():
        try:
            file = questions_file(path) if path.is_dir() else path
            about = file.stat()
        except (OSError, BadInput):
            continue  # it was taken away just now
        number = _count_again(count, file, about.st_mtime_ns, about.st_size)
        if number is not None:
            found[name] = number
    return found


@lru_cache(maxsize=256)
def _count_again(count: Callable[[Path], int], file: Path, changed: int, size: int) -> int | None:
    """A file is counted again only when it changed, and its fault is said once."""
    del changed, size
    try:
        return count(file)
    except (OSError, BadInput, BadRun) as error:
        say(f"evaluations: left out: {error}")
        return None


def steps_of(kind: str, settings: Row, means: Means, folder: Path) -> list[Step]:
    """The commands of an evaluation, in their order; each goes on where it was when it is called again.

    Raises:
        BadInput: Something that is asked for is not there (any more).
    """
    try:
        return _omni(settings, means, folder) if kind == "omni" else _arena(settings, means, folder)
    except KeyError as error:
        raise BadInput(f"the worker has no {error}, or no longer") from error


def _eval(*arguments: str) -> tuple[str, ...]:
    return (sys.executable, "-m", "quelea_evaluation", *arguments)


def _omni(settings: Row, means: Means, folder: Path) -> list[Step]:
    questions = means.questions[settings["questions"]]
    total = _count(questions)
    run = ["omni", "run", str(questions), "--out", str(folder)]
    of_quelea = settings["system"] == QUELEA
    if of_quelea:
        run += ["--gateway", means.gateway, "--route", settings["route"]]
    else:
        model = means.models[settings["system"]]
        run += ["--system", model.url, "--model", model.model, "--passages", settings["passages"]]
    steps = [Step("run", _eval(*run), (folder / "answers.jsonl",), total, of_quelea)]
    for name in settings["judges"]:
        judge = means.models[name]
        steps.append(Step("judge", _eval("omni", "judge", str(folder), "--judge", judge.text)))
    return [*steps, Step("report", _eval("omni", "report", str(folder), "--no-pictures"))]


def _arena(settings: Row, means: Means, folder: Path) -> list[Step]:
    bench = means.benches[settings["bench"]]
    only = ["--bench", str(bench), *(word for task in settings["tasks"] for word in ("--task", task))]
    if settings["per_task"]:
        only += ["--most", str(settings["per_task"])]
    steps = []
    for name in settings["systems"]:
        system = f"quelea@{means.gateway}" if name == QUELEA else means.models[name].text
        talk = ["arena", "talk", str(folder), "--system", system, "--name", name, "--resume", *only]
        if settings["user"]:
            talk += ["--user", means.models[settings["user"]].text]
        rows = folder / "systems" / name / "dialogues.jsonl"
        steps.append(Step("talk", _eval(*talk), (rows,), asks_quelea=name == QUELEA))
    judge = means.models[settings["judge"]]
    called = ["--judge", judge.text, "--name", settings["judge"], "--bench", str(bench), "--resume"]
    return [*steps, Step("judge", _eval("arena", "judge", str(folder), *called))]
