"""Rows whose cells run over several printed lines, put together again.

A PDF writes a table cell by cell: the lines of one cell, then up and to the right to the next. That order is the
evidence used here, before the lines are sorted from top to bottom.
"""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

from quelea_search.core.layout.lines import Cell, RawLine
from quelea_search.core.layout.rows import is_number
from quelea_search.core.layout.text_cleanup import ends_chinese, glue

_NUMBERED = re.compile(r"(?:\d{1,2}(?:\.\d{1,2}){1,3}\.?|\d{1,2}\.)(?:\s|$)")
MOST_CHARACTERS = 4000
"""Of a cell that another line may go on with."""
MOST_LINES = 9
"""Printed lines of one cell, at most: more is a column of text."""


_SAME_PITCH = 0.4
"""Points by which lines of one table stand apart differently."""


@dataclass(slots=True)
class _Row:
    cells: list[Cell]
    top: float
    bottom: float
    """Baseline of the last line of the last cell."""
    lowest: float
    height: float
    weight: int
    italic: bool
    sinks: float

    @staticmethod
    def of(line: RawLine) -> _Row:
        return _Row(list(line.cells), line.y, line.y, line.y, line.height, line.weight, line.italic, line.sinks)

    def line(self) -> RawLine:
        return RawLine(
            tuple(self.cells), self.top, self.height, self.weight, self.italic, self.sinks + self.top - self.bottom
        )


def assemble(lines: Sequence[RawLine]) -> list[RawLine]:
    """Lines in the order in which the page writes them; the lines of one table row become one."""
    edge = _column_edges(lines)
    rows: list[_Row] = []
    for line in lines:
        if rows and _continues_cell(rows[-1], line):
            _extend(rows[-1], line)
        elif not (rows and _joins(rows, line, edge)):
            rows.append(_Row.of(line))
    return _whole_labels([row.line() for row in rows], edge)


def _whole_labels(lines: list[RawLine], edge: dict[int, float]) -> list[RawLine]:
    """Chinese labels of a table that run over several lines, with or without figures beside the last one."""
    tables = {round(line.x0 / 4) for line in lines if len(line.cells) > 1}
    right = max((line.x1 for line in lines), default=0.0)
    pitch, reach = row_pitch(lines), _reach(lines)
    out: list[RawLine] = []
    for line in lines:
        last = out[-1] if out else None
        at = round(line.x0 / 4)
        if (
            last is not None
            and len(last.cells) == 1
            and at in tables
            and abs(last.x0 - line.x0) < 4
            and 0 < last.y - line.y < 1.5 * last.height
            and ends_chinese(last.text)
            and not last.text.endswith(("。", "：", "；"))
            and last.x1 > edge.get(at, 0.0) - 1.2 * last.height
            and edge.get(at, 0.0) < 0.6 * right
            and not (is_row_apart(last, line, pitch) and reach[at] < 2)
        ):
            first = Cell(glue(last.text, line.cells[0].text), last.x0, line.cells[0].x1)
            out[-1] = RawLine((first, *line.cells[1:]), line.y, line.height, line.weight, line.italic)
        else:
            out.append(line)
    return out


def row_pitch(lines: Sequence[RawLine]) -> float:
    """How far apart rows of one printed line stand; infinite where there are none, one below the other."""
    drops = [
        upper.y - lower.y
        for upper, lower in pairwise(lines)
        if len(upper.cells) > 1 and len(lower.cells) > 1 and 0 < upper.y - lower.y < 3 * upper.height
    ]
    return min(drops, default=math.inf)


def is_row_apart(upper: RawLine, lower: RawLine, pitch: float) -> bool:
    """Whether a line stands as far below another as rows stand apart; lines of one row are often closer."""
    return upper.y - lower.y > pitch - _SAME_PITCH


def _reach(lines: Sequence[RawLine]) -> Counter[int]:
    """How many lines with a left edge go as far to the right as the longest of them, nearly: one alone is no margin."""
    edge = _column_edges(lines)
    return Counter(at for line in lines if line.cells[0].x1 > edge[at := round(line.x0 / 4)] - 1.2 * line.height)


def _column_edges(lines: Sequence[RawLine]) -> dict[int, float]:
    """Right edge of the text that begins at a left edge (rounded to 4 points)."""
    edges: dict[int, float] = {}
    for line in lines:
        at = round(line.x0 / 4)
        edges[at] = max(edges.get(at, 0.0), line.cells[0].x1)
    return edges


def _continues_cell(row: _Row, line: RawLine) -> bool:
    """The line stands right below the row's last cell, and nothing is left of it."""
    if len(row.cells) < 2 or not 0.3 * row.height < row.bottom - line.y < 1.6 * row.height:
        return False
    last, new = row.cells[-1], line.cells[0]
    if len(last.text) > MOST_CHARACTERS:
        return False
    if new.x0 >= last.x1 or new.x1 <= last.x0 or new.x0 < row.cells[-2].x1 or _NUMBERED.match(new.text):
        return False
    if new.x1 - new.x0 > 1.35 * (last.x1 - last.x0) + 2 * row.height:
        return False  # a cell's first line is about as wide as the cell
    return not (is_number(last.text) and is_number(new.text)) or last.text == "-"


def _extend(row: _Row, line: RawLine) -> None:
    last, new = row.cells[-1], line.cells[0]
    text = last.text + new.text if last.text == "-" else glue(last.text, new.text)
    row.cells[-1] = Cell(text, min(last.x0, new.x0), max(last.x1, new.x1))
    row.cells.extend(line.cells[1:])
    row.bottom = line.y
    row.sinks = line.sinks
    row.lowest = min(row.lowest, line.y)


def _joins(rows: list[_Row], line: RawLine, edge: dict[int, float]) -> bool:
    """Add the line to the last row when it goes on to the right of it; lines of its first cell are pulled in."""
    row = rows[-1]
    size = max(row.height, line.height)
    if line.x0 < row.cells[-1].x1 - 1 or line.y < row.lowest - 0.3 * size:
        return False
    pulled = 0
    top = row.top
    if len(row.cells) == 1:
        while pulled + 1 < min(len(rows), MOST_LINES):
            above = rows[-2 - pulled]
            if not _is_stacked(above, row.cells[0], top, size):
                break
            reached = top > line.y - 0.3 * size
            if reached and above.cells[0].x1 < edge.get(round(above.cells[0].x0 / 4), 0.0) - 1.2 * size:
                break
            if reached and line.y < top + 0.3 * size and pulled == 0 and abs(line.y - row.bottom) < 0.3 * size:
                break  # the row's only line is level with its values: what stands above is a line of its own
            top = above.top
            pulled += 1
    if line.y > top + (2.2 if len(row.cells) > 1 else 1.2) * size:
        return False
    if pulled:
        above_lines = rows[-1 - pulled : -1]
        text = row.cells[0].text
        for above in reversed(above_lines):
            text = glue(above.cells[0].text, text)
        x0 = min(row.cells[0].x0, *(a.cells[0].x0 for a in above_lines))
        x1 = max(row.cells[0].x1, *(a.cells[0].x1 for a in above_lines))
        del rows[-1 - pulled : -1]
        row.cells[0] = Cell(text, x0, x1)
    row.top = max(top, line.y)
    if abs(line.y - row.bottom) < 0.3 * size and line.x0 - row.cells[-1].x1 < 0.3 * size:
        last, new = row.cells[-1], line.cells[0]
        row.cells[-1] = Cell(last.text + new.text, last.x0, new.x1)
        row.cells.extend(line.cells[1:])
    else:
        row.cells.extend(line.cells)
    row.bottom = line.y
    row.lowest = min(row.lowest, line.y)
    row.sinks = line.sinks
    return True


def _is_stacked(above: _Row, cell: Cell, top: float, size: float) -> bool:
    only = above.cells[0]
    return (
        len(above.cells) == 1
        and only.x0 < cell.x1
        and only.x1 > cell.x0
        and 0.3 * size < above.bottom - top < 1.6 * size
    )
