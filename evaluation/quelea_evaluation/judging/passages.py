"""From a ranking of passages to what was right in it."""

from __future__ import annotations

from collections.abc import Sequence

from quelea_evaluation.judging.figures import holds, holds_rounded
from quelea_evaluation.metrics.rankings import Judged, first_appearance
from quelea_evaluation.sets.model import Found, Question


def by_document(question: Question, found: Sequence[Found]) -> Judged:
    """Ranks of the right documents, documents in the order of their first passage."""
    order = first_appearance([f.document for f in found])
    return Judged(question.id, tuple(key in question.documents for key in order), len(question.documents))


def by_figure(question: Question, found: Sequence[Found]) -> Judged:
    """Ranks of passages of a right document that hold one of the answer's figures; partly lucky, see the floor."""
    hits = tuple(f.document in question.documents and holds(f.text, question.figures) for f in found)
    return Judged(question.id, hits, max(1, sum(hits)))


def by_rounded_figure(question: Question, found: Sequence[Found]) -> Judged:
    """Like by_figure, where 14,514 in a table in millions counts for an answer of 14.51 billion."""
    hits = tuple(
        f.document in question.documents and holds_rounded(f.text, question.figures, question.amounts) for f in found
    )
    return Judged(question.id, hits, max(1, sum(hits)))


def by_page(question: Question, found: Sequence[Found]) -> Judged:
    """Ranks of passages on the right page of the right document; pages in the order of their first passage."""
    order = list(dict.fromkeys((f.document, f.page) for f in found))
    return Judged(question.id, tuple(d in question.documents and p == question.page for d, p in order), 1)


def density_floor(question: Question, passages: Sequence[Found]) -> Judged:
    """What ordering by number density alone, inside the right documents, would score: the luck in by_figure."""
    own = [p for p in passages if p.document in question.documents]
    dense = sorted(own, key=lambda p: -sum(c.isdigit() for c in p.text) / max(1, len(p.text)))
    return by_figure(question, dense)
