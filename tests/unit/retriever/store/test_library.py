"""Documents come to be live, and cease to be, in one step; what is dead is never found, what lives always is."""

import asyncio

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from quelea_kit.errors import Conflict, InvalidInput, NotFound
from quelea_kit.testing import wait_until_async
from quelea_retriever.adapters.qdrant import QdrantStore
from quelea_retriever.adapters.store import Profile, version_of
from quelea_retriever.library import Library
from quelea_retriever.settings import Settings
from quelea_retriever.testing import DIMENSION, document_id, new_passages
from support.library import add, doc, find


async def test_nothing_is_seen_before_the_commit_and_all_of_it_after(edge_library):
    await add(edge_library, doc("a"), ["one", "two"], commit=False)
    assert await find(edge_library) == []
    assert await edge_library.commit(doc("a")) == ""
    assert await find(edge_library) == ["one", "two"]


async def test_a_commit_with_too_few_passages_is_a_conflict_and_changes_nothing(edge_library):
    await add(edge_library, doc("old"), ["old 1", "old 2"])
    await add(edge_library, doc("new", passages=3), ["new 1", "new 2"], commit=False)
    with pytest.raises(Conflict, match="3 passages, but only 2"):
        await edge_library.commit(doc("new", passages=3))
    assert await find(edge_library) == ["old 1", "old 2"]
    with pytest.raises(InvalidInput):
        await edge_library.commit(doc("new", passages=0))


async def test_metadata_that_differs_between_requests_is_a_conflict(edge_library):
    await add(edge_library, doc("a", title="x"), ["one", "two"], commit=False)
    with pytest.raises(Conflict, match="only 0 are stored"):
        await edge_library.commit(doc("a", title="y"))


async def test_a_new_version_replaces_the_old_one_of_its_uri(edge_library):
    await add(edge_library, doc("old"), ["old 1", "old 2"])
    await add(edge_library, doc("beside", uri="v"), ["beside", "beside 2"])
    assert await add(edge_library, doc("new"), ["new 1", "new 2"]) == document_id("old")
    assert await find(edge_library) == ["beside", "beside 2", "new 1", "new 2"]
    old = version_of(doc("old"))
    await wait_until_async(lambda: old not in edge_library.snapshot.hidden)
    assert await edge_library.store.count(old) == 0


async def test_the_same_again_changes_nothing(edge_library):
    for _ in range(2):
        assert await add(edge_library, doc("a"), ["one", "two"]) == ""
    assert await edge_library.commit(doc("a")) == ""
    assert await find(edge_library) == ["one", "two"]


async def test_new_metadata_for_the_same_bytes_is_a_new_version_of_the_same_document(edge_library):
    await add(edge_library, doc("a", title="x"), ["one", "two"])
    assert await add(edge_library, doc("a", title="y"), ["one", "two"]) == ""
    assert await find(edge_library) == ["one", "two"]
    assert edge_library.snapshot.by_document[document_id("a")].facts.title == "y"


async def test_the_same_bytes_under_a_new_uri_are_one_document(edge_library):
    await add(edge_library, doc("a", uri="first"), ["one", "two"])
    assert await add(edge_library, doc("a", uri="second"), ["one", "two"]) == ""
    assert await find(edge_library) == ["one", "two"]
    assert [record.facts.uri for record in await edge_library.store.records()] == ["second"]


async def test_one_uri_of_two_uploaders_is_two_documents(edge_library):
    await add(edge_library, doc("a", uri="10-K", uploader="alice"), ["one", "two"])
    assert await add(edge_library, doc("b", uri="10-K", uploader="bob"), ["three", "four"]) == ""
    assert await find(edge_library) == ["four", "one", "three", "two"]
    assert await add(edge_library, doc("c", uri="10-K", uploader="bob"), ["five", "six"]) == document_id("b")
    assert await find(edge_library) == ["five", "one", "six", "two"]


async def test_the_same_bytes_from_somebody_else_stay_who_sent_them_first(edge_library):
    await add(edge_library, doc("a", uri="10-K", uploader="alice"), ["one", "two"])
    assert await add(edge_library, doc("a", uri="my 10-K", uploader="bob"), ["one", "two"]) == ""
    assert await add(edge_library, doc("b", uri="my 10-K", uploader="bob"), ["three", "four"]) == ""
    assert await find(edge_library) == ["four", "one", "three", "two"]
    assert [r.facts.uploader for r in await edge_library.store.records() if r.facts.id == document_id("a")] == ["alice"]


async def test_cut_into_fewer_passages_than_last_time(edge_library):
    await add(edge_library, doc("a", passages=4), ["1", "2", "3", "4"])
    await add(edge_library, doc("a", passages=2), ["1 2", "3 4"])
    assert await find(edge_library) == ["1 2", "3 4"]


async def test_delete_takes_out_the_document_and_what_was_unfinished(edge_library):
    await add(edge_library, doc("a"), ["one", "two"])
    await add(edge_library, doc("a", title="again"), ["one", "two"], commit=False)
    await add(edge_library, doc("b", uri="v"), ["three", "four"])
    assert await edge_library.delete(document_id("a")) == 4
    assert await find(edge_library) == ["four", "three"]
    with pytest.raises(NotFound):
        await edge_library.delete(document_id("a"))


async def test_a_running_search_keeps_what_it_began_with(edge_library):
    await add(edge_library, doc("old"), ["old 1", "old 2"])
    async with edge_library.reading() as snapshot:
        await add(edge_library, doc("new"), ["new 1", "new 2"])
        await asyncio.sleep(0.05)  # time for a removal that does not wait
        assert await find(edge_library, snapshot) == ["old 1", "old 2"]
        assert await find(edge_library) == ["new 1", "new 2"]
    await wait_until_async(lambda: not edge_library.snapshot.hidden)
    assert await edge_library.store.count(version_of(doc("old"))) == 0


async def test_a_version_that_comes_back_is_not_removed(edge_library):
    await add(edge_library, doc("first"), ["one", "two"])
    async with edge_library.reading():
        await add(edge_library, doc("second"), ["three", "four"])
        assert await add(edge_library, doc("first"), ["one", "two"]) == document_id("second")
    await wait_until_async(lambda: not edge_library.snapshot.hidden)
    assert await find(edge_library) == ["one", "two"]


names, uris = st.sampled_from("abc"), st.sampled_from(["u", "v"])
steps = st.lists(
    st.one_of(
        st.tuples(st.just("put"), names, uris),
        st.tuples(st.just("commit"), names, uris),
        st.tuples(st.just("delete"), names, uris),
        st.tuples(st.just("restart"), names, uris),
    ),
    max_size=14,
)


@settings(max_examples=60, deadline=None)
@given(steps)
def test_whatever_happens_exactly_the_live_passages_are_found(todo):
    async def play():
        store = QdrantStore(Settings(qdrant_url=":memory:"))
        library = Library(store, catalogue_ttl=0.0, retire_grace=0.0)
        await library.start()
        await store.ensure(Profile("m", DIMENSION))
        written, live = set(), {}
        for step, name, uri in todo:
            facts, texts = doc(name, uri), [f"{name} {uri} 1", f"{name} {uri} 2"]
            if step == "put":
                await library.put(facts, new_passages(facts, texts))
                written.add((name, uri))
            elif step == "commit":
                try:
                    await library.commit(facts)
                    assert (name, uri) in written
                    live = {u: n for u, n in live.items() if n != name and u != uri} | {uri: name}
                except Conflict:
                    assert live.get(uri) != name
            elif step == "delete":
                try:
                    await library.delete(document_id(name))
                except NotFound:
                    assert name not in live.values()
                live = {u: n for u, n in live.items() if n != name}
            else:
                await asyncio.gather(*library._retiring.values())
                library = Library(store, catalogue_ttl=0.0, retire_grace=0.0)
                await library.start()
            assert await find(library) == sorted(f"{n} {u} {i}" for u, n in live.items() for i in (1, 2))
        await asyncio.gather(*library._retiring.values())
        assert await find(library) == sorted(f"{n} {u} {i}" for u, n in live.items() for i in (1, 2))
        await library.close()

    asyncio.run(play())


async def test_a_record_is_renewed_over_the_passages_that_are_there(edge_library):
    first, later = doc("a", title="x", company="X", fetched="2026-01-01"), "2026-02-01T00:00:00"
    await add(edge_library, first, ["one", "two"])
    renewed = doc("a", title="y", company="X", provenance="web", fetched=later)  # headed by the company, not the title
    assert await edge_library.commit(renewed) == ""
    assert await find(edge_library) == ["one", "two"]
    assert edge_library.snapshot.by_document[document_id("a")].facts == renewed
    assert await edge_library.store.versions() == {version_of(first): 2}
    await edge_library.collect()
    assert await find(edge_library) == ["one", "two"]
    assert await add(edge_library, renewed, ["one", "two"]) == ""  # and it may be sent whole again
    await wait_until_async(lambda: not edge_library._retiring)
    assert await edge_library.store.versions() == {version_of(renewed): 2}
    assert await find(edge_library) == ["one", "two"]


@pytest.mark.parametrize(
    "wrong",
    [
        doc("a", title="another header"),
        doc("a", title="x", ticker="T", passages=1),
        doc("a", title="x", uri="elsewhere"),
        doc("b", title="x"),
    ],
)
async def test_no_record_is_renewed_whose_passages_would_not_fit(edge_library, wrong):
    await add(edge_library, doc("a", title="x"), ["one", "two"])
    with pytest.raises(Conflict):
        await edge_library.commit(wrong)
    assert await find(edge_library) == ["one", "two"]
    assert edge_library.snapshot.by_document[document_id("a")].facts == doc("a", title="x")


async def test_a_half_written_new_version_is_not_taken_for_a_renewal(edge_library):
    await add(edge_library, doc("a", title="x", company="X"), ["one", "two"])
    half = doc("a", title="y", company="X")
    await edge_library.put(half, new_passages(half, ["one"]))
    with pytest.raises(Conflict, match="but only 1"):
        await edge_library.commit(half)
    assert edge_library.snapshot.by_document[document_id("a")].facts.title == "x"


@pytest.mark.parametrize("moment", ["stamp", "follow", "records"])
async def test_an_alias_that_is_moved_in_the_middle_of_a_refresh_is_followed_at_the_next_look(monkeypatch, moment):
    """What a refresh remembers must be older than what it looked at: a stamp read after the move would hide it."""
    settings = Settings(qdrant_url=":memory:")
    store = QdrantStore(settings)
    library = Library(store, catalogue_ttl=0.0)
    await library.start()
    await store.ensure(Profile("m", DIMENSION))
    await add(library, doc("a"), ["one", "two"])
    restored = QdrantStore(settings, store.client, collection="quelea-restored")
    await restored.ensure(Profile("m", DIMENSION))
    asked = getattr(store, moment)

    async def asked_before_the_move(*args):
        answer = await asked(*args)
        await store.aliases.name_live("quelea-restored")
        return answer

    with monkeypatch.context() as patch:
        patch.setattr(store, moment, asked_before_the_move)
        await library.refresh()
    async with library.reading():
        pass
    assert library.store.collection == "quelea-restored"
    async with library.reading() as snapshot:
        assert not snapshot.by_document
    await library.close()
