"""Bytes of a document to pages of text: one file per format, chosen by the bytes themselves."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

from quelea_search.adapters.formats.common import Progress
from quelea_search.core.layout.lines import RawPage
from quelea_search.core.model import ParsedDocument, ParseLimits

__all__ = ["FORMATS", "Progress", "parse"]

FORMATS = ("pdf", "html", "docx", "xlsx", "pptx", "csv", "json", "markdown", "text")


def parse(
    data: bytes,
    filename: str,
    *,
    limits: ParseLimits,
    on_progress: Progress,
    scans: Mapping[int, RawPage] = MappingProxyType({}),
) -> ParsedDocument:
    """Read a document.

    Args:
        data: The whole file.
        filename: Its name; it only tells text formats apart, the bytes decide everything else.
        limits: What is refused.
        on_progress: Called at the start and after each page.
        scans: Pages of a PDF, from 0, that OCR has read.

    Raises:
        quelea_search.core.errors.*: Why it cannot be read, in one sentence.
    """
    # The parsers are a third of the server's start, and only workers parse; they load them before they fork.
    from quelea_search.adapters.formats import dispatch  # noqa: PLC0415  # as said

    return dispatch.read(data, filename, limits, on_progress, scans)
