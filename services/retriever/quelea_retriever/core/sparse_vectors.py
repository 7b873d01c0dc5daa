"""Text to sparse vectors: phrase BM25 with two fields. The store multiplies by its IDF."""

from __future__ import annotations

import zlib
from collections import Counter
from collections.abc import Iterable, Iterator
from functools import lru_cache

import numpy as np
import numpy.typing as npt
from quelea_fintext.text import STOP_WORDS, stem, words

K1 = 1.2
B = 0.75
SECTION_WEIGHT = 2.0
HEADER_WEIGHT = 1.0
AVERAGE_LENGTH = 90.0
LONGEST_PHRASE = 3
_SHORT = 24
"""Characters; longer pieces are mostly Chinese clauses, of which hardly one comes twice."""

SparseVector = tuple[npt.NDArray[np.uint32], npt.NDArray[np.float32]]


def term_index(term: str) -> int:
    """The dimension of a term: CRC-32 of its UTF-8 bytes."""
    return zlib.crc32(term.encode())


def phrases(tokens: list[str], longest: int = LONGEST_PHRASE) -> Iterator[str]:
    """1- to 3-grams, joined by a space; a number stands alone and breaks a phrase."""
    run: list[str] = []
    for token in tokens:
        yield token
        if token[0].isdigit():
            run.clear()
            continue
        run.append(token)
        for n in range(2, min(longest, len(run)) + 1):
            yield " ".join(run[-n:])


def tokens_of(text: str) -> list[str]:
    """Stemmed words without stop words, in order."""
    tokens: list[str] = []
    for piece in text.split():  # no word goes over white space, and short pieces come again and again
        tokens += _short(piece) if len(piece) <= _SHORT else _tokens(piece)
    return tokens


def _tokens(piece: str) -> tuple[str, ...]:
    return tuple(stem(word) for word in words(piece) if word not in STOP_WORDS)


_short = lru_cache(maxsize=50_000)(_tokens)


def sparse_document(header: str, section: str, table_head: str, body: str) -> SparseVector:
    """The BM25F vector of a passage, without IDF.

    Args:
        header: the contextual header; its section part, if any, is left to `section`.
        section: headings above the passage (weight 2, no length normalisation).
        table_head: title, units and columns of the table that the body was cut from.
        body: the passage's text.

    Returns:
        Indices (uint32, ascending, unique) and weights (float32), equally long; empty for empty text.
    """
    frequencies: Counter[str] = Counter()
    _add(frequencies, header.removesuffix(section), HEADER_WEIGHT)
    _add(frequencies, section, SECTION_WEIGHT)
    tokens = tokens_of(f"{table_head}\n{body}" if table_head else body)
    _add_tokens(frequencies, tokens, 1.0 / (1.0 - B + B * len(tokens) / AVERAGE_LENGTH))
    return _vector((term, tf * (K1 + 1.0) / (K1 + tf)) for term, tf in frequencies.items())


def sparse_query(text: str) -> SparseVector:
    """The query's vector: how often each term and phrase occurs in it."""
    return _vector((term, float(count)) for term, count in Counter(phrases(tokens_of(text))).items())


def _add(frequencies: Counter[str], text: str, weight: float) -> None:
    _add_tokens(frequencies, tokens_of(text), weight)


def _add_tokens(frequencies: Counter[str], tokens: list[str], weight: float) -> None:
    for term, count in Counter(phrases(tokens)).items():
        frequencies[term] += count * weight  # type: ignore[assignment]  # Counter of floats: typeshed says int


def _vector(weighted: Iterable[tuple[str, float]]) -> SparseVector:
    merged: dict[int, float] = {}
    for term, weight in weighted:
        index = term_index(term)
        merged[index] = merged.get(index, 0.0) + weight  # two terms on one index: a collision, once in thousands
    order = sorted(merged)
    return (
        np.array(order, dtype=np.uint32),
        np.array([merged[index] for index in order], dtype=np.float32),
    )
