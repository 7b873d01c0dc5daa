"""Pages to passages: whole sentences, whole rows, never across a page or a heading."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, replace

from quelea_fintext.sentences import clause_spans, sentence_spans
from quelea_fintext.text import estimate_tokens

from quelea_search.core.layout.rows import is_number, is_period, is_units
from quelea_search.core.model import CELL, SECTION, Chunk, Line, LineKind, Page, ParsedDocument

PROSE_CHARACTERS = 900
PROSE_TOKENS = 280
TABLE_CHARACTERS = 1300
TABLE_TOKENS = 460
"""A passage and its header fit the encoder's 512 tokens."""
CRUMB = 160
"""Characters below which a piece is folded into its neighbour."""
HARD_CHARACTERS = 1600
"""A single sentence longer than this, or than HARD_TOKENS, is cut at clause punctuation."""
HARD_TOKENS = 460
SECTION_CHARACTERS = 200
LEAD_CHARACTERS = 320
"""Of a sentence that leads a table in."""
HEAD_CHARACTERS = 500
"""Of what the parts of a cut table repeat; the end of a longer one."""
_MOST_BANDS = 3
"""Rows, one after another, that may name columns: more are a table of words."""
_YEAR = re.compile(r"(?:19|20)\d\d")
_MDA = re.compile(
    r"management[’']s discussion and analysis(?: of financial condition and results of operations)?", re.I
)


@dataclass(frozen=True, slots=True)
class _Unit:
    """What is never cut: a sentence, a row, a heading."""

    start: int
    end: int
    kind: LineKind
    tokens: int
    ends_line: bool


@dataclass(slots=True)
class _Piece:
    start: int
    end: int
    section: str
    is_table: bool
    table_head: str = ""
    fresh: bool = False
    """It begins with a heading of its own."""

    @property
    def size(self) -> int:
        return self.end - self.start


def chunk(parsed: ParsedDocument) -> list[Chunk]:
    """The passages of a document, in order. Every character that is not space is in exactly one of them."""
    chunks: list[Chunk] = []
    path: list[tuple[int, str]] = []
    for number, page in enumerate(parsed.pages, start=1):
        for piece in _fold(list(_pieces(page, path)), page.text):
            chunks.append(
                Chunk(
                    ordinal=len(chunks),
                    page=number,
                    start=piece.start,
                    end=piece.end,
                    text=page.text[piece.start : piece.end],
                    is_table=piece.is_table,
                    section=piece.section,
                    table_head=piece.table_head,
                    scanned=page.scanned,
                )
            )
    return chunks


def _pieces(page: Page, path: list[tuple[int, str]]) -> Iterator[_Piece]:
    """Pieces of a page; `path` is the heading stack and is carried on to the next page."""
    segment: list[Line] = []
    has_text = fresh = False
    for line in page.lines:
        if line.kind is LineKind.HEADING:
            if has_text:
                yield from _segment(page.text, segment, _section(path), fresh)
                segment = []
                has_text = False
            _push(path, line.level, page.text[line.start : line.end])
            fresh = True
        segment.append(line)
        has_text = has_text or line.kind is not LineKind.HEADING
        if line.kind is not LineKind.HEADING and len(segment) == 1:
            fresh = False
    if segment:
        yield from _segment(page.text, segment, _section(path), fresh)


def _push(path: list[tuple[int, str]], level: int, text: str) -> None:
    while path and path[-1][0] >= level:
        path.pop()
    # A heading may be as long as its file, and every passage below it has it in its section.
    path.append((level, _MDA.sub("MD&A", text[:SECTION_CHARACTERS])))


def _section(path: list[tuple[int, str]]) -> str:
    """The heading path; when it is too long its middle is left out."""
    names = [text for _, text in path]
    while len(names) > 2 and len(SECTION.join(names)) > SECTION_CHARACTERS:
        del names[1]
    return SECTION.join(names)


def _segment(text: str, lines: list[Line], section: str, fresh: bool) -> Iterator[_Piece]:
    """Runs of prose and tables under one heading; what leads a table in (a line with a colon) goes with it."""
    at = 0
    prose: list[Line] = []
    while at < len(lines):
        if lines[at].kind not in (LineKind.HEAD, LineKind.ROW):
            prose.append(lines[at])
            at += 1
            continue
        stop = at
        seen_row = False
        while stop < len(lines) and lines[stop].kind in (LineKind.HEAD, LineKind.ROW):
            if lines[stop].kind is LineKind.HEAD and seen_row:
                break
            seen_row = seen_row or lines[stop].kind is LineKind.ROW
            stop += 1
        lead = _take_lead(text, prose)
        if prose:
            yield from _prose(text, prose, section, fresh)
            fresh, prose = False, []
        yield from _table(text, lead + lines[at:stop], section, fresh)
        fresh = False
        at = stop
    if prose:
        yield from _prose(text, prose, section, fresh)


def _take_lead(text: str, prose: list[Line]) -> list[Line]:
    """Take from the prose what names the table below: a last sentence that ends with a colon, headings above it."""
    lead: list[Line] = []
    while prose:
        line = prose[-1]
        if line.kind is LineKind.HEADING:
            lead.append(prose.pop())
            continue
        if lead or line.kind is not LineKind.TEXT or not text[line.start : line.end].endswith((":", "：")):
            break
        begin = line.start
        if line.end - begin > LEAD_CHARACTERS:
            begin = sentence_spans(text, line.start, line.end)[-1][0]
        if line.end - begin > LEAD_CHARACTERS:
            break
        lead.append(replace(line, start=begin))
        prose.pop()
        if begin > line.start:  # the rest of its paragraph stays
            prose.append(replace(line, end=line.start + len(text[line.start : begin].rstrip())))
            break
    return lead[::-1]


def _prose(text: str, lines: list[Line], section: str, fresh: bool) -> Iterator[_Piece]:
    units: list[_Unit] = []
    for line in lines:
        spans = (
            [(line.start, line.end)] if line.kind is LineKind.HEADING else sentence_spans(text, line.start, line.end)
        )
        for i, (start, end) in enumerate(spans):
            for s, e, tokens in _short_enough(text, start, end):
                units.append(_Unit(s, e, line.kind, tokens, i == len(spans) - 1 and e == end))
    for start, end in _pack(units):
        yield _Piece(start, end, section, False, "", fresh)
        fresh = False


def _short_enough(text: str, start: int, end: int) -> list[tuple[int, int, int]]:
    """Spans of the pieces of a sentence, with their tokens."""
    tokens = estimate_tokens(text[start:end])
    if end - start <= HARD_CHARACTERS and tokens <= HARD_TOKENS:
        return [(start, end, tokens)]
    limit = min(HARD_CHARACTERS, max(40, int((end - start) * HARD_TOKENS / max(tokens, 1) * 0.9)))
    return [(s, e, estimate_tokens(text[s:e])) for s, e in clause_spans(text, start, end, limit)]


def _pack(units: list[_Unit]) -> Iterator[tuple[int, int]]:
    """Consecutive units in spans within the limits; a span rather ends with its paragraph when it is half full."""
    at = 0
    while at < len(units):
        stop, tokens = at, 0
        while stop < len(units):
            tokens += units[stop].tokens
            if stop > at and (units[stop].end - units[at].start > PROSE_CHARACTERS or tokens > PROSE_TOKENS):
                break
            stop += 1
        if stop < len(units):
            stop = _paragraph_end(units, at, stop)
            stop = _before_headings(units, at, stop)
        yield units[at].start, units[stop - 1].end
        at = stop


def _before_headings(units: list[_Unit], at: int, stop: int) -> int:
    """The headings at the end of a span go with what stands under them, unless nothing else is in it."""
    cut = stop
    while cut > at and units[cut - 1].kind is LineKind.HEADING:
        cut -= 1
    return cut if cut > at else stop


def _paragraph_end(units: list[_Unit], at: int, stop: int) -> int:
    for cut in range(stop, at, -1):
        if units[cut - 1].ends_line and units[cut - 1].end - units[at].start >= PROSE_CHARACTERS // 2:
            return cut
    return stop


def _table(text: str, lines: list[Line], section: str, fresh: bool) -> Iterator[_Piece]:
    first_row = next((i for i, line in enumerate(lines) if line.kind is LineKind.ROW), len(lines))
    start, end = lines[0].start, lines[-1].end
    if end - start <= TABLE_CHARACTERS and estimate_tokens(text[start:end]) <= TABLE_TOKENS:
        yield _Piece(start, end, section, True, "", fresh)
        return
    heads = _TableHead(text, lines, first_row)
    at = 0
    while at < len(lines):
        head = heads.before(at) if at else ""
        room = TABLE_CHARACTERS - len(head)
        room_tokens = TABLE_TOKENS - estimate_tokens(head)
        stop, tokens = at, 0
        while stop < len(lines):
            tokens += estimate_tokens(text[lines[stop].start : lines[stop].end])
            over = lines[stop].end - lines[at].start > room or tokens > room_tokens
            if over and stop > max(at, at if at else first_row):
                break
            stop += 1
        if stop < len(lines):
            stop = heads.cut(max(at, first_row), stop)
        yield _Piece(lines[at].start, lines[stop - 1].end, section, True, head, fresh)
        fresh = False
        at = stop


class _TableHead:
    """What the parts of a cut table repeat: its title, and the names of columns that are in force where they begin.

    A table may have several bands, each under names of its own: "Three Months Ended June 30, 2025", and below it
    "Reconciliation · Segment Total · Corporate Total". Names of columns take the place of those above them, a line
    that is a period alone that of the period above it; it is repeated where the columns have no periods of their own.

    Args:
        text: Of the page.
        lines: Of the table, with what leads it in.
        first_row: The first of them that is a row.
    """

    def __init__(self, text: str, lines: list[Line], first_row: int) -> None:
        self._text = text
        self._lines = lines
        self._title = [line for line in lines[:first_row] if line.kind is not LineKind.HEAD]
        self._columns = [line for line in lines[:first_row] if line.kind is LineKind.HEAD]
        self._period: list[Line] = []
        self._row = first_row
        self._after_names = True

    def before(self, at: int) -> str:
        """What the part that begins at a row repeats; never asked for a row above one that it was asked for."""
        while self._row < at:
            run = self._names(self._row, at, goes_on=self._after_names)
            wide, alone = self._parted(run)
            if wide:
                self._columns = [*self._columns, *wide] if self._after_names else wide
            self._period = alone or self._period
            self._after_names = bool(run)
            self._row += len(run) or 1
        wide, alone = self._parted(self._names(at, len(self._lines)))
        columns = [] if wide else self._columns
        dated = any(_YEAR.search(self._said(line)) for line in columns)
        told = [*self._title, *columns, *([] if alone or dated else self._period)]
        said = "\n".join(map(self._said, told))
        return said if len(said) <= HEAD_CHARACTERS else said[-HEAD_CHARACTERS:].split("\n", 1)[-1]

    def cut(self, first: int, stop: int) -> int:
        """Where to cut instead of before a row, so that names of columns stay with the rows under them."""
        cut = stop
        while cut - 1 > first and stop - cut < _MOST_BANDS and self._names(cut - 1, cut):
            cut -= 1
        return cut

    def _names(self, row: int, stop: int, *, goes_on: bool = False) -> list[Line]:
        """The rows from one on that name columns: no figures, and a period or a unit in the first of them."""
        run: list[Line] = []
        for line in self._lines[row : min(stop, row + _MOST_BANDS + 1)]:
            cells = self._said(line).split(CELL)
            if any(is_number(cell) and not _YEAR.fullmatch(cell.strip()) for cell in cells):
                break
            names = any(is_units(cell) or is_period(cell) for cell in cells)
            if len(cells) > 1 and not (names or run or goes_on):
                break
            if len(cells) == 1 and not (names and any(map(str.isdigit, cells[0]))):
                break
            run.append(line)
        return run if len(run) <= _MOST_BANDS else []

    def _parted(self, run: list[Line]) -> tuple[list[Line], list[Line]]:
        wide = [line for line in run if CELL in self._said(line)]
        return wide, [line for line in run if line not in wide]

    def _said(self, line: Line) -> str:
        return self._text[line.start : line.end]


def _fold(pieces: list[_Piece], text: str) -> list[_Piece]:
    """Crumbs joined with a neighbour on the page: forward when they begin a heading of their own, else back."""
    folded: list[_Piece] = []
    at = 0
    while at < len(pieces):
        piece = pieces[at]
        following = pieces[at + 1] if at + 1 < len(pieces) else None
        if piece.size >= CRUMB:
            folded.append(piece)
        elif folded and not (piece.fresh and following) and not folded[-1].table_head and _fits(folded[-1], piece):
            folded[-1].end = piece.end
        elif following is not None and not following.table_head and _fits(piece, following):
            following.start = piece.start
            following.fresh = piece.fresh
        elif folded and not folded[-1].table_head and _fits(folded[-1], piece):
            folded[-1].end = piece.end
        else:
            folded.append(piece)
        at += 1
    return folded


def _fits(one: _Piece, other: _Piece) -> bool:
    limit = TABLE_CHARACTERS if one.is_table or other.is_table else PROSE_CHARACTERS
    return other.end - one.start <= limit + 2 * CRUMB
