"""Which paragraphs of the pages that were read are worth encoding: BM25 of words and phrases over all of them.

On a CPU the encoder is the bottleneck of the web route, so only the lexically best go on; it decides among those.
"""

from __future__ import annotations

import itertools
import math
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from quelea_fintext.text import terms

_Term = str | tuple[str, str]
"""A word, or two side by side."""
_K1 = 1.2
_B = 0.75
_SHINGLE = 4
"""Words of a shingle, by whose shares near-duplicates are known."""
_SAME = 0.8
"""Containment of the smaller one's shingles from which on two passages say the same."""
_CONTEXT_TIMES = 1.0
"""As how many occurrences in the text a word of the page's title, the headings or the table's head counts."""
_PHRASE_WEIGHT = 0.5
"""Of two words of the query that stand side by side ("net sales"), against each alone."""


@dataclass(frozen=True, slots=True)
class Paragraph:
    """A passage of a page, as it is compared."""

    page: int
    """Which page, counted from 0."""
    text: str
    context: str = ""
    """The page's title, the headings above the passage, the head of its table."""


@dataclass(frozen=True, slots=True)
class Selected:
    """A passage that is worth encoding."""

    index: int
    """Which of the paragraphs."""
    score: float
    coverage: float
    """Share of the query's terms that it has, weighted by rarity; 0 to 1."""


@dataclass(frozen=True, slots=True)
class _Print:
    """What near-duplicates are known by."""

    shingles: frozenset[int]
    numbers: frozenset[str]


def preselect(query: str, paragraphs: Sequence[Paragraph], limit: int) -> list[Selected]:
    """At most `limit` paragraphs, best first.

    The best one of each page is among them when it has any of the query's terms, as far as the limit goes; of
    paragraphs that say the same only the better one. When the query has no term that is anywhere, the first
    paragraphs of the pages, in turn.
    """
    said = [terms(paragraph.text) for paragraph in paragraphs]
    ranked = _rank(terms(query), said, _contexts(paragraphs))
    if not ranked:
        return [Selected(index, 0.0, 0.0) for index in _in_turn(paragraphs)[:limit]]
    firsts: dict[int, Selected] = {}
    for candidate in ranked:
        firsts.setdefault(paragraphs[candidate.index].page, candidate)
    leaders = {candidate.index for candidate in list(firsts.values())[:limit]}
    taken: list[Selected] = []
    prints: list[_Print] = []
    room = limit - len(leaders)
    for candidate in ranked:
        leads = candidate.index in leaders
        if not leads and room == 0:
            continue
        own = _print(said[candidate.index])
        if any(_repeats(own, other) for other in prints):
            room += leads  # its place goes to another
            continue
        taken.append(candidate)
        prints.append(own)
        room -= not leads
    return taken


def _rank(wanted: Sequence[str], said: Sequence[list[str]], around: Sequence[list[str]]) -> list[Selected]:
    """Every paragraph that shares a word with the query, best first.

    Args:
        wanted: The query's words, in order.
        said: The words of each paragraph.
        around: The words of its context.
    """
    total = len(said)
    if not total or not wanted:
        return []
    single = list(dict.fromkeys(wanted))
    phrases = list(dict.fromkeys(_pairs(wanted)))
    both: list[_Term] = [*single, *phrases]
    names = frozenset(both)
    counts = [_times(words, names) for words in said]
    contexts = [frozenset(_times(words, names)) for words in around]
    present: Counter[_Term] = Counter()
    for count, context in zip(counts, contexts, strict=True):
        present.update(count.keys() | context)
    rarity = {term: math.log(1 + (total - present[term] + 0.5) / (present[term] + 0.5)) for term in names}
    whole = sum(rarity[word] for word in single)
    average = sum(len(words) for words in said) / total or 1.0
    found: list[Selected] = []
    for index, (count, context, words) in enumerate(zip(counts, contexts, said, strict=True)):
        score = covered = 0.0
        norm = _K1 * (1 - _B + _B * len(words) / average)
        for term in both:
            times = count[term] + (_CONTEXT_TIMES if term in context else 0.0)
            if not times:
                continue
            gain = rarity[term] * times * (_K1 + 1) / (times + norm)
            if isinstance(term, str):
                score += gain
                covered += rarity[term]
            else:
                score += _PHRASE_WEIGHT * gain
        if score > 0:
            found.append(Selected(index, score, min(1.0, covered / whole)))
    return sorted(found, key=lambda one: (-one.score, one.index))


def _pairs(words: Sequence[str]) -> list[tuple[str, str]]:
    """Neighbouring words; figures are no part of a phrase."""
    return [(one, other) for one, other in itertools.pairwise(words) if not one[0].isdigit() and not other[0].isdigit()]


def _times(words: Sequence[str], names: frozenset[_Term]) -> Counter[_Term]:
    counted: Counter[_Term] = Counter(word for word in words if word in names)
    counted.update(pair for pair in itertools.pairwise(words) if pair in names)
    return counted


def _contexts(paragraphs: Sequence[Paragraph]) -> list[list[str]]:
    known: dict[str, list[str]] = {}
    for paragraph in paragraphs:
        if paragraph.context not in known:
            known[paragraph.context] = terms(paragraph.context)
    return [known[paragraph.context] for paragraph in paragraphs]


def _print(words: Sequence[str]) -> _Print:
    size = min(_SHINGLE, len(words))
    shingles = (hash(tuple(words[at : at + size])) for at in range(len(words) - size + 1)) if size else ()
    return _Print(frozenset(shingles), frozenset(word for word in words if word[0].isdigit()))


def _repeats(one: _Print, other: _Print) -> bool:
    """Whether one says nothing that the other does not."""
    small, large = sorted((len(one.shingles), len(other.shingles)))
    # A line that stands in a long passage is no duplicate of it: only texts of about one size are compared. And two
    # rows or sentences that differ in a figure alone are two.
    if not small or small * 2 < large or not one.numbers <= other.numbers:
        return False
    return len(one.shingles & other.shingles) >= _SAME * small


def _in_turn(paragraphs: Sequence[Paragraph]) -> list[int]:
    """Indexes: the first of every page, then the second of every page, and so on."""
    seen: Counter[int] = Counter()
    order: list[tuple[int, int, int]] = []
    for index, paragraph in enumerate(paragraphs):
        order.append((seen[paragraph.page], paragraph.page, index))
        seen[paragraph.page] += 1
    return [index for _, _, index in sorted(order)]
