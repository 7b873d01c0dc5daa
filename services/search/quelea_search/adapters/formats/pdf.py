"""PDF through pypdfium2: printed lines with their cells, sizes and weights; `core.layout` makes sense of them.

Pages without a text layer are pictures to it: pdf_scans.py has their lines read by OCR.
"""

from __future__ import annotations

import ctypes
import re
from collections.abc import Callable, Container, Mapping
from dataclasses import replace
from itertools import pairwise
from types import MappingProxyType
from typing import Any

import pypdfium2 as pdfium
import pypdfium2.raw as c

from quelea_search.adapters.formats.common import Progress, check_characters, stated_fields
from quelea_search.core.errors import Encrypted, TooManyPages, Unreadable
from quelea_search.core.layout.blocks import blocks_of, settle_levels
from quelea_search.core.layout.line_order import Style, without_marks
from quelea_search.core.layout.lines import Cell, RawLine, RawPage
from quelea_search.core.layout.page_assembly import build_page
from quelea_search.core.layout.rows import is_number
from quelea_search.core.layout.running_headers import EDGE, body_mask, running_lines
from quelea_search.core.layout.text_cleanup import BREAK_HYPHEN, clean, clean_cell, mend_hyphens
from quelea_search.core.model import ParsedDocument, ParseLimits

_DOTTED = re.compile(r"[.…·]{5,}")
_LEADERS = re.compile(r"[.…·]{3,}|\.")
AMOUNT_WORDS = 6
"""Words of a printed amount, at most: "( US$ 1,234 )"."""
_NO_TEXT = (
    "The PDF has no text layer (a scan?); install OCR (pip install 'quelea[ocr]'; in a checkout `make ocr`), "
    "or run OCR first."
)
GAP = 0.85
"""Font heights of empty space between two words that make them two cells."""


def may_be_pdf(data: bytes) -> bool:
    """Whether the bytes begin as those of a PDF do."""
    return data[:1024].find(b"%PDF-") >= 0


def read(
    data: bytes, limits: ParseLimits, on_progress: Progress, scans: Mapping[int, RawPage] = MappingProxyType({})
) -> ParsedDocument:
    """Pages of a PDF.

    Args:
        data: The file.
        limits: What is refused.
        on_progress: Called at the start and after each page.
        scans: The pages, from 0, whose lines OCR has read.

    Raises:
        Encrypted, Unreadable (broken, or pictures that nobody has read), TooManyPages, TooLarge.
    """
    try:
        document = pdfium.PdfDocument(data)
    except pdfium.PdfiumError as error:
        if "password" in str(error).lower():
            raise Encrypted("The PDF is encrypted; remove its password and send it again.") from error
        raise Unreadable("The PDF is broken and cannot be opened; export it again.") from error
    try:
        return _read(document, limits, on_progress, scans)
    finally:
        document.close()


def _read(document: Any, limits: ParseLimits, on_progress: Progress, scans: Mapping[int, RawPage]) -> ParsedDocument:
    total = len(document)
    if total > limits.max_pages:
        raise TooManyPages(f"The PDF has {total} pages, the limit is {limits.max_pages}; split it.")
    on_progress(0, total)
    raw: list[RawPage] = []
    characters = 0
    broken = 0
    for number in range(total):
        try:
            page = scans.get(number) or _raw_page(document, number)
        except pdfium.PdfiumError:
            page = RawPage((), 0.0, 0.0)
            broken += 1
        raw.append(page)
        characters += sum(len(line.text) for line in page.lines)
        check_characters(characters, limits)
        on_progress(number + 1, total)
    if total == 0 or broken == total:
        raise Unreadable("No page of the PDF can be read; export it again.")
    if characters < 8 or (total > 3 and characters < 4 * total):
        raise Unreadable("The PDF has no text layer (a scan?), and OCR found none either." if scans else _NO_TEXT)
    return _assemble(raw, _stated_fields(document), scans)


def _assemble(raw: list[RawPage], facts: dict[str, str], scans: Container[int]) -> ParsedDocument:
    everywhere = Style.of(raw)
    raw = [without_marks(page, everywhere) for page in _mend(raw)]
    orders = [_edges_outside(page) for page in raw]
    texts = [[page.lines[i].text for i in order] for page, order in zip(raw, orders, strict=True)]
    masks = body_mask(texts)
    kept = [{i for i, body in zip(order, mask, strict=True) if body} for order, mask in zip(orders, masks, strict=True)]
    bodies = [
        RawPage(tuple(line for i, line in enumerate(page.lines) if i in body), page.width, page.height)
        for page, body in zip(raw, kept, strict=True)
    ]
    style = Style.of(bodies)
    blocks = settle_levels([blocks_of(page, style) for page in bodies])
    pages = (replace(build_page(page), scanned=number in scans) for number, page in enumerate(blocks))
    return ParsedDocument(tuple(pages), "pdf", facts, running_lines(texts, masks))


def _edges_outside(page: RawPage) -> list[int]:
    """Indices of the lines, the highest and the lowest ones at the two ends: some files write headers in the middle."""
    order = sorted(range(len(page.lines)), key=lambda i: -page.lines[i].y)
    top, bottom = order[:EDGE], order[EDGE:][-EDGE:]
    ends = {*top, *bottom}
    return [*top, *(i for i in range(len(page.lines)) if i not in ends), *bottom]


def _mend(raw: list[RawPage]) -> list[RawPage]:
    if not any(BREAK_HYPHEN in line.text for page in raw for line in page.lines):
        return raw
    flat = iter(mend_hyphens([cell.text for page in raw for line in page.lines for cell in line.cells]))
    return [
        RawPage(
            tuple(
                RawLine(
                    tuple(Cell(next(flat), cell.x0, cell.x1) for cell in line.cells),
                    line.y,
                    line.height,
                    line.weight,
                    line.italic,
                    line.sinks,
                )
                for line in page.lines
            ),
            page.width,
            page.height,
        )
        for page in raw
    ]


def _raw_page(document: Any, number: int) -> RawPage:
    page = document[number]
    try:
        width, height = page.get_size()
        textpage = page.get_textpage()
        try:
            return RawPage(tuple(_lines(textpage)), width, height)
        finally:
            textpage.close()
    finally:
        page.close()


def _lines(textpage: Any) -> list[RawLine]:
    """Lines of a text page. Positions are read at word ends only: a call for each character would cost ten times."""
    text = textpage.get_text_range()
    handle = textpage.raw
    exact = len(text) == textpage.count_chars()
    offsets = None if exact else _utf16_offsets(text)
    left, right, bottom, top = (ctypes.c_double() for _ in range(4))
    rect = c.FS_RECTF()
    flags = ctypes.c_int()
    name = ctypes.create_string_buffer(96)

    def index(at: int) -> int:
        return at if offsets is None else int(c.FPDFText_GetCharIndexFromTextIndex(handle, offsets[at]))

    def edges(at: int) -> tuple[float, float]:
        if not c.FPDFText_GetCharBox(handle, index(at), left, right, bottom, top):
            return 0.0, 0.0
        return left.value, right.value

    lines: list[RawLine] = []
    at = 0
    for raw in text.split("\n"):
        start, at = at, at + len(raw) + 1
        line = raw.rstrip("\r ")
        lead = len(line) - len(line.lstrip())
        if lead == len(line):
            continue
        start += lead
        line = line[lead:]
        first = index(start)
        c.FPDFText_GetLooseCharBox(handle, first, rect)
        size = abs(rect.top - rect.bottom) or 10.0
        c.FPDFText_GetCharOrigin(handle, first, left, bottom)
        baseline = bottom.value
        c.FPDFText_GetFontInfo(handle, first, name, 96, flags)
        font = name.value.lower()
        weight = int(c.FPDFText_GetFontWeight(handle, first))
        if b"bold" in font or b"black" in font or b"heavy" in font:
            weight = max(weight, 400)
        italic = b"italic" in font or b"oblique" in font or bool(flags.value & 64)
        cells = cut_cells(line, start, size, edges)
        if cells:
            sinks = 0.0
            if BREAK_HYPHEN in line and c.FPDFText_GetCharOrigin(handle, index(start + len(line) - 1), left, bottom):
                sinks = max(0.0, baseline - bottom.value)
            lines.append(RawLine(tuple(cells), baseline, size, max(weight, 0), italic, sinks))
    return lines


def cut_cells(line: str, start: int, size: float, edges: Callable[[int], tuple[float, float]]) -> list[Cell]:
    """Words of a line, cut into cells at gaps wider than GAP font heights.

    Args:
        line: What is printed.
        start: Index of its first character, for `edges`.
        size: Font height.
        edges: Left and right edge of a character.
    """
    cells: list[Cell] = []
    words: list[str] = []
    x0 = x1 = 0.0
    at = start
    for printed in line.split(" "):
        word = printed
        if word and _LEADERS.fullmatch(word):  # the dots of a table of contents
            _close(cells, words, x0, x1)
            words = []
        elif word:
            w0, first_right = edges(at)
            w1 = edges(at + len(word) - 1)[1] if len(word) > 1 else first_right
            gap = w0 - x1
            if words and (_starts_amount(words, word, gap, size) or (gap > GAP * size and not _sticks(words, word))):
                _close(cells, words, x0, x1)
                words = []
            if not words:
                x0 = w0
            leader = _DOTTED.search(word)
            if leader:
                words.append(word[: leader.start()])
                _close(cells, words, x0, w0)
                words = []
                word = word[leader.end() :]
                x0 = w1 - 0.5 * size * len(word)
            if word:
                words.append(word)
            x1 = w1
        at += len(printed) + 1
    _close(cells, words, x0, x1)
    return _unless_justified(cells, size)


def _unless_justified(cells: list[Cell], size: float) -> list[Cell]:
    """A line stretched to its column's width has wide gaps that are all alike: it is one cell."""
    if len(cells) < 3:
        return cells
    gaps = [right.x0 - left.x1 for left, right in pairwise(cells)]
    if max(gaps) < 2.4 * size and max(gaps) < 1.6 * min(gaps) and not all(is_number(cell.text) for cell in cells[1:]):
        return [Cell(" ".join(cell.text for cell in cells), cells[0].x0, cells[-1].x1)]
    return cells


def _sticks(words: list[str], word: str) -> bool:
    """A currency sign belongs to the amount after it, a closing bracket or percent sign to the one before it."""
    return words[-1] in ("$", "€", "£", "¥", "￥", "($", "(") or word in (")", "%", ")%", "%)")


def _starts_amount(words: list[str], word: str, gap: float, size: float) -> bool:
    """A figure after a figure begins the next column, however close it stands; so does a currency sign."""
    if word in ("$", "€", "£", "¥", "￥"):
        return words[-1][-1].isdigit() or words[-1][-1] in ")—–-%"
    if gap <= 0.4 * size or len(words) > AMOUNT_WORDS or not (word[0].isdigit() or word[0] in "(—–-"):
        return False
    return is_number(" ".join(words)) and is_number(word)


def _close(cells: list[Cell], words: list[str], x0: float, x1: float) -> None:
    text = " ".join(words)
    text = clean_cell(text) if BREAK_HYPHEN not in text else text
    if text:
        cells.append(Cell(text, x0, x1))


def _utf16_offsets(text: str) -> list[int]:
    offsets, at = [], 0
    for character in text:
        offsets.append(at)
        at += 2 if ord(character) > 0xFFFF else 1
    return offsets


def _stated_fields(document: Any) -> dict[str, str]:
    try:
        info = document.get_metadata_dict(skip_empty=True)
    except pdfium.PdfiumError:
        return {}
    return stated_fields(title=clean(str(info.get("Title", ""))), author=clean(str(info.get("Author", ""))))
