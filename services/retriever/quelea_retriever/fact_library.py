"""The facts of the live documents, read from their passages when somebody asks for them."""

from __future__ import annotations

import asyncio
from collections import OrderedDict
from collections.abc import Sequence

from quelea_kit.errors import TooLarge

from quelea_retriever.adapters.store import DocumentRecord
from quelea_retriever.core.model import PassageRecord
from quelea_retriever.core.statement_facts import FactQuery, StatedFact, unpack
from quelea_retriever.filters import DocumentFilter
from quelea_retriever.library import Library

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
        self._kept: OrderedDict[str, list[StatedFact]] = OrderedDict()

    async def find(self, wanted: DocumentFilter, query: FactQuery) -> list[StatedFact]:
        """The facts that are wanted, of the documents that are.

        Raises:
            TooLarge: More documents are wanted than one question may look into.
        """
        found: list[StatedFact] = []
        async with self._library.reading() as snapshot:
            records = [one for one in snapshot.by_document.values() if wanted.matches(one.facts)]
            if len(records) > _MOST:
                raise TooLarge(
                    f"{len(records)} documents would have to be read; name companies, periods or documents so that "
                    f"at most {_MOST} are.",
                    details={"limit": str(_MOST)},
                )
            store = snapshot.store or self._library.store
            for record in records:
                facts = self._kept.get(record.version)
                if facts is None:
                    passages = await store.passages(record.version)
                    facts = await asyncio.to_thread(_read, record, passages)
                    self._kept[record.version] = facts
                    while len(self._kept) > _KEPT:
                        self._kept.popitem(last=False)
                else:
                    self._kept.move_to_end(record.version)
                found += facts
        return await asyncio.to_thread(query.select, found)


def _read(record: DocumentRecord, passages: Sequence[PassageRecord]) -> list[StatedFact]:
    return [
        StatedFact(fact, record.facts, passage.id, passage.page, passage.ordinal)
        for passage in passages
        for fact in unpack(passage.facts)
    ]
