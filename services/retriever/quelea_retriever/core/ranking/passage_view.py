"""What is looked at in a passage besides the two scores of the store, read once and kept."""

from __future__ import annotations

import re
import zlib
from collections import OrderedDict
from dataclasses import dataclass
from functools import cached_property
from threading import Lock

from quelea_retriever.core.model import PassageRecord
from quelea_retriever.core.sparse_vectors import tokens_of

YEAR = re.compile(r"(?<![\d.,])(?:19|20)\d\d(?!\d|[.,]\d)")
_NUMBER = re.compile(r"\d+(?:,\d+)*(?:\.\d+)?")
_CELL = re.compile(
    r"\t|\||\s[(（]?[-–—]?\s{0,8}+[$€£¥￥]?\s{0,8}+[(（]?\d[\d,]*+(?:\.\d+)?+(?:\s{0,8}+[%)）]{1,8})?(?=\s|$|\|)"
)
_SCALE = r"(?:thousand|million|billion|trillion)\b"
_SUM = re.compile(
    rf"[$€£¥￥]\s*\d[\d,.]*(?:\s*{_SCALE})?|\d\s*(?:%|percent\b|{_SCALE}|[万亿]?元|亿)",
    re.IGNORECASE,
)
_LABEL_EDGE = " .:：$€£¥￥（(—–-|\t"
_LONGEST_LABEL = 120
_SHINGLE = 5
_SIGNATURE = 8


@dataclass(frozen=True)
class PassageView:
    """A passage as the second stage sees it."""

    terms: frozenset[str]
    """Stemmed words of table head and text."""
    heading: str
    """Section and table head, lower case."""
    rows: tuple[frozenset[str], ...]
    """The label of each table row, as terms."""
    labels: tuple[str, ...]
    """The same labels as written, of the same length."""
    years: frozenset[str]
    figures: frozenset[str]
    """Distinct numbers that are not years."""
    sums: int
    """Sums of money and percentages."""
    text: str

    @cached_property
    def signature(self) -> frozenset[int]:
        """The smallest hashes of its word shingles: two passages that share nearly all of them are near-duplicates.

        Made when first asked for: only what is about to be shown is compared.
        """
        return _signature(self.text)


def view_of(passage: PassageRecord) -> PassageView:
    """Read a passage (`docs/experiments/2026-11-22-ranking.md` has the time it takes)."""
    body = f"{passage.table_head}\n{passage.text}" if passage.table_head else passage.text
    labels, rest = _row_labels(body)
    rows = tuple(frozenset(tokens_of(label)) for label in labels)
    numbers = set(_NUMBER.findall(passage.text))
    return PassageView(
        terms=frozenset(tokens_of(rest)).union(*rows),
        heading=f"{passage.section}\n{passage.table_head}".lower(),
        rows=rows,
        labels=tuple(labels),
        years=frozenset(YEAR.findall(body)),
        figures=frozenset(n for n in numbers if not (len(n) == 4 and YEAR.fullmatch(n))),
        sums=len(_SUM.findall(passage.text)),
        text=passage.text,
    )


def _row_labels(body: str) -> tuple[list[str], str]:
    """(the labels of table rows, everything else)."""
    labels: list[str] = []
    rest: list[str] = []
    for line in body.split("\n"):
        cut = _CELL.search(line)
        label = line[: cut.start()].strip(_LABEL_EDGE) if cut is not None else ""
        if cut is not None and label and len(label) < _LONGEST_LABEL and not label[0].isdigit():
            labels.append(label)
            rest.append(line[cut.start() :])
        else:
            rest.append(line)
    return labels, "\n".join(rest)


def _signature(text: str) -> frozenset[int]:
    words = text.split() if " " in text else list(text)
    shingles = {
        zlib.crc32(" ".join(words[i : i + _SHINGLE]).encode()) for i in range(max(1, len(words) - _SHINGLE + 1))
    }
    return frozenset(sorted(shingles)[:_SIGNATURE])


def alike(left: PassageView, right: PassageView) -> bool:
    """Near-duplicates: almost the same words and exactly the same figures and years."""
    shared = len(left.signature & right.signature)
    return (
        shared >= max(1, min(len(left.signature), len(right.signature)) - 1)
        and left.figures == right.figures
        and left.years == right.years
    )


class ViewCache:
    """The views of the passages used last, by passage id. Safe for threads."""

    def __init__(self, limit: int) -> None:
        self._limit = limit
        self._views: OrderedDict[str, tuple[PassageRecord, PassageView]] = OrderedDict()
        self._lock = Lock()

    def get(self, passage: PassageRecord) -> PassageView:
        """The passage's view, made when it is not held. A passage that changed under its id is read again."""
        with self._lock:
            held = self._views.get(passage.id)
            if held is not None and held[0] == passage:
                self._views.move_to_end(passage.id)
                return held[1]
        view = view_of(passage)
        with self._lock:
            self._views[passage.id] = (passage, view)
            while len(self._views) > self._limit:
                self._views.popitem(last=False)
        return view

    def __len__(self) -> int:
        return len(self._views)
