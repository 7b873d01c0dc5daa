"""Which documents a caller wants searched: by company, ticker, type, period, date, language or id."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import date

from quelea_fintext.dates import parse_iso
from quelea_fintext.text import normalise

from quelea_retriever.core.model import DocumentFacts
from quelea_retriever.core.question.filings import is_known_by

_NOT_A_LETTER = re.compile(r"[\W_]+")


@dataclass(frozen=True)
class DocumentFilter:
    """All given fields must hold; within a field, any of its values. Values are compared by `fold`."""

    companies: frozenset[str] = frozenset()
    """Display name, another name, or ticker."""
    tickers: frozenset[str] = frozenset()
    document_types: frozenset[str] = frozenset()
    periods: frozenset[str] = frozenset()
    """Labels, with or without "FY", the file's own label, or the last day of the period."""
    published_from: date | None = None
    published_to: date | None = None
    languages: frozenset[str] = frozenset()
    document_ids: frozenset[str] = frozenset()
    known_by: date | None = None
    """Only what had come out by this day; `core.filings.known_by` says how that is told."""

    def __bool__(self) -> bool:
        return self != _EVERYTHING

    def matches(self, facts: DocumentFacts) -> bool:
        """True when the document is wanted. One without a date is not, when a date is asked for."""
        return (
            (not self.document_ids or facts.id in self.document_ids)
            and _any(self.companies, (facts.company, facts.ticker, *facts.company_aliases))
            and _any(self.tickers, (facts.ticker,))
            and _any(self.document_types, (facts.document_type,))
            and _any(self.languages, (facts.language,))
            and _any(self.periods, period_names(facts))
            and self._published(facts)
            and (self.known_by is None or is_known_by(facts, self.known_by))
        )

    def _published(self, facts: DocumentFacts) -> bool:
        if self.published_from is None and self.published_to is None:
            return True
        day = parse_iso(facts.published)
        if day is None:
            return False
        return (self.published_from or date.min) <= day <= (self.published_to or date.max)


_EVERYTHING = DocumentFilter()


def fold(value: str) -> str:
    """What two names are compared by: letters and digits, NFKC, lower case. "FY2023 Q3" and "fy2023q3" are one."""
    return _NOT_A_LETTER.sub("", normalise(value))


def fold_all(values: Iterable[str]) -> frozenset[str]:
    """fold() of each, without those that nothing is left of."""
    return frozenset(filter(None, map(fold, values)))


def period_names(facts: DocumentFacts) -> tuple[str, ...]:
    """Every way to name the document's period."""
    period = facts.period
    return (period.label, period.label.upper().removeprefix("FY"), period.file_label, period.end_date)


def _any(wanted: frozenset[str], values: Iterable[str]) -> bool:
    return not wanted or not wanted.isdisjoint(fold_all(values))
