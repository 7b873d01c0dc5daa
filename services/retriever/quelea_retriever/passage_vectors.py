"""What is stored of a passage: the text that is embedded, and its two vectors."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Sequence

from quelea_retriever.adapters.embedder import Embedding
from quelea_retriever.adapters.store import NewPassage, version_of
from quelea_retriever.core.header import contextual_header
from quelea_retriever.core.model import DocumentFacts, PassageRecord
from quelea_retriever.core.ranking import ranking
from quelea_retriever.core.sparse_vectors import sparse_document

Embed = Callable[[Sequence[str]], Awaitable[Embedding]]


def indexed_text(header: str, table_head: str, text: str) -> str:
    """What is embedded for a passage."""
    return "\n".join(part for part in (header, table_head, text) if part)


async def vectorise(
    facts: DocumentFacts,
    passages: Sequence[PassageRecord],
    embed: Embed,
    *,
    header: bool,
    version: str = "",
) -> list[NewPassage]:
    """Passages of a document with their vectors.

    Args:
        facts: What the contextual headers say.
        passages: At least one.
        embed: Texts to unit vectors of the passage tower.
        header: Index the contextual header and the section with each passage; False only to measure their worth.
        version: To store them under; that of the facts when empty.
    """
    headers = [contextual_header(facts, passage.section) if header else "" for passage in passages]
    texts = [indexed_text(h, passage.table_head, passage.text) for h, passage in zip(headers, passages, strict=True)]
    vectors = (await embed(texts)).vectors

    def assemble() -> list[NewPassage]:
        stored_as = version or version_of(facts)
        ranking.prepare(passages)  # here, where nobody waits for it, not in the first search that finds them
        made = []
        for h, passage, vector in zip(headers, passages, vectors, strict=True):
            section = passage.section if header else ""
            words = sparse_document(h, section, passage.table_head, passage.text)
            made.append(NewPassage(stored_as, passage, vector, words, facts.language, facts.tenant, facts.collection))
        return made

    return await asyncio.to_thread(assemble)
