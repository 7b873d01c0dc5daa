"""A library of documents in memory, and what the tests of its life put into it and find again."""

from quelea_retriever.core.model import DocumentFacts
from quelea_retriever.core.sparse_vectors import sparse_query
from quelea_retriever.search import search_live
from quelea_retriever.testing import document_id, new_passages


def doc(name, uri="u", passages=2, **more):
    return DocumentFacts(id=document_id(name), uri=uri, passages=passages, **more)


class Clock:
    now = 1_000_000.0

    def __call__(self):
        return self.now


async def add(library, facts, texts, commit=True):
    await library.put(facts, new_passages(facts, texts))
    return await library.commit(facts) if commit else ""


async def find(library, snapshot=None):
    probe = new_passages(doc("probe"), ["probe"])[0]
    found = await search_live(
        library.store, snapshot or library.snapshot, probe.dense, sparse_query("words"), [None], 50
    )
    return sorted(candidate.passage.text for candidate in found)
