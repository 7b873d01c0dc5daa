"""The sparse query for a search: the question itself, or, once its filing is chosen, what to look for in it."""

from __future__ import annotations

import numpy as np

from .analysis import SparseVector, sparse_query
from .model import Reading
from .question import cleaned
from .synonyms import WEIGHT, synonym_phrases


def search_vector(query: str, reading: Reading) -> SparseVector:
    """The query's sparse vector, for the store.

    Inside chosen filings the company and the period are settled, so their words and those that only frame the question
    are left out, and what filings call the thing is added at a lower weight. Elsewhere the question is taken as it is:
    over many companies' texts both cost more than they bring (docs/experiments.md).
    """
    if not reading.filing_chosen:
        return sparse_query(query)
    content = cleaned(query, reading.mentions)
    asked = dict(zip(*(part.tolist() for part in sparse_query(content)), strict=True))
    for phrase in synonym_phrases(content):
        for index in sparse_query(phrase)[0].tolist():
            asked.setdefault(index, WEIGHT)
    order = sorted(asked)
    return np.array(order, dtype=np.uint32), np.array([asked[index] for index in order], dtype=np.float32)
