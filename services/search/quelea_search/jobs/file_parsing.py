"""Turns bytes into pages, passages, facts and figures. It needs the file alone and runs in its own process."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType

from quelea_search.adapters.formats import parse
from quelea_search.core.chunk import chunk
from quelea_search.core.errors import EmptyDocument
from quelea_search.core.layout.lines import RawPage
from quelea_search.core.metadata.read import read_metadata
from quelea_search.core.model import Chunk, DocumentFacts, ParseLimits
from quelea_search.core.statements.model import Fact
from quelea_search.core.statements.read import read_statements


@dataclass(frozen=True, slots=True)
class ReadDocument:
    """What is kept of a document."""

    pages: Sequence[str]
    """Their texts."""
    facts: DocumentFacts
    chunks: Sequence[Chunk]
    statement_facts: Sequence[Fact] = ()


def read_file(
    data: bytes,
    filename: str,
    given: DocumentFacts,
    limits: ParseLimits,
    scans: Mapping[int, RawPage] = MappingProxyType({}),
) -> ReadDocument:
    """Read a file; what the uploader gives wins over what it says of itself. Blocks, and uses the processor.

    Args:
        data: The whole file.
        filename: Its name.
        given: By the uploader.
        limits: What is refused.
        scans: Pages of a PDF, from 0, that OCR has read.

    Raises:
        quelea_search.core.errors.*: Why it cannot be read, in one sentence.
    """
    parsed = parse(data, filename, limits=limits, on_progress=lambda _done, _total: None, scans=scans)
    facts = read_metadata(parsed, filename, given)
    chunks = chunk(parsed)
    if not chunks:
        raise EmptyDocument("The file contains no text that can be searched.")
    return ReadDocument([page.text for page in parsed.pages], facts, chunks, read_statements(parsed, facts))
