"""Column headers printed over several lines, as rows of cells."""

from __future__ import annotations

import re
from collections.abc import Sequence

from quelea_search.core.layout.lines import RawLine
from quelea_search.core.layout.rows import is_period, is_units
from quelea_search.core.layout.text_cleanup import glue
from quelea_search.core.model import CELL

_COMPLETES = re.compile(r"(?:19|20)\d\d\s*(?:\(\w+\))?")
_MOST_PAIRS = 10_000
"""Cells of one line times cells of the next: with more of them the lines head no table."""
_HeadRow = list[tuple[float, float, float, str]]
"""Cells of a line above a table: x0, x1, height, text."""


def column_heads(lines: Sequence[RawLine]) -> list[str]:
    """Lines above a table as rows of cells: what is printed in several lines over one column becomes one cell."""
    rows: list[_HeadRow] = []
    levels: list[float] = []
    for line in lines:
        target = next((i for i, y in enumerate(levels) if abs(y - line.y) < 0.4 * max(line.height, 4)), None)
        found = [(c.x0, c.x1, line.height, c.text) for c in line.cells]
        if target is None:
            levels.append(line.y)
            rows.append(found)
        else:
            rows[target].extend(found)
    order = sorted(range(len(rows)), key=lambda i: -levels[i])
    rows = [sorted(rows[i]) for i in order]
    levels = [levels[i] for i in order]
    at = 0
    while at + 1 < len(rows):
        close = levels[at] - levels[at + 1] < 1.9 * max(rows[at][0][2], 4)
        merged = _merge(rows[at], rows[at + 1]) if close else None
        if merged is None:
            at += 1
        else:
            rows[at : at + 2] = [merged]
            del levels[at]
    return [CELL.join(text for *_, text in cells) for cells in rows]


def _merge(upper: _HeadRow, lower: _HeadRow) -> _HeadRow | None:
    """Two header lines as one, when cells have one partner each and go on with each other's words; else None."""
    if len(upper) * len(lower) > _MOST_PAIRS:
        return None
    partner: dict[int, int] = {}
    for i, (x0, x1, _, _) in enumerate(upper):
        over = [k for k, (l0, l1, _, _) in enumerate(lower) if l0 < x1 and l1 > x0]
        if len(over) > 1 or (over and over[0] in partner.values()):
            return None
        if over:
            partner[i] = over[0]
    if not partner:
        return None
    if any(len(upper[i][3]) + len(lower[k][3]) > 48 for i, k in partner.items()):
        return None
    dates = all(upper[i][3].endswith(",") and _COMPLETES.match(lower[k][3]) for i, k in partner.items())
    spanning = any(is_period(upper[i][3]) for i in partner) and len(lower) > len(upper)
    if not dates and (spanning or any(is_units(upper[i][3]) for i in partner)):
        return None
    taken = set(partner.values())
    merged: _HeadRow = []
    for i, (x0, x1, height, text) in enumerate(upper):
        if i in partner:
            l0, l1, _, below = lower[partner[i]]
            merged.append((min(x0, l0), max(x1, l1), height, glue(text, below)))
        else:
            merged.append((x0, x1, height, text))
    merged.extend(cell for k, cell in enumerate(lower) if k not in taken)
    return sorted(merged)
