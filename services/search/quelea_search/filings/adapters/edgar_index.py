"""The page on which EDGAR lists the documents of a filing: its JSON (index.json) has their names, not their types."""

from __future__ import annotations

from dataclasses import replace

import lxml.html
from lxml import etree

from quelea_search.filings.core.model import Filing, UnexpectedReply

_EXHIBITS = "EX-99"
"""Releases, transcripts, letters and presentations are furnished under this number (Regulation S-K, item 601)."""
_READABLE = (".htm", ".html", ".txt", ".pdf")
_DOCUMENTS = "Document Format Files"
_CELLS = 4
"""Of a row: sequence, description, document, type."""


def read_index(data: bytes, filing: Filing) -> list[Filing]:
    """The exhibits of a filing that are furnished to be read (EX-99.…), in order. Raises UnexpectedReply."""
    try:
        page = lxml.html.document_fromstring(data)
    except (etree.ParserError, ValueError) as error:
        raise UnexpectedReply(
            f"The index of filing {filing.accession} cannot be read.", details={"behind": "edgar"}
        ) from error
    tables = [table for table in page.iter("table") if table.get("summary") == _DOCUMENTS]
    if not tables:
        raise UnexpectedReply(
            f"The index of filing {filing.accession} lists no documents.", details={"behind": "edgar"}
        )
    folder = filing.url.rsplit("/", 1)[0]
    found = []
    for row in tables[0].iter("tr"):
        cells = [" ".join(cell.text_content().split()) for cell in row.iter("td")]
        names = [link.text_content().strip() for link in row.iter("a")]
        if len(cells) < _CELLS or not names or not cells[3].upper().startswith(_EXHIBITS):
            continue
        if "/" in names[0] or not names[0].lower().endswith(_READABLE):
            continue
        title = f"{filing.title}: {cells[1] if cells[1] and cells[1] != cells[3] else cells[3]}"
        found.append(replace(filing, url=f"{folder}/{names[0]}", form=cells[3], title=title))
    return found
