"""To which column a figure belongs: by where it stands across the page, where that is known, else by its order."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from statistics import median

from quelea_search.core.layout.rows import is_number
from quelea_search.core.statements.printed_tables import Cell, Row, numbers

_LEAST_ROWS = 3


@dataclass(frozen=True, slots=True)
class Places:
    """Where the columns of figures stand on a page."""

    left: float
    """The first one begins here; what ends before it is a note's number."""
    bounds: tuple[float, ...]
    """Between each column and the next."""

    def column_of(self, extent: tuple[float, float]) -> int | None:
        """The column of a figure; None left of all."""
        begin, end = extent
        if end <= self.left:
            return None
        middle = (begin + end) / 2
        return sum(1 for bound in self.bounds if middle > bound)


def places_by_page(rows: Sequence[Row], count: int) -> Mapping[int, Places]:
    """The columns' places on each page that has some rows with a figure in each column; pages may differ in margins."""
    full: dict[int, list[list[tuple[float, float]]]] = defaultdict(list)
    for row in rows:
        known = [cell.extent for cell in numbers(row) if cell.extent is not None]
        if 1 < count <= len(known):
            full[row.page].append(known[-count:])
    found: dict[int, Places] = {}
    for page, extents in full.items():
        begins = [median(row[place][0] for row in extents) for place in range(count)]
        ends = [median(row[place][1] for row in extents) for place in range(count)]
        apart = all(end < begin for end, begin in zip(ends, begins[1:], strict=False))
        if len(extents) >= _LEAST_ROWS and apart:
            bounds = tuple((end + begin) / 2 for end, begin in zip(ends, begins[1:], strict=False))
            found[page] = Places(begins[0], bounds)
    return found


def figures_by_column(row: Row, count: int, places: Places | None) -> list[Cell | None] | None:
    """A cell for each column, None where nothing is printed; None where the columns of the row cannot be told.

    Without places a row must have a figure for each column; more are a column of notes before them.
    """
    cells = numbers(row)
    if not cells or not count:
        return None
    placed = _placed(cells, count, places) if places is not None else None
    if placed is not None:
        return placed
    if len(cells) < count:
        return None
    return list(cells[-count:]) if all(is_number(cell.text) for cell in row.cells[-count:]) else None


def _placed(cells: Sequence[Cell], count: int, places: Places) -> list[Cell | None] | None:
    placed: list[Cell | None] = [None] * count
    for cell in cells:
        if cell.extent is None:
            return None
        column = places.column_of(cell.extent)
        if column is None:
            continue
        if placed[column] is not None:
            return None
        placed[column] = cell
    return placed if any(cell is not None for cell in placed) else None
