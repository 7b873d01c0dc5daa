"""Where a span of a page's text is printed on the page of its PDF. Run in processes of their own (originals/).

A page that is a picture is read by OCR once more, as its text was: a box is then as exact as a letter's share of its
run of words.
"""

from __future__ import annotations

import ctypes
from bisect import bisect_left
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any, Protocol

import pypdfium2 as pdfium
import pypdfium2.raw as c

from quelea_search.adapters import ocr
from quelea_search.core.errors import Unreadable
from quelea_search.core.layout.alignment import align, fold

_MOST_CHARACTERS = 200_000
"""Of a page that are looked at; a printed page has some thousand."""
_STEPS = 100
"""To a point: PDFium takes places of the shown page as whole numbers."""
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
        no_text: The page has no text of its own and OCR is not installed, or sees none.
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
                if not words.count_chars() and c.FPDFPage_CountObjects(page) and ocr.is_installed():
                    return Spans(SeenLetters(page), text).locate(start, end)
                return Spans(PrintedLetters(words), text).locate(start, end)
            finally:
                words.close()
                page.close()
    except (pdfium.PdfiumError, IndexError) as error:
        raise Unreadable(f"Page {number} of the PDF cannot be opened.") from error


class Letters(Protocol):
    """The letters of a page, in the order of its text."""

    def __len__(self) -> int:
        """How many there are."""
        ...

    def character(self, at: int) -> str:
        """One of them."""
        ...

    def box(self, at: int) -> Box | None:
        """Where it is printed; None where that is not known."""
        ...


class PrintedLetters:
    """Those of a text layer.

    Args:
        words: The page's text, open.
    """

    def __init__(self, words: Any) -> None:
        self._words = words  # it closes the page's text when nobody holds it
        self._count: int = min(words.count_chars(), _MOST_CHARACTERS)
        self._rect = c.FS_RECTF()

    def __len__(self) -> int:
        return self._count

    def character(self, at: int) -> str:
        """As the PDF says."""
        return chr(c.FPDFText_GetUnicode(self._words.raw, at))

    def box(self, at: int) -> Box | None:
        """With the room that its font has around it."""
        if not c.FPDFText_GetLooseCharBox(self._words.raw, at, ctypes.byref(self._rect)):
            return None
        return Box(self._rect.left, self._rect.bottom, self._rect.right, self._rect.top)


class SeenLetters:
    """Those that OCR sees on a page: of a run of words each has an equal share.

    Args:
        page: The page, open; it is read here, which takes some seconds.
    """

    def __init__(self, page: Any) -> None:
        self._page = page
        self._size = [round(side * _STEPS) for side in page.get_size()]
        self._letters = [
            (character, run, at)
            for row in ocr.arrange_rows(ocr.find_boxes(page))
            for run in row
            for at, character in enumerate(run.text)
        ][:_MOST_CHARACTERS]

    def __len__(self) -> int:
        return len(self._letters)

    def character(self, at: int) -> str:
        """As OCR reads it."""
        return self._letters[at][0]

    def box(self, at: int) -> Box:
        """In the coordinates of the PDF, whichever way the page is turned."""
        _, run, place = self._letters[at]
        step = (run.x1 - run.x0) / len(run.text)
        left, bottom = self._in_the_pdf(run.x0 + place * step, run.bottom)
        right, top = self._in_the_pdf(run.x0 + (place + 1) * step, run.bottom + run.height)
        return Box(min(left, right), min(bottom, top), max(left, right), max(bottom, top))

    def _in_the_pdf(self, x: float, y: float) -> tuple[float, float]:
        """A place of the page as it is shown, in points from its lower left corner."""
        across, up = ctypes.c_double(), ctypes.c_double()
        width, height = self._size
        shown = (round(x * _STEPS), height - round(y * _STEPS))
        c.FPDF_DeviceToPage(self._page.raw, 0, 0, width, height, 0, *shown, ctypes.byref(across), ctypes.byref(up))
        return across.value, up.value


class Spans:
    """The spans of a page.

    Args:
        letters: Of the page.
        text: Of the page, as it was stored.
    """

    def __init__(self, letters: Letters, text: str) -> None:
        self._letters = letters
        printed = fold(letters.character(at) for at in range(len(letters)))
        self._wanted = fold(text)
        self._places = [printed.places[place] if place >= 0 else -1 for place in align(self._wanted.text, printed.text)]

    def locate(self, start: int, end: int) -> LocatedSpan:
        """Where text[start:end] is printed."""
        places = self._wanted.places
        span = self._places[bisect_left(places, start) : bisect_left(places, end)]
        found = [place for place in span if place >= 0]
        boxes = tuple(_boxes(self._letters, found))
        return LocatedSpan(boxes, len(found) / len(span) if span else 0.0, no_text=not len(self._letters))


def _boxes(letters: Letters, found: Iterable[int]) -> Iterator[Box]:
    """Boxes around letters that stand side by side."""
    held: Box | None = None
    for at in dict.fromkeys(found):  # a ligature is one character for two letters
        box = letters.box(at)
        if box is None:
            continue
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
