"""The objects of parsing: what a document says, where it says it, and the pieces it is cut into.

Offsets are Unicode code points. `Line` and `Chunk` spans refer to the text of their page, so
`chunk.text == parsed.pages[chunk.page - 1].text[chunk.start:chunk.end]` holds for every chunk.

The retriever has a `DocumentFacts` and a `PassageRecord` of its own. They stay apart: a core knows
neither the wire nor another service, and the two differ in what they are for. Here a document has no id and no address
yet, only what is read from it; there it is stored. A field that is added goes through the proto to both.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from types import MappingProxyType

from quelea_fintext.times.periods import NO_PERIOD, ReportingPeriod

from quelea_search.core.statements.model import TaggedFigure

CELL = "\t"
"""Between the cells of a table row: no other line of a page holds it. Tokenizers read it as a space."""

SECTION = " › "
"""Between the headings of a section path, outermost first."""


class LineKind(StrEnum):
    """What a line of a page is."""

    TEXT = "text"
    """A paragraph, joined to one line, or a list item."""
    HEADING = "heading"
    HEAD = "head"
    """Title, units or column headers of the table that follows."""
    ROW = "row"
    """One row of a table, its cells separated by CELL."""


@dataclass(frozen=True, slots=True)
class Line:
    """A line of a page: its span in the page's text, and what it is."""

    start: int
    end: int
    kind: LineKind = LineKind.TEXT
    level: int = 0
    """Of a heading, 1 is outermost; 0 for every other kind."""
    extents: tuple[tuple[float, float], ...] = ()
    """Of a ROW: where each cell begins and ends across the page, in units of the format; empty where unknown."""


@dataclass(frozen=True, slots=True)
class Page:
    """A page, sheet, slide or top-level section: its normalised text, and its lines in order."""

    text: str
    lines: tuple[Line, ...]
    scanned: bool = False
    """Read from its picture by OCR: characters may be wrong."""


@dataclass(frozen=True, slots=True)
class ParsedDocument:
    """A document as text.

    Args:
        pages: At least one; page numbers count from 1.
        format: "pdf", "html", "docx", "xlsx", "pptx", "csv", "json", "markdown" or "text".
        stated: What the container itself says in fields of its own (never guessed from the text): "title",
            "published" (YYYY-MM-DD), "author", "company", "ticker". Keys are absent where there is none.
        running: The running headers and footers that were taken off the pages, each once: they may name the company.
        tagged: The figures that inline XBRL tags, in document order.
    """

    pages: tuple[Page, ...]
    format: str
    stated: Mapping[str, str] = field(default_factory=lambda: MappingProxyType({}))
    running: tuple[str, ...] = ()
    tagged: tuple[TaggedFigure, ...] = ()


@dataclass(frozen=True, slots=True)
class Chunk:
    """A passage: a span of one page."""

    ordinal: int
    page: int
    start: int
    end: int
    text: str
    is_table: bool = False
    section: str = ""
    table_head: str = ""
    """For a table that was cut: title, units and column header lines, for every piece but the first. Not in text."""
    scanned: bool = False
    """Of a page that OCR read."""


@dataclass(frozen=True, slots=True)
class DocumentFacts:
    """What a document says of itself, or what its uploader says of it. Empty where unknown."""

    title: str = ""
    language: str = ""
    """ "en" or "zh"."""
    company: str = ""
    company_aliases: tuple[str, ...] = ()
    ticker: str = ""
    document_type: str = ""
    period: ReportingPeriod = NO_PERIOD
    published: str = ""
    """YYYY-MM-DD."""


@dataclass(frozen=True, slots=True)
class ParseLimits:
    """Upper bounds of what is parsed; over one of them parsing raises TooLarge or TooManyPages."""

    max_bytes: int = 100 * 1024 * 1024
    """Of the file."""
    max_pages: int = 2000
    max_scanned_pages: int = 100
    """That OCR reads."""
    max_unpacked_bytes: int = 512 * 1024 * 1024
    """Of all parts of a DOCX, XLSX or PPTX container, unpacked."""
    max_characters: int = 30_000_000
    """Of the text of all pages."""
    max_lines: int = 2_000_000
    """Of the text of all pages: paragraphs, headings, rows."""
    max_rows: int = 200_000
    """Of one CSV file or of all sheets of a workbook, and of the records of a JSON file."""
