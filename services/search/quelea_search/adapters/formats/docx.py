"""DOCX through python-docx: paragraphs and tables in their order, headings by their style."""

from __future__ import annotations

import io
import re
from collections.abc import Iterator
from types import MappingProxyType
from typing import Any
from zipfile import BadZipFile

import docx
from docx.enum.style import WD_STYLE_TYPE
from docx.oxml.ns import qn
from docx.text.paragraph import Paragraph
from docx.text.run import Run
from lxml.etree import LxmlError

from quelea_search.adapters.formats.common import (
    Progress,
    bounded,
    check_rows,
    finish_flow,
    open_package,
    stated_fields,
)
from quelea_search.core.errors import Unreadable
from quelea_search.core.layout.headings import may_head
from quelea_search.core.layout.page_assembly import Block
from quelea_search.core.layout.text_blocks import paragraph, table
from quelea_search.core.layout.text_cleanup import clean
from quelea_search.core.model import LineKind, ParsedDocument, ParseLimits

_PARAGRAPH, _RUN, _LINK = qn("w:p"), qn("w:r"), qn("w:hyperlink")
_SIGNS = MappingProxyType({qn("w:tab"): "\t", qn("w:ptab"): "\t", qn("w:cr"): "\n", qn("w:noBreakHyphen"): "-"})
_TEXT, _BREAK, _BREAK_TYPE = qn("w:t"), qn("w:br"), qn("w:type")
_HEADING = re.compile(r"(?:heading|标题|標題|überschrift|titre)\s*(\d)", re.I)


def read(data: bytes, limits: ParseLimits, on_progress: Progress) -> ParsedDocument:
    """A Word document. Raises Unreadable, TooLarge, EmptyDocument."""
    open_package(data, limits, "DOCX").close()
    on_progress(0, 1)
    try:
        document = docx.Document(io.BytesIO(data))
        blocks = list(bounded(_blocks(document, limits), limits))
        title = clean(document.core_properties.title or "")
        author = clean(document.core_properties.author or "")
    except (LxmlError, KeyError, ValueError, AttributeError, BadZipFile, IndexError) as error:
        raise Unreadable("The DOCX file is broken and cannot be read; save it again.") from error
    return finish_flow(blocks, "docx", stated_fields(title=title, author=author), limits, on_progress)


def _blocks(document: Any, limits: ParseLimits) -> Iterator[Block]:
    rows = 0
    styles = _Styles(document)
    for element in document.element.body.iterchildren():
        if element.tag == _PARAGRAPH:
            block = _paragraph(Paragraph(element, document), styles)
            if block is not None:
                yield block
        elif element.tag == qn("w:tbl"):
            held = _rows(element)
            rows += len(held)
            check_rows(rows, limits)
            yield from table(held)
        elif element.tag == qn("w:sdt"):
            for inner in element.iter(_PARAGRAPH):
                block = _paragraph(Paragraph(inner, document), styles)
                if block is not None:
                    yield block


class _Styles:
    """Names of the paragraph styles; the library looks through all of them for each paragraph."""

    def __init__(self, document: Any) -> None:
        every = [style for style in document.styles if style.type == WD_STYLE_TYPE.PARAGRAPH]
        self._names = {style.style_id: style.name or "" for style in every}
        default = document.styles.default(WD_STYLE_TYPE.PARAGRAPH)
        self._default = (default.name if default is not None else "") or ""

    def name(self, item: Any) -> str:
        """Of the style of a paragraph."""
        return self._names.get(item._p.style or "", self._default)


def _text(paragraph_element: Any) -> str:
    """What a paragraph says.

    The library's own `text` asks by XPath at each run and paragraph, which takes ten times as long.
    """
    said: list[str] = []
    for child in paragraph_element.iterchildren(_RUN, _LINK):
        for run in (child,) if child.tag == _RUN else child.iterchildren(_RUN):
            said.extend(_run_text(run))
    return "".join(said)


def _run_text(run: Any) -> Iterator[str]:
    for piece in run.iterchildren():
        if piece.tag == _TEXT:
            yield piece.text or ""
        elif piece.tag == _BREAK:
            yield "\n" if piece.get(_BREAK_TYPE, "textWrapping") == "textWrapping" else ""
        else:
            yield _SIGNS.get(piece.tag, "")


def _paragraph(item: Any, styles: _Styles) -> Block | None:
    text = _text(item._p).strip()
    if not text:
        return None
    style = styles.name(item)
    match = _HEADING.match(style)
    if match:
        return Block(LineKind.HEADING, text, int(match[1]))
    if style in ("Title", "标题"):
        return Block(LineKind.HEADING, text, 1)
    block = paragraph(text)
    if block.kind is LineKind.TEXT and may_head(clean(text)):
        runs = [run for run in item._p.iterchildren(_RUN) if "".join(_run_text(run)).strip()]
        if runs and all(Run(run, item).bold for run in runs):
            return Block(LineKind.HEADING, text, 5)
    return block


def _rows(table_element: Any) -> list[list[str]]:
    """Cells of each row. A cell that is merged with the one above says what that one says.

    The library's own `row.cells` climbs up all merged rows for each of them.
    """
    above: dict[int, str] = {}
    rows: list[list[str]] = []
    for row in table_element.tr_lst:
        at, held, cells = row.grid_before, {}, []
        for cell in row.tc_lst:
            merged = cell.vMerge == "continue" and at in above
            text = above[at] if merged else "\n".join(map(_text, cell.iterchildren(_PARAGRAPH)))
            cells.append(text)
            held[at] = text
            at += max(cell.grid_span, 1)
        above = held
        rows.append(cells)
    return rows
