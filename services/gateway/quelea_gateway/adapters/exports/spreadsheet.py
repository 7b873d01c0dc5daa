"""Statements, comparisons and answers as XLSX: numbers as numbers, every cell a link to the place that prints it."""

from __future__ import annotations

import io
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

from openpyxl import Workbook
from openpyxl.cell.cell import ILLEGAL_CHARACTERS_RE, Cell
from openpyxl.comments import Comment
from openpyxl.styles import Alignment, Font, PatternFill
from openpyxl.utils import get_column_letter
from openpyxl.worksheet.worksheet import Worksheet

from quelea_gateway.core.answers.export import Link
from quelea_gateway.core.answers.note import Block, Note, decimal_of
from quelea_gateway.core.statements.comparison import Comparison
from quelea_gateway.core.statements.statement_grid import Figure, GridLine, Statement

_HEAD = Font(bold=True)
_LINK_FONT = Font(color="0563C1")
_NOT_STATED = "not stated by any stored document"
_DOUBT = PatternFill("solid", fgColor="FFF2CC")
_INTEGER, _DECIMAL = "#,##0;-#,##0;0", "#,##0.00##;-#,##0.00##;0"
_TEXT, _LABEL, _NAME, _NUMBER = 110, 52, 28, 20
_LONGEST = 32_000
"""Characters of a cell; the format allows 32,767."""
_SOURCES = (
    "company", "statement", "label", "column", "group", "concept", "period start", "period end", "value",
    "unit", "basis", "printed", "document", "published", "page", "source", "checks passed", "checks failed", "restated",
)  # fmt: skip

_ANSWER_COLUMNS = (
    "company", "figure", "period start", "period end", "value", "unit", "formula", "growth", "source", "printed",
)  # fmt: skip

Address = Callable[[Figure], str]


def statements_workbook(statements: Sequence[Statement], address: Address) -> bytes:
    """A sheet for each statement that has lines, and one that says of every figure where it stands and what was
    checked.

    Args:
        address: Where a figure opens.
    """
    book = _book()
    shown: list[Figure] = []
    for one in statements:
        if not one.grid.lines:
            continue
        sheet = _sheet(book, one.name.replace("_", " "), ["", *one.grid.periods, "unit", "concept"])
        sheet.column_dimensions["A"].width = _LABEL
        for row, line in enumerate(one.grid.lines, start=2):
            shown += _line(sheet, row, line, address)
    _sources(book, shown, address)
    return _save_book(book)


def facts_workbook(figures: Sequence[Figure], address: Address) -> bytes:
    """One sheet, a row for each figure."""
    book = _book()
    _sources(book, figures, address)
    return _save_book(book)


def answer_workbook(answers: Sequence[tuple[Note, Sequence[Mapping[str, Any]]]], link: Link) -> bytes:
    """Answers: of each its text, its figures, the cells that they are made from, and its sources; figures and sources
    are links to the place that prints them. The sheets of the second answer end with 2, and so on.

    Args:
        answers: Each as it is shown, and its figures, as POST /v1/ask gives them.
        link: Where an operand or a citation opens.
    """
    book = _book()
    for number, (note, figures) in enumerate(answers, start=1):
        _answer(book, note, figures, link, f" {number}" if number > 1 else "")
    return _save_book(book)


def _answer(book: Workbook, note: Note, figures: Sequence[Mapping[str, Any]], link: Link, ending: str) -> None:
    sheet = _sheet(book, f"answer{ending}", [note.title])
    sheet.column_dimensions["A"].width = _TEXT
    sheet.cell(1, 1).alignment = Alignment(horizontal="left", wrap_text=True)
    lines = [" · ".join(note.facts), *(_text_of(block) for block in note.blocks)]
    lines += [f"{title}: {line}" for title, group in note.remarks for line in group]
    for row, line in enumerate((line for line in lines if line), start=2):
        _write(sheet, row, 1, line).alignment = Alignment(wrap_text=True, vertical="top")
    if figures:
        _answer_figures(book, figures, link, ending)
    sheet = _sheet(book, f"sources{ending}", ("number", "source", "where", "quote", "web"))
    for column, width in (("B", _LABEL), ("C", _NAME), ("D", _TEXT)):
        sheet.column_dimensions[column].width = width
    for row, one in enumerate(note.sources, start=2):
        sheet.cell(row, 1, one.number)
        _link(_write(sheet, row, 2, one.title), one.address)
        _write(sheet, row, 3, one.details)
        _write(sheet, row, 4, one.quote).alignment = Alignment(wrap_text=True, vertical="top")
        if one.web:
            _link(_write(sheet, row, 5, one.web), one.web)


def _text_of(block: Block) -> str:
    if block.kind == "table":
        return "\n".join(" | ".join("".join(run.text for run in cell) for cell in row) for row in block.rows)
    mark = f"{block.number}. " if block.number else "• " if block.kind == "item" else ""
    return mark + "".join(run.text for run in block.runs)


def _answer_figures(book: Workbook, figures: Sequence[Mapping[str, Any]], link: Link, ending: str) -> None:
    """A figure's cell opens where it is printed, that of a computed one where its first operand is; below each its
    operands."""
    sheet = _sheet(book, f"figures{ending}", _ANSWER_COLUMNS)
    sheet.column_dimensions["A"].width = sheet.column_dimensions["B"].width = _NAME
    row = 2
    for figure in figures:
        stated = figure["operands"][0] if figure["operands"] and not figure["metric"] else {}
        name = figure["metric"].replace("_", " ") or stated.get("label", "")
        _figure_row(sheet, row, figure["company"], name, figure, figure["operands"], link)
        _write(sheet, row, 7, figure["formula"] if figure["metric"] else "")  # of a stated one it is "{0}"
        if figure["growth"]:
            _write(sheet, row, 8, f"{figure['growth']} %")
        row += 1
        for number, one in enumerate(figure["operands"] if figure["metric"] else ()):
            _figure_row(sheet, row, f"  {{{number}}}", one["label"], one, [one], link)
            row += 1
    sheet.auto_filter.ref = sheet.dimensions


def _figure_row(
    sheet: Worksheet, row: int, first: str, name: str, one: Mapping[str, Any], places: Sequence[Any], link: Link
) -> None:
    texts = (first, name, one["period_start"], one["period_end"], "", one["unit"])
    for column, text in enumerate(texts, start=1):
        if text:
            _write(sheet, row, column, text)
    _put_number(_cell(sheet, row, 5), one["value"])
    if places:
        _link(_cell(sheet, row, 5), link(places[0]))
        _write(sheet, row, 9, ", ".join(f"[{number}]" for number in dict.fromkeys(p["number"] for p in places)))
        _link(_write(sheet, row, 10, f"p. {places[0]['page']}: {places[0]['printed']}"), link(places[0]))


def comparison_workbook(comparison: Comparison, address: Address) -> bytes:
    """Companies side by side, a row for each concept and company, and the sheet that says where each figure stands.

    Args:
        address: Where a figure opens.
    """
    book = _book()
    sheet = _sheet(book, "comparison", ["", "company", *comparison.periods, "unit", "as printed"])
    sheet.column_dimensions["A"].width = sheet.column_dimensions["B"].width = _NAME
    sheet.freeze_panes = "C2"
    shown: list[Figure] = []
    for row, line in enumerate(comparison.lines, start=2):
        _write(sheet, row, 1, line.concept)
        _write(sheet, row, 2, line.company)
        for column, cell in enumerate(line.cells, start=3):
            if cell is None:
                continue
            shown.append(cell)
            started = f"{cell.period_start} to " if cell.period_start else ""
            _number(sheet, row, column, cell, address).comment = Comment(f"{started}{cell.period_end}", "Quelea")
        _write(sheet, row, len(line.cells) + 3, line.unit)
        _write(sheet, row, len(line.cells) + 4, line.label)
    for row, (company, concept) in enumerate(comparison.missing, start=len(comparison.lines) + 2):
        _write(sheet, row, 1, concept)
        _write(sheet, row, 2, company)
        stated = (company, concept) in comparison.otherwise
        _write(sheet, row, 3, f"stated for {comparison.other} periods only" if stated else _NOT_STATED)
    _sources(book, shown, address)
    return _save_book(book)


def _line(sheet: Worksheet, row: int, line: GridLine, address: Address) -> list[Figure]:
    _write(sheet, row, 1, line.name)
    after = len(line.cells) + 2
    _write(sheet, row, after, line.unit)
    _write(sheet, row, after + 1, line.concept)
    shown: list[Figure] = []
    for column, (cell, earlier) in enumerate(zip(line.cells, line.earlier, strict=True), start=2):
        if cell is None:
            continue
        shown += [cell, *earlier]
        written = _number(sheet, row, column, cell, address)
        doubts = [f"does not hold: {name}" for name in cell.failed]
        doubts += [f"stated before as {one.value} ({one.title}, p. {one.page})" for one in earlier]
        if doubts or cell.restated:
            written.fill = _DOUBT
            written.comment = Comment("\n".join(doubts) or "restated later", "Quelea")
    return shown


def _sources(book: Workbook, figures: Iterable[Figure], address: Address) -> None:
    sheet = _sheet(book, "figures", _SOURCES)
    for row, one in enumerate(figures, start=2):
        texts = (
            one.company, one.statement, one.label, one.column, one.group, one.concept, one.period_start,
            one.period_end, "", one.unit, one.basis, one.printed, one.title, one.published, "", one.tag or one.source,
            "; ".join(one.passed), "; ".join(one.failed), "yes" if one.restated else "",
        )  # fmt: skip
        for column, text in enumerate(texts, start=1):
            if text:
                _write(sheet, row, column, text)
        _number(sheet, row, 1 + _SOURCES.index("value"), one, address)
        sheet.cell(row, 1 + _SOURCES.index("page"), one.page)
    sheet.auto_filter.ref = sheet.dimensions


def _number(sheet: Worksheet, row: int, column: int, figure: Figure, address: Address) -> Cell:
    cell = _cell(sheet, row, column)
    _put_number(cell, figure.value)
    return _link(cell, address(figure))


def _put_number(cell: Cell, text: str) -> None:
    value = decimal_of(text)
    if value is None:
        cell.value, cell.data_type = ILLEGAL_CHARACTERS_RE.sub("", text)[:_LONGEST], "s"
        return
    cell.value = value
    cell.number_format = _INTEGER if value == value.to_integral_value() else _DECIMAL


def _link(cell: Cell, address: str) -> Cell:
    cell.hyperlink = address
    cell.font = _LINK_FONT
    return cell


def _write(sheet: Worksheet, row: int, column: int, text: str) -> Cell:
    """Text that stays text: a document's words must not become a formula of the reader's spreadsheet."""
    cell = _cell(sheet, row, column)
    cell.value = ILLEGAL_CHARACTERS_RE.sub("", text)[:_LONGEST]
    cell.data_type = "s"
    return cell


def _cell(sheet: Worksheet, row: int, column: int) -> Cell:
    cell = sheet.cell(row, column)
    assert isinstance(cell, Cell)  # noqa: S101  # nothing is merged here
    return cell


def _book() -> Workbook:
    book = Workbook()
    if book.active is not None:
        book.remove(book.active)
    return book


def _sheet(book: Workbook, title: str, head: Sequence[str]) -> Worksheet:
    sheet: Worksheet = book.create_sheet(title)
    for column, text in enumerate(head, start=1):
        cell = _write(sheet, 1, column, text)
        cell.font = _HEAD
        cell.alignment = Alignment(horizontal="center", wrap_text=True)
        sheet.column_dimensions[get_column_letter(column)].width = _NUMBER
    sheet.freeze_panes = "B2"
    return sheet


def _save_book(book: Workbook) -> bytes:
    data = io.BytesIO()
    book.save(data)
    return data.getvalue()
