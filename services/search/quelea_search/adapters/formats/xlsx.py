"""XLSX through openpyxl, read as a stream: a sheet is a page, formulas are the values that the file holds."""

from __future__ import annotations

import datetime
import io
from collections.abc import Iterator
from typing import Any
from zipfile import BadZipFile

import openpyxl
from openpyxl.cell.read_only import EMPTY_CELL

from quelea_search.adapters.formats.common import Progress, check_rows, finish, open_package, stated_fields
from quelea_search.core.errors import TooManyPages, Unreadable
from quelea_search.core.layout.page_assembly import Block
from quelea_search.core.layout.text_blocks import table
from quelea_search.core.layout.text_cleanup import clean
from quelea_search.core.model import LineKind, ParsedDocument, ParseLimits

EMPTY_ROWS = 500
"""After so many empty rows a sheet is taken to be over: some files declare a million."""
MAXIMUM_COLUMNS = 300


def read(data: bytes, limits: ParseLimits, on_progress: Progress) -> ParsedDocument:
    """A workbook. Raises Unreadable, TooLarge, TooManyPages, EmptyDocument."""
    open_package(data, limits, "XLSX").close()
    try:
        book = openpyxl.load_workbook(io.BytesIO(data), read_only=True, data_only=True)
        try:
            return _read(book, limits, on_progress)
        finally:
            book.close()
    except (KeyError, ValueError, TypeError, AttributeError, BadZipFile, SyntaxError, IndexError, OSError) as error:
        raise Unreadable("The XLSX file is broken and cannot be read; save it again.") from error


def _read(book: Any, limits: ParseLimits, on_progress: Progress) -> ParsedDocument:
    sheets = [sheet for sheet in book.worksheets if sheet.sheet_state != "veryHidden"]
    if len(sheets) > limits.max_pages:
        raise TooManyPages(f"The workbook has {len(sheets)} sheets, the limit is {limits.max_pages}; split it.")
    on_progress(0, len(sheets))
    pages: list[list[Block]] = []
    count = 0
    for number, sheet in enumerate(sheets):
        rows: list[list[str]] = []
        for cells in _rows(sheet):
            rows.append(cells)
            count += 1
            check_rows(count, limits)
        blocks = table(rows, keep_empty=True)
        pages.append([Block(LineKind.HEADING, sheet.title, 1), *blocks] if blocks else [])
        on_progress(number + 1, len(sheets))
    properties = book.properties
    facts = stated_fields(title=clean(properties.title or ""), author=clean(properties.creator or ""))
    return finish(pages, "xlsx", facts, limits, on_progress, numbered=True)


def _rows(sheet: Any) -> Iterator[list[str]]:
    empty = 0
    sheet.reset_dimensions()  # a row is to come as wide as it is, not as the sheet may be
    for cells in sheet.iter_rows():
        values = ["" if cell is EMPTY_CELL else _as_shown(cell) for cell in cells[:MAXIMUM_COLUMNS]]
        while values and not values[-1]:
            values.pop()
        if values:
            empty = 0
            yield values
        else:
            empty += 1
            if empty > EMPTY_ROWS:
                return


def _as_shown(cell: Any) -> str:
    """A value about as the sheet shows it."""
    value = cell.value
    if value is None:
        return ""
    if isinstance(value, datetime.datetime):
        midnight = value.time() == datetime.time()
        return value.date().isoformat() if midnight else value.isoformat(" ", "minutes")
    if isinstance(value, bool):
        return str(value)
    if isinstance(value, int | float):
        form = cell.number_format or ""
        if "%" in form:
            return f"{value * 100:.6g}%"
        if isinstance(value, float) and value.is_integer() and abs(value) < 1e15:
            value = int(value)
        return (
            f"{value:,}"
            if "#,##" in form and isinstance(value, int)
            else f"{value:.12g}"
            if isinstance(value, float)
            else str(value)
        )
    return str(value)
