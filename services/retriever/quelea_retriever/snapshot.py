"""The live documents at one moment."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

from quelea_retriever.adapters.store import DocumentRecord, Scope
from quelea_retriever.core.catalogue import Catalogue
from quelea_retriever.core.model import DocumentFacts


class _LazyCatalogue:
    """Built when a search first needs it, not for every commit."""

    def __init__(self, facts: list[DocumentFacts]) -> None:
        self._facts = facts
        self._built: Catalogue | None = None

    def get(self) -> Catalogue:
        """The catalogue; in two threads at once it may be built twice, which does no harm."""
        if self._built is None:
            self._built = Catalogue.build(self._facts)
        return self._built


class _Languages:
    """Which documents are in which language, sorted when a search first asks."""

    def __init__(self, facts: list[DocumentFacts]) -> None:
        self._facts = facts
        self._others: dict[str, frozenset[str]] = {}

    def others(self, language: str) -> frozenset[str]:
        """Ids of the documents in any other known language."""
        if language not in self._others:
            ids = (facts.id for facts in self._facts if facts.language not in ("", language))
            self._others[language] = frozenset(ids)
        return self._others[language]


@dataclass(frozen=True)
class Snapshot:
    """The live documents at one moment; a search uses one snapshot from its beginning to its end."""

    by_version: dict[str, DocumentRecord]
    by_document: dict[str, DocumentRecord]
    lazy_catalogue: _LazyCatalogue
    languages: _Languages
    hidden: frozenset[str] = frozenset()
    """Versions that have passages in the store and are not live."""

    @classmethod
    def of(cls, records: Iterable[DocumentRecord]) -> Snapshot:
        """Arrange records. Of two with the same document id the one committed last counts."""
        by_document: dict[str, DocumentRecord] = {}
        for record in sorted(records, key=lambda record: record.committed):
            by_document[record.facts.id] = record
        by_version = {record.version: record for record in by_document.values()}
        facts = [record.facts for record in by_document.values()]
        return cls(by_version, by_document, _LazyCatalogue(facts), _Languages(facts))

    @property
    def catalogue(self) -> Catalogue:
        """The live documents, arranged for reading questions."""
        return self.lazy_catalogue.get()

    def in_other_language(self, language: str) -> frozenset[str]:
        """Ids of the documents that are not in this language; those of which nobody knows are left out."""
        return self.languages.others(language)

    def hiding(self, versions: Iterable[str]) -> Snapshot:
        """The same documents, with these versions kept out of searches."""
        return replace(self, hidden=frozenset(versions) - self.by_version.keys())

    def scope(self, documents: Sequence[str] | None) -> Scope:
        """What to search for these document ids; None for all."""
        if documents is None:
            return Scope(exclude=tuple(self.hidden))
        return Scope(only=tuple(self.by_document[one].version for one in documents if one in self.by_document))
