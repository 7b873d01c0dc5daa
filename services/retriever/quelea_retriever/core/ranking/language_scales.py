"""Questions in one language over documents in another.

The encoder likes texts in the question's own language better, whatever they say, and no word is shared with the others:
side by side on one scale, the others lose. So each language is measured from its own worst candidate, and what a
question speaks of is also looked for in the other language's words (quelea_fintext.glossary).
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

FEW = 20
"""Fewer candidates of a language say nothing of how high unrelated texts in it lie."""
GAP = 0.04
"""How much lower multilingual-E5-small puts texts in the other language: .015 (Chinese questions) to .06 (English
ones), in the median of 200 candidates each (docs/experiments/2026-11-23-cross-language.md)."""

Scores = npt.NDArray[np.float64]
Mask = npt.NDArray[np.bool_]


def foreign(languages: Sequence[str], language: str) -> Mask:
    """Which of these are in another language than `language`; those of which nobody knows are not."""
    return np.array([one not in ("", language) for one in languages], dtype=np.bool_)


def scale_cosines(cosines: npt.ArrayLike, others: Mask) -> Scores:
    """0 to 1 over all, each language from its own least cosine; the spread is the wider one. All 0 where there is none.

    Where a language has too few candidates for its least to mean anything, the question's own is measured from the
    least of all, and another from what the encoder usually puts it lower by.

    Args:
        cosines: One each.
        others: Which of them belong to the other language; as long as `cosines`.
    """
    array = np.asarray(cosines, dtype=np.float64)
    own, other = array[~others], array[others]
    if not own.size or not other.size:
        return scale_to_unit(array)
    own_low = own.min() if own.size >= FEW else array.min()
    other_low = other.min() if other.size >= FEW else own_low - GAP
    moved = np.maximum(0.0, array - np.where(others, other_low, own_low))
    return _spread(moved)


def scale_to_unit(values: npt.ArrayLike) -> Scores:
    """Min-max."""
    array = np.asarray(values, dtype=np.float64)
    return _spread(array - array.min(initial=np.inf)) if array.size else array


def _spread(moved: Scores) -> Scores:
    most = moved.max(initial=0.0)
    return moved / most if most > 0 else np.zeros_like(moved)
