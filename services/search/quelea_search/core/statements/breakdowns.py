"""Tables whose rows are parts of a company (products, regions, subsidiaries) and whose columns name what is told.

A statement's rows are lines and its columns are periods. Here the column names the line ("营业收入", "毛利率"), the row
the part, and a heading what kind of parts they are ("分行业"). The period is the document's, unless a head names one.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from decimal import Decimal

from quelea_fintext.concepts import concept_of_label, said_label
from quelea_fintext.dates import months_later
from quelea_fintext.languages import LANGUAGES

from quelea_search.core.layout.rows import is_number, is_units
from quelea_search.core.model import Page
from quelea_search.core.statements.amounts import amount
from quelea_search.core.statements.columns import Calendar
from quelea_search.core.statements.model import Fact, FactPeriod
from quelea_search.core.statements.part_tables import LONGEST_PART, PartTable, aligned, part_tables
from quelea_search.core.statements.part_units import Told, in_unit
from quelea_search.core.statements.part_words import bare, figure, is_measure, said, whole_of
from quelea_search.core.statements.printed_tables import Cell, Row

BREAKDOWN = "breakdown"
"""`Fact.statement` of what is read here."""
_SPACE = re.compile(r"\s+")
_SENTENCE = "。"
_DIGIT = re.compile(r"\d")
_YEAR = re.compile(r"((?:19|20)\d\d)\s*年?(?:度)?")
_YEARS = re.compile(r"((?:19|20)\d\d)\s*年")


@dataclass(frozen=True, slots=True)
class _Column:
    """A column of a table: what it says, of when."""

    name: str
    """As printed, without spaces and its unit; empty where only the row says it."""
    unit: str = ""
    """In the head's brackets."""
    years_back: int | None = None
    """From the document's; None where the head names no period."""


def read_breakdowns(pages: Sequence[Page], calendar: Calendar, language: str) -> list[Fact]:
    """The figures of the parts of a Chinese annual report, as far as its tables say which row and column each is of.

    A group of rows of which one cannot be told to its columns is left out as a whole: a list with a gap misleads.
    """
    if calendar.end is None or not calendar.is_annual or language != "zh":
        return []
    found: dict[tuple[str, str, str, FactPeriod, str], list[Fact]] = defaultdict(list)
    for table in part_tables(pages):
        for fact in _facts(table, calendar, language):
            found[fact.group, fact.label, fact.column, fact.period, fact.basis].append(fact)
    return [some[0] for some in found.values() if len({one.value for one in some}) == 1]


def _years_back(name: str, calendar: Calendar) -> int | None:
    year = _YEAR.fullmatch(name)
    if year and calendar.end:
        return calendar.end.year - int(year[1])
    for key, back in (("prior", 1), ("current", 0)):
        if re.match(LANGUAGES.alternatives(f"statements.columns.{key}"), name) and len(name) <= 6:
            return back
    return None


def _columns(table: PartTable, calendar: Calendar) -> list[_Column]:
    """What each column says, from left to right, a column of parts first where the head has none for it."""
    top = [_column(cell.text, calendar) for cell in table.heads[0].cells]
    if len(table.heads) == 1:
        return _named(top, table)
    below = [_column(cell.text, calendar) for cell in table.heads[1].cells]
    periods = [at for at, one in enumerate(top) if one.years_back is not None]
    if not periods and (placed := _placed(*table.heads)):
        return _named([_column(cell.text, calendar) for cell in placed], table)
    if not periods or len(below) % len(periods) or periods != list(range(periods[0], periods[-1] + 1)):
        return []
    each = len(below) // len(periods)
    parted = [
        _Column(one.name, one.unit, top[at].years_back)
        for place, at in enumerate(periods)
        for one in below[place * each : (place + 1) * each]
    ]
    return [*top[: periods[0]], *_named(parted, table), *top[periods[-1] + 1 :]]


def _placed(top: Row, below: Row) -> list[Cell]:
    """The heads of two lines by where they stand: those of the first, and under a wider one those of the second."""
    found: list[Cell] = []
    left = list(below.cells)
    for cell in top.cells:
        if cell.extent is None:
            return []
        under = [one for one in left if one.extent and cell.extent[0] <= sum(one.extent) / 2 <= cell.extent[1]]
        left = [one for one in left if one not in under]
        found += under or [cell]
    return [] if left else found


def _named(columns: Sequence[_Column], table: PartTable) -> list[_Column]:
    """With amounts called by what the next column is the share of, or by what the table's sum is called."""
    summed = _summed(table)
    named: list[_Column] = []
    for one, after in zip(columns, [*columns[1:], None], strict=True):
        name = one.name
        if said("amount").search(name):
            name = (whole_of(after.name) if after else "") or summed or name
        elif summed and said("part_of").search(name):
            name = f"占{summed}比重"
        named.append(replace(one, name=name))
    return named


def _summed(table: PartTable) -> str:
    """What the rows sum up to: "营业收入" of the row "营业收入合计"; empty where there is no such row, or several."""
    found = [said("summed").search(bare(row.cells[0].text)[0]) for _, row in table.rows]
    names = {one["name"] for one in found if one and is_measure(one["name"])}
    return names.pop() if len(names) == 1 else ""


def _column(text: str, calendar: Calendar) -> _Column:
    name, unit = bare(text)
    name = f"{unit}数" if unit and said("number").search(name) else name
    return _Column(name, unit, _years_back(name, calendar))


def _facts(table: PartTable, calendar: Calendar, language: str) -> list[Fact]:
    columns = _columns(table, calendar)
    if not columns or _is_of_other_year(_title(table.titles), calendar):
        return []
    by_row = any(one.years_back is not None and not is_measure(one.name) for one in columns)
    if not by_row and not any(is_measure(one.name) for one in columns):
        return []
    if not any(_is_told_of_parts(one) for one in _measures(table, columns)):
        return []
    rows, broken = aligned(table.rows, len(columns))
    numbers = 1 if len(columns) > 1 and said("numbered").search(columns[0].name) else 0
    return [
        fact
        for group, cells, row in rows
        if group not in broken
        for fact in _of_row(table, columns[numbers:], group, cells[numbers:], row, calendar, language)
    ]


def _is_of_other_year(title: str, calendar: Calendar) -> bool:
    """Whether a title or a heading names years, and not the document's."""
    years = {int(year) for year in _YEARS.findall(title)}
    return bool(years) and calendar.end is not None and calendar.end.year not in years


def _measures(table: PartTable, columns: Sequence[_Column]) -> set[str]:
    """What the heads name, and the cells of rows where those name it."""
    cells = {bare(cell.text)[0] for _, row in table.rows for cell in row.cells[:3]}
    return {one.name for one in columns} | {one for one in cells if is_measure(one)}


def _is_told_of_parts(name: str) -> bool:
    """Not of a balance alone: the columns of the statement of changes in equity are lines of the balance sheet."""
    concept = concept_of_label(name)
    return is_measure(name) and (concept is None or concept.statement == "income")


def _of_row(
    table: PartTable,
    columns: Sequence[_Column],
    group: str,
    cells: Sequence[Cell | None],
    row: Row,
    calendar: Calendar,
    language: str,
) -> Iterator[Fact]:
    first = len(cells) - len(columns)  # 1 where the head has nothing over the parts
    part = _SPACE.sub(" ", cells[0].text).strip() if cells[0] else ""
    if not part or is_number(part) or len(part) > LONGEST_PART:
        return
    name = bare(part)[0]
    if said("sums").search(name) or concept_of_label(name) is not None:
        return
    if first and not _is_told(columns[0]) and cells[1] and figure(cells[1]):
        return  # the head lacks another column than that of the parts
    back = _years_back(bare(group)[0].rstrip(":："), calendar)
    if back is None and _is_of_other_year(group, calendar):
        return
    if back is not None:
        columns = [replace(one, years_back=back) if _is_undated(one) else one for one in columns]
    told, unit = "", ""
    for column, cell in zip(columns, cells[first:], strict=True):
        if cell is not None and cell is not cells[0] and not figure(cell):
            name, own = bare(cell.text)
            unit = cell.text.strip() if said("unit").search(column.name) else unit
            if not told and is_measure(name):
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
                column=told if column.years_back is not None and not is_measure(column.name) else column.name,
            )


def _is_told(column: _Column) -> bool:
    """Whether figures may stand under it."""
    return column.years_back is not None or is_measure(column.name) or said("change").search(column.name) is not None


def _is_undated(column: _Column) -> bool:
    return column.years_back is None and is_measure(column.name)


def _title(titles: Sequence[str]) -> str:
    return next((one for one in titles[::-1] if not is_units(one) and not said("none").search(one)), "")


def _with_title(kind: str, titles: Sequence[str]) -> str:
    """The head of the parts' column after the table's title: "公司名称" alone does not say which companies."""
    title = _title(titles).rpartition(_SENTENCE)[2]  # a line may end with the title of the next table
    return " ".join(filter(None, (said_label(title), kind)))


def _fact(
    table: PartTable, column: _Column, cell: Cell, told: str, unit: str, calendar: Calendar, language: str
) -> tuple[Decimal, str, FactPeriod] | None:
    """Value, unit and period of a cell; None where it is none, or its column says nothing of the part."""
    name, change = column.name, said("change").search(column.name)
    if column.years_back is not None and not is_measure(name):
        name = told
    elif change:
        name = name[: change.start()]
    if not is_measure(name) or calendar.end is None or (column.years_back or 0) < 0:  # a plan of a year to come
        return None
    concept = concept_of_label(name)
    text = cell.text.strip()
    if points := said("points").search(text):
        falls = points["sign"] in ("减少", "下降")
        value, kind = Decimal(points["number"]) * (-1 if falls else 1), "points"
    else:
        text = figure(cell)
        read = amount(text) if _DIGIT.search(text) else None
        if read is None:
            return None
        said_of = Told(name, f"{column.name} {column.unit}", unit or column.unit, bool(change))
        scaled = in_unit(read, text, said_of, table.units, language)
        if scaled is None:
            return None
        value, kind = scaled
    end = calendar.end if not column.years_back else months_later(calendar.end, -12 * column.years_back)
    if end is None:
        return None
    instant = concept is not None and concept.statement == "balance"
    return value, kind, FactPeriod(end, None if instant else calendar.first_day(end, 12))
