"""What each printed line of a page is: a row of a table, a line above one, a heading, text."""

from __future__ import annotations

import re
from collections.abc import Sequence

from quelea_search.core.layout.headings import decimal_level, may_head, numbered_level
from quelea_search.core.layout.line_order import Margins, Style
from quelea_search.core.layout.lines import RawLine, RawPage
from quelea_search.core.layout.rows import is_number, is_period, is_units, numbers_in
from quelea_search.core.layout.text_cleanup import ends_chinese
from quelea_search.core.model import LineKind

BULLET = re.compile(r"[•▪■●○◦‣·*–—-]\s|[(（]?(?:\d{1,2}|[a-zA-Z]|[ivx]{1,5})[)）.]\s|[☒☐☑]|[①-⑳]|\d{1,2}、")
_YEAR = re.compile(r"(?:FY\s?)?(?:19|20)\d\d(?:\s?年(?:度)?)?")
HEAD_LINES = 40
"""Lines above the first row of a table that are looked at for its headers."""

MOST_PAIRS = 10_000
"""Cells of a line times cells of its neighbour: lines with more of them are compared by their number alone."""

Kinds = list[tuple[LineKind, int]]
"""Of each line: what it is, and the level of a heading (6 and more are ranks of prominence, see `settle_levels`)."""


def kinds_of(lines: Sequence[RawLine], page: RawPage, style: Style, margins: Margins) -> Kinds:
    """Kinds of the lines of a page, in order."""
    rows = [_is_row(line) for line in lines]
    for i in range(len(lines)):  # labels between rows: "Net sales:"
        if not rows[i] and 0 < i < len(lines) - 1 and rows[i - 1] and _label_between(lines, rows, i, style, page):
            rows[i] = True
    kinds: Kinds = [
        (LineKind.ROW, 0) if rows[i] else _heading_or_text(line, page, style, margins.of(line))
        for i, line in enumerate(lines)
    ]
    margin = min((line.x0 for line in lines), default=0.0)
    for i in range(len(lines)):
        if rows[i] and (i == 0 or not rows[i - 1]):
            _mark_heads(lines, kinds, i, page, style, margin)
    for i, line in enumerate(lines):  # tables of words
        if (
            kinds[i][0] is LineKind.TEXT
            and len(line.cells) >= 2
            and (_are_aligned(lines, i, i - 1) or _are_aligned(lines, i, i + 1))
        ):
            kinds[i] = (LineKind.ROW, 0)
    return kinds


def _are_aligned(lines: Sequence[RawLine], i: int, other: int) -> bool:
    """Whether two neighbouring lines are rows of one table of words: they have the same columns."""
    if not 0 <= other < len(lines) or len(lines[other].cells) < 2:
        return False
    mine, theirs = lines[i], lines[other]
    if min(line.cells[1].x0 - line.cells[0].x1 for line in (mine, theirs)) < 1.2 * mine.height:
        return False
    if len(mine.cells) == 2 and (BULLET.match(mine.text) or len(mine.cells[0].text) <= 4):
        return False  # a list: its mark and its text
    if len(mine.cells) == len(theirs.cells) >= 3:
        return True
    if len(mine.cells) * len(theirs.cells) > MOST_PAIRS:
        return False
    columns = any(abs(a.x0 - b.x0) < 3 for a in mine.cells[1:] for b in theirs.cells[1:])
    return columns or (len(mine.cells) == len(theirs.cells) and abs(mine.x0 - theirs.x0) < 4)


def _is_row(line: RawLine) -> bool:
    cells = [cell.text for cell in line.cells]
    if len(cells) < 2 or numbers_in(cells[1:]) == 0 or _is_year_head(cells):
        return False
    return len(cells) >= 3 or len(line.text) < 160


def _is_year_head(cells: Sequence[str]) -> bool:
    """A line of column headers that consists of years: "Three Months Ended June 30, | 2023 | 2022"."""
    years = [cell for cell in cells if _YEAR.fullmatch(cell)]
    return bool(years) and all(_YEAR.fullmatch(c) or (is_period(c) and not is_number(c)) for c in cells)


def _label_between(lines: Sequence[RawLine], rows: list[bool], i: int, style: Style, page: RawPage) -> bool:
    line = lines[i]
    if len(line.cells) > 1 and (
        _is_year_head([c.text for c in line.cells]) or any(is_period(c.text) for c in line.cells)
    ):
        return False
    if len(line.text) > 110 or numbered_level(line.text) in (1, 2):
        return False
    if line.text.endswith((".", "。")) and len(line.text) > 40:
        return False
    ahead = next((k for k in range(i + 1, min(i + 4, len(lines))) if rows[k]), None)
    if ahead is None or lines[i - 1].y - lines[ahead].y > (ahead - i + 3) * 1.9 * max(line.height, 4):
        return False
    if is_units(line.text) or any(is_units(lines[k].text) for k in range(i, ahead)):
        return False
    if any(len(lines[k].text) > 110 for k in range(i, ahead)):
        return False
    return not (style.large(line) or (line.x1 > 0.9 * page.width and len(line.text) > 90))


def _heading_or_text(line: RawLine, page: RawPage, style: Style, right: float) -> tuple[LineKind, int]:
    text = line.text
    level = numbered_level(text)
    stands_out = style.bold(line) or style.large(line)
    if not stands_out and ends_chinese(text) and line.x1 > right - 1.5 * line.height:
        return LineKind.TEXT, 0  # a sentence that goes on in the next line
    if level and (stands_out or level <= 2 or not text.isascii()):
        return LineKind.HEADING, level
    if len(line.cells) > 1 and not decimal_level(text):
        return LineKind.TEXT, 0
    if stands_out and may_head(text):
        rank = 6 + (0 if style.large(line) else 2) + (0 if text.isupper() else 1) + (1 if line.italic else 0)
        return LineKind.HEADING, decimal_level(text) or rank
    if text.isupper() and may_head(text) and len(text.split()) >= 2 and line.x1 < 0.85 * page.width:
        return LineKind.HEADING, 8
    if (
        line.italic
        and may_head(text)
        and len(text.split()) <= 8
        and text[0].isupper()
        and not text.endswith((".", ":"))
    ):
        return LineKind.HEADING, 10
    level = decimal_level(text)
    if level and len(text.split()) <= 10 and line.x1 < 0.8 * page.width:
        return LineKind.HEADING, level
    return LineKind.TEXT, 0


def _mark_heads(lines: Sequence[RawLine], kinds: Kinds, first: int, page: RawPage, style: Style, margin: float) -> None:
    """Lines right above a table's first row that are its column headers or units; labels among them become rows."""
    columns = [
        line
        for line, kind in zip(lines[first : first + 8], kinds[first : first + 8], strict=True)
        if kind[0] is LineKind.ROW and len(line.cells) > 1
    ]
    if not columns:
        return
    zone = margin + 0.35 * (min(line.cells[1].x0 for line in columns) - margin)
    heads, labels = _lines_above(lines, kinds, first, page, style, zone)
    for at in heads:
        kinds[at] = (LineKind.HEAD, 0)
    for at in labels:
        if (heads and at > min(heads)) or (lines[at].text.endswith((":", "：")) and at == first - 1):
            kinds[at] = (LineKind.ROW, 0)


def _lines_above(
    lines: Sequence[RawLine], kinds: Kinds, first: int, page: RawPage, style: Style, zone: float
) -> tuple[list[int], list[int]]:
    """Column headers and units, and labels of rows, above a table's first row; `zone` is where its figures begin."""
    labels: list[int] = []
    heads: list[int] = []
    for at in range(first - 1, max(-1, first - 1 - HEAD_LINES), -1):
        line, text = lines[at], lines[at].text
        if numbered_level(text) and not is_units(text):
            break
        if kinds[at][0] is LineKind.ROW or len(text) > 140 or abs(line.y - lines[at + 1].y) > 5 * max(line.height, 6):
            break
        titled = abs((line.x0 + line.x1) / 2 - page.width / 2) < 15 and len(line.cells) == 1 and not is_period(text)
        if is_units(text) or (heads and line.y <= max(lines[h].y for h in heads) + 1):
            heads.append(at)
        elif titled and (kinds[at][0] is LineKind.HEADING or len(text) > 40) and not (text.endswith((":", "："))):
            break
        elif len(line.cells) > 1 or line.x0 > zone or (is_period(text) and text.endswith(",")):
            if any(len(cell.text) > 60 for cell in line.cells):
                break
            heads.append(at)
        elif len(text) < 90 and not text.endswith((".", "。", ";")) and len(labels) < 4 and not style.large(line):
            if text.endswith((":", "：")) and len(text) > 70:
                break
            labels.append(at)
        else:
            break
    return heads, labels
