"""Where a span of a page's text is printed on the page of its PDF. Run in processes of their own (originals/)."""

from __future__ import annotations

import ctypes
from bisect import bisect_left
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any

import pypdfium2 as pdfium
import pypdfium2.raw as c

from quelea_search.core.errors import Unreadable
from quelea_search.core.layout.alignment import align, fold

_MOST_CHARACTERS = 200_000
"""Of a page that are looked at; a printed page has some thousand."""
_NEW_PIECE = 1.2
"""Font heights of empty space within a line after which another box begins: between the cells of a row."""


@dataclass(frozen=True, slots=True)
class Box:
    """In points of the PDF's own coordinates: from the lower left corner, before the page is rotated."""

    left: float
    bottom: float
    right: float
    top: float


@dataclass(frozen=True, slots=True)
class LocatedSpan:
    """Where a span is printed.

    Attributes:
        boxes: In the order of the text, one for each piece that is printed in one line without a gap.
        found: Share of its characters, spaces aside, that were found; 0 to 1.
        no_text: The page has no text of its own: it is a scan.
    """

    boxes: tuple[Box, ...]
    found: float
    no_text: bool = False


def locate(data: bytes, number: int, text: str, start: int, end: int) -> LocatedSpan:
    """The boxes of text[start:end].

    Args:
        data: The PDF.
        number: Of the page, from 1.
        text: Of the page, as it was stored.
        start: First character of the span.
        end: Character after it.

    Raises:
        Unreadable: The page cannot be opened.
    """
    try:
        with pdfium.PdfDocument(data) as document:
            page = document[number - 1]
            words = page.get_textpage()
            try:
                return Spans(words, text).locate(start, end)
            finally:
                words.close()
                page.close()
    except (pdfium.PdfiumError, IndexError) as error:
        raise Unreadable(f"Page {number} of the PDF cannot be opened.") from error


class Spans:
    """The spans of a page.

    Args:
        words: The page's text, open.
        text: Of the page, as it was stored.
    """

    def __init__(self, words: Any, text: str) -> None:
        self._words = words  # it closes the page's text when nobody holds it
        self._count = min(words.count_chars(), _MOST_CHARACTERS)
        printed = fold(chr(c.FPDFText_GetUnicode(words.raw, at)) for at in range(self._count))
        self._wanted = fold(text)
        self._places = [printed.places[place] if place >= 0 else -1 for place in align(self._wanted.text, printed.text)]

    def locate(self, start: int, end: int) -> LocatedSpan:
        """Where text[start:end] is printed."""
        places = self._wanted.places
        span = self._places[bisect_left(places, start) : bisect_left(places, end)]
        found = [place for place in span if place >= 0]
        boxes = tuple(_boxes(self._words.raw, found))
        return LocatedSpan(boxes, len(found) / len(span) if span else 0.0, no_text=not self._count)


def _boxes(handle: Any, characters: Iterable[int]) -> Iterator[Box]:
    """Boxes around characters that stand side by side."""
    rect = c.FS_RECTF()
    held: Box | None = None
    for at in dict.fromkeys(characters):  # a ligature is one character for two letters
        if not c.FPDFText_GetLooseCharBox(handle, at, ctypes.byref(rect)):
            continue
        box = Box(rect.left, rect.bottom, rect.right, rect.top)
        if held is not None and _side_by_side(held, box):
            held = Box(
                min(held.left, box.left),
                min(held.bottom, box.bottom),
                max(held.right, box.right),
                max(held.top, box.top),
            )
            continue
        if held is not None:
            yield held
        held = box
    if held is not None:
        yield held


def _side_by_side(held: Box, box: Box) -> bool:
    height = max(box.top - box.bottom, 1.0)
    common = min(held.top, box.top) - max(held.bottom, box.bottom)
    gap = max(box.left - held.right, held.left - box.right)
    return common > 0.5 * min(height, held.top - held.bottom) and gap < _NEW_PIECE * height
