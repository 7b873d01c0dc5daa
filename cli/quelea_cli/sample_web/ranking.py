"""Which pages a query means, by its words: BM25, with the words of a title counted three times."""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Iterable

from quelea_fintext.text import terms

from quelea_cli.sample_web.site import Page

K1 = 1.2
B = 0.75
"""The usual constants of Robertson and Zaragoza, "The Probabilistic Relevance Framework" (2009)."""

_TITLE = 3
_SNIPPET = 200
_SENTENCE = re.compile(r"(?:[^。！？.!?\n]|[.!?](?=\S))+[。！？.!?]?")


class Ranking:
    """An index of pages as they are now."""

    def __init__(self, pages: Iterable[Page]) -> None:
        self._pages = [page for page in pages if page.text]
        self._counts = [Counter(terms(page.text) + terms(page.title) * _TITLE) for page in self._pages]
        self._lengths = [sum(counts.values()) for counts in self._counts]
        self._average = sum(self._lengths) / max(1, len(self._lengths))
        self._pages_with = Counter(term for counts in self._counts for term in counts)

    def rank(self, query: str) -> list[tuple[float, Page]]:
        """Pages that share a word with the query, best first, with their scores."""
        wanted = set(terms(query))
        found = []
        for page, counts, length in zip(self._pages, self._counts, self._lengths, strict=True):
            score = sum(self._weight(term, counts[term], length) for term in wanted if term in counts)
            if score > 0:
                found.append((score, page))
        return sorted(found, key=lambda one: (-one[0], one[1].host, one[1].path))

    def _weight(self, term: str, count: int, length: int) -> float:
        rarity = math.log(1 + (len(self._pages) - self._pages_with[term] + 0.5) / (self._pages_with[term] + 0.5))
        return rarity * count * (K1 + 1) / (count + K1 * (1 - B + B * length / self._average))


def snippet(page: Page, query: str) -> str:
    """From the first sentence that shares most words with the query, at most 200 characters."""
    wanted = set(terms(query))
    sentences = [match for match in _SENTENCE.finditer(page.text) if match.group().strip()]
    if not sentences:
        return ""
    best = max(sentences, key=lambda match: len(wanted & set(terms(match.group()))))
    return page.text[best.start() : best.start() + _SNIPPET].strip()
