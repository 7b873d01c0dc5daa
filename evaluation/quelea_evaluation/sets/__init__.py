"""The sets, one file each; they read ../shared/data or any folder laid out like it."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from quelea_evaluation.sets import disc, docugami, finglm, fintextqa, tatqa
from quelea_evaluation.sets.model import EvaluationSet

SETS: dict[str, Callable[[Path], EvaluationSet]] = {
    "docugami": docugami.load,
    "tatqa": tatqa.load,
    "disc": disc.load,
    "fintextqa": fintextqa.load,
    "finglm": finglm.load,
}
