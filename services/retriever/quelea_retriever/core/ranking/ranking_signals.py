"""What the second stage weighs: for each candidate a few readable numbers between 0 and 1 (or a small count)."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt

from quelea_retriever.core.model import Candidate
from quelea_retriever.core.ranking.passage_view import PassageView
from quelea_retriever.core.ranking.question_view import QuestionView

Column = npt.NDArray[np.float64]
DENSE_TABLE = 40
"""So many distinct figures count as full of figures."""
FULL_OF_SUMS = 3


@dataclass(frozen=True)
class Signals:
    """One entry for each candidate."""

    row: Column
    """How well the best row label and the question's content match: harmonic mean of the shares covered."""
    quoted: Column
    """Words, up to three, of the longest row label that stands in the question exactly as written."""
    years: Column
    table: Column
    routes: Column
    density: Column
    sums: Column
    """1 for a passage with three sums of money or percentages, less for fewer."""
    covered: Column
    """The share of the question's content in the passage."""
    rarest: Column
    """1 where the passage has the rarest of the question's terms that any candidate has."""
    views: Sequence[PassageView]
    weights: dict[str, float] = field(default_factory=dict)
    """The question's content terms, by how rare they are among the candidates; they sum to 1."""

    def covered_by(self, members: Sequence[int]) -> float:
        """The share of the question's content found in these candidates together."""
        return sum(w for term, w in self.weights.items() if any(term in self.views[i].terms for i in members))


def signals_of(question: QuestionView, candidates: Sequence[Candidate], views: Sequence[PassageView]) -> Signals:
    """Look at every candidate with the question in mind."""
    rarity = _Rarity(views)
    weights = {term: share * rarity.of(term) for term, share in question.weights.items()}
    total = sum(weights.values()) or 1.0
    shares = {term: weight / total for term, weight in weights.items()}
    amount = 1.0 if question.asks_amount else 0.0
    tables = [c.passage.is_table for c in candidates]
    rarest = max((term for term in shares if rarity.is_known(term)), key=lambda term: shares[term], default="")
    return Signals(
        row=_column(_best_row(view, weights, total, rarity) for view in views),
        quoted=_column(_score_quotation(view, question.text) for view in views),
        years=_column(_share(question.years, view.years) for view in views),
        table=_column(amount * table for table in tables),
        routes=_column(min(2, sum(1 for route in question.routes if route.search(view.heading))) for view in views),
        density=_column(amount * min(1.0, len(view.figures) / DENSE_TABLE) for view in views),
        sums=_column(min(FULL_OF_SUMS, view.sums) / FULL_OF_SUMS for view in views),
        covered=_column(sum(w for term, w in shares.items() if term in view.terms) for view in views),
        rarest=_column(rarest in view.terms for view in views),
        views=views,
        weights=shares,
    )


def _column(values: Iterable[float]) -> Column:
    return np.fromiter(values, dtype=np.float64)


class _Rarity:
    """Inverse document frequency over the candidates at hand."""

    def __init__(self, views: Sequence[PassageView]) -> None:
        self._frequency = Counter(term for view in views for term in view.terms)
        self._count = len(views)

    def of(self, term: str) -> float:
        n = self._frequency[term]
        return math.log((self._count - n + 0.5) / (n + 0.5) + 1.0)

    def is_known(self, term: str) -> bool:
        """Whether any candidate has it."""
        return term in self._frequency


def _best_row(view: PassageView, weights: dict[str, float], total: float, rarity: _Rarity) -> float:
    best = 0.0
    for row in view.rows:
        matched = sum(weights[term] for term in row if term in weights)
        if matched:
            whole = sum(weights.get(term) or rarity.of(term) for term in row)
            precision, recall = matched / whole, matched / total
            best = max(best, 2.0 * precision * recall / (precision + recall))
    return best


def _score_quotation(view: PassageView, question: str) -> float:
    return float(
        min(3, max((len(label.split()) for label in view.labels if len(label) > 3 and label in question), default=0))
    )


def _share(asked: frozenset[str], held: frozenset[str]) -> float:
    return len(asked & held) / len(asked) if asked else 0.0
