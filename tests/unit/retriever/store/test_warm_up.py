"""Passages are read for ranking when they are stored, and after a start in the background."""

from types import SimpleNamespace

import numpy as np
import pytest
from quelea_kit.errors import Unavailable
from quelea_retriever import warm_up
from quelea_retriever.adapters.embedder import Embedding
from quelea_retriever.adapters.store import DocumentRecord
from quelea_retriever.core.model import DocumentFacts, PassageRecord
from quelea_retriever.core.ranking import ranking
from quelea_retriever.passage_vectors import vectorise
from quelea_retriever.testing import DIMENSION


def passages(name, count):
    return [PassageRecord(f"{name}{i}", name, i, 1, 0, 4, "text") for i in range(count)]


class Store:
    broken = False

    async def passages(self, version):
        if self.broken:
            raise Unavailable("gone")
        name, count = version.split()
        return passages(name, int(count))


def a_library(**sizes):
    records = [
        DocumentRecord(f"{name} {size}", DocumentFacts(name, passages=size), committed=float(day))
        for day, (name, size) in enumerate(sizes.items())
    ]
    return SimpleNamespace(store=Store(), snapshot=SimpleNamespace(by_version={r.version: r for r in records}))


@pytest.fixture
def prepared(monkeypatch):
    slices = []
    monkeypatch.setattr(ranking, "prepare", lambda part: slices.append([passage.id for passage in part]))
    monkeypatch.setattr(warm_up, "_PAUSE_SECONDS", 0)
    return slices


async def test_what_was_committed_last_is_warmed_last_in_small_slices(prepared):
    assert await warm_up.warm(a_library(old=2, new=40)) == 42
    assert max(len(part) for part in prepared) <= 4
    assert [one for part in prepared for one in part] == [f"old{i}" for i in range(2)] + [f"new{i}" for i in range(40)]


async def test_warming_is_bounded(prepared):
    assert await warm_up.warm(a_library(oldest=3, huge=1001, old=3, new=4), limit=8) == 7
    assert {one.rstrip("0123456789") for part in prepared for one in part} == {"old", "new"}


async def test_a_store_that_fails_ends_it(prepared):
    library = a_library(one=2)
    library.store.broken = True
    assert await warm_up.warm(library) == 0
    assert prepared == []


async def test_what_is_stored_is_prepared(prepared):
    async def embed(texts):
        return Embedding(vectors=np.zeros((len(texts), DIMENSION), dtype=np.float32), model="m")

    made = await vectorise(DocumentFacts("d"), passages("d", 3), embed, header=True)
    assert prepared == [[new.passage.id for new in made]]
