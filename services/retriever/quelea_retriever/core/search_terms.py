"""The sparse query for a search: the question itself, or, once its filing is chosen, what to look for in it."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from quelea_fintext.abbreviations import find_abbreviations, meanings, short_forms
from quelea_fintext.company_names import NOT_TICKERS
from quelea_fintext.line_items import filing_phrases

from quelea_retriever.core.model import Candidate, Reading
from quelea_retriever.core.ranking.question_view import clean, join_gloss
from quelea_retriever.core.sparse_vectors import SparseVector, sparse_query

_LEFT = NOT_TICKERS | frozenset("MD&A GAAP FIFO SEC USD RMB".split())
WEIGHT = 0.4
"""Of what filings may call a thing, beside the question's own words."""
_MOST_SPELLED = 3


def abbreviations_in(query: str) -> tuple[str, ...]:
    """Those that only a document can spell out: names of segments, not the terms of finance."""
    return tuple(one for one in find_abbreviations(query) if one not in _LEFT)


def other_names(question: str, found: Sequence[Candidate]) -> tuple[str, ...]:
    """What the passages that were found say beside the question's own words: its abbreviations in full, and the
    abbreviations that they make of its words.
    """
    texts = [one.passage.text for one in found]
    longs = meanings(abbreviations_in(question), texts)
    full = [long for these in longs.values() for long in these[:_MOST_SPELLED]]
    return (*full, *short_forms(question, texts))


def search_vector(query: str, reading: Reading, gloss: Sequence[str] = ()) -> SparseVector:
    """The query's sparse vector, for the store; with its gloss, for documents in the other language.

    Inside chosen filings the company and the period are settled, so their words and those that only frame the question
    are left out, and what filings call the thing is added at a lower weight. Elsewhere the question is taken as it is:
    over many companies' texts both cost more than they bring (docs/experiments/2026-11-22-ranking.md).
    """
    content = clean(query, reading.mentions) if reading.filing_chosen else query
    asked = dict(zip(*(part.tolist() for part in sparse_query(content)), strict=True))
    for phrase in gloss:
        asked.update(dict.fromkeys(sparse_query(phrase)[0].tolist(), 1.0))
    if reading.filing_chosen:
        for phrase in filing_phrases(join_gloss(content, gloss)):
            for index in sparse_query(phrase)[0].tolist():
                asked.setdefault(index, WEIGHT)
    order = sorted(asked)
    return np.array(order, dtype=np.uint32), np.array([asked[index] for index in order], dtype=np.float32)
