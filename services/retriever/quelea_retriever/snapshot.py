"""The live documents at one moment."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace

from quelea_kit.reach import Reach

from quelea_retriever.adapters.store import DocumentRecord, Scope, Store
from quelea_retriever.core.model import DocumentFacts
from quelea_retriever.core.question.catalogue import Catalogue

_VIEWS = 64
"""Reaches whose documents are kept arranged."""


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
    reach: Reach | None = None
    """What these documents are bounded by; None: nothing, these are all."""
    _views: OrderedDict[Reach, Snapshot] = field(default_factory=OrderedDict, compare=False, repr=False)

    @classmethod
    def of(cls, records: Iterable[DocumentRecord], store: Store | None = None) -> Snapshot:
        """Arrange records. Of two with the same document id in one place the one committed last counts."""
        live: dict[tuple[str, str], DocumentRecord] = {}
        for record in sorted(records, key=lambda record: record.committed):
            live[record.facts.place, record.facts.id] = record
        by_version = {record.version: record for record in live.values()}
        by_document = {record.facts.id: record for record in live.values()}
        facts = [record.facts for record in live.values()]
        languages = frozenset(one.language for one in facts if one.language)
        return cls(by_version, by_document, _LazyCatalogue(facts), languages, store)

    def within(self, reach: Reach) -> Snapshot:
        """Those of the documents that a reach holds: nothing of it tells of the others."""
        view = self._views.get(reach)
        if view is None:
            kept = [one for one in self.by_version.values() if reach.holds(one.facts.tenant, one.facts.collection)]
            if len(kept) == len(self.by_version):
                made = replace(self, _views=OrderedDict())  # all of them, as in a deployment of one tenant
            else:
                made = Snapshot.of(kept, self.store)
            view = self._views[reach] = replace(made, reach=reach, hidden=self.hidden)
            while len(self._views) > _VIEWS:
                self._views.popitem(last=False)
        else:
            self._views.move_to_end(reach)
        return view

    def live(self, facts: DocumentFacts) -> DocumentRecord | None:
        """The record of that document in that place."""
        return self.within(Reach(facts.tenant, (facts.collection,))).by_document.get(facts.id)

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
        return replace(self, hidden=frozenset(versions) - self.by_version.keys(), _views=OrderedDict())

    def scope(self, documents: Sequence[str] | None, languages: tuple[str, ...] | None = None) -> Scope:
        """What to search for these document ids; None for all, or all of some languages."""
        if documents is None:
            return Scope(exclude=tuple(self.hidden), languages=languages, reach=self.reach)
        only = tuple(self.by_document[one].version for one in documents if one in self.by_document)
        return Scope(only=only, languages=languages, reach=self.reach)
