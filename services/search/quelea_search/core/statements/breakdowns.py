"""Tables whose rows are parts of a company (products, regions, subsidiaries) and whose columns name what is told.

A statement's rows are lines and its columns are periods. Here the column names the line ("营业收入", "毛利率"), the row
the part, and a heading what kind of parts they are ("分行业"). The period is the document's, unless a head names one.
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from decimal import Decimal
from functools import cache
from statistics import median

from quelea_fintext.concepts import concept_of_label, said_label
from quelea_fintext.dates import months_later
from quelea_fintext.languages import LANGUAGES
from quelea_fintext.metrics import metrics

from quelea_search.core.layout.rows import is_number, is_units
from quelea_search.core.model import LineKind, Page
from quelea_search.core.statements.amounts import amount, units_of
from quelea_search.core.statements.columns import Calendar
from quelea_search.core.statements.model import Fact, FactPeriod
from quelea_search.core.statements.printed_tables import Cell, Row, row_of

BREAKDOWN = "breakdown"
"""`Fact.statement` of what is read here."""
_LONGEST_HEAD, _LONGEST_PART, _LONGEST_TITLE = 40, 60, 80
_MOST_COLUMNS = 14
_MOST_ROWS = 100
_TITLES = 4
_STRAY_LINES = 1
_BRACKETED = re.compile(r"[（(]([^（）()]{0,20})[）)]")
_SPACE = re.compile(r"\s+")
_CURRENCY = re.compile("元$")
_DIGIT = re.compile(r"\d")
_BROKEN = re.compile(r"[-−]?\d{1,3}(?:,\d{3})*(?:\.\d{1,4})?%?")
_YEAR = re.compile(r"((?:19|20)\d\d)\s*年?(?:度)?")
_WHOLE = re.compile(r"[-−]?\d{1,3}(?:,\d{3})*")
_TO_CENTS = re.compile(r"\.\d{2,}$")
_YEARS = re.compile(r"((?:19|20)\d\d)\s*年")
_AS_RATE = re.compile("(?:比例|幅度|率)$")
_UNITS_REACH = 8
"""Lines of text after which a line of units says nothing of a table any more."""
_LEAST_PLACED = 2
"""Rows without a gap by which the places of columns are known."""


@dataclass(frozen=True, slots=True)
class _Column:
    """A column of a table: what it says, of when."""

    name: str
    """As printed, without spaces and its unit; empty where only the row says it."""
    unit: str = ""
    """In the head's brackets."""
    years_back: int | None = None
    """From the document's; None where the head names no period."""


@dataclass(slots=True)
class _Table:
    """A table as it is read."""

    titles: tuple[str, ...]
    heads: list[Row]
    is_parent: bool
    rows: list[tuple[str, Row]] = field(default_factory=list)
    """Each with the heading of the rows among which it stands."""
    group: str = ""
    stray: int = 0


@cache
def _said(key: str) -> re.Pattern[str]:
    return re.compile(LANGUAGES.alternatives(f"statements.breakdowns.{key}"), re.IGNORECASE)


def _figure(cell: Cell) -> str:
    """The figure of a cell, which a narrow column may have broken ("1,905,943,80 5.66"); empty where it is none."""
    text = cell.text.strip()
    if is_number(text):
        return text
    whole = ""
    for piece in text.split():
        if piece[0].isdigit() and (_WHOLE.fullmatch(whole) or _TO_CENTS.search(whole)):
            return ""  # two figures: "2 15.3%"
        whole += piece
    return whole if _BROKEN.fullmatch(whole) else ""


def _unspaced(text: str) -> str:
    return _SPACE.sub("", text)


@cache
def _metric_names() -> frozenset[str]:
    return frozenset(_unspaced(name) for one in metrics().values() for name in one.names)


def read_breakdowns(pages: Sequence[Page], calendar: Calendar, language: str) -> list[Fact]:
    """The figures of the parts of a Chinese annual report, as far as its tables say which row and column each is of.

    A group of rows of which one cannot be told to its columns is left out as a whole: a list with a gap misleads.
    """
    if calendar.end is None or not calendar.is_annual or language != "zh":
        return []
    found: dict[tuple[str, str, str, FactPeriod, str], list[Fact]] = defaultdict(list)
    for table in _tables(pages):
        for fact in _facts(table, calendar, language):
            found[fact.group, fact.label, fact.column, fact.period, fact.basis].append(fact)
    return [some[0] for some in found.values() if len({one.value for one in some}) == 1]


def _tables(pages: Sequence[Page]) -> Iterator[_Table]:
    """Every table with a head; it goes on over a page's end and a stray line."""
    held = _Held()
    for number, page in enumerate(pages, start=1):
        for line in page.lines:
            text = page.text[line.start : line.end]
            if line.kind in (LineKind.ROW, LineKind.HEAD):
                yield from held.take_row(row_of(page, line, number))
            else:
                yield from held.take_text(text, is_heading=line.kind is LineKind.HEADING)
    yield from held.end()


class _Held:
    """The table that is being read, and the lines before the next one."""

    def __init__(self) -> None:
        self._table: _Table | None = None
        self._titles: list[str] = []
        self._units: list[str] = []  # the last such line since a heading: tables that follow each other share it
        self._since = 0
        self._is_parent = False

    def end(self) -> Iterator[_Table]:
        """Nothing more belongs to it."""
        one, self._table = self._table, None
        if one is not None and one.rows:
            yield one

    def take_text(self, text: str, *, is_heading: bool) -> Iterator[_Table]:
        """A line outside of tables: a title of the next one, or a stray one within this."""
        if is_heading and _said("section").search(text):
            self._is_parent = _said("parent_section").search(text) is not None
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

    def take_row(self, row: Row) -> Iterator[_Table]:
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
            self._table = _Table((*self._units, *self._titles), [row], self._is_parent)
            self._titles = []
        elif table is not None and len(table.rows) >= _MOST_ROWS:
            self._table = None  # cut off here, its last list of parts would have a gap
        elif table is not None:
            table.stray = 0
            if len(row.cells) > 1 or is_number(row.cells[0].text):
                table.rows.append((table.group, row))
            else:
                table.group = row.cells[0].text.strip() if len(row.cells[0].text) <= _LONGEST_PART else ""


def _is_head(row: Row) -> bool:
    """A row of names: none of its cells is a figure, a year aside."""
    return len(row.cells) <= _MOST_COLUMNS and all(
        len(cell.text) <= _LONGEST_HEAD and (not _figure(cell) or _YEAR.fullmatch(cell.text.strip()))
        for cell in row.cells
    )


def _is_text_row(table: _Table, row: Row) -> bool:
    """A row of the body that has no figures: not every head of the table says something, and this row none."""
    return bool(table.rows) and not row.is_head and not any(_measure(_bare(cell.text)[0]) for cell in row.cells)


def _bare(text: str) -> tuple[str, str]:
    """A head's words without spaces, and the unit in its brackets."""
    text = _said("none").sub("", text)
    units = _BRACKETED.findall(text)
    return _SPACE.sub("", _BRACKETED.sub("", text)), (units[-1].strip() if units else "")


def _measure(name: str) -> bool:
    """Whether a head or a cell names what can be told of a part."""
    if not name or len(name) > _LONGEST_HEAD:
        return False
    return (
        concept_of_label(name) is not None
        or name in _metric_names()
        or _said("measures").fullmatch(name) is not None
        or _whole(name) != ""
    )


def _whole(name: str) -> str:
    """Of what a column is the share: "营业收入" of "占营业收入比重"; empty where it is none."""
    found = _said("share").search(name)
    whole = found["whole"] if found else ""
    return whole if whole and (concept_of_label(whole) or _said("measures").fullmatch(whole)) else ""


def _years_back(name: str, calendar: Calendar) -> int | None:
    year = _YEAR.fullmatch(name)
    if year and calendar.end:
        return calendar.end.year - int(year[1])
    for key, back in (("prior", 1), ("current", 0)):
        if re.match(LANGUAGES.alternatives(f"statements.columns.{key}"), name) and len(name) <= 6:
            return back
    return None


def _columns(table: _Table, calendar: Calendar) -> list[_Column]:
    """What each column says, from left to right, a column of parts first where the head has none for it."""
    top = [_column(cell.text, calendar) for cell in table.heads[0].cells]
    if len(table.heads) == 1:
        return top
    below = [_column(cell.text, calendar) for cell in table.heads[1].cells]
    periods = [at for at, one in enumerate(top) if one.years_back is not None]
    if not periods or len(below) % len(periods) or periods != list(range(periods[0], periods[-1] + 1)):
        return []
    each = len(below) // len(periods)
    parted = [
        _Column(one.name, one.unit, top[at].years_back)
        for place, at in enumerate(periods)
        for one in below[place * each : (place + 1) * each]
    ]
    named = [
        _Column(_whole(after.name), one.unit, one.years_back)
        if after is not None and _said("amount").search(one.name) and _whole(after.name)
        else one
        for one, after in zip(parted, [*parted[1:], None], strict=True)
    ]
    return [*top[: periods[0]], *named, *top[periods[-1] + 1 :]]


def _column(text: str, calendar: Calendar) -> _Column:
    name, unit = _bare(text)
    return _Column(name, unit, _years_back(name, calendar))


def _facts(table: _Table, calendar: Calendar, language: str) -> list[Fact]:
    columns = _columns(table, calendar)
    if not columns or _is_of_other_year(_title(table.titles), calendar):
        return []
    by_row = any(one.years_back is not None and not _measure(one.name) for one in columns)
    if not by_row and not any(_measure(one.name) for one in columns):
        return []
    if not any(_is_told_of_parts(one) for one in _measures(table, columns)):
        return []
    rows, broken = _aligned(table.rows, columns)
    return [
        fact
        for group, cells, row in rows
        if group not in broken
        for fact in _of_row(table, columns, group, cells, row, calendar, language)
    ]


def _is_of_other_year(title: str, calendar: Calendar) -> bool:
    """Whether a title or a heading names years, and not the document's."""
    years = {int(year) for year in _YEARS.findall(title)}
    return bool(years) and calendar.end is not None and calendar.end.year not in years


def _measures(table: _Table, columns: Sequence[_Column]) -> set[str]:
    """What the heads name, and the cells of rows where those name it."""
    cells = {_bare(cell.text)[0] for _, row in table.rows for cell in row.cells[:3]}
    return {one.name for one in columns} | {one for one in cells if _measure(one)}


def _is_told_of_parts(name: str) -> bool:
    """Not of a balance alone: the columns of the statement of changes in equity are lines of the balance sheet."""
    concept = concept_of_label(name)
    return _measure(name) and (concept is None or concept.statement == "income")


def _aligned(
    rows: Sequence[tuple[str, Row]], columns: Sequence[_Column]
) -> tuple[list[tuple[str, list[Cell | None], Row]], set[str]]:
    """The rows with a cell for each column and the name of the part first, and the groups with a row that has not.

    A cell that spans several rows is printed in the first of them: those below begin with fewer names.
    """
    widths = Counter(len(row.cells) for _, row in rows)
    width = max((len(columns), len(columns) + 1), key=lambda one: widths[one])
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
        elif any(_figure(cell) for cell in row.cells[1:]):
            broken.add(group)
    return found, broken


def _are_alike(one: Cell | None, above: Cell | None) -> bool:
    """Whether both name what is told, or both a part: a row with another empty cell begins with a part of its own."""
    return one is not None and above is not None and _measure(_bare(one.text)[0]) == _measure(_bare(above.text)[0])


def _names(cells: Sequence[Cell | None]) -> int:
    """How many cells stand before the first figure."""
    return next((at for at, one in enumerate(cells) if one and _figure(one)), len(cells))


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


def _of_row(
    table: _Table,
    columns: Sequence[_Column],
    group: str,
    cells: Sequence[Cell | None],
    row: Row,
    calendar: Calendar,
    language: str,
) -> Iterator[Fact]:
    first = len(cells) - len(columns)  # 1 where the head has nothing over the parts
    part = _SPACE.sub(" ", cells[0].text).strip() if cells[0] else ""
    if not part or is_number(part) or len(part) > _LONGEST_PART:
        return
    bare = _bare(part)[0]
    if _said("sums").search(bare) or concept_of_label(bare) is not None:
        return
    if first and not _is_told(columns[0]) and cells[1] and _figure(cells[1]):
        return  # the head lacks another column than that of the parts
    back = _years_back(_bare(group)[0].rstrip(":："), calendar)
    if back is None and _is_of_other_year(group, calendar):
        return
    if back is not None:
        columns = [replace(one, years_back=back) if _is_undated(one) else one for one in columns]
    told, unit = "", ""
    for column, cell in zip(columns, cells[first:], strict=True):
        if cell is not None and cell is not cells[0] and not _figure(cell):
            name, own = _bare(cell.text)
            unit = cell.text.strip() if _said("unit").search(column.name) else unit
            if not told and _measure(name):
                told, unit = name, unit or own
    kind = (group if back is None else "") or _with_title("" if first else columns[0].name, table.titles)
    for column, cell in zip(columns, cells[first:], strict=True):
        if cell is None or cell is cells[0]:
            continue
        fact = _fact(table, column, cell, told, unit, calendar, language)
        if fact is not None:
            yield Fact(
                statement=BREAKDOWN,
                label=part,
                concept="",
                value=fact[0],
                unit=fact[1],
                period=fact[2],
                printed=cell.text,
                page=row.page,
                start=cell.start,
                end=cell.end,
                group=kind,
                basis="parent" if table.is_parent else "consolidated",
                column=told if column.years_back is not None and not _measure(column.name) else column.name,
            )


def _is_told(column: _Column) -> bool:
    """Whether figures may stand under it."""
    return column.years_back is not None or _measure(column.name) or _said("change").search(column.name) is not None


def _is_undated(column: _Column) -> bool:
    return column.years_back is None and _measure(column.name)


def _title(titles: Sequence[str]) -> str:
    return next((one for one in titles[::-1] if not is_units(one) and not _said("none").search(one)), "")


def _with_title(kind: str, titles: Sequence[str]) -> str:
    """The head of the parts' column after the table's title: "公司名称" alone does not say which companies."""
    return " ".join(filter(None, (said_label(_title(titles)), kind)))


def _fact(
    table: _Table, column: _Column, cell: Cell, told: str, unit: str, calendar: Calendar, language: str
) -> tuple[Decimal, str, FactPeriod] | None:
    """Value, unit and period of a cell; None where it is none, or its column says nothing of the part."""
    name, change = column.name, _said("change").search(column.name)
    if column.years_back is not None and not _measure(name):
        name = told
    elif change:
        name = name[: change.start()]
    if not _measure(name) or calendar.end is None or (column.years_back or 0) < 0:  # a plan of a year to come
        return None
    concept = concept_of_label(name)
    text = cell.text.strip()
    if points := _said("points").search(text):
        falls = points["sign"] in ("减少", "下降")
        value, kind = Decimal(points["number"]) * (-1 if falls else 1), "points"
    else:
        text = _figure(cell)
        read = amount(text) if _DIGIT.search(text) else None
        if read is None:
            return None
        scaled = _in_unit(read, text, column, name, bool(change), unit, table, language)
        if scaled is None:
            return None
        value, kind = scaled
    end = calendar.end if not column.years_back else months_later(calendar.end, -12 * column.years_back)
    if end is None:
        return None
    instant = concept is not None and concept.statement == "balance"
    return value, kind, FactPeriod(end, None if instant else calendar.first_day(end, 12))


def _in_unit(
    number: Decimal,
    text: str,
    column: _Column,
    name: str,
    is_change: bool,
    unit: str,
    table: _Table,
    language: str,
) -> tuple[Decimal, str] | None:
    """Exact value and unit: by the cell, its head, the row's column of units, the lines over the table.

    None where nothing says which it is.
    """
    concept, own = concept_of_label(name), unit or column.unit
    is_percent = any(sign in f"{text} {own} {column.unit} {column.name}" for sign in "%％")
    if is_change and not is_percent and not _AS_RATE.search(column.name):
        return _in_currency(number, [own], language) if _CURRENCY.search(own) else None
    if is_change or _whole(name):
        return number, "percent"
    if concept is None:
        metric = next((one for one in metrics().values() if name in map(_unspaced, one.names)), None)
        if metric and metric.unit in ("money", "per_share"):
            return None
        return number, "percent" if is_percent else metric.unit if metric else own or "pure"
    if is_percent or concept.unit:  # a share of it, or for each share
        return None
    stated = [own] if _CURRENCY.search(own) else [one for one in (*table.titles, *_heads(table)) if is_units(one)]
    return _in_currency(number, stated, language) if stated else None  # else of yuan or of ten thousand yuan


def _in_currency(number: Decimal, stated: Sequence[str], language: str) -> tuple[Decimal, str]:
    units = units_of(stated[:1], language)
    return number * units.scale, units.currency


def _heads(table: _Table) -> list[str]:
    return [cell.text for row in table.heads for cell in row.cells]
