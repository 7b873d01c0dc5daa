"""Two tenants with the same and with different documents: nothing of one is seen, counted or removed by the other."""

import pytest
from quelea.common.v1 import common_pb2
from quelea.retriever.v1 import retriever_pb2 as pb
from quelea_kit.client import unary
from quelea_kit.errors import NotFound, PermissionDenied
from quelea_kit.reach import Reach, within
from quelea_retriever.testing import document_id, upsert_request

APPLE = {"company": "Apple", "ticker": "AAPL", "language": "en", "document_type": "10-Q", "published": "2023-08-04"}
TESLA = {"company": "Tesla", "ticker": "TSLA", "language": "en", "document_type": "10-Q", "published": "2023-08-04"}
SHARED = ["net sales of iPhone grew by eight percent", "gross margin fell"]
SECRET = ["deliveries of the Cybertruck were delayed", "net sales of energy storage doubled"]
ALL_A, ALL_B = Reach(), Reach("bonds")
FACT = common_pb2.Fact(
    statement="income",
    label="Net sales",
    concept="revenue",
    value="1000",
    unit="USD",
    period_start="2022-07-01",
    period_end="2023-06-30",
    basis="consolidated",
    source="tag",
)


@pytest.fixture
async def two(service):
    """The default tenant has Apple's and Tesla's filings, the other one the same filing of Apple in a collection."""
    secret = upsert_request("tesla", SECRET, **TESLA)
    secret.passages[1].facts.append(FACT)
    await unary(service.stub.Upsert(upsert_request("apple", SHARED, **APPLE)))
    await unary(service.stub.Upsert(secret))
    with within(ALL_B):
        await unary(service.stub.Upsert(upsert_request("apple", SHARED, **APPLE, collection="us")))
    return service


async def search(service, query, **more):
    return await unary(service.stub.Search(pb.SearchRequest(query=query, k=50, **more)))


async def documents(service):
    listed = await unary(service.stub.ListDocuments(pb.ListDocumentsRequest()))
    assert listed.total == len(listed.documents)
    return {(one.metadata.company, one.metadata.collection) for one in listed.documents}


async def test_each_lists_finds_and_counts_its_own(two):
    assert await documents(two) == {("Apple", "default"), ("Tesla", "default")}
    stats = await unary(two.stub.GetStats(pb.GetStatsRequest()))
    assert (stats.documents, stats.passages) == (2, 4)
    with within(ALL_B):
        assert await documents(two) == {("Apple", "us")}
        stats = await unary(two.stub.GetStats(pb.GetStatsRequest()))
        assert (stats.documents, stats.passages) == (1, 2)
        found = await search(two, "deliveries of the Cybertruck", ignore_reading=True)
        assert {one.passage.text for one in found.passages} == set(SHARED)
        assert {one.metadata.collection for one in found.passages} == {"us"}
    with within(Reach("bonds", ("hk",))):
        assert await documents(two) == set()
        assert not (await search(two, "net sales of iPhone")).passages


async def test_what_a_question_is_read_against_is_the_callers_own_catalogue(two):
    asked = "What was Tesla's revenue in FY2023?"
    assert not (await search(two, asked)).reading.company_missing
    texts = pb.FindCompaniesRequest(texts=[asked])
    assert [one.stored for one in (await unary(two.stub.FindCompanies(texts))).mentions] == [True]
    with within(ALL_B):
        answer = await search(two, asked)
        assert answer.reading.company_missing
        assert "tesla" not in str([one.metadata for one in answer.passages]).lower()
        assert not answer.figures
        assert [one.stored for one in (await unary(two.stub.FindCompanies(texts))).mentions] == [False]


async def test_facts_are_bounded(two):
    assert (await unary(two.stub.ListFacts(pb.ListFactsRequest()))).total == 1
    with within(ALL_B):
        assert (await unary(two.stub.ListFacts(pb.ListFactsRequest()))).total == 0
        ids = pb.Filters(document_ids=[document_id("tesla")])
        assert not (await unary(two.stub.ListFacts(pb.ListFactsRequest(filters=ids)))).facts
        assert not (await search(two, "deliveries", filters=ids)).passages


async def test_by_id_anothers_document_is_as_one_that_is_not_there(two):
    told = {}
    with within(ALL_B):
        for name in ("tesla", "nobody"):
            for call, request in (
                (two.stub.GetDocument, pb.GetDocumentRequest(document_id=document_id(name))),
                (two.stub.Delete, pb.DeleteRequest(document_id=document_id(name))),
            ):
                with pytest.raises(NotFound) as refused:
                    await unary(call(request))
                told.setdefault(name, []).append(refused.value.message.replace(document_id(name), "ID"))
    assert told["tesla"] == told["nobody"]
    assert ("Tesla", "default") in await documents(two)


async def test_the_same_bytes_of_two_tenants_come_and_go_apart(two):
    with within(ALL_B):
        await unary(two.stub.Delete(pb.DeleteRequest(document_id=document_id("apple"))))
        assert await documents(two) == set()
    assert ("Apple", "default") in await documents(two)
    assert (await search(two, "net sales of iPhone", ignore_reading=True)).passages[0].passage.text == SHARED[0]


async def test_an_unfinished_version_of_another_tenant_is_not_removed(two):
    await unary(two.stub.Upsert(upsert_request("new", ["half"], commit=False, passages=2)))
    with within(ALL_B), pytest.raises(NotFound):
        await unary(two.stub.Delete(pb.DeleteRequest(document_id=document_id("new"))))
    await unary(two.stub.Upsert(upsert_request("new", ["rest"], first=1)))


async def test_one_uri_names_a_document_of_each_place(two):
    for reach, collection in ((ALL_A, "hk"), (ALL_B, "hk"), (ALL_B, "us")):
        with within(reach):
            answer = await unary(
                two.stub.Upsert(upsert_request("apple 2", ["new"], uri="upload:apple", collection=collection))
            )
            replaces = (reach, collection) == (ALL_B, "us")
            assert answer.replaced_document_id == (document_id("apple") if replaces else "")


async def test_nothing_is_written_out_of_reach(two):
    with within(Reach("bonds", ("us",))), pytest.raises(PermissionDenied):
        await unary(two.stub.Upsert(upsert_request("new", ["a"], collection="hk")))
