"""Entries: collections beside the documents, over a real server and both kinds of store."""

from __future__ import annotations

import contextlib
from collections.abc import AsyncIterator
from pathlib import Path

import pytest
from quelea.retriever.v1 import retriever_pb2
from quelea_kit.client import unary
from quelea_kit.errors import Conflict, InvalidInput, TooLarge
from quelea_kit.testing import wait_until_async
from quelea_retriever.adapters.fake_embedder import FakeEmbedder
from quelea_retriever.adapters.qdrant import QdrantStore
from quelea_retriever.settings import Settings
from quelea_retriever.testing import RunningRetriever, memory_folder, running_retriever, upsert_request

PRICES = ("prices", "historical prices of a stock", "Stock")
YIELDS = ("yields", "yield curve of government bonds", "Bond")
RATES = ("rates", "interest rate decisions", "Macro")


def request(
    version: str,
    *entries: tuple[str, str, str],
    commit: bool = True,
    total: int | None = None,
    collection: str = "tools",
) -> retriever_pb2.UpsertEntriesRequest:
    return retriever_pb2.UpsertEntriesRequest(
        collection=collection,
        version=version,
        entries=[
            retriever_pb2.Entry(id=name, text=text, category=category, payload=f"payload of {name}")
            for name, text, category in entries
        ],
        commit=commit,
        total=len(entries) if total is None else total,
    )


def query(text: str, **more: object) -> retriever_pb2.SearchEntriesRequest:
    return retriever_pb2.SearchEntriesRequest(**{"collection": "tools", "query": text, **more})  # type: ignore[arg-type]  # field types differ


@contextlib.asynccontextmanager
async def retriever(kind: str, folder: Path, **limits: object) -> AsyncIterator[RunningRetriever]:
    server = {"store": "qdrant", "qdrant_url": ":memory:", "retire_grace_seconds": 0.1} if kind == "qdrant" else {}
    settings = Settings(data_dir=folder, sync_writes=False, **server, **limits)  # type: ignore[arg-type]  # field types differ
    store = QdrantStore(settings) if kind == "qdrant" else None
    async with running_retriever(folder, settings=settings, store=store) as running:
        yield running


@pytest.fixture(params=["qdrant_edge", "qdrant"])
async def running(request: pytest.FixtureRequest) -> AsyncIterator[RunningRetriever]:
    with memory_folder() as folder:
        async with retriever(request.param, folder) as one:
            yield one


async def test_nothing_is_found_before_the_commit_and_all_of_it_after(running: RunningRetriever) -> None:
    stub = running.stub
    answer = await unary(stub.SearchEntries(query("stock prices")))
    assert (list(answer.entries), answer.version) == ([], "")
    await unary(stub.UpsertEntries(request("v1", PRICES, YIELDS, commit=False)))
    assert not (await unary(stub.SearchEntries(query("stock prices")))).entries
    state = await unary(stub.GetCollection(retriever_pb2.GetCollectionRequest(collection="tools")))
    assert (state.version, state.count) == ("", 0)
    with pytest.raises(Conflict, match="3 entries, 2 are stored"):
        await unary(stub.UpsertEntries(request("v1", commit=True, total=3)))
    await unary(stub.UpsertEntries(request("v1", RATES, total=3)))
    state = await unary(stub.GetCollection(retriever_pb2.GetCollectionRequest(collection="tools")))
    assert (state.version, state.count) == ("v1", 3)
    answer = await unary(stub.SearchEntries(query("historical prices of a stock")))
    assert answer.version == "v1"
    assert {one.id for one in answer.entries} == {"prices", "yields", "rates"}
    best = answer.entries[0]
    assert (best.id, best.category, best.payload) == ("prices", "Stock", "payload of prices")
    assert best.cosine == pytest.approx(max(one.cosine for one in answer.entries))


async def test_modes_categories_and_k(running: RunningRetriever) -> None:
    stub = running.stub
    await unary(stub.UpsertEntries(request("v1", PRICES, YIELDS, RATES)))
    words = await unary(stub.SearchEntries(query("yield curve", mode=retriever_pb2.SEARCH_MODE_SPARSE)))
    assert [one.id for one in words.entries] == ["yields"]
    dense = await unary(stub.SearchEntries(query("yield curve", mode=retriever_pb2.SEARCH_MODE_DENSE)))
    scores = [one.score for one in dense.entries]
    assert len(scores) == 3
    assert scores == sorted(scores, reverse=True) == [one.cosine for one in dense.entries]
    some = await unary(stub.SearchEntries(query("yield curve", categories=["Macro", "Stock"])))
    assert {one.category for one in some.entries} == {"Macro", "Stock"}
    assert len((await unary(stub.SearchEntries(query("yield curve", k=1)))).entries) == 1


async def test_a_new_version_replaces_the_old_one_at_once(running: RunningRetriever) -> None:
    stub = running.stub
    await unary(stub.UpsertEntries(request("v1", PRICES, YIELDS)))
    await unary(stub.UpsertEntries(request("v2", RATES, commit=False)))
    assert (await unary(stub.SearchEntries(query("interest rate decisions")))).version == "v1"
    await unary(stub.UpsertEntries(request("v2", commit=True, total=1)))
    answer = await unary(stub.SearchEntries(query("historical prices of a stock")))
    assert ([one.id for one in answer.entries], answer.version) == (["rates"], "v2")
    await unary(stub.UpsertEntries(request("v1", PRICES, YIELDS)))  # back again, perhaps before it was removed
    answer = await unary(stub.SearchEntries(query("yield curve")))
    assert {one.id for one in answer.entries} == {"prices", "yields"}


async def test_documents_and_collections_do_not_see_one_another(running: RunningRetriever) -> None:
    stub = running.stub
    await unary(stub.Upsert(upsert_request("filing", ["net sales of iPhone grew"])))
    await unary(stub.UpsertEntries(request("v1", PRICES)))
    await unary(stub.UpsertEntries(request("w1", YIELDS, collection="others")))
    found = await unary(stub.Search(retriever_pb2.SearchRequest(query="historical prices of a stock")))
    assert [one.passage.text for one in found.passages] == ["net sales of iPhone grew"]
    assert [one.id for one in (await unary(stub.SearchEntries(query("yield curve")))).entries] == ["prices"]
    stats = await unary(stub.GetStats(retriever_pb2.GetStatsRequest()))
    assert (stats.documents, stats.passages) == (1, 1)


@pytest.mark.parametrize(
    "bad",
    [
        request("v1", PRICES, PRICES),
        request("v1", PRICES, collection="../x"),
        request("", PRICES),
        request("v" * 129, PRICES),
        request("v1", ("", "text", "Stock")),
        request("v1", ("x" * 201, "text", "Stock")),
        request("v1", ("a", " ", "Stock")),
        request("v1", ("a", "x" * 20_001, "Stock")),
        request("v1", ("a", "text", "x" * 101)),
        request("v1", commit=False),
        request("v1", PRICES, total=0),
        request("v1", PRICES, total=20_001),
    ],
)
async def test_requests_that_cannot_be_right_are_refused(bad: retriever_pb2.UpsertEntriesRequest) -> None:
    with memory_folder() as folder:
        async with retriever("qdrant_edge", folder) as one:
            with pytest.raises(InvalidInput):
                await unary(one.stub.UpsertEntries(bad))


async def test_there_is_a_most_of_collections_and_of_entries() -> None:
    with memory_folder() as folder:
        async with retriever("qdrant_edge", folder, max_collections=1, max_entries=1) as one:
            await unary(one.stub.UpsertEntries(request("v1", PRICES)))
            with pytest.raises(TooLarge, match="already 1 entry collections"):
                await unary(one.stub.UpsertEntries(request("v1", PRICES, collection="others")))
            with pytest.raises(TooLarge, match="at most 1 entries"):
                await unary(one.stub.UpsertEntries(request("v2", PRICES, YIELDS, RATES, commit=False)))
        async with retriever("qdrant_edge", folder, max_collections=1) as one:
            with pytest.raises(TooLarge, match="already 1 entry collections"):
                await unary(one.stub.UpsertEntries(request("v1", PRICES, collection="others")))


async def test_a_collection_is_there_after_a_restart_and_gone_with_another_encoder() -> None:
    with memory_folder() as folder:
        async with retriever("qdrant_edge", folder) as one:
            await unary(one.stub.UpsertEntries(request("v1", PRICES, YIELDS)))
        async with retriever("qdrant_edge", folder) as one:
            state = await unary(one.stub.GetCollection(retriever_pb2.GetCollectionRequest(collection="tools")))
            assert (state.version, state.count) == ("v1", 2)
        settings = Settings(data_dir=folder / "fresh", sync_writes=False)
        (folder / "fresh").mkdir()
        (folder / "entries").rename(folder / "fresh" / "entries")
        other = FakeEmbedder(name="another encoder")
        async with running_retriever(folder / "fresh", settings=settings, embedder=other) as one:
            get = retriever_pb2.GetCollectionRequest(collection="tools")
            assert (await unary(one.stub.GetCollection(get))).version == ""
            await unary(one.stub.UpsertEntries(request("v1", RATES)))
            assert (await unary(one.stub.GetCollection(get))).count == 1
        assert len(list((folder / "fresh" / "entries").iterdir())) == 1


async def test_what_was_replaced_is_removed_from_the_store() -> None:
    with memory_folder() as folder:
        async with retriever("qdrant_edge", folder) as one:
            await unary(one.stub.UpsertEntries(request("v1", PRICES, YIELDS)))
            await unary(one.stub.UpsertEntries(request("v2", RATES)))
            (library,) = one.servicer.collections._open.values()
            await wait_until_async(lambda: not library._retiring, what="the old version to be removed")
            assert list((await library.store.versions()).values()) == [1]
