"""What can be quoted of a passage: its table rows, each whole, and its sentences. Spans are exact, in code points."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

from quelea_fintext.languages import LANGUAGES
from quelea_fintext.sentences import sentence_spans

from quelea_generator.core.extractive.rows import Row, parse_row

_LINE_END = re.compile(r"(?<=[;:])\s*\n\s*(?=[A-Z•▪])")
"""Where what a list announces begins, or its next piece."""
_BULLET = re.compile(
    r"\s*(?:\([\d,]+\)(?=\s+[A-Z])|[•▪■●◦·▶-]|\(?\d{1,2}[.)、]|[（(][一二三四五六七八九十\d]{1,2}[)）]|[一二三四五六七八九十]{1,2}、)\s*\S"
)
_SUB_ROW = LANGUAGES.pattern("passages.sub_row")
"""The label of a row that says something of the row above it: "% of net revenue"."""
_LONG_HEADING = 120
_LETTERS = re.compile(r"[A-Za-z\u3400-\u9fff]")


@dataclass(frozen=True, slots=True)
class Span:
    """A quotable piece: text[start:end] of its passage.

    Attributes:
        row: Set for a table row.
        above: What headings say.
        rows: Set for a run of adjacent rows, and row is None then.
    """

    start: int
    end: int
    row: Row | None
    above: str
    rows: tuple[Row, ...] = ()


def find_spans(text: str, *, is_table: bool, heads: bool = False) -> list[Span]:
    """Rows and sentences in order.

    Args:
        text: The passage.
        is_table: Its lines are a table's: a line without cells heads the rows below it, and is no sentence.
        heads: Such lines are wanted nevertheless: when a time is asked for.
    """
    found: list[Span] = []
    block: list[tuple[int, int]] = []
    above = ""
    for start, end in _lines(text):
        row = parse_row(text[start:end])
        if row is None and is_table and not _LETTERS.search(text[start:end]) and re.search(r"\d", text[start:end]):
            headings = _close(text, block, is_table=is_table, heads=heads, above=above, found=found)
            above, block = _outer(headings or above), []  # an unlabelled sum ends the part that it is of
            continue
        if row is None:
            block.append((start, end))
            continue
        joined = block.pop() if block and _continues(text, block[-1], (start, end)) else None
        headings = _close(text, block, is_table=is_table, heads=heads, above=above, found=found)
        above = headings or above
        block = []
        if joined:
            whole = parse_row(text[joined[0] : end].replace("\n", " "))
            if whole:
                found.append(Span(joined[0], end, whole, above))
                continue
        owner = found[-1] if found and not headings and found[-1].row else None
        if owner and owner.row and _SUB_ROW.match(row.label) and not _SUB_ROW.match(owner.row.label):
            found.append(Span(owner.start, end, Row(f"{owner.row.label} – {row.label}", row.cells), above))
            continue
        found.append(Span(start, end, row, above))
    _close(text, block, is_table=is_table, heads=heads, above=above, found=found)
    return found


def _outer(above: str) -> str:
    """The heading that goes on after a part of it has ended: down to the last line that ends with a colon, if any."""
    lines = above.split("\n")
    colons = [at for at, line in enumerate(lines) if line.rstrip().endswith((":", "："))]
    return "\n".join(lines[: colons[-1] + 1]) if colons else above


def find_runs(spans: Sequence[Span], *, most: int = 4, least: int = 3) -> list[Span]:
    """Adjacent rows under one heading with as many cells each, as spans of up to `most` rows."""
    found: list[Span] = []
    group: list[Span] = []
    for span in [*spans, None]:
        if span and span.row and group and _goes_on(group[-1], span):
            group.append(span)
            continue
        if len(group) >= least:
            for part in (group[at : at + most] for at in range(0, len(group), most)):
                rows = tuple(one.row for one in part if one.row)
                found.append(Span(part[0].start, part[-1].end, None, part[0].above, rows))
        group = [span] if span and span.row else []
    return found


def _goes_on(before: Span, after: Span) -> bool:
    same = before.row is not None and after.row is not None and len(before.row.cells) == len(after.row.cells)
    return same and before.above == after.above and after.start > before.end


def _lines(text: str) -> list[tuple[int, int]]:
    """Start and end of every line, without the space around it; blank lines are left out."""
    return [match.span() for match in re.finditer(r"\S[^\n]*(?<=\S)(?=\s*(?:\n|\Z))|\S(?=\s*(?:\n|\Z))", text)]


def _continues(text: str, before: tuple[int, int], row: tuple[int, int]) -> bool:
    """The row's label began on the line before it."""
    first, second = text[before[0] : before[1]], text[row[0] : row[1]]
    if len(first) > 160 or "\t" in first or first.endswith((":", "：", ".", "。", ")")):
        return False
    return second[0].islower() or first.endswith((",", "、", "（", "(", " and", " of", " the", " to", " in"))


def _close(
    text: str, block: list[tuple[int, int]], *, is_table: bool, heads: bool, above: str, found: list[Span]
) -> str:
    """Turn a run of lines that are no rows into sentences (prose) and return what it says as a heading (table)."""
    if not block:
        return ""
    longest = max(end - start for start, end in block)
    pieces: list[tuple[int, int]] = []
    begin = block[0][0]
    for (_, end), (next_start, next_end) in zip(block, [*block[1:], (len(text), len(text))], strict=True):
        last = next_start == len(text)
        if last or _breaks(text[begin:end], text[next_start:next_end], longest):
            pieces.append((begin, end))
            begin = next_start
    heading = ""
    for start, end in pieces:
        piece = text[start:end]
        sentences = _sentences(text, start, end)
        if len(sentences) == 1 and not re.search(r"[.。！？!?；;][\"”’)）]?$", piece) and len(piece) < 120:
            heading = piece  # no full stop, and short: it heads what follows
            if is_table and not heads:
                continue
        found.extend(Span(s, e, None, above) for s, e in sentences if _says_something(text[s:e]))
    if not is_table:
        return heading
    shown = (text[s:e] if e - s < _LONG_HEADING else _last_heading(text[s:e]) for s, e in pieces[-3:])
    return "\n".join(piece for piece in shown if piece)


def _last_heading(piece: str) -> str:
    """The last line of a head that is too long to be one heading, where it is one itself: "Net revenue:"."""
    line = piece.rsplit("\n", 1)[-1]
    return line if line.endswith((":", "：")) and len(line) < _LONG_HEADING else ""


def _says_something(piece: str) -> bool:
    """Six letters, a Chinese character being worth three."""
    return sum(1 if letter.isascii() else 3 for letter in _LETTERS.findall(piece)) >= 6


def _breaks(so_far: str, following: str, longest: int) -> bool:
    """A new piece of prose begins on the next line: a bullet, or the line before ended early and closed."""
    if _BULLET.match(following):
        return True
    last = so_far.rsplit("\n", 1)[-1].rstrip()
    if last.endswith((".", "。", "！", "？", "!", "?")):
        return len(last) < 0.7 * longest
    if last.endswith((",", "，", "、", "-")) or following[:1].islower():
        return False
    return len(last) < 0.5 * longest


def _sentences(text: str, start: int, end: int) -> list[tuple[int, int]]:
    """Spans of the sentences of a paragraph."""
    cuts = [start, *(match.end() for match in _LINE_END.finditer(text, start, end)), end]
    return [span for first, last in pairwise(cuts) for span in sentence_spans(text, first, last)]


_TIMES = re.compile(
    r"\b(?:Jan|Feb|Mar|Apr|May|Jun|Jul|Aug|Sep|Oct|Nov|Dec)[a-z]*\.?\s+\d{1,2}(?:,?\s+(?:19|20)\d\d)?"
    r"|(?<![\d,.])(?:FY ?)?(?:19|20)\d\d(?![\d,.]\d)(?:年(?:\d{1,2}月(?:\d{1,2}日)?)?)?"
    r"|\b(?:Note|Item|Part|Table|Exhibit|Form)\s+\d+(?:-[A-Z])?\w?|第[一二三四五六七八九十\d]+[章节页]",
    re.IGNORECASE,
)
_ANNOUNCES = LANGUAGES.pattern("passages.announces", r"<>|[:：]\W*$")
_DIGIT = re.compile(r"\d")


def is_caption(text: str) -> bool:
    """Whether a text only says what figures stand elsewhere: no figure besides dates, and the words of a caption."""
    return _ANNOUNCES.search(text) is not None and _DIGIT.search(_TIMES.sub(" ", text)) is None
