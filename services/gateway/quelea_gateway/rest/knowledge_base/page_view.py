"""A page of a document as JSON, and as HTML for a browser that follows a citation: everything in it is escaped."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from html import escape

from pydantic import BaseModel, Field


class SpanOut(BaseModel):
    """text[start:end], in Unicode code points."""

    start: int
    end: int


class PageOut(BaseModel):
    """The parsed text of one page."""

    document_id: str
    page: int
    pages: int
    text: str
    title: str
    uri: str
    published: str
    company: str
    period: str
    document_type: str
    language: str
    provenance: str = Field(description="web: it was fetched from `uri`; else `uri` and `published` are as uploaded.")
    span: SpanOut | None


_PAGE = """<!doctype html>
<html lang="{language}">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>{title} · {page}/{pages}</title>
<link rel="icon" href="/page/icon.svg">
<link rel="stylesheet" href="/page/style.css">
</head>
<body class="reader">
<header class="reader-head"><a class="brand" href="/">Quelea</a>
<h1>{title}</h1>
<p class="meta">{meta}</p>
<nav class="pager" aria-label="pages">{pager}</nav>
</header>
<main><article class="page-text" dir="auto">{text}</article></main>
</body>
</html>
"""


def wants_html(accept: str) -> bool:
    """Whether a browser asks: text/html is named in Accept, JSON is not."""
    return "text/html" in accept and "application/json" not in accept


def span_of(text: str, start: int | None, end: int | None, quote: str | None) -> tuple[int, int] | None:
    """The span to mark, inside the text; None when nothing was asked for or it is not there."""
    if start is not None and end is not None:
        start, end = min(start, len(text)), min(end, len(text))
        return (start, end) if start < end else None
    if quote:
        found = text.find(quote)
        return (found, found + len(quote)) if found >= 0 else None
    return None


Cell = tuple[int, int]
"""A piece of a page's text: from, to."""

_FIGURE = re.compile(r"[\s$€£¥(（+\-−–—]*[\d.,]+[\s%)）]*|[-−–—]")


def blocks(text: str) -> Iterator[Cell | list[list[Cell]]]:
    """The text in order: pieces of it, and where lines hold tabs, tables (rows of cells). Every character is in one."""
    start = plain = 0
    rows: list[list[Cell]] = []
    for line in text.splitlines(keepends=True) if "\t" in text else ():
        end = start + len(line)
        tabs = [start + at + 1 for at, c in enumerate(line) if c == "\t" and at + 1 < len(line)]
        if tabs and not rows and plain < start:
            yield plain, start
        if tabs:
            rows.append(list(zip([start, *tabs], [*tabs, end], strict=True)))
        elif rows:
            yield rows
            rows, plain = [], start
        start = end
    if rows:
        yield rows
        plain = start
    if plain < len(text):
        yield plain, len(text)


def _marker(text: str, span: tuple[int, int] | None) -> Callable[[Cell], str]:
    """Escapes pieces of the text and marks what of the span is in them; the first mark is the link's target."""
    first = True

    def piece(place: Cell) -> str:
        nonlocal first
        start, end = place
        begin, stop = (max(start, span[0]), min(end, span[1])) if span else (0, 0)
        if begin >= stop or not text[begin:stop].strip():
            return escape(text[start:end])
        name, first = ' id="quote"' if first else "", False
        return f"{escape(text[start:begin])}<mark{name}>{escape(text[begin:stop])}</mark>{escape(text[stop:end])}"

    return piece


def body(text: str, span: tuple[int, int] | None) -> str:
    """The text as HTML, rows of cells as tables. Without the tags it is the text, character for character."""
    piece = _marker(text, span)
    found = []
    for block in blocks(text):
        if isinstance(block, tuple):
            found.append(piece(block))
            continue
        found.append('<div class="table"><table><tbody>')
        for row in block:
            cells = (
                f'<td class="figure">{piece(cell)}</td>'
                if _FIGURE.fullmatch(text[slice(*cell)].strip())
                else f"<td>{piece(cell)}</td>"
                for cell in row
            )
            found.append(f"<tr>{''.join(cells)}</tr>")
        found.append("</tbody></table></div>")
    return "".join(found)


def _source(uri: str, provenance: str) -> str:
    """The document's uri; a link when it was fetched from there: an uploader may say anything."""
    if not re.match(r"https?://", uri, re.IGNORECASE):
        return escape(uri)
    if provenance != "web":
        return f"{escape(uri)} (as stated by the uploader)"
    return f'<a href="{escape(uri, quote=True)}" target="_blank" rel="noopener noreferrer nofollow">{escape(uri)}</a>'


def render(shown: PageOut, span: tuple[int, int] | None) -> str:
    """The HTML."""
    base = f"/v1/documents/{escape(shown.document_id, quote=True)}/pages"
    pager = [f"<span>{shown.page} / {shown.pages}</span>"]
    if shown.page > 1:
        pager.insert(0, f'<a rel="prev" href="{base}/{shown.page - 1}">←</a>')
    if shown.page < shown.pages:
        pager.append(f'<a rel="next" href="{base}/{shown.page + 1}">→</a>')
    facts = (shown.company, shown.document_type, shown.period, shown.published)
    meta = [*(escape(part) for part in facts if part), *([_source(shown.uri, shown.provenance)] if shown.uri else [])]
    return _PAGE.format(
        language=escape(shown.language or "en", quote=True),
        title=escape(shown.title or shown.document_id),
        page=shown.page,
        pages=shown.pages,
        meta=" · ".join(meta),
        pager=" ".join(pager),
        text=body(shown.text, span),
    )
