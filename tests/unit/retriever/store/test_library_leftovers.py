"""What a commit, a restart, a crash or another replica left behind is never found, and is removed in its time."""

from quelea_kit.testing import wait_until_async
from quelea_retriever.adapters.qdrant import QdrantStore
from quelea_retriever.adapters.qdrant_edge import QdrantEdgeStore
from quelea_retriever.adapters.store import DocumentRecord, Profile, version_of
from quelea_retriever.library import Library
from quelea_retriever.settings import Settings
from quelea_retriever.testing import DIMENSION, memory_folder, new_passages
from support.library import Clock, add, doc, find


async def test_what_was_never_finished_is_removed_after_its_time(edge_library):
    clock = edge_library._clock
    await add(edge_library, doc("live", uri="v"), ["live", "live 2"])
    await add(edge_library, doc("dead"), ["one", "two"], commit=False)
    clock.now += 3599
    await edge_library.collect()
    assert await edge_library.store.count(version_of(doc("dead"))) == 2
    clock.now += 2
    await edge_library.collect()
    assert await edge_library.store.versions() == {version_of(doc("live", uri="v")): 2}
    assert edge_library.snapshot.hidden == frozenset()


async def test_a_clock_that_jumps_makes_nothing_old_that_is_under_way(edge_library):
    """As after a laptop's sleep: its passages were written a moment ago, and hours ago by the clock."""
    edge_library._monotonic = lambda: 7.0
    await add(edge_library, doc("a"), ["one", "two"], commit=False)
    edge_library._clock.now += 8 * 3600
    await edge_library.collect()
    assert await edge_library.commit(doc("a")) == ""
    assert await find(edge_library) == ["one", "two"]


async def test_an_unfinished_version_survives_a_restart_unseen_and_can_be_finished():
    with memory_folder() as folder:
        library = Library(QdrantEdgeStore(folder, sync=False))
        await library.start()
        await library.store.ensure(Profile("m", DIMENSION))
        await add(library, doc("a"), ["one", "two"], commit=False)
        await library.close()
        library = Library(QdrantEdgeStore(folder, sync=False))
        await library.start()
        assert await find(library) == []
        await library.commit(doc("a"))
        assert await find(library) == ["one", "two"]
        await library.close()


async def test_a_commit_that_died_between_two_records_leaves_one_document(edge_library):
    first, second = doc("a", uri="first"), doc("a", uri="second")
    await add(edge_library, first, ["one", "two"])
    await edge_library.put(second, new_passages(second, ["one", "two"]))
    await edge_library.store.put_record(DocumentRecord(version_of(second), second, Clock.now + 1))
    await edge_library.refresh()
    assert await find(edge_library) == ["one", "two"]
    await edge_library.collect()
    assert [record.facts.uri for record in await edge_library.store.records()] == ["second"]


async def test_another_replica_sees_a_commit_and_still_has_the_old_version_meanwhile():
    store = QdrantStore(Settings(qdrant_url=":memory:"))
    ours = Library(store, catalogue_ttl=0.0, retire_grace=0.0)
    theirs = Library(store, catalogue_ttl=0.05, retire_grace=0.2)
    await ours.start()
    await store.ensure(Profile("m", DIMENSION))
    await theirs.start()
    await add(theirs, doc("old"), ["old 1", "old 2"])
    async with ours.reading() as snapshot:
        assert await find(ours, snapshot) == ["old 1", "old 2"]
        await add(theirs, doc("new"), ["new 1", "new 2"])
        assert await find(ours, snapshot) == ["old 1", "old 2"]  # not noticed yet, and still whole
    async with ours.reading() as snapshot:
        assert await find(ours, snapshot) == ["new 1", "new 2"]
    await wait_until_async(lambda: not theirs._retiring)
    assert await store.versions() == {version_of(doc("new")): 2}
    await ours.close()


async def test_orphans_in_a_shared_store_are_looked_at_twice():
    store, clock = QdrantStore(Settings(qdrant_url=":memory:")), Clock()
    library = Library(store, clock=clock, monotonic=clock)
    await library.start()
    await store.ensure(Profile("m", DIMENSION))
    await add(library, doc("dead"), ["one", "two"], commit=False)
    clock.now += 4000
    await library.collect()
    assert await store.count(version_of(doc("dead"))) == 2
    await library.collect()
    assert await store.versions() == {}
