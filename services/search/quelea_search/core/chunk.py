"""Pages to passages: whole sentences, whole rows, never across a page or a heading."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from quelea_fintext.sentences import clause_spans, sentence_spans
from quelea_fintext.text import estimate_tokens

from quelea_search.core.model import SECTION, Chunk, Line, LineKind, Page, ParsedDocument

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
        lead = _lead(text, prose)
        if lead:
            del prose[-len(lead) :]
        if prose:
            yield from _prose(text, prose, section, fresh)
            fresh, prose = False, []
        yield from _table(text, lead + lines[at:stop], section, fresh)
        fresh = False
        at = stop
    if prose:
        yield from _prose(text, prose, section, fresh)


def _lead(text: str, prose: list[Line]) -> list[Line]:
    """The last lines of the prose that name the table below: one that ends with a colon, headings above it."""
    lead: list[Line] = []
    for line in reversed(prose):
        said = text[line.start : line.end]
        is_intro = line.kind is LineKind.TEXT and not lead and len(said) <= 320 and said.endswith((":", "："))
        is_heading = line.kind is LineKind.HEADING
        if not (is_intro or is_heading):
            break
        lead.append(line)
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
    head = "\n".join(text[line.start : line.end] for line in lines[:first_row])
    head = head if len(head) <= 500 else head[-500:].split("\n", 1)[-1]
    head_tokens = estimate_tokens(head)
    at = 0
    while at < len(lines):
        repeated = at > 0
        room = TABLE_CHARACTERS - (len(head) if repeated else 0)
        room_tokens = TABLE_TOKENS - (head_tokens if repeated else 0)
        stop, tokens = at, 0
        while stop < len(lines):
            tokens += estimate_tokens(text[lines[stop].start : lines[stop].end])
            over = lines[stop].end - lines[at].start > room or tokens > room_tokens
            if over and stop > max(at, first_row if not repeated else at):
                break
            stop += 1
        yield _Piece(lines[at].start, lines[stop - 1].end, section, True, head if repeated else "", fresh)
        fresh = False
        at = stop


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
