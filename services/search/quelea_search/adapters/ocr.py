"""Scanned pages through RapidOCR: PP-OCR's models, which its wheel carries, run by ONNX Runtime. The extra `ocr`.

Reading a page takes some seconds of one processor; it uses no network.
"""

from __future__ import annotations

import importlib.util
import math
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import cache
from typing import Any

from quelea_search.core.layout.lines import Cell, RawLine, RawPage

_POINTS_PER_INCH = 72.0
_DOTS_PER_INCH = 200.0
_MOST_PIXELS = 8_000_000
"""Of a rendered page: a poster is read at fewer dots."""
_LEAST_SCORE = 0.5
"""Words that the model trusts less are left out."""
_FONT_SHARE = 0.75
"""Of the height of a box, which has room around its letters."""

CutCells = Callable[[str, int, float, Callable[[int], tuple[float, float]]], list[Cell]]
"""formats.pdf.cut_cells."""


@dataclass(frozen=True, slots=True)
class Box:
    """A run of words that was found, in points from the left and from the bottom."""

    text: str
    x0: float
    x1: float
    bottom: float
    height: float

    @property
    def middle(self) -> float:
        """Half its height up."""
        return self.bottom + self.height / 2


def is_installed() -> bool:
    """Whether the extra is there."""
    return all(importlib.util.find_spec(name) is not None for name in ("rapidocr", "onnxruntime"))


def read_page(page: Any, cut_cells: CutCells) -> RawPage:
    """The printed lines of a pdfium page, whatever text layer it has.

    Args:
        page: A pypdfium2 page.
        cut_cells: How a line becomes cells; that of the text layer's reader.
    """
    width, height = page.get_size()
    return RawPage(tuple(_line(row, cut_cells) for row in arrange_rows(find_boxes(page))), width, height)


def find_boxes(page: Any) -> list[Box]:
    """The runs of words that are seen on a pdfium page, as it is shown: after its rotation."""
    width, height = page.get_size()
    scale = min(_DOTS_PER_INCH / _POINTS_PER_INCH, math.sqrt(_MOST_PIXELS / max(width * height, 1.0)))
    picture = page.render(scale=scale, grayscale=True).to_pil().convert("RGB")
    found = _engine()(picture)
    if found.boxes is None:
        return []
    return [
        Box(
            text.strip(),
            min(x for x, _ in corners) / scale,
            max(x for x, _ in corners) / scale,
            height - max(y for _, y in corners) / scale,
            (max(y for _, y in corners) - min(y for _, y in corners)) / scale,
        )
        for corners, text, score in zip(found.boxes.tolist(), found.txts, found.scores, strict=True)
        if text.strip() and score >= _LEAST_SCORE
    ]


def arrange_rows(boxes: Iterable[Box]) -> list[list[Box]]:
    """Boxes that stand side by side, the highest row first, each from left to right."""
    rows: list[list[Box]] = []
    for box in sorted(boxes, key=lambda one: -one.middle):
        beside = next(
            (
                row
                for row in reversed(rows[-3:])
                if any(_overlap(one, box) > 0.5 * min(one.height, box.height) for one in row)
                and all(_apart(one, box) for one in row)
            ),
            None,
        )
        if beside is None:
            rows.append([box])
        else:
            beside.append(box)
    return [sorted(row, key=lambda one: one.x0) for row in rows]


def _overlap(one: Box, other: Box) -> float:
    """How much of their heights two boxes share."""
    return min(one.bottom + one.height, other.bottom + other.height) - max(one.bottom, other.bottom)


def _apart(one: Box, other: Box) -> bool:
    """Whether two boxes stand side by side; their margins may touch."""
    margin = 0.3 * min(one.height, other.height)
    return one.x1 - margin <= other.x0 or other.x1 - margin <= one.x0


def _line(row: list[Box], cut_cells: CutCells) -> RawLine:
    edges: list[tuple[float, float]] = []
    for box in row:
        step = (box.x1 - box.x0) / len(box.text)
        edges += [(box.x0 + at * step, box.x0 + (at + 1) * step) for at in range(len(box.text))]
        edges.append((box.x1, box.x1))  # the space that joins it to the next
    size = _FONT_SHARE * sorted(box.height for box in row)[len(row) // 2]
    cells = cut_cells(" ".join(box.text for box in row), 0, size, lambda at: edges[at])
    return RawLine(tuple(cells), min(box.bottom for box in row), size, 0)


@cache
def _engine() -> Any:
    from rapidocr import RapidOCR  # noqa: PLC0415 - an extra, and slow to import

    return RapidOCR(
        params={
            "Global.log_level": "error",
            "Global.use_cls": False,  # pages stand upright
            "EngineConfig.onnxruntime.intra_op_num_threads": 1,  # documents are read side by side already
            "EngineConfig.onnxruntime.inter_op_num_threads": 1,
        }
    )
