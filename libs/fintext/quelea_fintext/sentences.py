"""Sentences of English and Chinese text, as spans. What looks like an end and is none stays inside."""

from __future__ import annotations

import re

from quelea_fintext.languages import LANGUAGES

_ABBREVIATION = frozenset(LANGUAGES.words("language.abbreviations"))
_MAY_END = re.compile(
    r"[。！？!?；…]+[\"'”’）】》」』\])]*"
    r"|\.[\"'”’)\]]*(?=\s+(?:[\"'“‘(\[•]\s?)?[A-Z0-9$€£☒☐\u4e00-\u9fff])"
)
_LAST_WORD = re.compile(r"(?<![A-Za-z.\d])([A-Za-z][A-Za-z.]{0,20}|\d{1,20})$")
_CLAUSE = re.compile(r"[;；,，、:：]\s*|\s[–—]\s|\)\s|\s(?=(?:and|or|but|which|that|including)\s)")


def sentence_spans(text: str, start: int = 0, end: int | None = None) -> list[tuple[int, int]]:
    """Spans of the sentences of text[start:end], without the space around them, in order; together they hold all
    that is not space. A full stop after an abbreviation, initials or a list number ends nothing.
    """
    stop = len(text) if end is None else end
    spans: list[tuple[int, int]] = []
    at = start
    for match in _MAY_END.finditer(text, start, stop):
        if match.group()[0] == "." and not _ends(text, at, match.start()):
            continue
        if (
            match.group()[0] in "!?"
            and match.end() < stop
            and not text[match.end()].isspace()
            and text[match.end()].isascii()
        ):
            continue
        _add(spans, text, at, match.end())
        at = match.end()
    _add(spans, text, at, stop)
    return spans


def _ends(text: str, start: int, dot: int) -> bool:
    word = _LAST_WORD.search(text, max(start, dot - 20), dot)
    if word is None:
        return True
    last = word.group().lower()
    if last.isdigit():
        return bool(text[start : word.start()].strip())  # "1. Overview" begins with its number
    return "." not in last and last not in _ABBREVIATION and (len(last) > 1 or last == "i")


def _add(spans: list[tuple[int, int]], text: str, start: int, end: int) -> None:
    while start < end and text[start].isspace():
        start += 1
    while end > start and text[end - 1].isspace():
        end -= 1
    if start < end:
        spans.append((start, end))


def clause_spans(text: str, start: int, end: int, limit: int) -> list[tuple[int, int]]:
    """A sentence too long for the encoder, cut after its clause punctuation, else at a space, else anywhere.

    Args:
        limit: Characters of a piece, at most.
    """
    spans: list[tuple[int, int]] = []
    at = start
    while end - at > limit:
        cuts = [match.end() for match in _CLAUSE.finditer(text, at + limit // 3, at + limit)]
        cut = cuts[-1] if cuts else text.rfind(" ", at + limit // 3, at + limit)
        cut = cut if cut > at else at + limit
        _add(spans, text, at, cut)
        at = cut
    _add(spans, text, at, end)
    return spans
