"""The service over real gRPC and a real embedded store, with a fake embedder."""

import pytest
from grpc_health.v1 import health_pb2, health_pb2_grpc
from quelea.common.v1 import common_pb2
from quelea.retriever.v1 import retriever_pb2 as pb
from quelea_kit.client import channel, unary
from quelea_kit.errors import Conflict, InvalidInput, NotFound, TooLarge, Unavailable
from quelea_kit.testing import wait_until_async
from quelea_retriever.adapters.fake_embedder import FakeEmbedder
from quelea_retriever.settings import Settings
from quelea_retriever.testing import document_id, memory_folder, running_retriever, upsert_request

APPLE = {"company": "Apple", "ticker": "AAPL", "language": "en", "document_type": "10-Q", "published": "2023-08-04"}
FRUIT = ["net sales of iPhone grew by eight percent", "gross margin fell", "services revenue reached a record"]
ZH = {"company": "生物股份", "language": "zh", "document_type": "research report", "published": "2020-05-01"}


@pytest.fixture
async def filled(service):
    await unary(service.stub.Upsert(upsert_request("apple", FRUIT, **APPLE)))
    await unary(service.stub.Upsert(upsert_request("bio", ["公司的营业收入增长", "口蹄疫疫苗销售"], **ZH)))
    return service


async def search(service, query, **more):
    return await unary(service.stub.Search(pb.SearchRequest(query=query, ignore_reading=True, **more)))


async def test_the_best_passage_comes_first_with_all_that_is_known_of_it(filled):
    answer = await search(filled, "net sales of iPhone")
    best = answer.passages[0]
    assert best.passage.text == FRUIT[0]
    assert best.passage.document_id == document_id("apple")
    assert (best.metadata.company, best.metadata.published) == ("Apple", "2023-08-04")
    assert best.header.startswith("Apple (AAPL) · 10-Q")
    assert best.cosine == pytest.approx(answer.best_cosine, abs=1e-6)
    assert best.sparse > 0
    assert [p.score for p in answer.passages] == sorted((p.score for p in answer.passages), reverse=True)
    assert answer.timings.total_ms >= answer.timings.store_ms > 0


async def test_a_chinese_question_finds_chinese_passages(filled):
    assert (await search(filled, "口蹄疫疫苗")).passages[0].passage.text == "口蹄疫疫苗销售"


async def test_the_header_is_embedded_with_the_passage_and_may_be_switched_off(filled):
    asked = [text for kind, text, _ in filled.embedder.asked if kind == "passage"]
    assert asked[0] == f"Apple (AAPL) · 10-Q · 2023-08-04\n{FRUIT[0]}"
    with memory_folder() as folder:
        plain = Settings(data_dir=folder, sync_writes=False, header=False)
        async with running_retriever(folder, settings=plain) as service:
            await unary(service.stub.Upsert(upsert_request("apple", FRUIT, **APPLE)))
            assert [text for _, text, _ in service.embedder.asked] == FRUIT


async def test_k_and_filters_bound_the_answer(filled):
    assert len((await search(filled, "sales", k=2)).passages) == 2
    for filters, company in (
        (pb.Filters(companies=["apple"]), "Apple"),
        (pb.Filters(tickers=["aapl"]), "Apple"),
        (pb.Filters(languages=["zh"]), "生物股份"),
        (pb.Filters(document_types=["Research Report"]), "生物股份"),
        (pb.Filters(published_from="2023-01-01"), "Apple"),
        (pb.Filters(document_ids=[document_id("bio")]), "生物股份"),
    ):
        answer = await search(filled, "sales", filters=filters, k=50)
        assert {p.metadata.company for p in answer.passages} == {company}
    assert not (await search(filled, "sales", filters=pb.Filters(companies=["nobody"]))).passages


async def test_modes_order_by_one_score_within_a_language(filled):
    for mode, score in ((pb.SEARCH_MODE_DENSE, "cosine"), (pb.SEARCH_MODE_SPARSE, "sparse")):
        found = (await search(filled, "net sales", mode=mode)).passages
        assert {p.metadata.language for p in found} == {"en", "zh"}
        for language in ("en", "zh"):
            scores = [getattr(p, score) for p in found if p.metadata.language == language]
            assert scores == sorted(scores, reverse=True)


@pytest.mark.parametrize(
    ("request_", "error"),
    [
        (pb.SearchRequest(query=" "), InvalidInput),
        (pb.SearchRequest(query="x" * 4001), TooLarge),
        (pb.SearchRequest(query="x", k=201), InvalidInput),
        (pb.SearchRequest(query="x", as_of="yesterday"), InvalidInput),
        (pb.SearchRequest(query="x", filters=pb.Filters(published_to="2023-13-01")), InvalidInput),
    ],
)
async def test_a_wrong_search_is_refused(service, request_, error):
    with pytest.raises(error) as caught:
        await unary(service.stub.Search(request_))
    assert type(caught.value) is error


async def test_an_empty_knowledge_base_finds_nothing(service):
    answer = await search(service, "anything")
    assert not answer.passages
    assert answer.best_cosine == 0


@pytest.mark.parametrize("seconds", [5.0, 20.0])
async def test_the_rest_of_the_callers_time_is_passed_on(filled, seconds):
    await filled.stub.Search(pb.SearchRequest(query="x"), timeout=seconds)
    assert seconds - 4 < filled.embedder.asked[-1][2] < seconds + 0.5  # the two clocks are not one


async def test_rank_scores_given_texts_and_stores_nothing(filled):
    texts = ["gross margin", "net sales of iPhone", "net sales of iPhone", "the board met"]
    answer = await unary(
        filled.stub.Rank(pb.RankRequest(query="iPhone net sales", candidates=[{"text": t} for t in texts]))
    )
    assert sorted(r.index for r in answer.ranked) == [0, 1, 2, 3]
    assert [r.index for r in answer.ranked[:2]] == [1, 2]
    assert answer.ranked[0].score == answer.ranked[1].score > answer.ranked[2].score
    assert answer.ranked[0].cosine > answer.ranked[-1].cosine
    assert [r.score for r in answer.ranked] == sorted((r.score for r in answer.ranked), reverse=True)
    assert (await unary(filled.stub.GetStats(pb.GetStatsRequest()))).passages == 5
    assert not (await unary(filled.stub.Rank(pb.RankRequest(query="x")))).ranked
    with pytest.raises(InvalidInput, match=r"candidates\[1\]"):
        await unary(filled.stub.Rank(pb.RankRequest(query="x", candidates=[{"text": "a"}, {"text": " "}])))
    with pytest.raises(TooLarge):
        await unary(filled.stub.Rank(pb.RankRequest(query="x", candidates=[{"text": "a"}] * 501)))


async def test_passages_come_in_several_requests(service):
    await unary(service.stub.Upsert(upsert_request("a", ["one", "two"], commit=False)))
    assert not (await search(service, "one")).passages
    answer = await unary(service.stub.Upsert(upsert_request("a", ["three"], first=2, passages=3)))
    assert (answer.written, answer.replaced_document_id) == (1, "")
    assert len((await search(service, "one")).passages) == 3
    commit = upsert_request("b", ["four"], commit=False)
    await unary(service.stub.Upsert(commit))
    await unary(service.stub.Upsert(pb.UpsertRequest(document=commit.document, commit=True)))
    assert len((await search(service, "one")).passages) == 4


async def test_a_commit_without_all_its_passages_is_a_conflict(service):
    with pytest.raises(Conflict) as caught:
        await unary(service.stub.Upsert(upsert_request("a", ["one"], passages=2)))
    assert caught.value.details == {"stored": "1", "expected": "2"}


async def test_a_wrong_upsert_is_refused_and_writes_nothing(service):
    good = upsert_request("a", ["one", "two"])
    empty = pb.UpsertRequest(document=good.document)
    twice = pb.UpsertRequest(document=good.document, passages=[good.passages[0]] * 2)
    many = pb.UpsertRequest(document=good.document, passages=[good.passages[0]] * 2001)
    for wrong, error in ((empty, InvalidInput), (twice, InvalidInput), (many, TooLarge)):
        with pytest.raises(error):
            await unary(service.stub.Upsert(wrong))
    assert await service.library.store.versions() == {}


async def test_a_replaced_document_is_named(service):
    await unary(service.stub.Upsert(upsert_request("old", ["old text"], uri="upload:x.pdf")))
    answer = await unary(service.stub.Upsert(upsert_request("new", ["new text"], uri="upload:x.pdf")))
    assert answer.replaced_document_id == document_id("old")
    assert [p.passage.text for p in (await search(service, "text")).passages] == ["new text"]


async def test_documents_are_got_listed_and_deleted(filled):
    document = (await unary(filled.stub.GetDocument(pb.GetDocumentRequest(document_id=document_id("apple"))))).document
    assert (document.metadata.company, document.passages) == ("Apple", 3)
    assert (await unary(filled.stub.Delete(pb.DeleteRequest(document_id=document.id)))).passages == 3
    for call in (
        filled.stub.GetDocument(pb.GetDocumentRequest(document_id=document.id)),
        filled.stub.Delete(pb.DeleteRequest(document_id=document.id)),
    ):
        with pytest.raises(NotFound):
            await unary(call)
    assert {p.metadata.company for p in (await search(filled, "sales")).passages} == {"生物股份"}
    listed = await unary(filled.stub.ListDocuments(pb.ListDocumentsRequest()))
    assert [d.id for d in listed.documents] == [document_id("bio")]


async def test_a_list_is_paged_newest_first_and_a_page_survives_changes(service):
    for n in range(5):
        request = upsert_request(f"d{n}", ["text"], language="en" if n else "zh")
        request.document.fetched.FromJsonString(f"2026-01-0{n + 1}T00:00:00Z")
        await unary(service.stub.Upsert(request))
    first = await unary(service.stub.ListDocuments(pb.ListDocumentsRequest(page_size=2)))
    assert [d.metadata.title for d in first.documents] == ["d4", "d3"]
    assert first.total == 5
    await unary(service.stub.Delete(pb.DeleteRequest(document_id=document_id("d3"))))
    rest = await unary(service.stub.ListDocuments(pb.ListDocumentsRequest(page_token=first.next_page_token)))
    assert [d.metadata.title for d in rest.documents] == ["d2", "d1", "d0"]
    assert rest.next_page_token == ""
    english = await unary(service.stub.ListDocuments(pb.ListDocumentsRequest(filters=pb.Filters(languages=["en"]))))
    assert english.total == 3
    for wrong in (pb.ListDocumentsRequest(page_size=1001), pb.ListDocumentsRequest(page_token="nonsense")):
        with pytest.raises(InvalidInput):
            await unary(service.stub.ListDocuments(wrong))


async def test_stats_say_what_is_there(filled):
    stats = await unary(filled.stub.GetStats(pb.GetStatsRequest()))
    assert (stats.documents, stats.passages, stats.store) == (2, 5, "qdrant_edge")
    assert (stats.model, stats.dimension, stats.indexed) == ("fake", 32, False)
    assert stats.version


async def test_health_is_truthful_and_lists_work_without_the_embedder(filled):
    async with channel(filled.address, "grpc.health.v1.Health") as connection:
        stub = health_pb2_grpc.HealthStub(connection)

        async def serving():
            return (await stub.Check(health_pb2.HealthCheckRequest())).status

        await filled.servicer.ready()
        assert await serving() == health_pb2.HealthCheckResponse.SERVING
        filled.embedder.failure = Unavailable("no embedder")
        with pytest.raises(Unavailable):
            await filled.servicer.ready()
        with pytest.raises(Unavailable, match="no embedder"):
            await search(filled, "x")
        assert (await unary(filled.stub.ListDocuments(pb.ListDocumentsRequest()))).total == 2


async def test_a_restart_keeps_everything_and_needs_no_embedder_to_list_it():
    with memory_folder() as folder:
        async with running_retriever(folder) as service:
            await unary(service.stub.Upsert(upsert_request("apple", FRUIT, **APPLE)))
            before = await search(service, "net sales")
        embedder = FakeEmbedder()
        embedder.failure = Unavailable("still loading")
        async with running_retriever(folder, embedder=embedder) as service:
            assert (await unary(service.stub.GetStats(pb.GetStatsRequest()))).model == "fake"
            assert (await unary(service.stub.ListDocuments(pb.ListDocumentsRequest()))).total == 1
            embedder.failure = None
            after = await search(service, "net sales")
        assert list(after.passages) == list(before.passages)


async def test_another_encoder_is_refused_not_mixed():
    with memory_folder() as folder:
        async with running_retriever(folder) as service:
            await unary(service.stub.Upsert(upsert_request("a", ["text"])))
            service.embedder.info = FakeEmbedder(name="newer").info  # exchanged while the service runs
            with pytest.raises(Conflict, match="reembed"):
                await search(service, "text")
        async with running_retriever(folder, embedder=FakeEmbedder(16, "other")) as service:
            with pytest.raises(Conflict, match="reembed"):
                await service.servicer.ready()
            for call in (
                service.stub.Search(pb.SearchRequest(query="text")),
                service.stub.Upsert(upsert_request("b", ["text"])),
            ):
                with pytest.raises(Conflict):
                    await unary(call)
            assert (await unary(service.stub.ListDocuments(pb.ListDocumentsRequest()))).total == 1


async def test_the_size_is_a_metric(filled):
    from quelea_retriever.service import DOCUMENTS, PASSAGES

    await wait_until_async(lambda: DOCUMENTS.collect()[0].samples[0].value == 2)
    assert PASSAGES.collect()[0].samples[0].value == 5


async def test_every_field_of_the_metadata_survives(service):
    request = upsert_request(
        "full",
        ["text"],
        company_aliases=["x", "y"],
        provenance=common_pb2.PROVENANCE_WEB,
        collection="us",
        period=common_pb2.FiscalPeriod(label="FY2023", fiscal_year=2023, end_date="2023-12-31"),
        **APPLE,
    )
    await unary(service.stub.Upsert(request))
    got = await unary(service.stub.GetDocument(pb.GetDocumentRequest(document_id=document_id("full"))))
    assert got.document == request.document
