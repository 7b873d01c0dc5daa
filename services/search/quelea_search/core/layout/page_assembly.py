"""Blocks to pages: the one place where a page's text and the spans of its lines are made."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from quelea_search.core.layout.text_cleanup import clean, clean_cell
from quelea_search.core.model import CELL, Line, LineKind, Page

PAGE_CHARACTERS = 4000
"""Where a format has no pages, a page ends at the first top-level heading or block after this many characters."""


@dataclass(frozen=True, slots=True)
class Block:
    """A line to be: a paragraph, a heading with its level, a line above a table, or a table row (cells at CELL)."""

    kind: LineKind
    text: str
    level: int = 0
    extents: tuple[tuple[float, float], ...] = ()
    """Of a ROW: where each cell begins and ends across the page, where the format tells."""


def row(cells: Sequence[str]) -> str:
    """Cells as the text of a ROW: cleaned, trailing empty ones dropped."""
    cleaned = [clean_cell(cell) for cell in cells]
    while cleaned and not cleaned[-1]:
        cleaned.pop()
    return CELL.join(cleaned)


def build_page(blocks: Iterable[Block]) -> Page:
    """A page whose lines are the blocks that have text."""
    lines: list[Line] = []
    texts: list[str] = []
    at = 0
    for block in blocks:
        if block.kind in (LineKind.ROW, LineKind.HEAD) and CELL in block.text:
            text = row(block.text.split(CELL))
        else:
            text = clean(block.text)
        if not text.strip():
            continue
        known = block.extents if block.kind is LineKind.ROW and len(block.extents) == text.count(CELL) + 1 else ()
        lines.append(Line(at, at + len(text), block.kind, block.level, known))
        texts.append(text)
        at += len(text) + 1
    return Page("\n".join(texts), tuple(lines))


def paginate(blocks: Sequence[Block], size: int = PAGE_CHARACTERS) -> list[list[Block]]:
    """Blocks of a format without pages, as pages of about `size` characters that never cut a table.

    A page ends before a level-1 heading once it is a quarter full, before any heading once it is three quarters full,
    and before any block but a table's rows once it is full.
    """
    pages: list[list[Block]] = []
    held: list[Block] = []
    full = 0
    for position, block in enumerate(blocks):
        heading = block.kind is LineKind.HEADING
        after_heading = position > 0 and blocks[position - 1].kind in (LineKind.HEADING, LineKind.HEAD)
        cut = (
            (heading and block.level <= 1 and full >= size // 4)
            or (heading and full >= size * 3 // 4)
            or (full >= size and block.kind is not LineKind.ROW)
            or (full >= size * 5)
        )
        if held and cut and not (after_heading and full < size * 5):
            pages.append(held)
            held, full = [], 0
        held.append(block)
        full += len(block.text) + 1
    if held:
        pages.append(held)
    return pages
