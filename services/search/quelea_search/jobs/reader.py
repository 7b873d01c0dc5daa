"""Reads files and pages one after the other, each in a process of its own (reading_process.py)."""

from __future__ import annotations

import asyncio
import dataclasses
from collections.abc import Callable
from datetime import UTC, datetime
from typing import TypeVar

from quelea_search.adapters.formats.pdf_scans import find_scans, read_scan
from quelea_search.core.model import DocumentFacts, ParseLimits
from quelea_search.core.statements.read import read_statements
from quelea_search.core.web.model import Fetched, WebDocument
from quelea_search.jobs.file_parsing import ReadDocument, read_file
from quelea_search.jobs.reading_process import Reading
from quelea_search.web.page_parsing import parse_web_page

T = TypeVar("T")


class ProcessReader:
    """components.Reader.

    Args:
        reading: The processes.
        limits: What is refused.
    """

    def __init__(self, reading: Reading, limits: ParseLimits) -> None:
        self._reading = reading
        self._limits = limits

    async def read_file(self, data: bytes, filename: str, given: DocumentFacts) -> ReadDocument:
        """See components.Reader."""
        size = len(data)
        scans = {}
        for number in await self._run(size, find_scans, data, self._limits):
            scans[number] = await self._run(size, read_scan, data, number)  # each with a budget of its own
        return await self._run(size, read_file, data, filename, given, self._limits, scans)

    async def read_page(self, page: Fetched, title: str, published: str) -> WebDocument:
        """See components.Reader."""
        return await self._run(len(page.data), _read_page, page, self._limits, title, published)

    async def _run(self, size: int, call: Callable[..., T], *args: object) -> T:
        try:
            return await asyncio.to_thread(self._reading.run, size, call, *args)
        except asyncio.CancelledError:
            self._reading.stop()
            raise


def _read_page(page: Fetched, limits: ParseLimits, title: str, published: str) -> WebDocument:
    today = datetime.fromtimestamp(page.fetched, UTC).date().isoformat()
    document = parse_web_page(page, limits, title=title, published=published, today=today)
    # The parsers make `stated` a read-only view, which cannot be pickled.
    return dataclasses.replace(
        document,
        parsed=dataclasses.replace(document.parsed, stated=dict(document.parsed.stated)),
        statement_facts=read_statements(document.parsed, document.facts),
    )
