"""How far probabilities can be believed: of what is said to be likely by .7, seven of ten should be so."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from quelea_evaluation.reports.plots import new_figure

BINS = 10


@dataclass(frozen=True)
class Bin:
    """Questions whose probabilities lie in one tenth of the scale."""

    questions: int
    said: float
    """Mean probability."""
    found: float
    """Share of them that the evidence answers."""


def bins(probabilities: NDArray[np.float64], answerable: NDArray[np.bool_]) -> list[Bin]:
    """The tenths that hold a question, lowest first."""
    number = np.minimum((probabilities * BINS).astype(int), BINS - 1)
    return [
        Bin(int(own.sum()), float(probabilities[own].mean()), float(answerable[own].mean()))
        for i in range(BINS)
        if (own := number == i).any()
    ]


def calibration_error(found: Sequence[Bin]) -> float:
    """Mean distance of what was said from what was found, each question counting once (expected calibration error)."""
    whole = sum(one.questions for one in found)
    return sum(one.questions * abs(one.said - one.found) for one in found) / whole


def brier(probabilities: NDArray[np.float64], answerable: NDArray[np.bool_]) -> float:
    """Mean squared distance of probability and outcome; .25 for saying .5 always."""
    return float(((probabilities - answerable) ** 2).mean())


def draw(found: Sequence[Bin], title: str, path: Path) -> None:
    """The reliability diagram, as PNG: the closer to the diagonal, the better; a dot's area is its questions."""
    figure, axes = new_figure()
    axes.plot([0, 1], [0, 1], color="#999999", linestyle="--", label="as said")
    most = max(one.questions for one in found)
    axes.plot([one.said for one in found], [one.found for one in found], color="#4477aa")
    axes.scatter(
        [one.said for one in found],
        [one.found for one in found],
        s=[20 + 200 * one.questions / most for one in found],
        color="#4477aa",
        label="held out",
    )
    for one in found:
        axes.annotate(
            str(one.questions), (one.said, one.found), textcoords="offset points", xytext=(8, -10), fontsize=8
        )
    axes.set_xlim(0, 1)
    axes.set_ylim(0, 1)
    axes.set_xlabel("probability that the evidence answers")
    axes.set_ylabel("share that it answers")
    axes.set_title(title)
    axes.legend(loc="upper left")
    path.parent.mkdir(parents=True, exist_ok=True)
    figure.savefig(path, dpi=120)
