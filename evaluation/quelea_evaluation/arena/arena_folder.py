"""An arena is a folder: dialogues of each system, judgements of each judge, votes of people.

systems/NAME/manifest.json, dialogues.jsonl
judges/NAME/manifest.json, judgements.jsonl
votes/ballot.json, votes.jsonl
report/
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping
from itertools import combinations
from pathlib import Path
from typing import Any

from quelea_evaluation.arena.bradley_terry import Game
from quelea_evaluation.inputs import BadInput
from quelea_evaluation.reports.store import RowFile, RowIndex, RunFolder, read_manifest

DIALOGUES = "dialogues"
JUDGEMENTS = "judgements"
TALK_KIND = "arena-dialogues"
JUDGE_KIND = "arena-judgements"

_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,79}")


def check_name(name: str, option: str) -> str:
    """A name that may be that of a folder.

    Raises:
        BadInput: It may not.
    """
    if not _NAME.fullmatch(name):
        raise BadInput(f"{option} must be letters, digits, '.', '_' and '-', 80 at most, got {name!r}")
    return name


def name_of(model: str) -> str:
    """A model's name made fit for a folder."""
    return re.sub(r"[^A-Za-z0-9._-]", "-", model).strip("-._")[:80] or "system"


def open_run(
    folder: Path, kind: str, settings: Mapping[str, Any], data: Mapping[str, str], *, resume: bool
) -> RunFolder:
    """The folder of a run, for this process alone.

    Raises:
        BadInput: There is a run already, and `resume` is off.
        BadRun: See the store.
        OSError: The folder cannot be written.
    """
    if not resume and (folder / "manifest.json").exists():
        raise BadInput(f"{folder} holds a run already; --resume goes on with it, or name another folder")
    return RunFolder(folder, kind, settings, data)


def dialogue_id(item: int) -> str:
    """By which a dialogue is found."""
    return str(item)


def judgement_id(item: int, first: str, second: str) -> str:
    """By which a comparison is found."""
    return f"{item} {first} {second}"


class Arena:
    """What is in the folder of an arena.

    Args:
        path: The folder; need not be there yet.
    """

    def __init__(self, path: Path) -> None:
        self.path = path

    def system_folder(self, name: str) -> Path:
        """Where a system's dialogues are."""
        return self.path / "systems" / name

    def judge_folder(self, name: str) -> Path:
        """Where a judge's judgements are."""
        return self.path / "judges" / name

    @property
    def systems(self) -> list[str]:
        """Names of those that talked, in the alphabet's order."""
        return _runs(self.path / "systems")

    @property
    def judges(self) -> list[str]:
        """Names of those that judged."""
        return _runs(self.path / "judges")

    @property
    def pairs(self) -> list[tuple[str, str]]:
        """Every two systems."""
        return list(combinations(self.systems, 2))

    def bench(self) -> str:
        """The SHA-256 of the bench that all systems talked about.

        Raises:
            BadInput: There is no system, or they talked about different ones.
        """
        found = {name: read_manifest(self.system_folder(name), TALK_KIND)["data"]["bench"] for name in self.systems}
        if not found:
            raise BadInput(f"{self.path} has no dialogues; `quelea eval arena talk` makes them")
        if len(set(found.values())) > 1:
            shown = ", ".join(f"{name}: {value[:12]}…" for name, value in found.items())
            raise BadInput(f"the systems in {self.path} talked about different benches ({shown})")
        return str(next(iter(found.values())))

    def dialogues(self, system: str) -> RowIndex:
        """A system's dialogues by `dialogue_id`."""
        return RowIndex(RowFile(self.system_folder(system) / f"{DIALOGUES}.jsonl"))

    def judgements(self, judge: str) -> RowIndex:
        """A judge's judgements by `judgement_id`."""
        return RowIndex(RowFile(self.judge_folder(judge) / f"{JUDGEMENTS}.jsonl"))

    def only_judge(self, name: str | None) -> str:
        """The judge that is meant.

        Raises:
            BadInput: There is none of that name, none at all, or several and no name.
        """
        judges = self.judges
        if not judges:
            raise BadInput(f"{self.path} has no judgements; `quelea eval arena judge` makes them")
        if name is None and len(judges) > 1:
            raise BadInput(f"several judges judged here: {', '.join(judges)}; name one with --judge")
        if name is not None and name not in judges:
            raise BadInput(f"no judge here is called {name!r}; there are {', '.join(judges)}")
        return name or judges[0]

    def games(self, judge: str) -> list[Game]:
        """Every judgement with a score, by item and pair, whatever the order they were made in."""
        found = [line for line in self.judgements(judge).latest() if line["score"] is not None]
        found.sort(key=lambda line: (line["item"], line["first"], line["second"]))
        return [
            Game(str(line["item"]), line["task"], line["first"], line["second"], float(line["score"])) for line in found
        ]


def count_statuses(lines: RowIndex) -> dict[str, int]:
    """How many lines have which status."""
    return dict(sorted(Counter(str(line["status"]) for line in lines.latest()).items()))


def _runs(folder: Path) -> list[str]:
    return sorted(path.parent.name for path in folder.glob("*/manifest.json"))
