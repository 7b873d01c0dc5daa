"""Abbreviations and what texts say they stand for: "Data Center and AI (DCAI)", "Amazon Web Services, or AWS"."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence

from quelea_fintext.text import terms

_ASKED = re.compile(r"(?<![A-Za-z0-9&])[A-Z]{3,6}(?![A-Za-z0-9&])")
_LINKS = frozenset("and of the for in to &".split())
_WORD = r"(?:[A-Z][\w&-]*|and|of|the|for|in|to|&)"
_LONGEST = 7
_IN_BRACKETS = re.compile(r"\([\"“]?([A-Z]{2,6})s?[\"”]?\)")
_LISTED = re.compile(r"^([A-Z]{2,6})[ \t]+(\S.{3,100})", re.MULTILINE)
_REACH = 100
"""So many characters before a bracket have the words that it abbreviates."""


def find_abbreviations(question: str) -> tuple[str, ...]:
    """Words of a question that are written like abbreviations, three to six capitals; each once."""
    return tuple(dict.fromkeys(_ASKED.findall(question)))


def meanings(abbreviations: Sequence[str], texts: Iterable[str]) -> dict[str, tuple[str, ...]]:
    """Abbreviation -> what these texts say it stands for; those that none defines are left out.

    A definition is in brackets after the words, after "or", or stands in a list with the abbreviation in front. The
    abbreviation has to be made of beginnings of the words; it may have letters more ("Group", "Unit").
    """
    found: dict[str, dict[str, None]] = {}
    patterns = {one: _definition(one) for one in abbreviations}
    for text in texts:
        for one, pattern in patterns.items():
            if one not in text:
                continue
            for match in pattern.finditer(text):
                words = _fitting(one, (match["before"] or match["after"]).split(), after=bool(match["after"]))
                if words:
                    found.setdefault(one, {})[" ".join(words)] = None
    return {one: tuple(longs) for one, longs in found.items()}


def short_forms(question: str, texts: Iterable[str]) -> tuple[str, ...]:
    """Abbreviations that these texts define by words that stand in the question; each once.

    A filing that has written "traffic acquisition costs (“TAC”)", or has it in a list of terms, says TAC from there on.
    """
    asked = f" {' '.join(terms(question))} "
    found: dict[str, None] = {}
    for text in texts:
        for short, words, after in _defined(text):
            long = _fitting(short, words, after=after)
            if long and f" {' '.join(terms(' '.join(long)))} " in asked:
                found[short] = None
    return tuple(found)


def _defined(text: str) -> Iterator[tuple[str, list[str], bool]]:
    """What may be a definition: the abbreviation, words beside it, and whether these come after it."""
    for match in _IN_BRACKETS.finditer(text):
        before = text[max(0, match.start() - _REACH) : match.start()]
        yield match[1], before.split()[-_LONGEST:], False
    for match in _LISTED.finditer(text):
        yield match[1], match[2].split()[:_LONGEST], True


def _definition(one: str) -> re.Pattern[str]:
    words = rf"{_WORD}(?:[ ,]+{_WORD}){{0,{_LONGEST}}}"
    short = rf"[\"“]?{one}[\"”]?"
    return re.compile(rf"(?P<before>{words})(?: ?\({short}\)|, or {short}(?!\w))|(?m:^){one}[ \t]+(?P<after>{words})")


def _fitting(abbreviation: str, words: list[str], *, after: bool) -> list[str]:
    """The words that the abbreviation is made of: the last ones before it, or the first ones after it."""
    words = [word.strip(",") for word in words]
    spans = range(1, len(words) + 1) if after else range(len(words) - 1, -1, -1)
    for at in spans:
        some = words[:at] if after else words[at:]
        if some[0] in _LINKS or some[-1] in _LINKS:
            continue
        if is_made_of(abbreviation, [word for word in some if word not in _LINKS]):
            return some
    return []


def is_made_of(abbreviation: str, words: Sequence[str]) -> bool:
    """Each of at least two words gives one or more letters of its beginning, in order; one letter may be left over."""
    if len(words) < 2:
        return False

    def fits(left: str, rest: Sequence[str]) -> bool:
        if not rest:
            return len(left) <= 1
        for taken in range(min(len(left), len(rest[0])), 0, -1):
            if rest[0][:taken].upper() == left[:taken] and fits(left[taken:], rest[1:]):
                return True
        return False

    return fits(abbreviation, words)
