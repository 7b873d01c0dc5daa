"""The live documents at one moment."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace

from quelea_retriever.adapters.store import DocumentRecord, Scope, Store
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


@dataclass(frozen=True)
class Snapshot:
    """The live documents at one moment; a search uses one snapshot from its beginning to its end."""

    by_version: dict[str, DocumentRecord]
    by_document: dict[str, DocumentRecord]
    lazy_catalogue: _LazyCatalogue
    languages: frozenset[str]
    """Those that documents are known to be in."""
    store: Store | None = field(default=None, compare=False)
    """Where these documents are; to be asked with this snapshot, though another store may have taken its place."""
    hidden: frozenset[str] = frozenset()
    """Versions that have passages in the store and are not live."""

    @classmethod
    def of(cls, records: Iterable[DocumentRecord], store: Store | None = None) -> Snapshot:
        """Arrange records. Of two with the same document id the one committed last counts."""
        by_document: dict[str, DocumentRecord] = {}
        for record in sorted(records, key=lambda record: record.committed):
            by_document[record.facts.id] = record
        by_version = {record.version: record for record in by_document.values()}
        facts = [record.facts for record in by_document.values()]
        languages = frozenset(one.language for one in facts if one.language)
        return cls(by_version, by_document, _LazyCatalogue(facts), languages, store)

    @property
    def catalogue(self) -> Catalogue:
        """The live documents, arranged for reading questions."""
        return self.lazy_catalogue.get()

    def other_languages(self, language: str) -> tuple[str, ...]:
        """The languages of documents, without this one."""
        return tuple(sorted(self.languages - {language}))

    def is_abroad(self, document: str, language: str) -> bool:
        """True when the document is known to be in another language."""
        record = self.by_document.get(document)
        return record is not None and record.facts.language not in ("", language)

    def hiding(self, versions: Iterable[str]) -> Snapshot:
        """The same documents, with these versions kept out of searches."""
        return replace(self, hidden=frozenset(versions) - self.by_version.keys())

    def scope(self, documents: Sequence[str] | None, languages: tuple[str, ...] | None = None) -> Scope:
        """What to search for these document ids; None for all, or all of some languages."""
        if documents is None:
            return Scope(exclude=tuple(self.hidden), languages=languages)
        only = tuple(self.by_document[one].version for one in documents if one in self.by_document)
        return Scope(only=only, languages=languages)
