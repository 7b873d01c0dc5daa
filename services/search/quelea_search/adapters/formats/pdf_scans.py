"""Pages of a PDF that are pictures: which they are, and their printed lines by OCR, a page a call."""

from __future__ import annotations

import pypdfium2 as pdfium
import pypdfium2.raw as c

from quelea_search.adapters import ocr
from quelea_search.adapters.formats.pdf import cut_cells, may_be_pdf
from quelea_search.core.errors import TooManyPages
from quelea_search.core.layout.lines import RawPage
from quelea_search.core.model import ParseLimits


def find_scans(data: bytes, limits: ParseLimits) -> list[int]:
    """Pages, from 0, that show something and have no text; none where OCR is not installed, or of a broken PDF.

    Returns:
        The first ones, as many as the limit allows. Of more in a document that has no text at all it raises
        TooManyPages: a part of it would look like the whole.
    """
    if not (limits.max_scanned_pages and may_be_pdf(data) and ocr.is_installed()):
        return []
    found: list[int] = []
    total = 0
    try:
        with pdfium.PdfDocument(data) as document:
            total = len(document)
            for number in range(min(total, limits.max_pages)):
                page = document[number]
                text = page.get_textpage()
                if not text.count_chars() and c.FPDFPage_CountObjects(page):
                    found.append(number)
                text.close()
                page.close()
    except pdfium.PdfiumError:
        return []  # the reader says what is wrong with it
    if len(found) > limits.max_scanned_pages and len(found) == total:
        raise TooManyPages(
            f"The PDF has {total} scanned pages, the limit is {limits.max_scanned_pages}; split it, or run OCR first."
        )
    return found[: limits.max_scanned_pages]


def read_scan(data: bytes, number: int) -> RawPage:
    """The printed lines of a page, from 0, as OCR sees them; none of a page that cannot be shown."""
    try:
        with pdfium.PdfDocument(data) as document:
            return ocr.read_page(document[number], cut_cells)
    except pdfium.PdfiumError:
        return RawPage((), 0.0, 0.0)
