"""Citation markers as models write them: one form for all, and brackets that are none left alone."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from quelea_checker.reading.markup import LOOSE, RANGE, canonical, literal_spans, unroll

MARKER = re.compile(r"\[(\d{1,3}(?:\s*[,，、]\s*\d{1,3})*)\]")
"""[2], and [1, 3] as language models write it."""

_CONTEXT = 14
"""Characters before a bracket that must stand in the evidence, with the bracket, for it to be the evidence's own."""
_LEAST_CONTEXT = 6
_SPACE = re.compile(r"\s+")


@dataclass(frozen=True)
class Mark:
    """One number of one marker in a text: text[start:end] is the marker."""

    number: int
    start: int
    end: int


def _inside(position: int, spans: Sequence[tuple[int, int]]) -> bool:
    return any(start <= position < end for start, end in spans)


def tidy(text: str) -> str:
    """【1】, ［1］, [Source 1], [^1], 【1†source】 and [1](https://…) as [1], [1-3] as [1, 2, 3]; not in code."""
    for pattern, written in ((LOOSE, canonical), (RANGE, unroll)):
        text = _outside(text, pattern, written)
    return text


def _outside(text: str, pattern: re.Pattern[str], written: Callable[[re.Match[str]], str]) -> str:
    """The text with a pattern written otherwise where it is in no code and no address."""
    literal = literal_spans(text)
    return pattern.sub(lambda match: match.group() if _inside(match.start(), literal) else written(match), text)


def marks(text: str, sources: Sequence[str] = ()) -> list[Mark]:
    """Every citation marker of a tidy text, in order.

    Args:
        text: The answer.
        sources: Texts of the evidence: a bracket that is copied from one, with the words before it, is no marker.
    """
    literal = literal_spans(text)
    own = [_SPACE.sub("", source) for source in sources if "[" in source]
    found: list[Mark] = []
    for match in MARKER.finditer(text):
        if _inside(match.start(), literal) or _is_copied(text, match, own):
            continue
        found.extend(Mark(int(number), *match.span()) for number in re.findall(r"\d+", match[1]))
    return found


def _is_copied(text: str, match: re.Match[str], sources: Sequence[str]) -> bool:
    if not sources:
        return False
    before = _SPACE.sub("", text[max(0, match.start() - 3 * _CONTEXT) : match.start()])[-_CONTEXT:]
    words = before + _SPACE.sub("", match.group())
    return len(before) >= _LEAST_CONTEXT and any(words in source for source in sources)
