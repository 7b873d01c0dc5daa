"""Bytes of a document to pages of text: one file per format, chosen by the bytes themselves."""

from __future__ import annotations

from collections.abc import Callable

from quelea_search.core.model import ParsedDocument, ParseLimits

__all__ = ["FORMATS", "Progress", "parse"]

FORMATS = ("pdf", "html", "docx", "xlsx", "pptx", "csv", "json", "markdown", "text")

Progress = Callable[[int, int], None]
"""Called with (pages done, pages); the last call has done == total. Sheets, slides and records count as pages."""


def parse(data: bytes, filename: str, *, limits: ParseLimits, on_progress: Progress) -> ParsedDocument:
    """Read a document.

    Args:
        data: The whole file.
        filename: Its name; it only tells text formats apart, the bytes decide everything else.
        limits: What is refused.
        on_progress: Called at the start and after each page.

    Raises:
        quelea_search.core.errors.*: Why it cannot be read, in one sentence.
    """
    from quelea_search.adapters.formats.dispatch import read

    return read(data, filename, limits, on_progress)
