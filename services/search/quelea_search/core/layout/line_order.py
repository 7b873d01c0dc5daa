"""The printed lines of a page: which there are, in which order, and how far they reach."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from quelea_search.core.layout.lines import Cell, RawLine, RawPage

_MARKS = re.compile(r"[\s®™℠©*†‡]+")


@dataclass(frozen=True, slots=True)
class Style:
    """What most of a document's text looks like."""

    height: float
    weight: int

    @staticmethod
    def of(pages: Sequence[RawPage]) -> Style:
        """The style that most characters have."""
        counts: Counter[tuple[float, int]] = Counter()
        for page in pages:
            for line in page.lines:
                if not line.italic:
                    counts[(round(line.height, 1), line.weight)] += len(line.text)
        (height, weight), _ = counts.most_common(1)[0] if counts else ((10.0, 0), 0)
        return Style(height, weight)

    def bold(self, line: RawLine) -> bool:
        """Whether a line is clearly heavier than the text."""
        return line.weight >= 1.35 * self.weight + 40 and not (line.italic and line.weight > 500)

    def large(self, line: RawLine) -> bool:
        """Whether a line is clearly larger than the text."""
        return line.height >= 1.12 * self.height


def without_marks(page: RawPage, style: Style) -> RawPage:
    """The page without marks that are printed apart from the word they belong to: ®, (a)."""
    kept = tuple(line for line in page.lines if not _is_mark(line, style))
    return page if len(kept) == len(page.lines) else RawPage(kept, page.width, page.height)


def _is_mark(line: RawLine, style: Style) -> bool:
    if _MARKS.fullmatch(line.text):
        return True
    return len(line.text) <= 3 and line.height < 0.8 * style.height and not line.text.isdigit()


def in_order(lines: Sequence[RawLine], width: float) -> list[RawLine]:
    """Lines from top to bottom, unless the page has two columns of text: then as they come."""
    if in_columns(lines, width):
        return list(lines)
    ordered = sorted(lines, key=lambda line: -line.y)
    out: list[RawLine] = []
    band: list[RawLine] = []
    for line in ordered:
        if band and band[0].y - line.y > 0.25 * max(band[0].height, 4):
            out.extend(sorted(band, key=lambda held: held.x0))
            band = []
        band.append(line)
    return out + sorted(band, key=lambda held: held.x0)


def join_same_baseline(lines: Sequence[RawLine]) -> list[RawLine]:
    """Neighbours on one baseline, left to right, are one line."""
    joined: list[RawLine] = []
    cells: list[Cell] = []
    """Of the last line of `joined`."""
    sinks = 0.0

    def close() -> None:
        if joined:
            last = joined[-1]
            joined[-1] = RawLine(tuple(cells), last.y, last.height, last.weight, last.italic, sinks)

    for line in lines:
        last = joined[-1] if joined else None
        if last and abs(last.y - line.y) < 0.25 * max(line.height, 4) and line.x0 >= cells[-1].x1 - 1:
            if line.x0 - cells[-1].x1 < 0.3 * line.height:
                cells[-1] = Cell(cells[-1].text + line.cells[0].text, cells[-1].x0, line.cells[0].x1)
                cells.extend(line.cells[1:])
            else:
                cells.extend(line.cells)
        else:
            close()
            joined.append(line)
            cells = list(line.cells)
        sinks = line.sinks
    close()
    return joined


class Margins:
    """Right edges of the text: one, or one for each of two columns."""

    def __init__(self, lines: Sequence[RawLine], width: float) -> None:
        self._middle = 0.55 * width if in_columns(lines, width) else 0.0
        self._left = _edge([line for line in lines if line.x1 < self._middle])
        self._right = _edge([line for line in lines if line.x1 >= self._middle])

    def of(self, line: RawLine) -> float:
        """The right edge of the column that a line stands in."""
        return self._left if line.x1 < self._middle else self._right


def _edge(lines: Sequence[RawLine]) -> float:
    edges = sorted(line.x1 for line in lines if len(line.text) > 20) or sorted(line.x1 for line in lines)
    return edges[int(len(edges) * 0.9)] if edges else 0.0


def in_columns(lines: Sequence[RawLine], width: float) -> bool:
    """Whether a page is printed in two columns of text."""
    left = sum(1 for line in lines if line.x1 < 0.55 * width and len(line.text) > 25)
    right = sum(1 for line in lines if line.x0 > 0.45 * width and len(line.text) > 25)
    return min(left, right) >= 6
