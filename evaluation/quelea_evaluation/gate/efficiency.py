"""The efficiency curve: web calls avoided against answers right.

The web of this measurement is the whole knowledge base: a question that a gate sends to the web is answered as it is
when its documents are there. So it is the best that any web could do, and not a measurement of the web.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from quelea_evaluation.gate.asking import Asked
from quelea_evaluation.reports.plots import new_figure

COARSE = tuple(round(0.5 + 0.05 * n, 2) for n in range(10))
FINE = tuple(round(0.8 + 0.01 * n, 2) for n in range(1, 15))
"""Where the cosines of E5 lie, steps of .05 show nothing."""


@dataclass(frozen=True)
class Point:
    """One setting of one gate."""

    gate: str
    setting: float
    avoided: float
    """Share of the questions answered without the web."""
    right: float
    """Share of the answers that are right."""


def point(gate: str, setting: float, asked: Sequence[Asked], values: NDArray[np.float64]) -> Point:
    """Questions whose value is above the setting stay local."""
    whole = {(a.set, a.question): a.right for a in asked if a.answerable}
    stays = values > setting
    right = [a.right if stay else whole[a.set, a.question] for a, stay in zip(asked, stays, strict=True)]
    return Point(gate, setting, float(stays.mean()), float(np.mean(right)))


def cosine_points(asked: Sequence[Asked]) -> list[Point]:
    """The paper's gate, c from .5 to .95."""
    cosine = np.array([a.features["cosine"] for a in asked])
    return [point("cosine", c, asked, cosine) for c in sorted({*COARSE, *FINE})]


def calibrated_points(asked: Sequence[Asked], held_out: NDArray[np.float64], chosen: float) -> list[Point]:
    """The calibrated gate at nine thresholds and the chosen one."""
    settings = sorted({round(0.1 * n, 1) for n in range(1, 10)} | {round(chosen, 3)})
    return [point("calibrated", t, asked, held_out) for t in settings]


def table(points: Sequence[Point], chosen: float) -> str:
    """Markdown."""
    rows = ["| gate | setting | web calls avoided | answers right |", "|---|---|---|---|"]
    for p in points:
        mark = (
            " (95 % of the unanswerable go to the web)"
            if p.gate == "calibrated" and p.setting == round(chosen, 3)
            else ""
        )
        rows.append(f"| {p.gate} | {p.setting:g}{mark} | {p.avoided:.3f} | {p.right:.3f} |")
    return "\n".join(rows)


def draw(points: Sequence[Point], path: Path) -> None:
    """Both curves as PNG."""
    figure, axes = new_figure()
    for gate, colour, marker in (("cosine", "#cc3311", "o"), ("calibrated", "#4477aa", "s")):
        mine = [p for p in points if p.gate == gate]
        axes.plot([p.avoided for p in mine], [p.right for p in mine], color=colour, marker=marker, label=f"{gate} gate")
        for p in mine[:: max(1, len(mine) // 8)]:
            axes.annotate(f"{p.setting:g}", (p.avoided, p.right), fontsize=7, xytext=(3, 4), textcoords="offset points")
    axes.set_xlabel("web calls avoided (share of questions)")
    axes.set_ylabel("answers right (share of questions)")
    axes.set_title("the knowledge base with every document stands in for the web")
    axes.legend()
    path.parent.mkdir(parents=True, exist_ok=True)
    figure.savefig(path, dpi=120)
