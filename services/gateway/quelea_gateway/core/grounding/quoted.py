"""Where an answer quotes its evidence word for word: the extractive reader's lines are quotes by construction."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from quelea_gateway.core.model import Passage, Quote

_LEAST = 2
"""Characters of a quoted line that is looked for."""


@dataclass(frozen=True)
class Region:
    """text[start:end] is evidence `number` word for word, but for white space."""

    number: int
    start: int
    end: int


def regions(text: str, quotes: Sequence[Quote], evidence: Sequence[Passage]) -> list[Region]:
    """The quoted parts of an answer, in order. A quote of several rows is found row by row."""
    places = [index for index, character in enumerate(text) if not character.isspace()]
    bare = "".join(text[index] for index in places)
    found: set[tuple[int, int, int]] = set()
    for quote in quotes:
        if not 1 <= quote.number <= len(evidence) or quote.text not in evidence[quote.number - 1].text:
            continue
        for row in [quote.text, *quote.text.split("\n")]:
            words = re.sub(r"\s+", "", row)
            if len(words) < _LEAST:
                continue
            at = bare.find(words)
            while at >= 0:
                found.add((places[at], places[at + len(words) - 1] + 1, quote.number))
                at = bare.find(words, at + len(words))
    return [Region(number, start, end) for start, end, number in sorted(found)]


def behind(quotes: Sequence[Quote], evidence: Sequence[Passage]) -> tuple[Passage, ...]:
    """The evidence, of which only the quoted passages have their words: what is quoted needs no others looked at."""
    numbers = {quote.number for quote in quotes}
    return tuple(p if n in numbers else _BLANK for n, p in enumerate(evidence, start=1))


_BLANK = Passage(document_id="", page=0, start=0, end=0, text="")
