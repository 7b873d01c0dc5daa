"""Citation markers as models write them: one form for all, and brackets that are none left alone."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

MARKER = re.compile(r"\[(\d{1,3}(?:\s*[,，、]\s*\d{1,3})*)\]")
"""[2], and [1, 3] as language models write it."""

_CODE = re.compile(r"```.*?(?:```|\Z)|`[^`\n]+`", re.DOTALL)
_URL = re.compile(r"(?:https?://|www\.)[^\s<>\"“”，。；）]+")
_LOOSE = re.compile(
    r"[\[［【〔]\s*(?:\^|(?:passage|source|citation|ref|来源|段落|资料)\s*[:：#]?\s*)?"
    r"(?P<n>\d{1,3}(?:\s*[,，、;；]\s*\d{1,3})*)\s*(?:†[^\]】\n]{0,60})?[\]］】〕](?P<link>\(https?://[^\s()]*\))?",
    re.IGNORECASE,
)
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


def literal_spans(text: str) -> list[tuple[int, int]]:
    """Code and addresses: brackets in them are theirs. An address ends where a marker behind it begins."""
    spans = [match.span() for match in _CODE.finditer(text)]
    for match in _URL.finditer(text):
        start, end = match.span()
        tail = re.search(r"(?:\[\d{1,3}\])+$", text[start:end])
        spans.append((start, start + tail.start() if tail and "[" not in text[start : start + tail.start()] else end))
    return spans


def _inside(position: int, spans: Sequence[tuple[int, int]]) -> bool:
    return any(start <= position < end for start, end in spans)


def tidy(text: str) -> str:
    """【1】, ［1］, [Source 1], [^1], 【1†source】 and [1](https://…) as [1]; code and addresses are untouched."""
    literal = literal_spans(text)

    def canonical(match: re.Match[str]) -> str:
        if _inside(match.start(), literal):
            return match.group()
        numbers = re.findall(r"\d+", match["n"])
        plain = MARKER.fullmatch(match.group())
        return match.group() if plain else "[" + ", ".join(numbers) + "]"

    return _LOOSE.sub(canonical, text)


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
        if _inside(match.start(), literal) or _copied(text, match, own):
            continue
        found.extend(Mark(int(number), *match.span()) for number in re.findall(r"\d+", match[1]))
    return found


def _copied(text: str, match: re.Match[str], sources: Sequence[str]) -> bool:
    if not sources:
        return False
    before = _SPACE.sub("", text[max(0, match.start() - 3 * _CONTEXT) : match.start()])[-_CONTEXT:]
    words = before + _SPACE.sub("", match.group())
    return len(before) >= _LEAST_CONTEXT and any(words in source for source in sources)
