"""GatewayService: the same pipeline over gRPC."""

import asyncio

import pytest
from quelea.common.v1 import common_pb2
from quelea.gateway.v1 import gateway_pb2, gateway_pb2_grpc
from quelea.retriever.v1 import retriever_pb2
from quelea.search.v1 import search_pb2
from quelea_gateway import keys
from quelea_gateway.testing import standing
from quelea_kit.client import channel, stream, unary
from quelea_kit.errors import Conflict, InvalidInput, NotFound, TooLarge, Unauthenticated, Unavailable
from quelea_kit.testing import wait_until_async

SERVICE = "quelea.gateway.v1.GatewayService"
QUESTION = "What were Apple's total net sales?"


@pytest.fixture
async def stub(stand):
    async with channel(stand.grpc, SERVICE) as opened:
        yield gateway_pb2_grpc.GatewayServiceStub(opened)


async def ask(stub, **fields):
    return [e async for e in stream(stub.Ask(gateway_pb2.AskRequest(**{"question": QUESTION, **fields}), timeout=60))]


async def test_ask_gives_what_rest_gives(stub, web):
    events = await ask(stub, as_of="2023-09-01", k=4, j=2)
    kinds = [event.WhichOneof("event") for event in events]
    answer = events[-1].answer
    rest = (await web.post("/v1/ask", json={"question": QUESTION, "as_of": "2023-09-01", "k": 4, "j": 2})).json()
    assert (kinds[0], kinds[-1]) == ("started", "answer")
    assert answer.answer == rest["answer"] == "".join(e.delta.text for e in events[1:-1])
    assert [c.quote for c in answer.citations] == [c["quote"] for c in rest["citations"]]
    assert [c.number for c in answer.further_reading] == [c["number"] for c in rest["further_reading"]]
    assert [p.number for p in answer.evidence] == [1, 2] == [p["number"] for p in rest["evidence"]]
    assert [p.document_id for p in answer.evidence] == [p["document_id"] for p in rest["evidence"]]
    assert [c.number for c in events[0].started.further_reading] == [c.number for c in answer.further_reading]
    assert answer.reading.text == "Apple"
    assert set(answer.timings) == set(rest["timings"])


async def test_search(stub):
    reply = await unary(stub.Search(gateway_pb2.SearchRequest(query="total net sales", k=2), timeout=60))
    assert len(reply.result.passages) == 2


async def test_search_on_a_past_day(stand, stub):
    wanted = gateway_pb2.SearchRequest(query="total net sales", as_of="2023-09-01")
    await unary(stub.Search(wanted, timeout=60))
    assert stand.world.searches[0].as_of == "2023-09-01"
    wanted.as_of = "yesterday"
    with pytest.raises(InvalidInput):
        await unary(stub.Search(wanted, timeout=60))


def pieces(*chunks, info=True):
    async def messages():
        if info:
            yield gateway_pb2.IngestRequest(info=search_pb2.DocumentInfo(filename="a.txt"))
        for chunk in chunks:
            yield gateway_pb2.IngestRequest(chunk=chunk)

    return messages()


async def test_ingest_and_the_job(stand, stub):
    job = (await unary(stub.Ingest(pieces(b"Foo ", b"bar"), timeout=60))).job
    assert stand.world.uploads[0][1] == b"Foo bar"
    assert (await unary(stub.GetJob(gateway_pb2.GetJobRequest(id=job.id), timeout=60))).job.filename == "a.txt"
    with pytest.raises(NotFound):
        await unary(stub.GetJob(gateway_pb2.GetJobRequest(id="none"), timeout=60))


async def test_ingest_needs_its_info_first_and_has_the_limit_of_one_document(stand, stub):
    with pytest.raises(InvalidInput):
        await unary(stub.Ingest(pieces(b"x", info=False), timeout=60))
    stand.world.max_document_bytes = 10
    with pytest.raises(TooLarge):
        await unary(stub.Ingest(pieces(b"x" * 11), timeout=60))


@pytest.mark.parametrize(
    ("fields", "error"),
    [
        ({"question": ""}, InvalidInput),
        ({"question": "a" * 9000}, TooLarge),
        ({"route": "web"}, Conflict),
        ({"k": 500}, InvalidInput),
        ({"history": [gateway_pb2.HistoryTurn(role="system", text="x")]}, InvalidInput),
    ],
    ids=["empty", "too long", "web", "k", "role"],
)
async def test_the_same_rules(stub, fields, error):
    with pytest.raises(error):
        await ask(stub, **fields)


async def test_a_dead_reader_has_sent_its_evidence_first(stand, stub):
    await stand.services.stop("generator")
    seen = []
    with pytest.raises(Unavailable, match="generator"):
        async for event in stream(stub.Ask(gateway_pb2.AskRequest(question=QUESTION), timeout=60)):
            seen.append(event)  # noqa: PERF401  # what came before the error is what is tested
    assert seen[0].started.evidence


async def test_a_caller_who_leaves_cancels_the_reader(stand, stub):
    stand.world.generator_hangs = True
    call = stub.Ask(gateway_pb2.AskRequest(question=QUESTION), timeout=600)
    events = stream(call)
    await anext(events)
    await anext(events)
    await events.aclose()
    await wait_until_async(lambda: stand.world.cancelled == ["Generate"], seconds=25)


async def test_keys(tmp_path):
    file = tmp_path / "keys.json"
    key = keys.create(file, "desk")
    async with standing(auth="keys", keys_file=str(file)) as stand, channel(stand.grpc, SERVICE) as opened:
        stub = gateway_pb2_grpc.GatewayServiceStub(opened)
        request = gateway_pb2.SearchRequest(query="net sales")
        good = (("authorization", f"Bearer {key}"),)
        assert (await unary(stub.Search(request, timeout=60, metadata=good))).result.passages
        for metadata in ((), (("authorization", "Bearer no"),)):
            with pytest.raises(Unauthenticated):
                await unary(stub.Search(request, timeout=60, metadata=metadata))
            with pytest.raises(Unauthenticated):
                await asyncio.wait_for(
                    anext(stream(stub.Ask(gateway_pb2.AskRequest(question=QUESTION), timeout=60, metadata=metadata))),
                    20,
                )


def turnover(value, year):
    fact = common_pb2.Fact(
        statement="income", label="Turnover", concept="revenue", value=value, unit="USD", printed=value, start=3, end=6,
        period_start=f"{year}-01-01", period_end=f"{year}-12-31",
    )  # fmt: skip
    about = common_pb2.DocumentMetadata(company="Kestrel", title="10-K")
    return retriever_pb2.StatedFact(fact=fact, document_id="d1", metadata=about, passage_id=f"p{value}", page=7)


async def test_statements_and_facts_are_those_of_rest(stand, stub, web):
    stand.world.facts = [turnover("900", 2031), turnover("800", 2030)]
    wanted = retriever_pb2.ListFactsRequest(page_size=1)
    listed = await unary(stub.ListFacts(gateway_pb2.ListFactsRequest(query=wanted), timeout=60))
    assert ([one.fact.value for one in listed.result.facts], listed.result.total) == (["900"], 2)
    statement = await unary(stub.GetStatement(gateway_pb2.GetStatementRequest(company="Kestrel"), timeout=60))
    rest = (await web.get("/v1/companies/Kestrel/statements")).json()
    assert (list(statement.periods), statement.company) == (rest["periods"], rest["company"])
    (line,) = statement.lines
    assert [cell.fact.fact.value for cell in line.cells] == [cell["value"] for cell in rest["lines"][0]["cells"]]
    assert (line.cells[0].fact.document_id, line.cells[0].fact.page, line.cells[0].fact.fact.start) == ("d1", 7, 3)
    companies = await unary(stub.ListCompanies(gateway_pb2.ListCompaniesRequest(page_size=1), timeout=60))
    assert companies.companies[0].name == (await web.get("/v1/companies?page_size=1")).json()["companies"][0]["name"]
    assert companies.next_page_token


async def test_a_line_of_a_breakdown_says_what_its_column_says(stand, stub):
    ferries = turnover("700", 2031)
    ferries.fact.statement, ferries.fact.concept, ferries.fact.column = "breakdown", "", "营业收入"
    stand.world.facts = [turnover("900", 2031), ferries]
    asked = gateway_pb2.GetStatementRequest(company="Kestrel", statement="breakdown")
    (line,) = (await unary(stub.GetStatement(asked, timeout=60))).lines
    assert (line.column, line.cells[0].fact.fact.value) == ("营业收入", "700")


@pytest.mark.parametrize(
    ("asked", "error"),
    [
        ({"company": "Nobody"}, NotFound),
        ({"company": " "}, InvalidInput),
        ({"company": "K", "statement": "ledger"}, InvalidInput),
        ({"company": "K", "period": "weekly"}, InvalidInput),
        ({"company": "K", "basis": "mine"}, InvalidInput),
        ({"company": "K", "years": 21}, InvalidInput),
        ({"company": "K", "as_of": "yesterday"}, InvalidInput),
    ],
)
async def test_a_wrong_statement_is_refused_as_over_rest(stub, asked, error):
    with pytest.raises(error):
        await unary(stub.GetStatement(gateway_pb2.GetStatementRequest(**asked), timeout=60))


async def test_lists_over_grpc_are_bounded(stub):
    with pytest.raises(InvalidInput):
        await unary(stub.ListCompanies(gateway_pb2.ListCompaniesRequest(page_size=1001), timeout=60))
