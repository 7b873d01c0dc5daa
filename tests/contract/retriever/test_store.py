"""What every store must do; the embedded one and the server one (through qdrant-client's local mode) both do it."""

import dataclasses

import numpy as np
import pytest
from quelea_fintext.times.periods import ReportingPeriod
from quelea_kit.errors import Conflict
from quelea_kit.reach import Reach
from quelea_retriever.adapters.qdrant import QdrantStore
from quelea_retriever.adapters.qdrant_edge import QdrantEdgeStore
from quelea_retriever.adapters.store import DocumentRecord, Profile, Scope, version_of
from quelea_retriever.core.model import DocumentFacts
from quelea_retriever.core.sparse_vectors import sparse_query
from quelea_retriever.settings import Settings
from quelea_retriever.testing import DIMENSION, document_id, memory_folder, new_passages

PROFILE = Profile("model-1", DIMENSION)
APPLE = DocumentFacts(
    id=document_id("apple"),
    title="10-Q",
    uri="upload:apple.pdf",
    language="en",
    company="Apple",
    company_aliases=("Apple Inc.", "苹果"),
    ticker="AAPL",
    period=ReportingPeriod("FY2023 Q3", 2023, 3, "2023-07-01", "2023 Q3"),
    published="2023-08-04",
    provenance="upload",
    pages=2,
    passages=3,
    fetched="2026-01-02T03:04:05+00:00",
)
OTHER = DocumentFacts(id=document_id("other"), uri="upload:other.pdf", passages=2)
APPLE_TEXTS = ["net sales of iPhone grew", "gross margin fell", "苹果公司的净销售额"]
OTHER_TEXTS = ["net sales of bread", "the board met"]


@pytest.fixture(params=["qdrant_edge", "qdrant"])
async def any_store(request):
    with memory_folder() as folder:
        if request.param == "qdrant_edge":
            store = QdrantEdgeStore(folder, sync=False)
        else:
            store = QdrantStore(Settings(qdrant_url=":memory:"))
        assert await store.open() is None
        yield store
        await store.close()


@pytest.fixture
async def two_documents(any_store):
    await any_store.ensure(PROFILE)
    for facts, texts in ((APPLE, APPLE_TEXTS), (OTHER, OTHER_TEXTS)):
        await any_store.put_passages(new_passages(facts, texts), written=1000.7)
        await any_store.put_record(DocumentRecord(version_of(facts), facts, 1000.7))
    return any_store


async def search(store, scope=None, limit=10, query="net sales", vector=None):
    dense = new_passages(APPLE, APPLE_TEXTS)[1].dense if vector is None else vector
    return await store.search(dense, sparse_query(query), scope or Scope(), limit)


def texts(found):
    return {f.passage.text for f in found}


async def test_a_store_without_anything_answers_with_nothing(any_store):
    assert await search(any_store) == []
    assert await any_store.records() == []
    assert await any_store.versions() == {}
    assert await any_store.count("x") == 0
    assert await any_store.passages("x") == []
    assert await any_store.indexed() is False
    await any_store.check()
    await any_store.maintain()


async def test_records_come_back_as_they_were_written(two_documents):
    records = {record.facts.uri: record for record in await two_documents.records()}
    assert records[APPLE.uri] == DocumentRecord(version_of(APPLE), APPLE, 1000.7)
    assert records[OTHER.uri].facts == OTHER


async def test_more_records_than_one_page_of_a_scroll(any_store):
    await any_store.ensure(PROFILE)
    for n in range(1003):
        facts = DocumentFacts(id=document_id(str(n)), uri=f"u{n}")
        await any_store.put_record(DocumentRecord(version_of(facts), facts, float(n)))
    assert {r.facts.uri for r in await any_store.records()} == {f"u{n}" for n in range(1003)}


async def test_a_record_replaces_the_one_of_its_uri_only(two_documents):
    newer = DocumentFacts(id=document_id("apple 2"), uri=APPLE.uri, passages=1)
    await two_documents.put_record(DocumentRecord(version_of(newer), newer, 2000.0))
    assert {r.facts.id for r in await two_documents.records()} == {newer.id, OTHER.id}


async def test_a_removed_record_is_gone_and_removing_it_again_does_nothing(two_documents):
    await two_documents.delete_record(APPLE.uri)
    await two_documents.delete_record(APPLE.uri)
    assert [r.facts.id for r in await two_documents.records()] == [OTHER.id]
    assert await two_documents.count(version_of(APPLE)) == 3  # passages are not the record's business


async def test_the_stamp_changes_with_records_and_only_then(two_documents):
    stamp = await two_documents.stamp()
    await two_documents.put_passages(new_passages(APPLE, APPLE_TEXTS), written=1001)
    assert await two_documents.stamp() == stamp
    await two_documents.delete_record(OTHER.uri)
    assert await two_documents.stamp() != stamp


async def test_every_found_passage_has_both_scores(two_documents):
    vector = new_passages(APPLE, APPLE_TEXTS)[1].dense
    expected = {
        new.passage.text: float(np.dot(new.dense, vector))
        for facts, some in ((APPLE, APPLE_TEXTS), (OTHER, OTHER_TEXTS))
        for new in new_passages(facts, some)
    }
    for limit in (1, 2, 10):
        found = await search(two_documents, limit=limit, vector=vector)
        assert len(found) == len(texts(found))
        for one in found:
            assert one.cosine == pytest.approx(expected[one.passage.text], abs=1e-5)
            assert (one.sparse > 0) == ("net sales" in one.passage.text)
        assert "gross margin fell" in texts(found)  # the nearest
        assert any("net sales" in text for text in texts(found))  # the best by words
    assert len(found) == 5


async def test_sparse_scores_weigh_rare_words_more(two_documents):
    rare, common = await search(two_documents, query="bread"), await search(two_documents, query="net")
    assert max(f.sparse for f in rare) > max(f.sparse for f in common) > 0


async def test_a_query_without_words_finds_by_meaning_alone(two_documents):
    found = await search(two_documents, query="???", limit=2)
    assert len(found) == 2
    assert {f.sparse for f in found} == {0.0}


async def test_passages_come_back_as_they_were_written(two_documents):
    (best,) = [f for f in await search(two_documents) if f.passage.ordinal == 2]
    assert best.passage == new_passages(APPLE, APPLE_TEXTS)[2].passage
    assert best.version == version_of(APPLE)
    assert await two_documents.passages(version_of(APPLE)) == [n.passage for n in new_passages(APPLE, APPLE_TEXTS)]


async def test_only_and_exclude_bound_a_search(two_documents):
    apple, other = version_of(APPLE), version_of(OTHER)
    assert texts(await search(two_documents, Scope(only=(apple,)))) == set(APPLE_TEXTS)
    assert texts(await search(two_documents, Scope(exclude=(apple,)))) == set(OTHER_TEXTS)
    assert texts(await search(two_documents, Scope(only=(apple, other)))) == {*APPLE_TEXTS, *OTHER_TEXTS}
    assert texts(await search(two_documents, Scope(only=(apple, other), exclude=(other,)))) == set(APPLE_TEXTS)
    assert await search(two_documents, Scope(only=())) == []


async def test_writing_again_changes_nothing(two_documents):
    before = sorted(await search(two_documents), key=lambda f: f.passage.id)
    await two_documents.put_passages(new_passages(APPLE, APPLE_TEXTS), written=1000.7)
    assert await two_documents.count(version_of(APPLE)) == 3
    after = sorted(await search(two_documents), key=lambda f: f.passage.id)
    assert [f.passage for f in after] == [f.passage for f in before]
    assert [f.sparse for f in after] == pytest.approx([f.sparse for f in before], abs=1e-4)


async def test_counts_look_at_version_and_time(two_documents):
    assert await two_documents.versions() == {version_of(APPLE): 3, version_of(OTHER): 2}
    assert await two_documents.count(version_of(APPLE)) == 3
    assert await two_documents.count(version_of(APPLE), written_since=1000) == 3
    assert await two_documents.count(version_of(APPLE), written_since=1001) == 0


async def test_passages_are_removed_by_version_and_by_ordinal(two_documents):
    assert await two_documents.delete_passages(version_of(APPLE), [0, 2, 9]) == 2
    assert [p.ordinal for p in await two_documents.passages(version_of(APPLE))] == [1]
    assert await two_documents.delete_passages(version_of(APPLE)) == 1
    assert await two_documents.delete_passages(version_of(APPLE)) == 0
    assert await two_documents.versions() == {version_of(OTHER): 2}
    assert texts(await search(two_documents)) == set(OTHER_TEXTS)


async def test_two_versions_of_a_document_stand_beside_each_other(two_documents):
    renamed = DocumentFacts(id=APPLE.id, uri=APPLE.uri, title="other title", passages=1)
    await two_documents.put_passages(new_passages(renamed, ["new text"]), written=2000)
    assert texts(await search(two_documents, Scope(only=(version_of(renamed),)))) == {"new text"}
    assert texts(await search(two_documents, Scope(only=(version_of(APPLE),)))) == set(APPLE_TEXTS)


@pytest.mark.parametrize(
    "profile",
    [Profile("model-2", DIMENSION), Profile("model-1", 16), Profile("model-1", DIMENSION, header=False)],
)
async def test_vectors_of_two_profiles_are_never_mixed(two_documents, profile):
    await two_documents.ensure(PROFILE)
    with pytest.raises(Conflict, match="reembed"):
        await two_documents.ensure(profile)
    assert await two_documents.open() == PROFILE


async def test_a_search_can_be_kept_to_sections(two_documents):
    facts = DocumentFacts(id=document_id("third"), uri="upload:third.pdf", passages=2)
    passages = [
        dataclasses.replace(new, passage=dataclasses.replace(new.passage, section=section))
        for new, section in zip(
            new_passages(facts, ["net sales of a", "net sales of b"]), ("Fund", "Bond"), strict=True
        )
    ]
    await two_documents.put_passages(passages, written=1000.0)
    only = (version_of(facts),)
    assert texts(await search(two_documents, Scope(only=only, sections=("Bond",)))) == {"net sales of b"}
    assert texts(await search(two_documents, Scope(sections=("Bond", "Fund")))) == {"net sales of a", "net sales of b"}
    assert await search(two_documents, Scope(only=only, sections=("Stock",))) == []
    assert texts(await search(two_documents, Scope(exclude=only, sections=("Item 2",)))) == {*APPLE_TEXTS, *OTHER_TEXTS}


async def test_a_search_can_be_kept_to_languages(two_documents):
    zh = dataclasses.replace(OTHER, id=document_id("zh"), uri="upload:zh.pdf", language="zh")
    await two_documents.put_passages(new_passages(zh, ["net sales 净销售额"]), written=1000.0)
    assert texts(await search(two_documents, Scope(languages=("zh",)))) == {"net sales 净销售额"}
    assert texts(await search(two_documents, Scope(languages=("en",)))) == set(APPLE_TEXTS)
    assert texts(await search(two_documents, Scope(languages=("en", "zh"), exclude=(version_of(APPLE),)))) == {
        "net sales 净销售额"
    }


async def test_a_search_is_bounded_by_tenant_and_collection(two_documents):
    places = [("default", "hk"), ("bonds", "default"), ("bonds", "us")]
    for tenant, collection in places:
        facts = dataclasses.replace(APPLE, tenant=tenant, collection=collection)
        await two_documents.put_passages(new_passages(facts, [f"net sales of {tenant} {collection}"]), written=1000.0)
    own = {*APPLE_TEXTS, *OTHER_TEXTS}
    for reach, expected in (
        (Reach(), {*own, "net sales of default hk"}),
        (Reach("default", ("default",)), own),
        (Reach("default", ("hk",)), {"net sales of default hk"}),
        (Reach("bonds"), {"net sales of bonds default", "net sales of bonds us"}),
        (Reach("bonds", ("us",)), {"net sales of bonds us"}),
        (Reach("bonds", ("hk",)), set()),
        (Reach("bonds", ()), set()),
        (Reach("stocks"), set()),
    ):
        assert texts(await search(two_documents, Scope(reach=reach))) == expected, reach
    everyone = tuple(version for version in await two_documents.versions())
    assert len(everyone) == 5, "the same bytes are a version of each place"
    assert texts(await search(two_documents, Scope(only=everyone, reach=Reach("bonds", ("us",))))) == {
        "net sales of bonds us"
    }


async def test_nothing_takes_the_place_of_a_store_by_itself(two_documents):
    assert await two_documents.settled() is True
    assert await two_documents.follow() is None
    assert await two_documents.previous() is None
    assert two_documents.profile == PROFILE
