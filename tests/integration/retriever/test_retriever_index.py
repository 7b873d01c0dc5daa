"""The index is built in another process, while searches and writes go on, and nothing is lost by it."""

import asyncio
import time

import pytest
from quelea_kit.errors import Unavailable
from quelea_retriever.adapters import edge_build
from quelea_retriever.adapters.qdrant_edge import QdrantEdgeStore
from quelea_retriever.adapters.store import DocumentRecord, Profile, Scope, version_of
from quelea_retriever.core.analysis import sparse_query
from quelea_retriever.core.model import DocumentFacts
from quelea_retriever.testing import DIMENSION, document_id, memory_folder, new_passages


def facts(name):
    return DocumentFacts(id=document_id(name), uri=name, passages=2)


async def add(store, name, texts):
    await store.put_passages(new_passages(facts(name), texts), written=1.0)
    await store.put_record(DocumentRecord(version_of(facts(name)), facts(name), 1.0))


async def found(store):
    probe = new_passages(facts("probe"), ["probe"])[0]
    return {f.passage.text for f in await store.search(probe.dense, sparse_query("text"), Scope(), 50)}


@pytest.fixture
async def store():
    with memory_folder() as folder:
        one = QdrantEdgeStore(folder, sync=False, index_above=5)
        await one.open()
        await one.ensure(Profile("m", DIMENSION))
        for name in "abc":
            await add(one, name, [f"text {name} 1", f"text {name} 2"])
        yield one
        await one.close()


async def test_changes_during_the_build_are_in_the_new_shard(store, monkeypatch):
    during = asyncio.Event()
    real = edge_build.optimize

    async def slow(path):
        await real(path)
        await add(store, "d", ["text d 1", "text d 2"])
        await store.delete_passages(version_of(facts("a")))
        await store.delete_record("b")
        assert await found(store) == {f"text {n} {i}" for n in "bcd" for i in (1, 2)}
        during.set()

    monkeypatch.setattr(edge_build, "optimize", slow)
    assert not await store.indexed()
    await store.maintain()
    assert during.is_set()
    assert await store.indexed()
    assert await found(store) == {f"text {n} {i}" for n in "bcd" for i in (1, 2)}
    assert {r.facts.uri for r in await store.records()} == {"a", "c", "d"}
    assert sorted(path.name for path in store.folder.iterdir()) == ["CURRENT", "LOCK", "shard-000002"]
    await store.maintain()  # nothing to do: not a quarter more than there was
    assert (store.folder / "CURRENT").read_text() == "shard-000002"
    await add(store, "e", ["text e 1", "text e 2"])
    await store.close()
    again = QdrantEdgeStore(store.folder)
    await again.open()
    assert await again.indexed()
    assert await found(again) == {f"text {n} {i}" for n in "bcde" for i in (1, 2)}
    await again.close()


async def test_a_build_that_fails_leaves_everything_as_it_was(store, monkeypatch):
    async def broken(path):
        for file in path.glob("segments/*/segment.json"):
            file.write_text("no segment")
        await real(path)

    real = edge_build.optimize
    monkeypatch.setattr(edge_build, "optimize", broken)
    with pytest.raises(Unavailable, match="could not be built"):
        await store.maintain()
    assert len(await found(store)) == 6
    assert not await store.indexed()
    assert sorted(path.name for path in store.folder.iterdir()) == ["CURRENT", "LOCK", "shard-000001"]


async def test_a_build_with_too_many_changes_is_given_up(store, monkeypatch):
    from quelea_retriever.adapters import qdrant_edge

    async def busy(path):
        await real(path)
        await add(store, "d", ["text d 1", "text d 2"])

    real = edge_build.optimize
    monkeypatch.setattr(edge_build, "optimize", busy)
    monkeypatch.setattr(qdrant_edge, "_JOURNAL_LIMIT", 1)
    with pytest.raises(Unavailable, match="rebuilt later"):
        await store.maintain()
    assert len(await found(store)) == 8


@pytest.mark.parametrize("step", ["_copy", "_swap"])
async def test_a_build_that_is_cancelled_leaves_a_whole_store(store, monkeypatch, step):
    real, loop, build = getattr(store, step), asyncio.get_running_loop(), None

    def cancelled(*arguments, **more):
        loop.call_soon_threadsafe(build.cancel)
        time.sleep(0.05)  # the task is gone before this thread is done
        return real(*arguments, **more)

    monkeypatch.setattr(store, step, cancelled)
    build = asyncio.create_task(store.maintain())
    with pytest.raises(asyncio.CancelledError):
        await build
    monkeypatch.undo()
    await add(store, "d", ["text d 1", "text d 2"])
    assert len(await found(store)) == 8
    await store.close()
    again = QdrantEdgeStore(store.folder)
    await again.open()
    assert len(await found(again)) == 8
    assert len(list(store.folder.glob("shard-*"))) == 1
    await again.close()


async def test_small_stores_and_switched_off_indexes_are_left_alone(store):
    store._index_above = 50
    await store.maintain()
    store._index_above = 0
    await store.maintain()
    assert not await store.indexed()
