"""Printed lines to blocks: rows of tables, what stands above a table, headings, paragraphs made whole."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from quelea_search.core.assemble import assemble
from quelea_search.core.headings import decimal_level, is_name, may_head, numbered_level
from quelea_search.core.model import CELL, LineKind
from quelea_search.core.pages import Block
from quelea_search.core.raw import Cell, RawLine, RawPage
from quelea_search.core.rows import is_number, is_period, is_units, numbers_in
from quelea_search.core.words import ends_chinese, glue

_BULLET = re.compile(r"[•▪■●○◦‣·*–—-]\s|[(（]?(?:\d{1,2}|[a-zA-Z]|[ivx]{1,5})[)）.]\s|[☒☐☑]|[①-⑳]|\d{1,2}、")
_MARKS = re.compile(r"[\s®™℠©*†‡]+")
_YEAR = re.compile(r"(?:FY\s?)?(?:19|20)\d\d(?:\s?年(?:度)?)?")
_COMPLETES = re.compile(r"(?:19|20)\d\d\s*(?:\(\w+\))?")
_ENDS = tuple(".!?。！？；;:：")
HEAD_LINES = 40
"""Lines above the first row of a table that are looked at for its headers."""


_HeadRow = list[tuple[float, float, float, str]]
"""Cells of a line above a table: x0, x1, height, text."""


@dataclass(frozen=True, slots=True)
class Style:
    """What most of a document's text looks like."""

    height: float
    weight: int

    @staticmethod
    def of(pages: Sequence[RawPage]) -> Style:
        """The style that most characters have."""
        counts: Counter[tuple[float, int]] = Counter()
        for page in pages:
            for line in page.lines:
                if not line.italic:
                    counts[(round(line.height, 1), line.weight)] += len(line.text)
        (height, weight), _ = counts.most_common(1)[0] if counts else ((10.0, 0), 0)
        return Style(height, weight)

    def bold(self, line: RawLine) -> bool:
        """Whether a line is clearly heavier than the text."""
        return line.weight >= 1.35 * self.weight + 40 and not (line.italic and line.weight > 500)

    def large(self, line: RawLine) -> bool:
        """Whether a line is clearly larger than the text."""
        return line.height >= 1.12 * self.height


def blocks_of(page: RawPage, style: Style) -> list[Block]:
    """The blocks of one page, in reading order. Heading levels above 5 are prominence ranks: see `settle_levels`."""
    lines = _join_same_baseline(in_order(assemble(page.lines), page.width))
    margins = _Margins(lines, page.width)
    kinds = _kinds(lines, page, style, margins)
    blocks: list[Block] = []
    at = 0
    while at < len(lines):
        kind, level = kinds[at]
        stop = at + 1
        if kind is LineKind.ROW:
            text, stop = _row(lines, kinds, at)
            blocks.append(Block(kind, text))
        elif kind is LineKind.HEAD:
            while stop < len(lines) and kinds[stop][0] is LineKind.HEAD:
                stop += 1
            blocks.extend(Block(kind, text) for text in column_heads(lines[at:stop]))
        elif kind is LineKind.HEADING:
            while stop < len(lines) and kinds[stop][0] in (kind, LineKind.TEXT) and _continues_heading(lines[stop - 1], lines[stop], margins.of(lines[at]), style):
                stop += 1
            blocks.append(Block(kind, _joined(lines[at:stop]), level))
        else:
            while stop < len(lines) and kinds[stop][0] is LineKind.TEXT and _continues(lines[stop - 1], lines[stop], margins.of(lines[stop - 1])):
                stop += 1
            blocks.append(Block(kind, _joined(lines[at:stop])))
        at = stop
    return blocks


def without_marks(page: RawPage, style: Style) -> RawPage:
    """The page without marks that are printed apart from the word they belong to: ®, (a)."""
    kept = tuple(line for line in page.lines if not _is_mark(line, style))
    return page if len(kept) == len(page.lines) else RawPage(kept, page.width, page.height)


def _is_mark(line: RawLine, style: Style) -> bool:
    if _MARKS.fullmatch(line.text):
        return True
    return len(line.text) <= 3 and line.height < 0.8 * style.height and not line.text.isdigit()


def in_order(lines: Sequence[RawLine], width: float) -> list[RawLine]:
    """Lines from top to bottom, unless the page has two columns of text: then as they come."""
    if in_columns(lines, width):
        return list(lines)
    ordered = sorted(lines, key=lambda line: -line.y)
    out: list[RawLine] = []
    band: list[RawLine] = []
    for line in ordered:
        if band and band[0].y - line.y > 0.25 * max(band[0].height, 4):
            out.extend(sorted(band, key=lambda held: held.x0))
            band = []
        band.append(line)
    return out + sorted(band, key=lambda held: held.x0)


def _join_same_baseline(lines: Sequence[RawLine]) -> list[RawLine]:
    """Neighbours on one baseline, left to right, are one line."""
    joined: list[RawLine] = []
    for line in lines:
        last = joined[-1] if joined else None
        if last and abs(last.y - line.y) < 0.25 * max(line.height, 4) and line.x0 >= last.x1 - 1:
            gap = line.x0 - last.x1
            if gap < 0.3 * line.height:
                middle = Cell(last.cells[-1].text + line.cells[0].text, last.cells[-1].x0, line.cells[0].x1)
                cells = (*last.cells[:-1], middle, *line.cells[1:])
            else:
                cells = last.cells + line.cells
            joined[-1] = RawLine(cells, last.y, last.height, last.weight, last.italic)
        else:
            joined.append(line)
    return joined


class _Margins:
    """Right edges of the text: one, or one for each of two columns."""

    def __init__(self, lines: Sequence[RawLine], width: float) -> None:
        self._middle = 0.55 * width if in_columns(lines, width) else 0.0
        self._left = _edge([line for line in lines if line.x1 < self._middle])
        self._right = _edge([line for line in lines if line.x1 >= self._middle])

    def of(self, line: RawLine) -> float:
        """The right edge of the column that a line stands in."""
        return self._left if line.x1 < self._middle else self._right


def _edge(lines: Sequence[RawLine]) -> float:
    edges = sorted(line.x1 for line in lines if len(line.text) > 20) or sorted(
        line.x1 for line in lines
    )
    return edges[int(len(edges) * 0.9)] if edges else 0.0


def in_columns(lines: Sequence[RawLine], width: float) -> bool:
    """Whether a page is printed in two columns of text."""
    left = sum(1 for line in lines if line.x1 < 0.55 * width and len(line.text) > 25)
    right = sum(1 for line in lines if line.x0 > 0.45 * width and len(line.text) > 25)
    return min(left, right) >= 6


def _kinds(lines: Sequence[RawLine], page: RawPage, style: Style, margins: _Margins) -> list[tuple[LineKind, int]]:
    rows = [_is_row(line) for line in lines]
    for i, line in enumerate(lines):  # labels between rows: "Net sales:"
        if not rows[i] and 0 < i < len(lines) - 1 and rows[i - 1] and _label_between(lines, rows, i, style, page):
            rows[i] = True
    kinds: list[tuple[LineKind, int]] = [
        (LineKind.ROW, 0) if rows[i] else _heading_or_text(line, page, style, margins.of(line)) for i, line in enumerate(lines)
    ]
    for i in range(len(lines)):
        if rows[i] and (i == 0 or not rows[i - 1]):
            _mark_heads(lines, kinds, i, page, style)
    for i, line in enumerate(lines):  # tables of words
        if kinds[i][0] is LineKind.TEXT and len(line.cells) >= 2 and (_aligned(lines, i, i - 1) or _aligned(lines, i, i + 1)):
            kinds[i] = (LineKind.ROW, 0)
    return kinds


def _aligned(lines: Sequence[RawLine], i: int, other: int) -> bool:
    """Whether two neighbouring lines are rows of one table of words: they have the same columns."""
    if not 0 <= other < len(lines) or len(lines[other].cells) < 2:
        return False
    mine, theirs = lines[i], lines[other]
    if min(line.cells[1].x0 - line.cells[0].x1 for line in (mine, theirs)) < 1.2 * mine.height:
        return False
    if len(mine.cells) == 2 and (_BULLET.match(mine.text) or len(mine.cells[0].text) <= 4):
        return False  # a list: its mark and its text
    columns = any(abs(a.x0 - b.x0) < 3 for a in mine.cells[1:] for b in theirs.cells[1:])
    return columns or (len(mine.cells) == len(theirs.cells) and abs(mine.x0 - theirs.x0) < 4)


def _is_row(line: RawLine) -> bool:
    cells = [cell.text for cell in line.cells]
    if len(cells) < 2 or numbers_in(cells) == 0 or _is_year_head(cells):
        return False
    return len(cells) >= 3 or len(line.text) < 160


def _is_year_head(cells: Sequence[str]) -> bool:
    """A line of column headers that consists of years: "Three Months Ended June 30, | 2023 | 2022"."""
    years = [cell for cell in cells if _YEAR.fullmatch(cell)]
    return bool(years) and all(_YEAR.fullmatch(c) or (is_period(c) and not is_number(c)) for c in cells)


def _label_between(lines: Sequence[RawLine], rows: list[bool], i: int, style: Style, page: RawPage) -> bool:
    line = lines[i]
    if len(line.cells) > 1 and (_is_year_head([c.text for c in line.cells]) or any(is_period(c.text) for c in line.cells)):
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
    if stands_out and may_head(text):
        rank = 6 + (0 if style.large(line) else 2) + (0 if text.isupper() else 1) + (1 if line.italic else 0)
        return LineKind.HEADING, decimal_level(text) or rank
    if text.isupper() and may_head(text) and len(text.split()) >= 2 and line.x1 < 0.85 * page.width:
        return LineKind.HEADING, 8
    if line.italic and may_head(text) and len(text.split()) <= 8 and text[0].isupper() and not text.endswith((".", ":")):
        return LineKind.HEADING, 10
    level = decimal_level(text)
    if level and len(text.split()) <= 10 and line.x1 < 0.8 * page.width:
        return LineKind.HEADING, level
    return LineKind.TEXT, 0


def _mark_heads(
    lines: Sequence[RawLine], kinds: list[tuple[LineKind, int]], first: int, page: RawPage, style: Style
) -> None:
    """Lines right above a table's first row that are its column headers or units; labels among them become rows."""
    columns = [line for line, kind in zip(lines[first : first + 8], kinds[first : first + 8], strict=True) if kind[0] is LineKind.ROW and len(line.cells) > 1]
    if not columns:
        return
    margin = min(line.x0 for line in lines)
    zone = margin + 0.35 * (min(line.cells[1].x0 for line in columns) - margin)
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
    for at in heads:
        kinds[at] = (LineKind.HEAD, 0)
    for at in labels:
        if (heads and at > min(heads)) or (lines[at].text.endswith((":", "：")) and at == first - 1):
            kinds[at] = (LineKind.ROW, 0)


def _row(lines: Sequence[RawLine], kinds: Sequence[tuple[LineKind, int]], at: int) -> tuple[str, int]:
    """A row, with a label that runs over two or three printed lines made whole."""
    stop = at + 1
    label = ""
    while (
        stop < len(lines)
        and stop - at <= 2
        and kinds[stop][0] is LineKind.ROW
        and len(lines[stop - 1].cells) == 1
        and len(lines[stop].cells) > 1
        and _wrapped_label(lines[stop - 1], lines[stop])
    ):
        label = glue(label, lines[stop - 1].text) if label else lines[stop - 1].text
        stop += 1
    cells = [cell.text for cell in lines[stop - 1].cells]
    if label:
        cells[0] = glue(label, cells[0])
    return CELL.join(cells), stop


def _wrapped_label(upper: RawLine, lower: RawLine) -> bool:
    first = lower.cells[0].text
    if upper.text.endswith((":", "：", ".")) or is_number(first) or len(upper.text) < (6 if ends_chinese(upper.text) else 12):
        return False
    if upper.text.count("(") > upper.text.count(")") or first[0].islower() or first[0] in "(&$":
        return True
    if ends_chinese(upper.text):
        return abs(upper.x0 - lower.x0) < 4 and upper.x1 > lower.cells[0].x1 and upper.x1 > lower.cells[1].x0 - 8 * upper.height
    return len(upper.text) > 30 and upper.x1 > 0.85 * lower.cells[1].x0


def column_heads(lines: Sequence[RawLine]) -> list[str]:
    """Lines above a table as rows of cells: what is printed in several lines over one column becomes one cell."""
    rows: list[_HeadRow] = []
    levels: list[float] = []
    for line in lines:
        target = next((i for i, y in enumerate(levels) if abs(y - line.y) < 0.4 * max(line.height, 4)), None)
        found = [(c.x0, c.x1, line.height, c.text) for c in line.cells]
        if target is None:
            levels.append(line.y)
            rows.append(found)
        else:
            rows[target].extend(found)
    order = sorted(range(len(rows)), key=lambda i: -levels[i])
    rows = [sorted(rows[i]) for i in order]
    levels = [levels[i] for i in order]
    at = 0
    while at + 1 < len(rows):
        close = levels[at] - levels[at + 1] < 1.9 * max(rows[at][0][2], 4)
        merged = _merge(rows[at], rows[at + 1]) if close else None
        if merged is None:
            at += 1
        else:
            rows[at : at + 2] = [merged]
            del levels[at]
    return [CELL.join(text for *_, text in cells) for cells in rows]


def _merge(upper: _HeadRow, lower: _HeadRow) -> _HeadRow | None:
    """Two header lines as one, when cells have one partner each and go on with each other's words; else None."""
    partner: dict[int, int] = {}
    for i, (x0, x1, _, _) in enumerate(upper):
        over = [k for k, (l0, l1, _, _) in enumerate(lower) if l0 < x1 and l1 > x0]
        if len(over) > 1 or (over and over[0] in partner.values()):
            return None
        if over:
            partner[i] = over[0]
    if not partner:
        return None
    dates = all(upper[i][3].endswith(",") and _COMPLETES.match(lower[k][3]) for i, k in partner.items())
    spanning = any(is_period(upper[i][3]) for i in partner) and len(lower) > len(upper)
    if not dates and (spanning or any(is_units(upper[i][3]) for i in partner)):
        return None
    taken = set(partner.values())
    merged: _HeadRow = []
    for i, (x0, x1, height, text) in enumerate(upper):
        if i in partner:
            l0, l1, _, below = lower[partner[i]]
            merged.append((min(x0, l0), max(x1, l1), height, glue(text, below)))
        else:
            merged.append((x0, x1, height, text))
    merged.extend(cell for k, cell in enumerate(lower) if k not in taken)
    return sorted(merged)


def _continues(upper: RawLine, lower: RawLine, right: float) -> bool:
    """Whether the lower line goes on with the upper one's paragraph."""
    if _BULLET.match(lower.text) and not lower.text[0].islower():
        return False
    drop = upper.y - lower.y
    if drop > 2.1 * max(upper.height, lower.height, 4):
        return False
    if drop < -2 * upper.height:  # the next column
        return not upper.text.endswith(_ENDS)
    if ends_chinese(upper.text):
        return upper.x1 > right - 2.6 * upper.height and not (upper.text[-1] in "。：；" and lower.x0 > upper.x0 + upper.height)
    first = lower.text.split(" ", 1)[0]
    width = (lower.x1 - lower.x0) / max(len(lower.text), 1) * (len(first) + 1)
    if upper.x1 + width < right - 0.5 * upper.height:
        return lower.text[0].islower() and drop < 1.6 * max(upper.height, 4)
    return not (upper.text.endswith(_ENDS) and drop > 1.75 * max(upper.height, 4))


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


def _joined(lines: Sequence[RawLine]) -> str:
    text = lines[0].text
    for line in lines[1:]:
        text = glue(text, line.text)
    return text


def settle_levels(pages: Sequence[list[Block]]) -> list[list[Block]]:
    """Prominence ranks (6 and more) as levels 3 to 6, in the order of the ranks that the document uses."""
    ranks = sorted({b.level for blocks in pages for b in blocks if b.kind is LineKind.HEADING and b.level >= 6})
    level = {rank: min(6, 3 + i) for i, rank in enumerate(ranks)}
    return [[Block(b.kind, b.text, level.get(b.level, b.level)) for b in blocks] for blocks in pages]
