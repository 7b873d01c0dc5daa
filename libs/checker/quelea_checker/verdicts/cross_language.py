"""Sentences without figures in a language that no passage is in: what an encoder's cosines say of them.

The checker asks nobody: it says which sentences it wants compared with which (wanted), and is given the cosines (Near).
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from quelea_fintext.text import language_of

from quelea_checker.model import CheckPassage, Near
from quelea_checker.reading import sentences
from quelea_checker.reading.amounts import MARKER, parse
from quelea_checker.reading.markup import NormalizedAnswer
from quelea_checker.reading.sentences import plain

ALIKE = 0.82
"""Cosine of multilingual-E5-small from which a sentence may say what one of another language says: below it lie the
sentences of which the evidence says nothing (docs/experiments/figures.md)."""
_MOST_ASKED = 8
_MOST_CANDIDATES = 32
"""Sentences of an answer that are compared, and sentences of the evidence with each."""
_LEAST, _LONGEST = 8, 600
"""Code points of a sentence of the evidence that is compared."""


@dataclass(frozen=True, slots=True)
class Wanted:
    """A sentence of an answer, without markers, and the sentences of the evidence to compare it with."""

    sentence: str
    candidates: tuple[tuple[int, str], ...]
    """(number of the passage from 1, text)."""


def find_comparisons(answer: str, passages: Sequence[CheckPassage]) -> list[Wanted]:
    """What has to be compared for an answer; empty where its language is one of the passages'."""
    languages = {language_of(passage.text) for passage in passages}
    if not languages or language_of(answer) in languages:
        return []
    answer = NormalizedAnswer(answer).text
    every = [_read_sentences(number, passage.text) for number, passage in enumerate(passages, start=1)]
    found = []
    for start, end in sentences.split_sentences(plain(answer)):
        said = answer[start:end]
        bare = without_markers(said)
        if language_of(bare) in languages or any(figure.period is None for figure in parse(said)):
            continue
        cited = {int(n) for marker in MARKER.finditer(said) for n in re.findall(r"\d+", marker["n"])}
        own = [one for number in sorted(cited) if 1 <= number <= len(every) for one in every[number - 1]]
        others = _interleave([one for number, one in enumerate(every, start=1) if number not in cited])
        found.append(Wanted(bare, tuple([*own, *others][:_MOST_CANDIDATES])))
    return [one for one in found if one.candidates][:_MOST_ASKED]


def without_markers(sentence: str) -> str:
    """As a sentence is compared."""
    return MARKER.sub(" ", sentence).strip()


def best_cosines(near: Sequence[Near]) -> dict[int, float]:
    """Of each passage, from 1, the cosine of its sentence that says most of it."""
    found: dict[int, float] = {}
    for one in near:
        if one.cosine >= ALIKE:
            found[one.passage] = max(found.get(one.passage, 0.0), one.cosine)
    return found


def _read_sentences(number: int, text: str) -> list[tuple[int, str]]:
    cut = (text[start:end] for start, end in sentences.split_sentences(plain(text)))
    return [(number, one) for one in cut if _LEAST <= len(one) <= _LONGEST and any(c.isalpha() for c in one)]


def _interleave(groups: Sequence[Sequence[tuple[int, str]]]) -> Iterator[tuple[int, str]]:
    """The first of each, then the second of each."""
    for at in range(max(map(len, groups), default=0)):
        for group in groups:
            if at < len(group):
                yield group[at]
