"""Candidates are of live documents only, whatever the store answers, and their number has a bound."""

import numpy as np
from quelea_retriever.adapters.store import DocumentRecord, Found, Scope, version_of
from quelea_retriever.core.model import DocumentFacts
from quelea_retriever.search import search_live
from quelea_retriever.snapshot import Snapshot
from quelea_retriever.testing import document_id, new_passages

NOTHING = np.zeros(0, np.uint32), np.zeros(0, np.float32)


def doc(name):
    return DocumentFacts(id=document_id(name), uri=name, passages=1)


class Scripted:
    """A store that answers every search with the same passages, of those versions that the scope lets through."""

    def __init__(self, names):
        self.asked = []
        self._found = [
            Found(version_of(doc(name)), new_passages(doc(name), [name])[0].passage, 0.5, 1.0) for name in names
        ]

    async def search(self, dense, sparse, scope, limit):
        self.asked.append((scope, limit))
        return [
            found
            for found in self._found
            if (scope.only is None or found.version in scope.only) and found.version not in scope.exclude
        ]


def snapshot(names, hidden=()):
    records = [DocumentRecord(version_of(doc(name)), doc(name), 1.0) for name in names]
    return Snapshot.of(records).hiding(version_of(doc(name)) for name in hidden)


async def run(store, live, groups, limit=200):
    found = await search_live(store, live, np.zeros(2, np.float32), NOTHING, groups, limit)
    return sorted(candidate.passage.text for candidate in found)


async def test_all_documents_are_searched_without_what_is_known_to_be_hidden():
    store = Scripted("abc")
    assert await run(store, snapshot("ab", hidden="c"), [None]) == ["a", "b"]
    assert store.asked == [(Scope(exclude=(version_of(doc("c")),)), 200)]


async def test_a_version_that_nobody_told_us_of_takes_no_place():
    store = Scripted("abc")
    assert await run(store, snapshot("ab"), [None]) == ["a", "b"]
    assert [set(scope.only or ()) for scope, _ in store.asked] == [set(), {version_of(doc("a")), version_of(doc("b"))}]


async def test_each_group_is_searched_and_a_passage_comes_once():
    store = Scripted("abc")
    ids = {name: document_id(name) for name in "abcx"}
    groups = [(ids["a"], ids["b"]), (ids["b"], ids["x"]), ()]
    assert await run(store, snapshot("abc"), groups) == ["a", "b"]
    assert len(store.asked) == 2


async def test_many_groups_share_the_candidates():
    groups = [(document_id("a"),)] * 5
    for count, limit in ((1, 200), (2, 200), (5, 80), (40, 30)):
        store = Scripted("a")
        await run(store, snapshot("a"), (groups * 8)[:count])
        assert {asked for _, asked in store.asked} == {limit}
    store = Scripted("a")
    await run(store, snapshot("a"), groups * 8, limit=10)
    assert {asked for _, asked in store.asked} == {10}


async def test_without_documents_the_store_is_not_asked():
    store = Scripted("a")
    assert await run(store, snapshot(""), [None]) == []
    assert store.asked == []
