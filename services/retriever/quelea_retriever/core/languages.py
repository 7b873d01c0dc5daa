"""Questions in one language over documents in another.

The encoder likes texts in the question's own language better, whatever they say, and no word is shared with the others:
side by side on one scale, the others lose. So each language is measured from its own worst candidate, and what a
question speaks of is also looked for in the other language's words (quelea_kit.glossary).
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

Scores = npt.NDArray[np.float64]
Mask = npt.NDArray[np.bool_]


def foreign(languages: Sequence[str], language: str) -> Mask:
    """Which of these are in another language than `language`; those of which nobody knows are not."""
    return np.array([one not in ("", language) for one in languages], dtype=np.bool_)


def scaled(values: npt.ArrayLike, others: Mask) -> Scores:
    """Min-max over all, each language from its own least value; the spread is the wider one. 0 where there is none.

    Args:
        values: One score each.
        others: Which of them belong to the other language; as long as `values`.
    """
    array = np.asarray(values, dtype=np.float64)
    moved = np.zeros_like(array)
    for members in (others, ~others):
        if members.any():
            moved[members] = array[members] - array[members].min()
    spread = moved.max(initial=0.0)
    return moved / spread if spread > 0 else np.zeros_like(array)
