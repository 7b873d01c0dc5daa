"""CSV and its kin: one header, many rows; the header stands above every page of rows."""

from __future__ import annotations

import csv
import io

from quelea_search.adapters.formats.common import Progress, check_characters, check_rows, finish
from quelea_search.core.errors import Unreadable
from quelea_search.core.layout.page_assembly import Block, row
from quelea_search.core.layout.rows import is_number
from quelea_search.core.model import LineKind, ParsedDocument, ParseLimits

ROWS_PER_PAGE = 100
_SNIFFED = 4000
"""Characters that the sniffer sees: its time grows with their square."""


def read(text: str, limits: ParseLimits, on_progress: Progress) -> ParsedDocument:
    """Rows of a delimited text, 100 to a page. Raises TooLarge, Unreadable."""
    check_characters(len(text), limits)
    on_progress(0, 1)
    rows: list[list[str]] = []
    try:
        for cells in csv.reader(io.StringIO(text, newline=""), delimiter=_delimiter(text)):
            if any(cell.strip() for cell in cells):
                rows.append(cells)
                check_rows(len(rows), limits)
    except csv.Error as error:
        raise Unreadable(f"The CSV file is broken ({error}); export it again.") from error
    return finish(row_pages(rows), "csv", {}, limits, on_progress)


def row_pages(rows: list[list[str]], title: str = "") -> list[list[Block]]:
    """Rows as pages; a first row without figures is the header and is repeated on every page."""
    head: list[Block] = [Block(LineKind.HEADING, title, 1)] if title else []
    if len(rows) > 1 and not any(is_number(cell) for cell in rows[0]):
        head.append(Block(LineKind.HEAD, row(rows[0])))
        rows = rows[1:]
    body = [Block(LineKind.ROW if len(cells) > 1 else LineKind.TEXT, row(cells)) for cells in rows]
    return [head + body[at : at + ROWS_PER_PAGE] for at in range(0, len(body), ROWS_PER_PAGE)] or [head]


def _delimiter(text: str) -> str:
    sample = "\n".join(text[:20_000].splitlines()[:50])
    try:
        return csv.Sniffer().sniff(sample[:_SNIFFED], delimiters=",;\t|").delimiter
    except csv.Error:
        first = sample.split("\n", 1)[0]
        return max(",;\t|", key=first.count)
