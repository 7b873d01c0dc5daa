"""Tables with a head, as they stand on the pages: rows with the heading among which they stand, told to columns."""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from statistics import median

from quelea_search.core.layout.rows import is_number, is_units
from quelea_search.core.model import LineKind, Page
from quelea_search.core.statements.part_words import LONGEST_HEAD, bare, figure, is_measure, said
from quelea_search.core.statements.printed_tables import Cell, Row, row_of

LONGEST_PART = 60
"""Characters of a part's name, and of the heading of parts."""
_LONGEST_TITLE = 80
_MOST_COLUMNS = 14
_MOST_ROWS = 100
_TITLES = 4
_STRAY_LINES = 1
_YEAR = re.compile(r"((?:19|20)\d\d)\s*年?(?:度)?")
_UNITS_REACH = 8
"""Lines of text after which a line of units says nothing of a table any more."""
_RUNNING = 5
"""Times that a line stands in a report which every printed page has; a title is not said so often."""
_LEAST_PLACED = 2
"""Rows without a gap by which the places of columns are known."""


@dataclass(slots=True)
class PartTable:
    """A table as it is read."""

    titles: tuple[str, ...]
    heads: list[Row]
    is_parent: bool
    rows: list[tuple[str, Row]] = field(default_factory=list)
    """Each with the heading of the rows among which it stands."""
    group: str = ""
    stray: int = 0

    @property
    def units(self) -> list[str]:
        """The lines of units over it and in its heads, the one that counts first."""
        heads = [cell.text for row in self.heads for cell in row.cells]
        return [one for one in (*self.titles, *heads) if is_units(one)]


def part_tables(pages: Sequence[Page]) -> Iterator[PartTable]:
    """Every table with a head; it goes on over a page's end and a stray line."""
    held = _Held()
    running = _running_lines(pages)
    for number, page in enumerate(pages, start=1):
        for line in page.lines:
            text = page.text[line.start : line.end]
            if text in running:
                continue
            if line.kind in (LineKind.ROW, LineKind.HEAD):
                yield from held.take_row(row_of(page, line, number))
            else:
                yield from held.take_text(text, is_heading=line.kind is LineKind.HEADING)
    yield from held.end()


def _running_lines(pages: Sequence[Page]) -> frozenset[str]:
    """Heads and feet of printed pages: outside of tables, and there very often."""
    said = Counter(
        page.text[line.start : line.end]
        for page in pages
        for line in page.lines
        if line.kind not in (LineKind.ROW, LineKind.HEAD)
    )
    return frozenset(text for text, times in said.items() if times >= _RUNNING and not is_units(text))


class _Held:
    """The table that is being read, and the lines before the next one."""

    def __init__(self) -> None:
        self._table: PartTable | None = None
        self._titles: list[str] = []
        self._units: list[str] = []  # the last such line since a heading: tables that follow each other share it
        self._since = 0
        self._is_parent = False

    def end(self) -> Iterator[PartTable]:
        """Nothing more belongs to it."""
        one, self._table = self._table, None
        if one is not None and one.rows:
            yield one

    def take_text(self, text: str, *, is_heading: bool) -> Iterator[PartTable]:
        """A line outside of tables: a title of the next one, or a stray one within this."""
        if is_heading and said("section").search(text):
            self._is_parent = said("parent_section").search(text) is not None
        self._since += 1
        if is_heading or is_units(text) or self._since > _UNITS_REACH:
            self._since = 0
            self._units = [text] if is_units(text) else []
        is_long = len(text) > _LONGEST_TITLE
        self._titles = [] if is_long else [*self._titles[1 - _TITLES :], text]
        if self._table is not None:
            self._table.stray += 1
            if is_heading or is_long or self._table.stray > _STRAY_LINES:
                yield from self.end()

    def take_row(self, row: Row) -> Iterator[PartTable]:
        """A row: of a head, where it names nothing but columns, the heading of those after it, or one of figures."""
        if all(is_units(cell.text) for cell in row.cells):  # "单位：元  币种：人民币"
            yield from self.take_text(" ".join(cell.text for cell in row.cells), is_heading=False)
            return
        self._since = 0
        table = self._table
        is_head = len(row.cells) > 1 and _is_head(row)
        if is_head and table is not None and not table.rows and not table.group and len(table.heads) == 1:
            table.heads.append(row)
        elif is_head and not (table and _is_text_row(table, row)):
            yield from self.end()
            self._table = PartTable((*self._units, *self._titles), [row], self._is_parent)
            self._titles = []
        elif table is not None and len(table.rows) >= _MOST_ROWS:
            self._table = None  # cut off here, its last list of parts would have a gap
        elif table is not None:
            table.stray = 0
            if len(row.cells) > 1 or is_number(row.cells[0].text):
                table.rows.append((table.group, row))
            else:
                table.group = row.cells[0].text.strip() if len(row.cells[0].text) <= LONGEST_PART else ""


def _is_head(row: Row) -> bool:
    """A row of names: none of its cells is a figure, a year aside."""
    return len(row.cells) <= _MOST_COLUMNS and all(
        len(cell.text) <= LONGEST_HEAD and (not figure(cell) or _YEAR.fullmatch(cell.text.strip()))
        for cell in row.cells
    )


def _is_text_row(table: PartTable, row: Row) -> bool:
    """A row of the body that has no figures: not every head of the table says something, and this row none."""
    return bool(table.rows) and not row.is_head and not any(is_measure(bare(cell.text)[0]) for cell in row.cells)


def aligned(rows: Sequence[tuple[str, Row]], columns: int) -> tuple[list[tuple[str, list[Cell | None], Row]], set[str]]:
    """The rows with a cell for each column and the name of the part first, and the groups with a row that has not.

    A cell that spans several rows is printed in the first of them: those below begin with fewer names.
    """
    widths = Counter(len(row.cells) for _, row in rows)
    width = max((columns, columns + 1), key=lambda one: widths[one])
    if not widths[width]:
        return [], set()
    places = _places([row for _, row in rows], width)
    found: list[tuple[str, list[Cell | None], Row]] = []
    broken: set[str] = set()
    above: list[Cell | None] = []
    for group, row in rows:
        cells: list[Cell | None] = list(row.cells)
        missing = width - len(cells)
        if missing > 0:
            names, before = _names(cells), _names(above)
            if 0 < missing < before and names == before - missing and _are_alike(cells[0], above[missing]):
                cells = [*above[:missing], *cells]
            else:
                cells = _by_place(row, places, width)
        if len(cells) == width:
            above = cells
            found.append((group, cells, row))
        elif any(figure(cell) for cell in row.cells[1:]):
            broken.add(group)
    return found, broken


def _are_alike(one: Cell | None, above: Cell | None) -> bool:
    """Whether both name what is told, or both a part: a row with another empty cell begins with a part of its own."""
    return one is not None and above is not None and is_measure(bare(one.text)[0]) == is_measure(bare(above.text)[0])


def _names(cells: Sequence[Cell | None]) -> int:
    """How many cells stand before the first figure."""
    return next((at for at, one in enumerate(cells) if one and figure(one)), len(cells))


def _places(rows: Sequence[Row], width: int) -> dict[int, list[float]]:
    """The middle of each column on each page, by its whole rows."""
    of_page: dict[int, list[list[float]]] = defaultdict(list)
    for row in rows:
        extents = [cell.extent for cell in row.cells]
        if len(extents) == width and None not in extents:
            of_page[row.page].append([sum(one) / 2 for one in extents if one])
    return {
        page: [median(row[at] for row in some) for at in range(width)]
        for page, some in of_page.items()
        if len(some) >= _LEAST_PLACED or len(rows) <= _LEAST_PLACED
    }


def _by_place(row: Row, places: dict[int, list[float]], width: int) -> list[Cell | None]:
    """The cells under the columns that they stand under; none where that is not known, or two stand under one."""
    middles = places.get(row.page)
    if middles is None:
        return []
    cells: list[Cell | None] = [None] * width
    for cell in row.cells:
        if cell.extent is None:
            return []
        middle = sum(cell.extent) / 2
        at = min(range(width), key=lambda place: abs(middles[place] - middle))
        if cells[at] is not None:
            return []
        cells[at] = cell
    return cells if cells[0] is not None else []
