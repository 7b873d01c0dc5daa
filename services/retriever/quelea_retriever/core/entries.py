"""Entries: short texts of a collection that is not documents. What is kept of one, and how found ones are ordered."""

from __future__ import annotations

import zlib
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from quelea_retriever.core.model import Mode, PassageRecord

DENSE_WEIGHT = 0.6
"""Chosen on the development half of 270 questions for tools; .5 to .7 differ by less than their number lets one see."""


@dataclass(frozen=True)
class Entry:
    """An entry, as its owner gives it."""

    id: str
    text: str
    lexical: str = ""
    """What words are matched with; the text when empty."""
    category: str = ""
    payload: str = ""


@dataclass(frozen=True)
class FoundEntry:
    """A found entry."""

    id: str
    category: str
    payload: str
    score: float
    cosine: float
    sparse: float


def record_of(entry: Entry, collection: str) -> PassageRecord:
    """An entry as the store keeps it: its payload is the passage's text, its category the section."""
    return PassageRecord(
        id=entry.id,
        document_id=collection,
        ordinal=zlib.crc32(entry.id.encode()) & 0x7FFFFFFF,
        page=1,
        start=0,
        end=len(entry.payload),
        text=entry.payload,
        section=entry.category,
    )


def order(found: Sequence[tuple[PassageRecord, float, float]], mode: Mode, k: int) -> list[FoundEntry]:
    """The k best of (record, cosine, sparse); entries that share no word are left out of a sparse search."""
    cosine = np.array([one[1] for one in found], dtype=np.float64)
    sparse = np.array([one[2] for one in found], dtype=np.float64)
    if mode == "dense":
        score = cosine
    elif mode == "sparse":
        score = sparse
    else:
        score = DENSE_WEIGHT * _min_max(cosine) + (1 - DENSE_WEIGHT) * _min_max(sparse)
    best = sorted(range(len(found)), key=lambda i: (-score[i], found[i][0].id))
    kept = [i for i in best if mode != "sparse" or sparse[i] > 0][:k]
    return [
        FoundEntry(found[i][0].id, found[i][0].section, found[i][0].text, float(score[i]), found[i][1], found[i][2])
        for i in kept
    ]


def _min_max(values: npt.NDArray[np.float64]) -> npt.NDArray[np.float64]:
    if not len(values) or values.max() <= values.min():
        return np.zeros_like(values)
    low, high = float(values.min()), float(values.max())
    return np.asarray((values - low) / (high - low), dtype=np.float64)
