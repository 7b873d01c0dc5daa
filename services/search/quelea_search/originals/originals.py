"""Originals: what they are, their bytes, and quotes in them."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable
from dataclasses import dataclass
from typing import ParamSpec, TypeVar

from quelea_kit.errors import Conflict, DeadlineExceeded, InvalidInput, Overloaded
from quelea_kit.processes.process_pool import ProcessPool, WorkCrashed, WorkTimeout

from quelea_search.adapters.blobs import Blobs
from quelea_search.adapters.formats.html_as_filed import AsFiled
from quelea_search.adapters.formats.pdf_spans import LocatedSpan
from quelea_search.core.errors import CrashedReader, TooLarge, Unreadable
from quelea_search.core.media_types import of_original
from quelea_search.document_reach import reached_header
from quelea_search.originals import process_work
from quelea_search.settings import SearchSettings
from quelea_search.web.parsing_pool import Refused

PIECE = 1 << 20
_START = 4096
"""Bytes that tell what a document is."""
_PROCESSES = 2
_MOST_WAITING = 16
P = ParamSpec("P")
T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Original:
    """What a document is as it came in."""

    filename: str
    media_type: str
    size: int


class Originals:
    """The originals of a blob store. Who may read a document is asked before.

    Args:
        blobs: Where they lie.
        settings: Bounds of the processes that read them.
    """

    def __init__(self, blobs: Blobs, settings: SearchSettings) -> None:
        self._blobs = blobs
        self._seconds = settings.original_seconds
        self._pool = ProcessPool(
            _PROCESSES, memory_mb=settings.worker_memory_mb, preload=["quelea_search.originals.process_work"]
        )
        self._waiting = 0

    async def describe(self, document_id: str) -> Original:
        """Name, media type, size. Raises NotFound."""
        return await asyncio.to_thread(self._describe, document_id)

    def _describe(self, document_id: str) -> Original:
        header = reached_header(self._blobs, document_id)
        start = self._blobs.read_original(document_id, 0, _START)
        filename = str(header.get("filename", ""))
        return Original(filename, of_original(start, filename), self._blobs.original_size(document_id))

    async def read(self, document_id: str, offset: int = 0, length: int = 0) -> AsyncIterator[bytes]:
        """The bytes from an offset, so many of them (0: all that are left), in pieces of PIECE. Raises NotFound."""
        size = (await self.describe(document_id)).size
        end = min(size, offset + length) if length else size
        for at in range(offset, end, PIECE):
            yield await asyncio.to_thread(self._blobs.read_original, document_id, at, min(at + PIECE, end))

    async def locate(self, document_id: str, page: int, start: int, end: int) -> LocatedSpan:
        """Where text[start:end] of a page's text is printed on that page of the PDF.

        Raises:
            NotFound: There is no such document or page.
            InvalidInput: The page's text has no such span.
            Conflict: The document is no PDF.
            Unreadable, TooLarge, CrashedReader: The PDF cannot be looked into.
            DeadlineExceeded: It took too long: the PDF is hard to read, or this machine is busy.
            Overloaded: Too many wait for it.
        """
        original, (_, text) = await self.describe(document_id), await self._page(document_id, page)
        if original.media_type != "application/pdf":
            raise Conflict(f"The document is {original.media_type}; only a PDF has boxes that mark a quote.")
        _check_span(text, start, end)
        data = await asyncio.to_thread(self._blobs.read_original, document_id)
        return await self._run(process_work.locate_span, data, page, text, start, end)

    async def render(self, document_id: str, page: int, start: int, end: int) -> AsFiled:
        """An HTML document as it came in, freed of what runs and loads.

        Args:
            document_id: The document.
            page: Whose text[start:end] is marked; 0: nothing is.
            start: First character of the span.
            end: Character after it.

        Raises:
            Conflict: The document is no HTML. Others as `locate`.
        """
        original, text = await self.describe(document_id), ""
        if original.media_type != "text/html":
            raise Conflict(f"The document is {original.media_type}, not HTML; download it instead.")
        if page:
            _, text = await self._page(document_id, page)
            _check_span(text, start, end)
        data = await asyncio.to_thread(self._blobs.read_original, document_id)
        return await self._run(process_work.render_html, data, text, start if page else 0, end if page else 0)

    async def warm(self) -> None:
        """Start the processes, so that the first quote that is opened does not wait for them."""
        await self._pool.warm()

    async def close(self) -> None:
        """End the processes."""
        await self._pool.close()

    async def _page(self, document_id: str, page: int) -> tuple[dict[str, object], str]:
        return await asyncio.to_thread(self._blobs.page, document_id, page)

    async def _run(self, work: Callable[P, T | Refused], *args: P.args, **kwargs: P.kwargs) -> T:
        if self._waiting >= _MOST_WAITING:
            raise Overloaded("Too many originals are being looked into; try again.", retry_after=1.0)
        self._waiting += 1
        try:
            told = await self._pool.run(self._seconds, work, *args, **kwargs)
        except WorkTimeout:
            raise DeadlineExceeded(
                f"Looking into the document took longer than {self._seconds:g} s. Try again in a minute, "
                "or download it instead."
            ) from None
        except WorkCrashed:
            raise CrashedReader("The document ended the process that looked into it; download it instead.") from None
        finally:
            self._waiting -= 1
        if isinstance(told, Refused):
            raise (TooLarge if told.reason == TooLarge.reason else Unreadable)(told.message)
        return told


def _check_span(text: str, start: int, end: int) -> None:
    if not start < end <= len(text):
        raise InvalidInput(
            f"start and end must name a piece of the page's text, which has {len(text)} characters; got {start}, {end}."
        )
