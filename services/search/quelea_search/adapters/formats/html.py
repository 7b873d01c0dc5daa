"""HTML: filings are walked as they stand, tables as rows of cells; web pages are first freed of their frame."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import islice
from types import MappingProxyType
from typing import Any

import lxml.html
import trafilatura
from lxml import etree

from quelea_search.adapters.formats.common import (
    Progress,
    bounded,
    check_characters,
    day_of,
    finish,
    finish_flow,
    stated_fields,
)
from quelea_search.adapters.formats.inline_xbrl import tagged_figures
from quelea_search.core.errors import EmptyDocument, Unreadable
from quelea_search.core.layout.headings import may_head
from quelea_search.core.layout.page_assembly import Block
from quelea_search.core.layout.text_blocks import contents_line, paragraph, plain, table
from quelea_search.core.layout.text_cleanup import clean, glue_lines
from quelea_search.core.model import LineKind, ParsedDocument, ParseLimits

_SKIP = frozenset("script style noscript template head nav svg iframe object button select textarea input".split())
_BLOCK = frozenset(
    """p div section article main header footer aside li ul ol dl dt dd blockquote pre h h1 h2 h3 h4 h5 h6 center
    address figure figcaption hr tr caption body details summary fieldset form""".split()
)
# Unions and ancestors in XPath take time that grows with the square of what they find; iter() does not.
_WEB_TAGS = ("nav", "article", "aside", "footer", "header", "main")
_WEB_MARKS: Mapping[str, Callable[[Any], bool]] = MappingProxyType(
    {
        "meta": lambda element: element.get("property", "").startswith("og:") or element.get("name") == "viewport",
        "link": lambda element: element.get("rel") == "canonical",
        "script": lambda element: element.get("type") == "application/ld+json",
    }
)
_FRAMED = ("div", "ul", "section", "table")
_MOST_GRID = 300
"""Columns of a table with which it still is told which cell stands under which."""
_SPAN_DIGITS = 4
_GAP = 0.5
"""Between columns that stand side by side, in columns."""
_MOST_ROWS = 150
"""Rows of tables from which on a page is a filing."""
_FRAME = re.compile(
    r"(?<![a-z])(?:nav|navbar|navigation|menu|header|top-?bar|footer|foot|side-?bar|breadcrumbs?|cookies?|related"
    r"|copyright|share|login)(?![a-z])",
    re.I,
)
_FRAMES = 2
"""Elements named after parts of a page's frame that make it a web page; no filing has any."""
_NOT_OWN = frozenset("a script style noscript nav header footer aside button".split())
_SHORT = 1500
_LEAST = 20
_SHARE = 0.3
"""Main text below _SHORT characters is searched for again with more care, since on a short page trafilatura prefers
to take too much. What is found counts when it has _LEAST characters and is _SHARE of the words that are no links."""
HIDDEN = re.compile(r"display\s*:\s*none|visibility\s*:\s*hidden", re.I)
_BREAK = re.compile(r"page-break-(?:before|after)\s*:\s*always|break-(?:before|after)\s*:\s*page", re.I)
_BOLD = re.compile(r"font-weight\s*:\s*(?:bold|[6-9]00)", re.I)
_DATE_META = frozenset(
    """article:published_time og:published_time pubdate publishdate publish-date date dc.date dcterms.date
    datepublished""".split()
)
# What is never closed runs to the end, and no tag holds another: so a page of a million "<script>" takes no longer.
_TAG = re.compile(r"<(?:script|style)\b.*?(?:</(?:script|style)>|\Z)|<[^<>]*>", re.I | re.S)
MOST_ATTRIBUTES = 2000
MAXIMUM_DEPTH = 240
"""Elements within elements; deeper ones are read as text."""


def read(text: str, limits: ParseLimits, on_progress: Progress) -> ParsedDocument:
    """A page or a filing in HTML. Raises EmptyDocument, Unreadable, TooLarge."""
    check_characters(len(text), limits)
    on_progress(0, 1)
    root = read_tree(text)
    facts = _facts(root)
    if _is_web_page(root):
        blocks = _article(text, root)
        if blocks:
            return finish_flow(blocks, "html", facts, limits, on_progress)
    pages: list[list[Block]] = [[]]
    for block in bounded(_Walk(root).blocks(root), limits):
        if block is None:
            pages.append([])
        else:
            pages[-1].append(block)
    filled = [page for page in pages if page]
    if len(filled) >= 3:
        parsed = finish(filled, "html", facts, limits, on_progress)
        return replace(parsed, tagged=tagged_figures(root))
    blocks = [block for page in filled for block in page]
    if not blocks:  # nested deeper than the parser follows: the words without their marks
        blocks = plain(_TAG.sub("\n", text).splitlines())
    return replace(finish_flow(blocks, "html", facts, limits, on_progress), tagged=tagged_figures(root))


def read_tree(text: str) -> Any:
    """The root element. Raises EmptyDocument, Unreadable."""
    try:
        said = _without_declaration(text)
        etree.HTML(said, etree.HTMLParser(target=_Attributes()))
        return lxml.html.document_fromstring(said, ensure_head_body=False)
    except (etree.LxmlError, ValueError) as error:
        if not _TAG.sub("", text).strip():
            raise EmptyDocument("The HTML page contains no text.") from error
        raise Unreadable("The HTML is broken and cannot be read; save the page again.") from error


class _Attributes:
    """A parser's target that refuses elements with too many attributes.

    The parser itself takes no longer for them, but the tree that it builds walks over all of an element's attributes
    for each that it adds.
    """

    def start(self, tag: str, attributes: Mapping[str, str]) -> None:
        """An element begins."""
        if len(attributes) > MOST_ATTRIBUTES:
            raise Unreadable(
                f"An element of the HTML has {len(attributes):,} attributes, the limit is {MOST_ATTRIBUTES:,}; "
                "save the page again."
            )

    def close(self) -> None:
        """The end."""


def _without_declaration(text: str) -> str:
    """lxml refuses characters that come with an encoding declaration."""
    return re.sub(r"^\s*<\?xml[^>]*\?>", "", text, count=1)


def _is_web_page(root: Any) -> bool:
    """Boilerplate around an article, and no filing: few tables, frames of navigation."""
    rows = (row for row in root.iter("tr") if next(row.iterancestors("table"), None) is not None)
    if next(islice(rows, _MOST_ROWS - 1, None), None) is not None:
        return False
    if next(root.iter(*_WEB_TAGS), None) is not None:
        return True
    if any(_WEB_MARKS[element.tag](element) for element in root.iter(*_WEB_MARKS)):
        return True
    named = (f"{element.get('id', '')} {element.get('class', '')}" for element in root.iter(*_FRAMED))
    return len(list(islice(filter(_FRAME.search, named), _FRAMES))) == _FRAMES


def _facts(root: Any) -> dict[str, str]:
    titles = root.xpath("//meta[@property='og:title']/@content") + root.xpath("//title/text()")
    published = ""
    for meta in root.xpath("//meta[@content]"):
        name = (meta.get("property") or meta.get("name") or meta.get("itemprop") or "").lower()
        if name in _DATE_META and not published:
            published = day_of(meta.get("content"))
    for stamp in root.xpath("//article//time/@datetime | //time[@pubdate]/@datetime"):
        published = published or day_of(stamp)
    return stated_fields(title=clean(titles[0])[:300] if titles else "", published=published)


def _article(text: str, root: Any) -> list[Block]:
    """The article of a web page; empty where there is none to be told from its frame."""
    blocks = _main_text(text, careful=False)
    if _characters(blocks) > _SHORT:
        return blocks
    least = max(_LEAST, _SHARE * _own_characters(root))
    careful = _main_text(text, careful=True)
    return next((found for found in (careful, blocks) if _characters(found) >= least), [])


def _own_characters(root: Any) -> int:
    """Characters of the text that is neither a link's nor of the page's frame."""
    count = left_out = 0
    for event, element in etree.iterwalk(root.find("body"), ("start", "end", "comment", "pi")):
        own = isinstance(element.tag, str)
        if event == "start":
            left_out += element.tag in _NOT_OWN
            said = element.text
        else:
            left_out -= own and element.tag in _NOT_OWN
            said = element.tail
        if said and not left_out:
            count += len(said.strip())
    return count


def _characters(blocks: list[Block]) -> int:
    return sum(len(block.text) for block in blocks)


def _main_text(text: str, *, careful: bool) -> list[Block]:
    """What trafilatura takes for the article; careful: rather too little than too much."""
    found = trafilatura.extract(
        text,
        output_format="xml",
        include_comments=False,
        include_tables=True,
        favor_recall=not careful,
        favor_precision=careful,
    )
    if not found:
        return []
    main = etree.fromstring(found.encode(), etree.XMLParser(resolve_entities=False, huge_tree=False)).find("main")
    blocks: list[Block] = []
    for element in main.iterchildren() if main is not None else ():
        said = " ".join(" ".join(element.itertext()).split())
        if element.tag == "head":
            level = re.sub(r"\D", "", element.get("rend") or "")
            blocks.append(Block(LineKind.HEADING, said, int(level or 2)))
        elif element.tag == "table":
            rows = [[" ".join(cell.itertext()) for cell in line.iter("cell")] for line in element.iter("row")]
            blocks.extend(table(rows))
        elif element.tag == "list":
            blocks.extend(Block(LineKind.TEXT, f"• {' '.join(item.itertext())}") for item in element.iter("item"))
        elif said:
            blocks.append(paragraph(said))
    return blocks


class _Walk:
    """One pass over the tree; None stands for a page break."""

    def __init__(self, root: Any) -> None:
        self._outer = {outer for table in root.iter("table") for outer in islice(table.iterancestors("table"), 1)}
        """Tables that have a table in a cell."""
        self._held: list[str] = []
        self._bold = 0
        self._plain = 0

    def blocks(self, root: Any) -> Iterator[Block | None]:
        """Blocks in document order."""
        yield from self._element(root, 0)
        yield from self._close("")

    def _element(self, element: Any, depth: int) -> Iterator[Block | None]:
        tag = element.tag.lower().rsplit("}", 1)[-1] if isinstance(element.tag, str) else ""
        style = element.get("style") or "" if tag else ""
        if not tag or tag in _SKIP or tag == "ix:header" or HIDDEN.search(style):
            yield from self._text(element.tail, False)
            return
        breaks = _BREAK.search(style) is not None
        if tag == "table" and depth < MAXIMUM_DEPTH and element not in self._outer:
            yield from self._close("")
            yield from _table(element)
        elif tag == "br":
            self._held.append("\n")
        elif depth >= MAXIMUM_DEPTH:
            self._held.append(" ".join(element.itertext()))
        else:
            block = tag in _BLOCK or tag in ("td", "th", "table")
            if block:
                yield from self._close("")
                if breaks and "before" in style:
                    yield None
            bold = tag in ("b", "strong") or _BOLD.search(style) is not None
            self._count(element.text, bold)
            for child in element:
                yield from self._element(child, depth + 1)
            if block:
                yield from self._close(tag)
        if breaks and not ("before" in style and tag in _BLOCK):
            yield from self._close("")
            yield None
        self._count(element.tail, False)

    def _text(self, text: str | None, bold: bool) -> Iterator[Block]:
        self._count(text, bold)
        yield from ()

    def _count(self, text: str | None, bold: bool) -> None:
        if text:
            self._held.append(text)
            if bold:
                self._bold += len(text.strip())
            else:
                self._plain += len(text.strip())

    def _close(self, tag: str) -> Iterator[Block]:
        parts = "".join(self._held).split("\n\n")
        bold = self._bold > 3 * self._plain
        self._held, self._bold, self._plain = [], 0, 0
        for part in parts:
            lines = [line.strip() for line in part.split("\n") if line.strip()]
            if not lines:
                continue
            if len(lines) > 1 and contents_line(lines[0]) is not None:
                yield from (contents_line(line) or paragraph(line) for line in lines)
                continue
            text = clean(glue_lines(lines))
            if not text:
                continue
            if len(tag) == 2 and tag[0] == "h" and tag[1].isdigit():
                yield Block(LineKind.HEADING, text, int(tag[1]))
            elif tag == "li":
                yield Block(LineKind.TEXT, f"• {text}")
            else:
                block = paragraph(text)
                if block.kind is LineKind.TEXT and bold and may_head(text):
                    block = Block(LineKind.HEADING, text, 5)
                yield block


def _table(element: Any) -> Iterator[Block]:
    rows: list[list[str]] = []
    grid = _Grid()
    heads = 0
    for line in element.iter("tr"):
        cells = [cell for cell in line if isinstance(cell.tag, str) and cell.tag.lower() in ("td", "th")]
        if cells and heads == len(rows) and all(cell.tag.lower() == "th" for cell in cells):
            heads += 1
        rows.append([_cell(cell) for cell in cells])
        grid.add(cells)
    caption = element.find("caption")
    if caption is not None and clean(" ".join(caption.itertext())):
        yield Block(LineKind.HEAD, " ".join(caption.itertext()))
    yield from table(rows, heads, extents=grid.extents)


class _Grid:
    """Which columns of a table its cells take."""

    def __init__(self) -> None:
        self._rows: list[tuple[list[tuple[float, float]], int]] = []
        """The extents of each row's cells, and the column after the last."""
        self._taken: dict[int, int] = {}
        """For each column the first row that no cell from above takes."""

    @property
    def extents(self) -> list[Sequence[tuple[float, float]]]:
        """Of each row's cells; none of a row that ends before others do: it may have lost a cell anywhere."""
        width = max((end for _, end in self._rows), default=0)
        return [found if end == width else () for found, end in self._rows]

    def add(self, cells: Sequence[Any]) -> None:
        """The next row."""
        row = len(self._rows)
        found: list[tuple[float, float]] = []
        at = self._free(0, row)
        for cell in cells:
            width = _span(cell, "colspan")
            if at + width > _MOST_GRID:
                self._rows.append(([], 0))
                return
            found.append((at, at + width - _GAP))
            self._taken |= dict.fromkeys(range(at, at + width), row + _span(cell, "rowspan"))
            at = self._free(at + width, row)
        self._rows.append((found, at))

    def _free(self, at: int, row: int) -> int:
        while self._taken.get(at, 0) > row:
            at += 1
        return at


def _span(cell: Any, name: str) -> int:
    said = (cell.get(name) or "").strip()
    return max(int(said), 1) if said.isascii() and said.isdecimal() and len(said) <= _SPAN_DIGITS else 1


def _cell(cell: Any) -> str:
    return glue_lines(line.strip() for line in "".join(_cell_text(cell)).split("\n") if line.strip())


def _cell_text(cell: Any) -> Iterator[str]:
    """Text of a cell in pieces; what is shown on lines of its own ("Ended<br>June 30") is parted by a line's end."""
    for event, element in etree.iterwalk(cell, ("start", "end", "comment", "pi")):
        own = isinstance(element.tag, str)
        if own and element is not cell and ((element.tag == "br" and event == "end") or element.tag in _BLOCK):
            yield "\n"
        if event == "start":
            yield element.text or ""
        elif element is not cell:
            yield element.tail or ""
