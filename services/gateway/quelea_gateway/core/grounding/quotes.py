"""Where an answer quotes its evidence word for word: the extractive reader's lines are quotes by construction."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from quelea_checker import CheckedFigure, CheckedSentence, Markers, Report
from quelea_checker.reading.amounts import parse
from quelea_checker.reading.sentences import plain, split_sentences

from quelea_gateway.core.answers.numbers import find_numbers
from quelea_gateway.core.model import Passage, Quote

_LEAD = re.compile(r"[:：]\W*$")
_QUOTATION = re.compile(r"“[^“”\n]+”|「[^「」\n]+」|『[^『』\n]+』|\"[^\"\n]+\"")
_SPACE = re.compile(r"\s+")
_LEAST_QUOTATION = 8
"""Characters of a quotation that is taken for one: fewer may be found by luck."""
_LEAST = 2
"""Characters of a quoted line that is looked for."""


@dataclass(frozen=True)
class Region:
    """text[start:end] is evidence `number` word for word, but for white space."""

    number: int
    start: int
    end: int


def find_quotes(text: str, quotes: Sequence[Quote], evidence: Sequence[Passage]) -> list[Region]:
    """The quoted parts of an answer, in order. A quote of several rows is found row by row."""
    places = [index for index, character in enumerate(text) if not character.isspace()]
    bare = "".join(text[index] for index in places)
    found: set[tuple[int, int, int]] = set()
    for quote in quotes:
        if not 1 <= quote.number <= len(evidence) or quote.text not in evidence[quote.number - 1].text:
            continue
        for row in [quote.text, *quote.text.split("\n")]:
            words = _bare(row)
            if len(words) < _LEAST:
                continue
            at = bare.find(words)
            while at >= 0:
                found.add((places[at], places[at + len(words) - 1] + 1, quote.number))
                at = bare.find(words, at + len(words))
    return [Region(number, start, end) for start, end, number in sorted(found)]


def find_quotations(text: str, evidence: Sequence[Passage]) -> list[Region]:
    """What stands between quotation marks and is in the evidence, word for word: of any reader."""
    found: list[Region] = []
    bare: list[str] = []
    for match in _QUOTATION.finditer(text):
        words = _bare(match[0][1:-1])
        if len(words) < _LEAST_QUOTATION:
            continue
        bare = bare or [_bare(passage.text) for passage in evidence]
        number = next((n for n, source in enumerate(bare, start=1) if words in source), 0)
        if number:
            found.append(Region(number, match.start() + 1, match.end() - 1))
    return found


def _bare(text: str) -> str:
    return _SPACE.sub("", text)


def report_of_quotes(text: str, quoted: Sequence[Region], evidence: Sequence[Passage]) -> Report | None:
    """The report on an answer of quotes, when nothing in it needs the checker; else None.

    Every sentence with a claim must be quoted at least in part, and every figure of it stand in what is quoted or
    beside it: in the passage, its header, table head or dates. That is a look-up of numbers, much cheaper than a check.
    """
    known: dict[int, frozenset[str]] = {}
    sentences: list[CheckedSentence] = []
    found: list[CheckedFigure] = []
    for start, end in split_sentences(plain(text)):
        said = text[start:end]
        own = [region for region in quoted if region.start < end and start < region.end]
        named = parse(said)
        if not own:
            if named or not _LEAD.search(said):
                return None
            sentences.append(CheckedSentence(said, start, end, "no_claim", ()))
            continue
        numbers = tuple(dict.fromkeys(region.number for region in own))
        for figure in named:
            place = _place(
                set(find_numbers(figure.text)), start + figure.start, start + figure.end, own, evidence, known
            )
            if not place:
                return None
            span = (start + figure.start, start + figure.end)
            found.append(CheckedFigure(figure.text, *span, "supported", place, "", (place,)))
        sentences.append(CheckedSentence(said, start, end, "supported", numbers))
    return Report(tuple(sentences), tuple(found), Markers((), (), ()))


def _place(
    wanted: set[str],
    start: int,
    end: int,
    own: Sequence[Region],
    evidence: Sequence[Passage],
    known: dict[int, frozenset[str]],
) -> int:
    """Number of a quoted passage that has the numbers; 0: none."""
    inside = next((region.number for region in own if region.start <= start and end <= region.end), 0)
    if inside:
        return inside
    for region in own:
        number = region.number
        if number not in known:
            p = evidence[number - 1]
            parts = (p.text, p.header, p.table_head, p.published, p.period, p.period_end, p.title)
            known[number] = frozenset(figure for part in parts for figure in find_numbers(part))
        if wanted <= known[number]:
            return number
    return 0


def only_quoted(quotes: Sequence[Quote], evidence: Sequence[Passage]) -> tuple[Passage, ...]:
    """The evidence, of which only the quoted passages have their words: what is quoted needs no others looked at."""
    numbers = {quote.number for quote in quotes}
    return tuple(p if n in numbers else _BLANK for n, p in enumerate(evidence, start=1))


_BLANK = Passage(document_id="", page=0, start=0, end=0, text="")
