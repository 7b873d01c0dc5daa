"""Bytes to pages, facts and chunks, under a clock that no parser can hold up."""

from __future__ import annotations

import contextlib
import faulthandler
from collections.abc import Iterator
from dataclasses import dataclass

from quelea_search.adapters.formats import parse
from quelea_search.core.chunk import chunk
from quelea_search.core.errors import EmptyDocument
from quelea_search.core.metadata import read_metadata
from quelea_search.core.model import Chunk, DocumentFacts, ParsedDocument, ParseLimits
from quelea_search.core.statements.model import Fact
from quelea_search.core.statements.read import read_statements

_STDERR = 2


@dataclass(frozen=True, slots=True)
class ChunkedDocument:
    """What is indexed of a document."""

    facts: DocumentFacts
    chunks: list[Chunk]
    statement_facts: list[Fact]


class FileParser:
    """The two steps that depend on the file alone; both block and use the processor.

    Args:
        limits: What is refused.
        seconds: The process ends when one step takes longer.
    """

    def __init__(self, limits: ParseLimits, seconds: float) -> None:
        self._limits = limits
        self._seconds = seconds

    def parse(self, data: bytes, filename: str) -> ParsedDocument:
        """The pages; raises the errors of core/errors.py."""
        with clock(self._seconds):
            return parse(data, filename, limits=self._limits, on_progress=lambda _done, _total: None)

    def chunk_document(self, parsed: ParsedDocument, filename: str, given: DocumentFacts) -> ChunkedDocument:
        """The facts and the passages; what the uploader gives wins."""
        with clock(self._seconds):
            facts = read_metadata(parsed, filename, given)
            chunks = chunk(parsed)
            found = read_statements(parsed, facts)
        if not chunks:
            raise EmptyDocument("The file contains no text that can be searched.")
        return ChunkedDocument(facts, chunks, found)


@contextlib.contextmanager
def clock(seconds: float) -> Iterator[None]:
    """End the process when the body takes longer."""
    # Neither a signal handler nor a Python thread runs while C code holds the interpreter; this timer is a C thread
    # and ends the process all the same. The pool replaces the child, and the job's record says what it was doing.
    faulthandler.dump_traceback_later(seconds, exit=True, file=_STDERR)
    try:
        yield
    finally:
        faulthandler.cancel_dump_traceback_later()
