"""Blocks of formats that come without a page layout: what a line is, told by its words alone."""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Sequence
from dataclasses import replace
from itertools import repeat

from quelea_search.core.layout.headings import decimal_level, numbered_level
from quelea_search.core.layout.page_assembly import Block, row
from quelea_search.core.layout.rows import is_number, is_period, is_units, numbers_in, split_plain
from quelea_search.core.layout.text_cleanup import clean, clean_cell, ends_chinese, glue_lines
from quelea_search.core.model import CELL, LineKind

_BULLET = re.compile(r"[•▪■●○◦‣·*–—-]\s|[(（]?(?:\d{1,3}|[a-zA-Z]|[ivx]{1,5})[)）.、]\s?")
_CURRENCY = frozenset({"$", "€", "£", "¥", "￥", "US$", "HK$", "RMB", "($", "("})
_CLOSING = frozenset({")", "%", ")%", "%)", "）"})


_LEADERS = re.compile(r"\s{0,8}+(?:[.…·]\s?){5,}\s{0,8}+")
_DOTS, _LEAST_DOTS = ".…·", 5


def contents_line(text: str) -> Block | None:
    """A line of a table of contents, its dots left out; None for any other line."""
    if len(text) < _LEAST_DOTS or sum(map(text.count, _DOTS)) < _LEAST_DOTS:
        return None
    parts = [part for part in _LEADERS.split(text) if part.strip()]
    return Block(LineKind.ROW, CELL.join(parts)) if _LEADERS.search(text) and parts else None


def paragraph(text: str) -> Block:
    """A block of running text: a heading when its numbering says so."""
    said = clean(text)
    level = numbered_level(said)
    if not level and said[:1].isdigit() and len(said.split()) <= 10:
        level = decimal_level(said)
    return Block(LineKind.HEADING, said, level) if level else Block(LineKind.TEXT, said)


Extent = tuple[float, float]


def table(
    rows: Iterable[Sequence[str]],
    header_rows: int = 0,
    *,
    keep_empty: bool = False,
    extents: Iterable[Sequence[Extent]] | None = None,
) -> list[Block]:
    """Rows of cells as blocks: leading rows without figures are what stands above the table.

    Args:
        header_rows: How many leading rows are marked as header by the format itself.
        keep_empty: Keep empty cells, so that columns stay in place; else they are dropped, and currency signs and
            closing brackets that have cells of their own join their figure.
        extents: Of each row where its cells begin and end across the table, nothing of a row of which that is not
            known: with empty cells dropped nothing else says under which column a figure stands.
    """
    cleaned = [[clean_cell(cell) for cell in cells] for cells in rows]
    placed = zip(cleaned, extents or repeat(()), strict=False)
    whole = [(cells, at) if keep_empty else _join_cells(cells, at) for cells, at in placed]
    whole = [(cells, at) for cells, at in whole if any(cells)]
    held = [cells for cells, _ in whole]
    if not held:
        return []
    if max(len([cell for cell in cells if cell]) for cells in held) <= 1:
        return [paragraph(next(cell for cell in cells if cell)) for cells in held]
    blocks: list[Block] = []
    above = True
    for position, (cells, at) in enumerate(whole):
        words = [cell for cell in cells if cell]
        head = position < header_rows or numbers_in(words) == 0 or _is_head(words)
        above = above and head and position < max(header_rows, 6)
        if above and position >= max(header_rows, 1) and not _goes_on_above(words, position, held):
            above = False
        blocks.append(Block(LineKind.HEAD if above else LineKind.ROW, row(cells), extents=tuple(at)))
    if all(block.kind is LineKind.HEAD for block in blocks):
        blocks = [blocks[0], *(replace(block, kind=LineKind.ROW) for block in blocks[1:])]
    return blocks


def _is_head(words: Sequence[str]) -> bool:
    return all(is_period(word) or not is_number(word) for word in words) and any(is_period(word) for word in words)


def _goes_on_above(words: Sequence[str], position: int, rows: Sequence[Sequence[str]]) -> bool:
    """Whether a row after the first still belongs above the table: units, periods, or the row before had one cell."""
    before = [cell for cell in rows[position - 1] if cell]
    return len(before) == 1 or all(is_period(word) or is_units(word) for word in words)


def _join_cells(cells: Sequence[str], extents: Sequence[Extent]) -> tuple[list[str], Sequence[Extent]]:
    out: list[str] = []
    at: list[Extent] = []
    for cell, extent in zip(cells, extents or repeat((0.0, 0.0)), strict=False):
        if not cell:
            continue
        if out and out[-1] in _CURRENCY:
            out[-1] = f"{out[-1]} {cell}"
        elif out and cell in _CLOSING:
            out[-1] += cell
        else:
            out.append(cell)
            at.append(extent)
            continue
        at[-1] = (at[-1][0], extent[1])
    return out, at if extents else ()


def plain(lines: Sequence[str], wrap: tuple[int, int] | None = None) -> list[Block]:
    """Lines of a plain text: wrapped paragraphs made whole, rows of figures, numbered headings.

    Args:
        wrap: wrap_width() of the whole text, when these lines are a part of it.
    """
    lines = [line.rstrip() for line in lines]
    low, high = wrap_width(lines) if wrap is None else wrap
    blocks: list[Block] = []
    held: list[str] = []
    last = ""

    def close() -> None:
        if held:
            blocks.append(paragraph(glue_lines(held)))
        held.clear()

    for line in lines:
        text = line.strip()
        if not text:
            close()
            last = ""
            continue
        contents = contents_line(text)
        if contents is not None:
            close()
            blocks.append(contents)
            continue
        cells = split_plain(line)
        if len(cells) >= 2 and numbers_in(cells[1:]) >= (1 if CELL in line or "|" in line else 2):
            close()
            blocks.append(Block(LineKind.ROW, CELL.join(cells)))
        elif len(text) < 80 and is_units(text):
            close()
            blocks.append(Block(LineKind.HEAD, text))
        else:
            goes_on = held and high and low <= len(last) <= high
            if not goes_on or _BULLET.match(text) is not None or numbered_level(clean(text)) > 0:
                close()
            held.append(text)
            last = line
    close()
    return _heads_of_rows(blocks)


def wrap_width(lines: Sequence[str]) -> tuple[int, int]:
    """Shortest and longest length of a line that goes on in the next one; (0, 0) when the text is not wrapped.

    A wrapped text has many lines of about one length. English ones often begin in the middle of a sentence, Chinese
    ones are equal to a character or two; otherwise the lines are short by nature, as headlines are.
    """
    held = [line for line in lines if line.strip()]
    lengths = [len(line) for line in held]
    best, most = 0, 0
    ordered = sorted(lengths)
    for length in sorted({length for length in lengths if length >= 30}):
        count = bisect_right(ordered, length) - bisect_left(ordered, 0.86 * length)
        if count >= most:
            best, most = length, count
    if len(held) < 6 or most < 0.3 * len(held):
        return 0, 0
    low = int(0.86 * best)
    inside = [i for i, length in enumerate(lengths[:-1]) if low <= length <= best]
    if any(ends_chinese(held[i].strip()) for i in inside):
        tight = sum(1 for i in inside if lengths[i] >= best - 2)
        return (best - 4, best + 1) if tight >= 0.4 * len(inside) else (0, 0)
    small = sum(1 for i in inside if held[i + 1].strip()[0].islower())
    return (low, best) if small >= 0.3 * len(inside) else (0, 0)


def _heads_of_rows(blocks: list[Block]) -> list[Block]:
    """A short line of period words right above a row is a column header."""
    out = list(blocks)
    for i in range(len(out) - 2, -1, -1):
        block = out[i]
        if (
            block.kind is LineKind.TEXT
            and out[i + 1].kind in (LineKind.ROW, LineKind.HEAD)
            and len(block.text) < 100
            and is_period(block.text)
            and not block.text.endswith((".", "。", ":", "："))
        ):
            out[i] = Block(LineKind.HEAD, block.text)
    return out
