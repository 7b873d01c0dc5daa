"""Writes during `admin reembed`, while the knowledge base moves to another collection: none fails or is lost.

What was begun in the old collection is finished in the new one: passages that were written there are embedded again
when their document is committed, and a commit that came too late for the move is made once more.
"""

from __future__ import annotations

import contextlib
from collections.abc import Awaitable, Callable, Sequence

from quelea_kit.errors import Conflict, NotFound, Unavailable

from quelea_retriever.adapters.embedder import Embedding
from quelea_retriever.adapters.store import Profile, Store, version_of
from quelea_retriever.core.model import DocumentFacts
from quelea_retriever.library import Library
from quelea_retriever.passage_vectors import vectorise

EmbedFor = Callable[[Sequence[str], Profile | None], Awaitable[Embedding]]
"""Texts to vectors of the passage tower, by the encoder of a profile."""
_MOVES = 3


async def commit(library: Library, facts: DocumentFacts, embed: EmbedFor, *, header: bool) -> str:
    """As Library.commit, in the collection that is live when it is done."""
    for _ in range(_MOVES):
        store = library.store
        await _carry(library, store, facts, embed, header=header)
        try:
            replaced = await library.commit(facts)
        except Conflict:
            if library.store is store:
                raise
            continue  # moved just now: its passages are still in the other one
        if await library.settled():
            return replaced
    raise Unavailable("The knowledge base is being switched to another collection; try again.", retry_after=5.0)


async def delete(library: Library, document_id: str) -> int:
    """As Library.delete, in the collection that is live when it is done."""
    count = await library.delete(document_id)
    for _ in range(_MOVES):
        if await library.settled():
            return count
        with contextlib.suppress(NotFound):
            await library.delete(document_id)
    raise Unavailable("The knowledge base is being switched to another collection; try again.", retry_after=5.0)


async def _carry(library: Library, store: Store, facts: DocumentFacts, embed: EmbedFor, *, header: bool) -> None:
    """Bring over what the previous collection has of a version that is not whole here."""
    previous = await store.previous()
    if previous is None or await store.count(version_of(facts)) >= facts.passages:
        return
    version = version_of(facts)
    here = {passage.ordinal for passage in await store.passages(version)}
    left = [passage for passage in await previous.passages(version) if passage.ordinal not in here]
    if left:

        async def embed_here(texts: Sequence[str]) -> Embedding:
            return await embed(texts, store.profile)

        await library.put(facts, await vectorise(facts, left, embed_here, header=header), store)
