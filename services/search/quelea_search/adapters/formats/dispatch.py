"""Which format the bytes are."""

from __future__ import annotations

from quelea_search.adapters.formats import pdf
from quelea_search.adapters.formats.common import Progress
from quelea_search.core.errors import WrongType
from quelea_search.core.model import ParsedDocument, ParseLimits


def read(data: bytes, filename: str, limits: ParseLimits, on_progress: Progress) -> ParsedDocument:
    """Recognise and read."""
    if data[:1024].find(b"%PDF-") >= 0:
        return pdf.read(data, limits, on_progress)
    raise WrongType(filename)
