"""The ordinary set-up that levers are compared with: 900-character windows, file name as header, BM25 + dense, RRF.

It sees the same parsed pages and the same encoder as the product, and nothing else of it.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray
from quelea_fintext.text import terms

from quelea_evaluation.sets.model import Found

_WINDOW = 900
_OVERLAP = 100
_RRF = 60
_DEPTH = 50


def windows(document: str, filename: str, pages: Sequence[str]) -> list[tuple[Found, str]]:
    """Windows of a document with the text that is indexed for each; none crosses a page."""
    made = []
    for number, page in enumerate(pages, start=1):
        for start in range(0, max(1, len(page) - _OVERLAP), _WINDOW - _OVERLAP):
            piece = page[start : start + _WINDOW]
            if piece.strip():
                made.append((Found(document, number, piece), f"{filename}\n{piece}"))
    return made


class Bm25:
    """Okapi BM25 (k1 = 1.2, b = 0.75) over stemmed words."""

    def __init__(self, texts: Sequence[str]) -> None:
        self._counts = [Counter(terms(text)) for text in texts]
        self._lengths = [sum(c.values()) for c in self._counts]
        self._mean = sum(self._lengths) / max(1, len(texts))
        self._df = Counter(term for c in self._counts for term in c)

    def scores(self, query: str) -> NDArray[np.float64]:
        """One score for each text."""
        total = np.zeros(len(self._counts))
        n = len(self._counts)
        for term in set(terms(query)) & self._df.keys():
            idf = math.log(1 + (n - self._df[term] + 0.5) / (self._df[term] + 0.5))
            for i, counts in enumerate(self._counts):
                tf = counts.get(term, 0)
                if tf:
                    total[i] += idf * tf * 2.2 / (tf + 1.2 * (0.25 + 0.75 * self._lengths[i] / self._mean))
        return total


def fuse(dense: NDArray[np.float64], sparse: NDArray[np.float64]) -> list[int]:
    """Reciprocal rank fusion of the best 50 of each, k = 60."""
    score: dict[int, float] = {}
    for values in (dense, sparse):
        for rank, index in enumerate(np.argsort(-values, kind="stable")[:_DEPTH]):
            score[int(index)] = score.get(int(index), 0.0) + 1 / (_RRF + rank + 1)
    return sorted(score, key=lambda index: -score[index])
