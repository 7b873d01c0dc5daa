"""DOCX through python-docx: paragraphs and tables in their order, headings by their style."""

from __future__ import annotations

import io
import re
from collections.abc import Iterator
from typing import Any
from zipfile import BadZipFile

import docx
from docx.oxml.ns import qn
from docx.table import Table
from docx.text.paragraph import Paragraph
from lxml.etree import LxmlError

from quelea_search.adapters.formats.common import Progress, check_rows, finish_flow, open_package, stated_fields
from quelea_search.core.errors import Unreadable
from quelea_search.core.headings import may_head
from quelea_search.core.model import LineKind, ParsedDocument, ParseLimits
from quelea_search.core.page_assembly import Block
from quelea_search.core.text_blocks import paragraph, table
from quelea_search.core.text_cleanup import clean

_HEADING = re.compile(r"(?:heading|标题|標題|überschrift|titre)\s*(\d)", re.I)


def read(data: bytes, limits: ParseLimits, on_progress: Progress) -> ParsedDocument:
    """A Word document. Raises Unreadable, TooLarge, EmptyDocument."""
    open_package(data, limits, "DOCX").close()
    on_progress(0, 1)
    try:
        document = docx.Document(io.BytesIO(data))
        blocks = list(_blocks(document, limits))
        title = clean(document.core_properties.title or "")
        author = clean(document.core_properties.author or "")
    except (LxmlError, KeyError, ValueError, AttributeError, BadZipFile, IndexError) as error:
        raise Unreadable("The DOCX file is broken and cannot be read; save it again.") from error
    return finish_flow(blocks, "docx", stated_fields(title=title, author=author), limits, on_progress)


def _blocks(document: Any, limits: ParseLimits) -> Iterator[Block]:
    rows = 0
    for element in document.element.body.iterchildren():
        if element.tag == qn("w:p"):
            block = _paragraph(Paragraph(element, document))
            if block is not None:
                yield block
        elif element.tag == qn("w:tbl"):
            held = [_cells(row) for row in Table(element, document).rows]
            rows += len(held)
            check_rows(rows, limits)
            yield from table(held)
        elif element.tag == qn("w:sdt"):
            for inner in element.iter(qn("w:p")):
                block = _paragraph(Paragraph(inner, document))
                if block is not None:
                    yield block


def _paragraph(item: Any) -> Block | None:
    text = item.text.strip()
    if not text:
        return None
    style = (item.style.name if item.style is not None else "") or ""
    match = _HEADING.match(style)
    if match:
        return Block(LineKind.HEADING, text, int(match[1]))
    if style in ("Title", "标题"):
        return Block(LineKind.HEADING, text, 1)
    block = paragraph(text)
    runs = [run for run in item.runs if run.text.strip()]
    if block.kind is LineKind.TEXT and runs and all(run.bold for run in runs) and may_head(clean(text)):
        return Block(LineKind.HEADING, text, 5)
    return block


def _cells(row: Any) -> list[str]:
    """Cells of a row; a merged cell is given several times by the library and kept once."""
    cells: list[str] = []
    last = None
    for cell in row.cells:
        if cell._tc is not last:
            cells.append(cell.text)
        last = cell._tc
    return cells
