"""Reading a question: which company and which fiscal period it asks about, so which filings to search."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date

from .model import Candidate, DocumentFacts, Reading


@dataclass(frozen=True)
class Catalogue:
    """The stored documents, arranged by company. Build it again when a document comes or goes."""

    documents: tuple[DocumentFacts, ...]

    @classmethod
    def build(cls, documents: Sequence[DocumentFacts]) -> Catalogue:
        """A catalogue of these documents."""
        return cls(tuple(documents))


def read_query(query: str, catalogue: Catalogue, as_of: date) -> Reading:
    """What the question asks about; `as_of` is the day of the question."""
    return Reading()


def confirm_missing(reading: Reading, candidates: Sequence[Candidate]) -> Reading:
    """Take `company_missing` back when a document of no company (news, for example) speaks of the company.

    To be called with the candidates of the search, before the reading is answered.
    """
    return reading
