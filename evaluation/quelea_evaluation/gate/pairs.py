"""Positive pairs (question, a passage that answers it), and the paper's threshold over their cosines."""

from __future__ import annotations

from datetime import date
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from quelea_evaluation.inputs import BadInput, read_rows
from quelea_evaluation.reports.plots import new_figure

LEAST, FEW = 10, 50
"""Fewer pairs are refused; with fewer than FEW the quantile is little more than the worst pair."""
QUANTILE = 0.01
_SHAPE = 'an object {"query": …, "passage": …}; or the file is a .csv with the columns query and passage'


def read_pairs(path: Path) -> list[tuple[str, str]]:
    """(query, passage) of a .jsonl file of objects, or of a .csv file with a header, with the fields query and passage.

    Raises:
        BadInput: No such file, another format, a line without both fields, or fewer than LEAST different pairs.
    """
    pairs: dict[tuple[str, str], None] = {}
    for line, row in read_rows(path, _SHAPE):
        values = [row.get(name) for name in ("query", "passage")]
        if not all(isinstance(value, str) and value.strip() for value in values):
            raise BadInput(
                f"{path}, line {line}: every pair needs the fields query and passage, both with text in them."
            )
        pairs[(str(values[0]).strip(), str(values[1]).strip())] = None
    if len(pairs) < LEAST:
        raise BadInput(
            f"{path} has {len(pairs)} different pairs; at least {LEAST} are needed, {FEW} and more for a useful figure."
        )
    return list(pairs)


def threshold(cosines: NDArray[np.float64], quantile: float = QUANTILE) -> float:
    """c: the quantile of the cosines of positive pairs (WeaverBird, section 2.1); linear between two."""
    return float(np.quantile(cosines, quantile))


def calibration(cosines: NDArray[np.float64], encoder: str, quantile: float = QUANTILE) -> dict[str, Any]:
    """What `quelea calibrate` writes; `cosine` is the name under which the gateway's gate file has c."""
    c = round(threshold(cosines, quantile), 4)
    return {
        "c": c,
        "cosine": c,
        "encoder": encoder,
        "pairs": len(cosines),
        "quantile": quantile,
        "date": date.today().isoformat(),  # the day of whoever runs it
    }


def draw(cosines: NDArray[np.float64], found: dict[str, Any], path: Path) -> None:
    """The histogram of the cosines, with c, as PNG."""
    figure, axes = new_figure()
    axes.hist(cosines, bins=min(60, max(10, len(cosines) // 5)), color="#4477aa")
    axes.axvline(found["c"], color="#cc3311", label=f"c = {found['c']:.4f} ({found['quantile']:.0%} quantile)")
    axes.set_xlabel("cosine of question and passage")
    axes.set_ylabel("pairs")
    axes.set_title(f"{found['pairs']} positive pairs, {found['encoder']}")
    axes.legend()
    figure.savefig(path, dpi=120)
