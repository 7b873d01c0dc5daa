"""What an evaluation set is: documents to ingest, questions to ask, and what counts as right."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field


@dataclass(frozen=True)
class SourceDocument:
    """A document as its uploader would send it.

    Args:
        key: Name by which questions refer to it.
        filename: What the knowledge base is told; nothing of the answer is in it.
        data: The bytes.
        metadata: What the uploader says beside it; mostly empty.
    """

    key: str
    filename: str
    data: bytes
    metadata: dict[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class Question:
    """A question with its gold.

    Args:
        id: Unique within the set.
        text: As a user would ask it.
        kind: Group that is reported on its own, for example "single" or "multi".
        documents: Keys of the right documents.
        figures: Figures of the answer, normalised; a right passage holds at least one. Empty when not asked for.
        amounts: The answer's amounts with their scale, for the measure that allows for scale and rounding.
        page: The right page of the (one) right document, from 1; None when not known.
    """

    id: str
    text: str
    kind: str
    documents: frozenset[str]
    figures: frozenset[str] = frozenset()
    amounts: frozenset[tuple[str, int]] = frozenset()
    page: int | None = None


@dataclass(frozen=True)
class EvaluationSet:
    """Documents and questions, with the licence's folder they come from."""

    name: str
    documents: tuple[SourceDocument, ...]
    questions: tuple[Question, ...]


@dataclass(frozen=True)
class Found:
    """One retrieved passage, as far as judging needs it."""

    document: str
    page: int
    text: str


Loader = Callable[[], EvaluationSet]
