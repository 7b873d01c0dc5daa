"""The sets, one file each; they read ../shared/data or any folder laid out like it."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from quelea_evaluation.inputs import BadInput
from quelea_evaluation.sets import disc, docugami, finglm, fintextqa, tatqa
from quelea_evaluation.sets.model import EvaluationSet

SETS: dict[str, Callable[[Path], EvaluationSet]] = {
    "docugami": docugami.load,
    "tatqa": tatqa.load,
    "disc": disc.load,
    "fintextqa": fintextqa.load,
    "finglm": finglm.load,
}


def load_set(name: str, data: Path) -> EvaluationSet:
    """A set by its name.

    Raises:
        BadInput: There is none of that name, or its files are not below the folder.
    """
    if name not in SETS:
        raise BadInput(f"no set is called {name}; there are {', '.join(SETS)}")
    try:
        return SETS[name](data)
    except OSError as error:
        raise BadInput(f"{name}: cannot read {error.filename}: {error.strerror}; say where with --data") from error
