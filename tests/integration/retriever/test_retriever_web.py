"""What answering from the web asks of the retriever: days in the past, texts of others ranked, records renewed."""

import pytest
from quelea.common.v1 import common_pb2
from quelea.retriever.v1 import retriever_pb2 as pb
from quelea_kit.client import unary
from quelea_kit.errors import InvalidInput
from quelea_retriever.testing import document_id, upsert_request

APPLE = {"company": "Apple", "ticker": "AAPL", "language": "en", "document_type": "10-Q", "published": "2023-08-04"}
FRUIT = ["net sales of iPhone grew by eight percent", "gross margin fell", "services revenue reached a record"]
PERIOD = common_pb2.FiscalPeriod(label="FY2025", fiscal_year=2025, end_date="2025-12-31")


@pytest.fixture
async def filled(service):
    await unary(service.stub.Upsert(upsert_request("apple", FRUIT, **APPLE)))
    return service


async def search(service, query, **more):
    return await unary(service.stub.Search(pb.SearchRequest(query=query, ignore_reading=True, **more)))


async def test_a_passage_says_when_its_document_was_fetched(service):
    request = upsert_request("a", ["net sales"])
    request.document.fetched.FromJsonString("2026-01-02T03:04:05Z")
    await unary(service.stub.Upsert(request))
    assert (await search(service, "net sales")).passages[0].fetched == request.document.fetched


async def test_a_past_day_of_the_question_sees_nothing_that_came_out_later(service):
    texts = {"old": "were high", "new": "of toasters", "quarter": "in thousands", "undated": "without services"}
    for name, said in (
        ("old", {"published": "2023-05-01"}),
        ("new", {"published": "2023-09-01"}),
        ("quarter", {"period": common_pb2.FiscalPeriod(label="FY2023 Q2", end_date="2023-06-30")}),
        ("undated", {}),
    ):
        request = upsert_request(name, [f"net sales {texts[name]}"], **said)
        request.document.fetched.FromJsonString("2026-01-02T03:04:05Z")
        await unary(service.stub.Upsert(request))

    async def titles(as_of):
        return {p.metadata.title for p in (await search(service, "net sales", as_of=as_of)).passages}

    everything = {"old", "new", "quarter", "undated"}
    assert await titles("") == everything
    assert await titles("9999-12-31") == everything
    assert await titles("2023-09-01") == {"old", "new", "quarter"}
    assert await titles("2023-08-31") == {"old", "quarter"}
    assert await titles("2023-06-29") == {"old"}
    assert await titles("2020-01-01") == set()
    await unary(service.stub.Upsert(upsert_request("newest", ["net sales and margins"], published="2023-05-02")))
    assert await titles("2023-06-29") == {"old", "newest"}  # what was just added counts as well


async def test_the_reading_is_of_what_had_come_out(service):
    await unary(service.stub.Upsert(upsert_request("apple", FRUIT, **APPLE)))
    ask = pb.SearchRequest(query="What were Apple's net sales?", as_of="2023-08-03")
    answer = await unary(service.stub.Search(ask))
    assert not answer.passages
    assert answer.reading.company_missing


async def test_rank_reads_a_text_as_it_would_be_stored(filled):
    metadata = common_pb2.DocumentMetadata(**APPLE)
    made = pb.RankCandidate(text=FRUIT[0], metadata=metadata, section="Item 2", table_head="in millions")
    given = pb.RankCandidate(text=FRUIT[1], header="a header of its own", metadata=metadata)
    bare = pb.RankCandidate(text=FRUIT[2])
    before = len(filled.embedder.asked)
    answer = await unary(filled.stub.Rank(pb.RankRequest(query="net sales", candidates=[made, given, bare])))
    asked = [text for kind, text, _ in filled.embedder.asked[before:] if kind == "passage"]
    assert asked == [
        f"Apple (AAPL) · 10-Q · 2023-08-04 · Item 2\nin millions\n{FRUIT[0]}",
        f"a header of its own\n{FRUIT[1]}",
        FRUIT[2],
    ]
    headers = {ranked.index: ranked.header for ranked in answer.ranked}
    assert headers == {0: "Apple (AAPL) · 10-Q · 2023-08-04 · Item 2", 1: "a header of its own", 2: ""}


async def test_rank_gives_a_stored_passage_the_cosine_that_search_gave_it(filled):
    found = (await search(filled, "net sales of iPhone")).passages
    texts = [pb.RankCandidate(text=p.passage.text, metadata=p.metadata, section=p.passage.section) for p in found]
    ranked = await unary(filled.stub.Rank(pb.RankRequest(query="net sales of iPhone", candidates=texts)))
    assert {r.index: r.header for r in ranked.ranked} == {n: p.header for n, p in enumerate(found)}
    for one in ranked.ranked:
        assert one.cosine == pytest.approx(found[one.index].cosine, abs=1e-5)


async def test_a_known_cosine_is_not_found_again(filled):
    known = [pb.RankCandidate(text=text, cosine=cosine) for text, cosine in zip(FRUIT, (0.9, 0.5, 0.7), strict=True)]
    before = len(filled.embedder.asked)
    answer = await unary(filled.stub.Rank(pb.RankRequest(query="zebra", candidates=known)))
    assert [r.index for r in answer.ranked] == [0, 2, 1]
    assert [r.cosine for r in answer.ranked] == [0.9, 0.7, 0.5]
    assert len(filled.embedder.asked) == before
    mixed = [*known, pb.RankCandidate(text="zebra crossing")]
    answer = await unary(filled.stub.Rank(pb.RankRequest(query="zebra", candidates=mixed)))
    assert [text for _, text, _ in filled.embedder.asked[before:]] == ["zebra", "zebra crossing"]
    assert answer.ranked[0].score == max(r.score for r in answer.ranked)
    assert {r.index: r.cosine for r in answer.ranked if r.index < 3} == {0: 0.9, 1: 0.5, 2: 0.7}


@pytest.mark.parametrize(
    "wrong",
    [
        pb.RankCandidate(text="a", cosine=float("nan")),
        pb.RankCandidate(text="a", cosine=1.5),
        pb.RankCandidate(text="a", metadata=common_pb2.DocumentMetadata(published="yesterday")),
    ],
)
async def test_a_wrong_candidate_is_refused(filled, wrong):
    with pytest.raises(InvalidInput, match=r"candidates\[0\]"):
        await unary(filled.stub.Rank(pb.RankRequest(query="x", candidates=[wrong])))


async def test_three_hundred_candidates_are_ranked_at_once(filled):
    many = [pb.RankCandidate(text=f"net sales of product {n}") for n in range(300)]
    answer = await unary(filled.stub.Rank(pb.RankRequest(query="product 7", candidates=many)))
    assert sorted(r.index for r in answer.ranked) == list(range(300))


async def test_a_commit_alone_renews_the_record_and_keeps_the_passages(service):
    request = upsert_request("page", ["one", "two"], title="Page", published="2026-01-01", period=PERIOD)
    request.document.fetched.FromJsonString("2026-01-02T00:00:00Z")
    await unary(service.stub.Upsert(request))
    before, encoded = await search(service, "one"), len(service.embedder.asked)
    again = pb.UpsertRequest(document=request.document, commit=True)
    again.document.fetched.FromJsonString("2026-02-02T00:00:00Z")
    again.document.metadata.provenance = common_pb2.PROVENANCE_WEB
    assert (await unary(service.stub.Upsert(again))).written == 0
    assert len(service.embedder.asked) == encoded
    got = await unary(service.stub.GetDocument(pb.GetDocumentRequest(document_id=document_id("page"))))
    again.document.metadata.collection = "default"  # where it lies is told, also where nobody named it
    assert got.document == again.document
    after = await search(service, "one")
    assert [p.passage for p in after.passages] == [p.passage for p in before.passages]
    assert {p.fetched.ToJsonString() for p in after.passages} == {"2026-02-02T00:00:00Z"}
    assert len(await service.library.store.versions()) == 1
