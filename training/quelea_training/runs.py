"""The folder of a training, what its report and its model card say: the same for whatever is trained."""

from __future__ import annotations

import os
import platform
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from importlib import metadata
from pathlib import Path
from typing import Any

from quelea_evaluation.inputs import BadInput
from quelea_evaluation.reports.store import RunFolder, git_commit, hash_file, write_json

from quelea_training.checkpoints import processes_of
from quelea_training.long_runs import Budget, Trained, draw_log
from quelea_training.processes import is_first, is_spread
from quelea_training.recipe import BaseRecipe

REPORT, LOSS = "report.json", "loss.png"
_PACKAGES = ("quelea-training", "torch", "transformers", "accelerate")


def names_of(folders: Sequence[Path]) -> dict[Path, str]:
    """A name for each folder, for reports: its own, or its whole path where another has the same."""
    same = Counter(one.name for one in folders)
    return {one: one.name if same[one.name] == 1 else str(one) for one in folders}


def hash_base(folder: Path) -> str:
    """Of the weights that an encoder, or what is made from one, begins with. Raises BadInput where there are none."""
    weights = folder / "model.safetensors"
    if not weights.is_file():
        raise BadInput(f"{folder} has no model.safetensors; name an encoder with --base")
    return hash_file(weights)


@dataclass(frozen=True)
class Run:
    """A training with its folder.

    In a run of several processes each has one; the first alone keeps the folder.
    """

    out: Path
    base: str
    """Name of what is trained from."""
    data: Mapping[str, str]
    """Hash of everything that is read, by name; `base` is one."""
    recipe: BaseRecipe
    budget: Budget
    commit: str
    folder: RunFolder | None
    """None in the other processes."""

    def account(self, trained: Trained, licences: Sequence[str], packages: Sequence[str]) -> dict[str, Any]:
        """What every report has, beside what was trained on and how good it is.

        Args:
            trained: What came out.
            licences: Of the data.
            packages: Whose versions matter, beside those of every training.
        """
        return {
            "name": self.out.name,
            "base": self.base,
            "base_sha256": self.data["base"],
            "licences": list(licences),
            "recipe": self.recipe.as_row(),
            "budget": asdict(self.budget),
            "machine": {"cores": os.cpu_count(), "load": os.getloadavg(), "processor": platform.machine()},
            "versions": {name: metadata.version(name) for name in (*_PACKAGES, *packages)},
            "commit": self.commit,
            **{name: value for name, value in asdict(trained).items() if name != "log"},
        }

    def finish(self, found: Mapping[str, Any], trained: Trained, measure: str, summary: Mapping[str, Any]) -> None:
        """Write report and picture; then the run is finished.

        Args:
            found: The report.
            trained: With its log, which is drawn and kept in the report.
            measure: Name of the development measure.
            summary: For the manifest.
        """
        draw_log(trained.log, self.out / LOSS, measure)
        write_json(self.out / REPORT, {**found, "log": trained.log})
        if self.folder is not None:
            self.folder.finish({**summary, "steps": trained.steps})


@contextmanager
def begin(
    kind: str,
    out: Path,
    base: str,
    data: Mapping[str, str],
    recipe: BaseRecipe,
    budget: Budget,
    *,
    free: Sequence[str] = (),
    watched: Mapping[str, Any] | None = None,
    can_spread: bool = False,
) -> Iterator[Run]:
    """Open the folder of a training; one that was interrupted goes on.

    Args:
        kind: What runs, for the manifest.
        out: The folder.
        base: Name of what is trained from.
        data: Hash of everything that is read, by name; `base` is one.
        recipe: How.
        budget: How long.
        free: Settings of the recipe that may be others when it goes on.
        watched: How the training is measured. It must be the same when a run is resumed: the report compares before and
            after.
        can_spread: Whether a model may be spread over several processes (FSDP).

    Raises:
        BadInput: The folder holds a finished run, or the model is spread and cannot be.
        BadRun: Another run writes into it, or one with other settings or data.
    """
    recipe.check()
    if is_spread() and not can_spread:
        raise BadInput("only `quelea train sft` spreads a model over processes (FSDP); here each has it whole")
    commit = git_commit()  # of the code that runs, whatever becomes of the files meanwhile
    if not is_first():
        yield Run(out, base, data, recipe, budget, commit, None)
        return
    settings = {name: value for name, value in recipe.as_row().items() if name not in free}
    settings |= watched or {}
    settings["processes"] = int(os.environ.get("WORLD_SIZE", "1"))  # each takes a batch, so a step is of other examples
    absent: dict[str, Any] = {"processes": processes_of(out)}  # of a run from before these were kept
    if "anchor" in settings:
        absent["anchor"] = 0.0
    notes = {"minutes": budget.minutes, "threads": budget.threads}
    with RunFolder(out, kind, settings, data, notes, absent=absent) as folder:
        if "finished" in folder.manifest:
            raise BadInput(f"{out} holds a finished run; choose another folder, or remove it")
        yield Run(out, base, data, recipe, budget, commit, folder)


def card(about: Mapping[str, Any], what: str, measured: str, files: Mapping[str, str]) -> str:
    """A model card, Markdown: what it is, from what, by which licences, how good, and how it was made.

    Args:
        about: `Run.account`.
        what: A paragraph: what it is, and what for.
        measured: Sections about the data and what was measured.
        files: Name -> SHA-256 of the data.
    """
    licences = "\n".join(f"- {one}" for one in about["licences"])
    settings = "\n".join(f"- {name}: {value}" for name, value in about["recipe"].items())
    data = "\n".join(f"- {name} (sha256 {digest})" for name, digest in files.items())
    return f"""# {about["name"]}

{what} It may be used under the licence of its base model, {about["base"]} (sha256 {about["base_sha256"]}; LICENSE). \
The data it was trained on:

{licences}

{measured}

## How

{about["steps"]} steps in {about["seconds"] / 60:.1f} minutes; {about["why"]}. Commit {about["commit"]}.

{settings}

Files:

{data}
"""
