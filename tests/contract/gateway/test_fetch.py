"""Filings over REST and gRPC, and the offer of a declined answer to fetch what it lacked."""

from __future__ import annotations

import httpx2
import pytest
from quelea.gateway.v1 import gateway_pb2, gateway_pb2_grpc
from quelea.retriever.v1 import retriever_pb2
from quelea.search.v1 import search_pb2
from quelea_gateway import keys
from quelea_gateway.core.answers.fetch_offer import offers_for
from quelea_gateway.core.model import Reading
from quelea_gateway.core.review.decline import Decline, DeclineReason
from quelea_gateway.testing import standing
from quelea_kit.client import channel, unary
from quelea_kit.errors import Conflict, NotFound, Overloaded

SERVICE = "quelea.gateway.v1.GatewayService"


async def test_a_fetch_answers_with_what_is_stored_and_what_comes(stand, web):
    asked = {"company": "TSLA", "forms": ["10-K"], "years": 3}
    answer = await web.post("/v1/fetch", json=asked)
    assert answer.status_code == 202, answer.text
    found = answer.json()
    (request,) = stand.world.fetches
    assert (request.company, list(request.forms), request.years) == ("TSLA", ["10-K"], 3)
    assert (found["source"], found["company"], found["left_out"]) == ("edgar", "Tesla, Inc.", 0)
    assert [one["state"] for one in found["filings"]] == ["queued", "stored"]
    assert found["filings"][0]["id"] == "edgar:0001628280-25-003063"
    job = await web.get(f"/v1/jobs/{found['filings'][0]['job']['id']}")
    assert job.status_code == 200
    assert found["filings"][1]["document_id"] == "d" * 32 and found["filings"][1]["job"] is None


@pytest.mark.parametrize(
    ("error", "status"),
    [
        (NotFound("EDGAR has no company 'Netflx'. Did you mean NFLX?", details={"suggestions": "NFLX"}), 404),
        (Conflict("Set QUELEA_SEARCH_FILINGS_CONTACT."), 409),
        (Overloaded("The queue is full.", retry_after=3.0), 429),
    ],
)
async def test_errors_of_search_reach_the_caller(stand, web, error, status):
    stand.world.fetch_error = error
    answer = await web.post("/v1/fetch", json={"company": "x"})
    assert (answer.status_code, answer.json()["error"]["message"]) == (status, error.message)
    if "suggestions" in error.details:
        assert answer.json()["error"]["details"]["suggestions"] == "NFLX"


@pytest.mark.parametrize("body", [{}, {"company": ""}, {"company": "A", "years": 21}, {"company": "A", "form": "10-K"}])
async def test_a_wrong_body_is_a_400(stand, web, body):
    assert (await web.post("/v1/fetch", json=body)).status_code == 400
    assert stand.world.fetches == []


async def test_a_recording_wants_a_door(web):
    answer = await web.get("/v1/fetch/fetch-1/bundle")
    assert answer.status_code == 409 and "--fetch" in answer.json()["error"]["message"]
    assert (await web.get("/v1/fetch/run-1/bundle")).status_code == 400


async def test_companies_are_watched_listed_and_let_go(stand, web):
    made = await web.post("/v1/watches", json={"company": "TSLA", "forms": ["10-K"]})
    assert made.status_code == 202, made.text
    watch = made.json()["watch"]
    assert (watch["company"], watch["forms"], watch["error"]) == ("Tesla, Inc.", ["10-K"], None)
    assert [one["state"] for one in made.json()["fetch"]["filings"]] == ["queued", "stored"]
    assert stand.world.fetches[0].years == 1
    found = (await web.get("/v1/watches")).json()
    assert (found["watches"], found["next_page_token"]) == ([watch], None)
    assert (await web.delete(f"/v1/watches/{watch['id']}")).json() == {"id": watch["id"]}
    assert (await web.delete(f"/v1/watches/{watch['id']}")).status_code == 404


async def test_a_fetch_over_grpc(stand):
    async with channel(stand.grpc, SERVICE) as line:
        stub = gateway_pb2_grpc.GatewayServiceStub(line)
        wanted = search_pb2.FetchFilingsRequest(company="TSLA")
        reply = await unary(stub.FetchFilings(gateway_pb2.FetchFilingsRequest(fetch=wanted), timeout=60))
    assert [one.HasField("job") for one in reply.fetched.filings] == [True, False]


async def test_a_declined_answer_offers_to_fetch(stand, web):
    stand.world.reading = retriever_pb2.Reading(
        text="Tesla · FY2024", companies=["Tesla"], periods=["FY2024"], company_missing=True, fallback="no Tesla"
    )
    question = {"question": "How many vehicles did Tesla deliver in 2024?", "as_of": "2025-11-25"}
    assert (await web.post("/v1/ask", json=question)).json()["offers"] == []
    stand.world.filing_sources = ["edgar", "cninfo"]
    stand.gateway.search._info = None  # what is known of search is kept for a minute
    answer = (await web.post("/v1/ask", json=question)).json()
    assert answer["declined"]["reason"] == "no_evidence" and answer["reading"]["company_missing"]
    (offer,) = answer["offers"]
    assert offer == {
        "text": "Tesla's 10-K for FY2024 is not here. Fetch it?", "company": "TSLA", "forms": ["10-K"], "years": 2,
    }  # fmt: skip
    del offer["text"]
    assert (await web.post("/v1/fetch", json=offer)).status_code == 202
    assert (await web.get("/v1/info")).json()["filing_sources"] == ["edgar", "cninfo"]


async def test_who_may_only_read_is_told_whom_to_ask_instead(tmp_path):
    file = tmp_path / "keys.json"
    may = {
        "reader": {"*": "read"},
        "writer": {"default": "write"},
        "writes elsewhere": {"default": "read", "deals": "write"},
    }
    known = {name: keys.create(file, name, tenant="default", rights=rights) for name, rights in may.items()}
    async with (
        standing(auth="keys", keys_file=str(file)) as stand,
        httpx2.AsyncClient(base_url=stand.url, trust_env=False, timeout=60) as web,
    ):
        stand.world.collections["deals"] = search_pb2.Collection(name="deals")
        stand.world.filing_sources = ["edgar"]
        stand.world.reading = retriever_pb2.Reading(companies=["Tesla"], periods=["FY2024"], company_missing=True)

        async def ask(name, *collections):
            body = {"question": "How many vehicles did Tesla deliver in 2024?", "collections": list(collections)}
            return (await web.post("/v1/ask", json=body, headers={"Authorization": f"Bearer {known[name]}"})).json()

        async def complete(name):
            message = {"role": "user", "content": "How many vehicles did Tesla deliver in 2024?"}
            body = {"model": "quelea", "messages": [message]}
            headers = {"Authorization": f"Bearer {known[name]}"}
            return (await web.post("/v1/chat/completions", json=body, headers=headers)).json()["quelea"]

        assert [one["company"] for one in (await complete("writer"))["offers"]] == ["TSLA"]
        assert [one["company"] for one in (await ask("writer"))["offers"]] == ["TSLA"]
        assert [one["company"] for one in (await ask("writes elsewhere", "deals"))["offers"]] == ["TSLA"]
        for refused in (await ask("reader"), await ask("writes elsewhere"), await complete("reader")):
            assert refused["offers"] == []
            assert "could be fetched (TSLA 10-K). You may only read here" in " ".join(refused["notices"])


MISSING = Decline(DeclineReason.COMPANY_NOT_COVERED, "")
EVERYWHERE = ("edgar", "cninfo")


def offered(reading, declined=MISSING, language="en", sources=EVERYWHERE):
    found = offers_for(reading, declined, language=language, as_of="2025-11-25", sources=sources)
    return [(one.company, one.forms, one.years) for one in found]


def test_what_is_offered():
    quarter = Reading(companies=("Intel",), periods=("FY2025 Q2",), period_missing=True)
    assert offered(quarter, Decline(DeclineReason.PERIOD_NOT_COVERED, "")) == [("INTC", ("10-Q",), 1)]
    fourth = Reading(companies=("Intel",), periods=("FY2024 Q4", "FY2024 Q1"), company_missing=True)
    assert offered(fourth) == [("INTC", ("10-K", "10-Q"), 2)]
    chinese = Reading(companies=("贵州茅台",), periods=("FY2023",), company_missing=True)
    assert offered(chinese, language="zh") == [("贵州茅台", (), 3)]
    assert offered(chinese, sources=("edgar",)) == []
    (one,) = offers_for(chinese, MISSING, language="zh", as_of="2025-11-25", sources=EVERYWHERE)
    assert one.text == "知识库中没有贵州茅台FY2023的年报。现在获取？"
    shown = Reading(companies=("Kweichow Moutai",), periods=("2023",), company_missing=True)
    assert offered(shown, language="zh") == [("600519", (), 3)]
    unknown = Reading(companies=("Zorblatt Robotics",), company_missing=True)
    assert offered(unknown) == [("Zorblatt Robotics", (), 3)]
    old = Reading(companies=("Intel",), periods=("FY1990",), company_missing=True)
    assert offered(old) == [("INTC", ("10-K",), 20)]


def test_what_is_not_offered():
    reading = Reading(companies=("Intel",), company_missing=True)
    assert offered(reading, None) == []
    assert offered(reading, Decline(DeclineReason.ADVICE_ASKED, "")) == []
    assert offered(Reading(companies=("Intel",)), Decline(DeclineReason.NOT_IN_EVIDENCE, "")) == []
    assert offered(reading, sources=()) == []
    assert len(offered(Reading(companies=("A", "B", "C", "D"), company_missing=True))) == 3
