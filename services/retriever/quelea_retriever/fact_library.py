"""The facts of the live documents, read from their passages on demand."""

from __future__ import annotations

import asyncio
from collections import OrderedDict
from collections.abc import Sequence
from dataclasses import dataclass

from quelea_kit.errors import TooLarge

from quelea_retriever.adapters.store import DocumentRecord
from quelea_retriever.core.figures.statement_facts import FactQuery, StatedFact, unpack
from quelea_retriever.core.model import PassageRecord
from quelea_retriever.filters import DocumentFilter
from quelea_retriever.library import Library
from quelea_retriever.snapshot import Snapshot

_KEPT = 32
"""Documents whose facts stay in memory: a filing has some hundred, of a kilobyte each."""
_MOST = 500
"""Documents that one question may look into."""


class FactLibrary:
    """Facts by document.

    Args:
        library: Where the documents are.
    """

    def __init__(self, library: Library) -> None:
        self._library = library
        self._kept: OrderedDict[str, _Stated] = OrderedDict()

    async def find(self, wanted: DocumentFilter, query: FactQuery) -> list[StatedFact]:
        """The facts that are wanted, of the documents that are.

        Raises:
            TooLarge: More documents are wanted than one question may look into.
        """
        async with self._library.reading() as snapshot:
            records = [one for one in snapshot.by_document.values() if wanted.matches(one.facts)]
            if len(records) > _MOST:
                raise TooLarge(
                    f"The filters match {len(records)} documents; narrow them by company, period or document "
                    f"to at most {_MOST}.",
                    details={"limit": str(_MOST)},
                )
            stated = [await self._read(record, snapshot) for record in records]
        return await asyncio.to_thread(query.select, [fact for one in stated for fact in one.facts])

    async def of_documents(
        self, snapshot: Snapshot, documents: Sequence[str]
    ) -> tuple[list[StatedFact], dict[str, PassageRecord]]:
        """Every fact of these documents, and the passages that print them, by id."""
        stated = [await self._read(record, snapshot) for one in documents if (record := snapshot.by_document.get(one))]
        passages = {key: passage for one in stated for key, passage in one.passages.items()}
        return [fact for one in stated for fact in one.facts], passages

    async def _read(self, record: DocumentRecord, snapshot: Snapshot) -> _Stated:
        kept = self._kept.get(record.version)
        if kept is not None:
            self._kept.move_to_end(record.version)
            return kept
        store = snapshot.store or self._library.store
        read = await asyncio.to_thread(_read, record, await store.passages(record.version))
        self._kept[record.version] = read
        while len(self._kept) > _KEPT:
            self._kept.popitem(last=False)
        return read


@dataclass(frozen=True)
class _Stated:
    """What one document states."""

    facts: list[StatedFact]
    passages: dict[str, PassageRecord]
    """By id: those that print facts."""


def _read(record: DocumentRecord, passages: Sequence[PassageRecord]) -> _Stated:
    printing = {passage.id: passage for passage in passages if passage.facts}
    facts = [
        StatedFact(fact, record.facts, passage.id, passage.page, passage.ordinal)
        for passage in printing.values()
        for fact in unpack(passage.facts)
    ]
    return _Stated(facts, printing)
