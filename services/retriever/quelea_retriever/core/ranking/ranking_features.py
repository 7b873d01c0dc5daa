"""The second stage's features: for each candidate one row of readable numbers, in a fixed order, with a version.

A change of what a feature means, or of their order, is a new VERSION: weights were fitted to these very numbers.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from typing import Final

import numpy as np
import numpy.typing as npt

from quelea_retriever.core.model import Candidate
from quelea_retriever.core.ranking.language_scales import Mask, Scores
from quelea_retriever.core.ranking.passage_view import PassageView
from quelea_retriever.core.ranking.question_view import QuestionView
from quelea_retriever.core.ranking.ranking_signals import Signals, signals_of

VERSION: Final = 1
FEATURES: Final[dict[str, str]] = {
    "dense": "the cosine, from 0 (worst candidate) to 1 (best)",
    "sparse": "the sparse score, from 0 (worst candidate) to 1 (best)",
    "row": "a table row is labelled with just the words of the question: harmonic mean of both shares",
    "quoted": "words, up to three, of a row label that stand in the question as they are written in the table",
    "years": "the share of the question's years that the passage names",
    "table": "it is a table, and an amount is asked for",
    "covered": "the share of the question's words, the rare ones more, that the passage has",
    "rarest": "it has the rarest word of the question",
    "document": "the share of the question's words in the best passages of its document; "
    "0 where the search is narrowed to a company's documents",
    "routes": "headings, up to two, under which such an answer stands",
    "density": "distinct figures, of 40, where an amount is asked for",
    "sums": "sums of money or percentages, of three",
}
"""By name, in their order: what is measured. More of it never speaks against a passage, so no weight is below 0."""
BEST_OF_DOCUMENT: Final = 4
"""A document is judged by so many of its passages, so that a long one does not cover everything."""
_FIRST: Final = {"dense": 0.4, "sparse": 0.6, "row": 0.3, "quoted": 0.1, "years": 0.1, "table": 0.1}
"""By which the best passages of a document are told. Not fitted: what `document` means would change with the fit."""

Matrix = npt.NDArray[np.float64]


def weigh(weights: dict[str, float]) -> npt.NDArray[np.float64]:
    """Weights by name as a vector in the order of FEATURES; what is not named counts nothing."""
    return np.array([weights.get(name, 0.0) for name in FEATURES], dtype=np.float64)


def features_of(
    dense: Scores,
    sparse: Scores,
    group: Sequence[Candidate],
    views: Sequence[PassageView],
    others: Mask,
    asked: tuple[QuestionView, QuestionView],
    *,
    chosen: bool,
) -> Matrix:
    """Shape (candidates, FEATURES).

    Args:
        dense, sparse: both scores, scaled; one each.
        group: candidates that compete for places.
        views: of each.
        others: which are in another language than the question.
        asked: the question for candidates in its own language, and for the others.
        chosen: the search was narrowed to a company's documents.
    """
    found = np.zeros((len(group), len(FEATURES)))
    for members, question in ((~others, asked[0]), (others, asked[1])):
        own = np.flatnonzero(members)
        if own.size:
            part = [group[i] for i in own.tolist()]
            signals = signals_of(question, part, [views[i] for i in own.tolist()])
            found[own] = _columns(dense[own], sparse[own], part, signals, chosen=chosen)
    return found


def _columns(dense: Scores, sparse: Scores, part: Sequence[Candidate], signals: Signals, *, chosen: bool) -> Matrix:
    columns = {
        "dense": dense,
        "sparse": sparse,
        "row": signals.row,
        "quoted": signals.quoted,
        "years": signals.years,
        "table": signals.table,
        "covered": signals.covered,
        "rarest": signals.rarest,
        "document": np.zeros(len(part)),
        "routes": signals.routes,
        "density": signals.density,
        "sums": signals.sums,
    }
    if not chosen:
        first: Scores = sum((weight * columns[name] for name, weight in _FIRST.items()), np.zeros(len(part)))
        columns["document"] = _of_documents(first, part, signals)
    return np.column_stack([columns[name] for name in FEATURES])


def _of_documents(score: Scores, group: Sequence[Candidate], signals: Signals) -> Scores:
    """How much of the question the best passages of each candidate's document cover together."""
    members: dict[str, list[int]] = defaultdict(list)
    for i in np.argsort(-score, kind="stable"):
        members[group[i].passage.document_id].append(int(i))
    covered = np.zeros_like(score)
    for own in members.values():
        covered[own] = signals.covered_by(own[:BEST_OF_DOCUMENT])
    return covered
