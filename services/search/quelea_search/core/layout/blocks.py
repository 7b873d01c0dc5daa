"""Printed lines to blocks: rows of tables, what stands above a table, headings, paragraphs made whole."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from itertools import pairwise

from quelea_search.core.layout.column_heads import column_heads
from quelea_search.core.layout.headings import decimal_level, numbered_level
from quelea_search.core.layout.kinds import BULLET, Kinds, kinds_of
from quelea_search.core.layout.line_order import Margins, Style, in_order, join_same_baseline
from quelea_search.core.layout.lines import RawLine, RawPage
from quelea_search.core.layout.page_assembly import Block
from quelea_search.core.layout.row_assembly import assemble, is_row_apart, row_pitch
from quelea_search.core.layout.rows import is_number
from quelea_search.core.layout.text_cleanup import ends_chinese, glue, glue_lines
from quelea_search.core.model import CELL, LineKind

_ENDS = tuple(".!?。！？；;:：")


def blocks_of(page: RawPage, style: Style) -> list[Block]:
    """The blocks of one page, in reading order. Heading levels above 5 are prominence ranks: see `settle_levels`."""
    lines = join_same_baseline(in_order(assemble(page.lines), page.width))
    margins = Margins(lines, page.width)
    kinds = kinds_of(lines, page, style, margins)
    pitch = row_pitch(lines)
    blocks: list[Block] = []
    at = 0
    while at < len(lines):
        kind, level = kinds[at]
        stop = at + 1
        if kind is LineKind.ROW:
            row, stop = _row(lines, kinds, at, pitch)
            blocks.append(row)
        elif kind is LineKind.HEAD:
            while stop < len(lines) and kinds[stop][0] is LineKind.HEAD:
                stop += 1
            blocks.extend(Block(kind, text) for text in column_heads(lines[at:stop]))
        elif kind is LineKind.HEADING:
            while (
                stop < len(lines)
                and kinds[stop][0] in (kind, LineKind.TEXT)
                and _continues_heading(lines[stop - 1], lines[stop], margins.of(lines[at]), style)
            ):
                stop += 1
            blocks.append(Block(kind, _join(lines[at:stop]), level))
        else:
            while (
                stop < len(lines)
                and kinds[stop][0] is LineKind.TEXT
                and _continues(lines[stop - 1], lines[stop], margins.of(lines[stop - 1]))
            ):
                stop += 1
            blocks.append(Block(kind, _join(lines[at:stop])))
        at = stop
    return blocks


def _row(lines: Sequence[RawLine], kinds: Kinds, at: int, pitch: float) -> tuple[Block, int]:
    """A row, with a label that runs over two or three printed lines made whole."""
    stop = at + 1
    label = ""
    while (
        stop < len(lines)
        and stop - at <= 2
        and kinds[stop][0] is LineKind.ROW
        and len(lines[stop - 1].cells) == 1
        and len(lines[stop].cells) > 1
        and _wrapped_label(lines[stop - 1], lines[stop], pitch)
    ):
        label = glue(label, lines[stop - 1].text) if label else lines[stop - 1].text
        stop += 1
    cells = [cell.text for cell in lines[stop - 1].cells]
    if label:
        cells[0] = glue(label, cells[0])
    extents = tuple((cell.x0, cell.x1) for cell in lines[stop - 1].cells)
    return Block(LineKind.ROW, CELL.join(cells), extents=extents), stop


def _wrapped_label(upper: RawLine, lower: RawLine, pitch: float) -> bool:
    first = lower.cells[0].text
    if (
        upper.text.endswith((":", "：", "."))
        or is_number(first)
        or len(upper.text) < (6 if ends_chinese(upper.text) else 12)
    ):
        return False
    if upper.text.count("(") > upper.text.count(")") or first[0].islower() or first[0] in "(&$":
        return True
    if ends_chinese(upper.text):
        return (
            abs(upper.x0 - lower.x0) < 4
            and upper.x1 > lower.cells[0].x1
            and upper.x1 > lower.cells[1].x0 - (2 if is_row_apart(upper, lower, pitch) else 8) * upper.height
        )
    return len(upper.text) > 30 and upper.x1 > 0.85 * lower.cells[1].x0


def _continues(upper: RawLine, lower: RawLine, right: float) -> bool:
    """Whether the lower line goes on with the upper one's paragraph."""
    if BULLET.match(lower.text) and not lower.text[0].islower():
        return False
    height = max(upper.height, 4)
    if upper.x0 > lower.x0 + 6 * height or any(_widest_gap(line) > 3 * height for line in (upper, lower)):
        return False  # centred lines, and lines of a form, end by themselves
    drop = upper.y - upper.sinks - lower.y
    if drop > 2.1 * max(upper.height, lower.height, 4):
        return False
    if drop < -2 * upper.height:  # the next column
        return not upper.text.endswith(_ENDS)
    if ends_chinese(upper.text):
        return upper.x1 > right - 2.6 * upper.height and not (
            upper.text[-1] in "。：；" and lower.x0 > upper.x0 + upper.height
        )
    cell = lower.cells[0]
    first = cell.text.split(" ", 1)[0]
    width = (cell.x1 - cell.x0) / max(len(cell.text), 1) * (len(first) + 1)
    if upper.x1 + width < right - 0.5 * upper.height:
        return lower.text[0].islower() and not upper.text.endswith(_ENDS)
    return not (upper.text.endswith(_ENDS) and drop > 1.75 * max(upper.height, 4))


def _widest_gap(line: RawLine) -> float:
    """The widest gap between two cells of a line, but for the one after a paragraph's number or mark."""
    marked = len(line.cells[0].text) <= 7 and not line.cells[0].text.isalpha()
    return max((right.x0 - left.x1 for left, right in pairwise(line.cells[marked:])), default=0.0)


def _continues_heading(upper: RawLine, lower: RawLine, right: float, style: Style) -> bool:
    if abs(upper.height - lower.height) > 0.6 or not 0 < upper.y - lower.y < 1.7 * max(upper.height, 4):
        return False
    if numbered_level(lower.text) or decimal_level(lower.text) or len(upper.text) + len(lower.text) > 160:
        return False
    full = upper.x1 > right - 1.5 * upper.height
    if ends_chinese(upper.text):
        return full and lower.x1 < 0.7 * right and not lower.text.endswith(_ENDS)
    if style.bold(upper) != style.bold(lower) or style.large(upper) != style.large(lower):
        return False
    stands_out = style.bold(upper) or style.large(upper)
    capitals = upper.text.isupper() and lower.text.isupper()
    return (stands_out and (upper.x1 > right - 8 * upper.height or lower.text[0].islower())) or capitals


def _join(lines: Sequence[RawLine]) -> str:
    return glue_lines(line.text for line in lines)


CONTENTS = 400
"""Characters of text under a heading that comes again, up to which it is an entry of a table of contents."""
_KEY = 30


def _without_contents(pages: Sequence[list[Block]]) -> list[list[Block]]:
    """Headings that come again later, with hardly any text under them, are entries of a table of contents: text."""
    flat = [block for blocks in pages for block in blocks]
    last: dict[str, int] = {}
    for i, block in enumerate(flat):
        if block.kind is LineKind.HEADING:
            last[_key(block.text)] = i
    entries: set[int] = set()
    under = CONTENTS + 1
    for i in range(len(flat) - 1, -1, -1):
        block = flat[i]
        if block.kind is not LineKind.HEADING:
            under += len(block.text)
        else:
            if under <= CONTENTS and last[_key(block.text)] > i:
                entries.add(i)
            under = 0
    if not entries:
        return list(pages)
    out: list[list[Block]] = []
    at = 0
    for blocks in pages:
        out.append(
            [Block(LineKind.TEXT, b.text) if at + i in entries else b for i, b in enumerate(blocks)],
        )
        at += len(blocks)
    return out


def _key(text: str) -> str:
    return "".join(c for c in text.lower() if c.isalnum())[:_KEY]


def settle_levels(pages: Sequence[list[Block]]) -> list[list[Block]]:
    """Prominence ranks (6 and more) as levels 3 to 6, in the order of the ranks that the document uses."""
    pages = _without_contents(pages)
    ranks = sorted({b.level for blocks in pages for b in blocks if b.kind is LineKind.HEADING and b.level >= 6})
    level = {rank: min(6, 3 + i) for i, rank in enumerate(ranks)}
    return [[replace(b, level=level.get(b.level, b.level)) for b in blocks] for blocks in pages]
