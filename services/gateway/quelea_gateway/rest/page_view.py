"""A page of a document as HTML, for a browser that follows a citation. Everything from a document is escaped."""

from __future__ import annotations

from html import escape
from typing import Protocol


class Shown(Protocol):
    """What is shown of a page."""

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


def render(shown: Shown, span: tuple[int, int] | None) -> str:
    """The HTML."""
    text = escape(shown.text)
    if span:
        start, end = span
        before, marked, after = shown.text[:start], shown.text[start:end], shown.text[end:]
        text = f'{escape(before)}<mark id="quote">{escape(marked)}</mark>{escape(after)}'
    base = f"/v1/documents/{escape(shown.document_id, quote=True)}/pages"
    pager = [f"<span>{shown.page} / {shown.pages}</span>"]
    if shown.page > 1:
        pager.insert(0, f'<a rel="prev" href="{base}/{shown.page - 1}">←</a>')
    if shown.page < shown.pages:
        pager.append(f'<a rel="next" href="{base}/{shown.page + 1}">→</a>')
    said = (shown.company, shown.document_type, shown.period, shown.published, shown.uri)
    return _PAGE.format(
        language=escape(shown.language or "en", quote=True),
        title=escape(shown.title or shown.document_id),
        page=shown.page,
        pages=shown.pages,
        meta=" · ".join(escape(part) for part in said if part),
        pager=" ".join(pager),
        text=text,
    )
