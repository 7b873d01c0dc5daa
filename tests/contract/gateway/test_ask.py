"""POST /v1/ask and POST /v1/search: the native contract."""

import asyncio
import json

import httpx2
import pytest
from quelea.retriever.v1 import retriever_pb2
from quelea_gateway.testing import standing
from quelea_kit.errors import Overloaded, Unavailable
from quelea_kit.testing import wait_until_async

QUESTION = "What were Apple's total net sales?"
CITATION = {"number", "document_id", "title", "uri", "page", "published", "quote", "score"}


async def events_of(web, body, **options):
    async with web.stream("POST", "/v1/ask", json=body, **options) as response:
        response.raise_for_status()
        assert response.headers["content-type"].startswith("text/event-stream")
        text = "".join([piece async for piece in response.aiter_text()])
    found = []
    for block in text.split("\n\n"):
        lines = dict(line.split(": ", 1) for line in block.split("\n") if not line.startswith(":") and ": " in line)
        if lines:
            found.append((lines["event"], json.loads(lines["data"])))
    return found


async def test_the_answer_has_every_field_of_the_contract(web):
    response = await web.post("/v1/ask", json={"question": QUESTION, "k": 4, "j": 2, "as_of": "2023-09-01"})
    assert response.status_code == 200
    answer = response.json()
    assert {"answer", "citations", "further_reading", "route", "as_of", "reader", "checks", "timings"} <= set(answer)
    assert all(set(c) >= CITATION for c in answer["citations"] + answer["further_reading"])
    assert (answer["route"], answer["as_of"], answer["reader"]) == ("local", "2023-09-01", "extractive")
    assert len(answer["further_reading"]) == 2
    assert {"retrieve", "generate", "gateway", "total"} <= set(answer["timings"])
    assert all(check["passed"] for check in answer["checks"])
    assert "[1]" in answer["answer"]


async def test_every_quote_is_verbatim_on_its_page(web):
    answer = (await web.post("/v1/ask", json={"question": QUESTION})).json()
    assert answer["citations"]
    for citation in answer["citations"] + answer["further_reading"]:
        page = (await web.get(f"/v1/documents/{citation['document_id']}/pages/{citation['page']}")).json()
        assert page["text"][citation["start"] : citation["end"]] == citation["quote"]


@pytest.mark.parametrize(
    ("body", "headers"), [({"stream": True}, {}), ({}, {"Accept": "text/event-stream"})], ids=["field", "header"]
)
async def test_a_stream_is_started_then_deltas_then_the_verdicts_then_the_answer(web, body, headers):
    events = await events_of(web, {"question": QUESTION, **body}, headers=headers)
    names = [name for name, _ in events]
    assert names[0] == "started"
    assert names[-1] == "answer"
    assert set(names[1:-2]) == {"delta"}
    assert names[-2] == "verdicts"
    answer = events[-1][1]
    assert events[-2][1] == answer["grounding"]
    assert events[-2][1]["text"] == answer["answer"]
    assert "".join(data["text"] for name, data in events if name == "delta") == answer["answer"]
    assert events[0][1]["reading"]["text"] == "Apple"
    assert events[0][1]["evidence"][0]["number"] == 1
    whole = (await web.post("/v1/ask", json={"question": QUESTION})).json()
    assert set(whole) == set(answer)


async def test_a_silent_stream_is_kept_alive(stand, web):
    stand.gateway.settings.__dict__["keep_alive_seconds"] = 0.05  # frozen for users; a test may be impatient
    stand.world.generator_hangs = True
    async with web.stream("POST", "/v1/ask", json={"question": QUESTION, "stream": True}) as response:
        async for text in response.aiter_text():
            if ": ping" in text:
                return
    pytest.fail("no comment came")


async def test_what_the_reader_is_told(stand, web):
    note = retriever_pb2.ReadingNote(reason="REASON_COMPANY_NOT_STORED", companies=["Foo"])
    newer = retriever_pb2.ReadingNote(reason=999)  # of a later retriever
    stand.world.reading = retriever_pb2.Reading(text="Foo", company_missing=True, notes=[note, newer])
    history = [{"role": "user", "content": "Hello"}, {"role": "assistant", "content": "Yes"}]
    body = {"question": QUESTION, "history": history, "as_of": "2023-01-31", "filters": {"company": "Apple"}}
    answer = (await web.post("/v1/ask", json=body)).json()
    asked, searched = stand.world.asked[0], stand.world.searches[0]
    assert [(t.role, t.text) for t in asked.history] == [("user", "Hello"), ("assistant", "Yes")]
    assert asked.as_of == searched.as_of == "2023-01-31"
    assert asked.evidence_incomplete
    assert list(searched.filters.companies) == ["Apple"]
    assert [e.number for e in asked.evidence] == list(range(1, len(asked.evidence) + 1))
    assert answer["reading"]["company_missing"]
    assert "no document of Foo; searched everything" in answer["notices"]


async def test_a_declined_answer(web):
    answer = (await web.post("/v1/ask", json={"question": "Total unicorn bananas?"})).json()
    assert answer["declined"]
    assert answer["citations"] == []
    assert answer["further_reading"]
    assert "Unable to answer" in answer["answer"]


async def test_web_search_is_refused_by_name(web):
    response = await web.post("/v1/ask", json={"question": QUESTION, "route": "web"})
    assert response.status_code == 409
    assert "No web search is configured" in response.json()["error"]["message"]


@pytest.mark.parametrize("route", ["auto", "local"])
async def test_auto_and_local_are_local(web, route):
    assert (await web.post("/v1/ask", json={"question": QUESTION, "route": route})).json()["route"] == "local"


async def test_a_dead_reader_gives_the_evidence_and_a_clear_error(stand, web):
    await stand.services.stop("generator")
    response = await web.post("/v1/ask", json={"question": QUESTION})
    error = response.json()["error"]
    assert response.status_code == 503
    assert error["code"] == "UNAVAILABLE"
    assert "generator" in error["message"]
    assert error["details"]["dependency"] == "generator"
    assert error["details"]["evidence"][0]["quote"]
    assert error["details"]["reading"]["text"] == "Apple"
    assert response.headers["retry-after"]


async def test_a_reader_that_dies_while_it_writes_ends_the_stream_with_an_error(stand, web):
    stand.world.generator_error, stand.world.error_after_deltas = Unavailable("gone"), 1
    events = await events_of(web, {"question": QUESTION, "stream": True})
    assert [name for name, _ in events] == ["started", "delta", "error"]
    assert events[-1][1]["error"]["details"]["evidence"]


async def test_a_dead_retriever_is_an_error_response_for_streams_too(stand, web):
    await stand.services.stop("retriever")
    for stream in (False, True):
        response = await web.post("/v1/ask", json={"question": QUESTION, "stream": stream})
        assert response.status_code == 503
        assert response.json()["error"]["details"] == {"dependency": "retriever"}
        assert "127.0.0.1" not in response.text


async def test_questions_are_held_back_while_the_retriever_is_replaced():
    """The embedded store has one owner: the new process can open it only when the old one has ended."""
    async with (
        standing(retriever_wait_seconds=60, retrieve_seconds=60) as stand,
        httpx2.AsyncClient(base_url=stand.url, trust_env=False, timeout=90) as web,
    ):
        await stand.services.stop("retriever")
        asked = [asyncio.ensure_future(web.post("/v1/ask", json={"question": QUESTION})) for _ in range(5)]
        listed = asyncio.ensure_future(web.get("/v1/documents"))
        await asyncio.wait([*asked, listed], timeout=1.5, return_when=asyncio.FIRST_COMPLETED)
        await stand.services.start()
        for response in await asyncio.gather(*asked, listed):
            assert response.status_code == 200, response.text


async def test_a_full_retriever_says_when_to_come_back(stand, web):
    stand.world.retriever_error = Overloaded("The queue is full.", retry_after=2.5)
    response = await web.post("/v1/ask", json={"question": QUESTION})
    assert (response.status_code, response.headers["retry-after"]) == (429, "3")


async def test_a_crash_behind_the_door_is_a_500_that_tells_nothing(stand, web):
    stand.gateway.retriever.search = None
    response = await web.post("/v1/ask", json={"question": QUESTION})
    assert response.status_code == 500
    assert response.json() == {
        "error": {"code": "INTERNAL", "message": "Internal error; see the gateway's log.", "details": {}}
    }


@pytest.mark.parametrize("stream", [True, False])
async def test_a_caller_who_leaves_cancels_the_reader(stand, web, stream):
    stand.world.generator_hangs = True
    task = asyncio.create_task(web.post("/v1/ask", json={"question": QUESTION, "stream": stream}))
    await wait_until_async(lambda: bool(stand.world.asked), what="the reader was called")
    task.cancel()
    await asyncio.wait([task])
    await wait_until_async(lambda: stand.world.cancelled == ["Generate"], seconds=25, what="the call was cancelled")


async def test_a_caller_who_leaves_cancels_the_retrieval(stand, web):
    stand.world.retriever_hangs = True
    task = asyncio.create_task(web.post("/v1/ask", json={"question": QUESTION}))
    await wait_until_async(lambda: bool(stand.world.searches), what="the retriever was called")
    task.cancel()
    await asyncio.wait([task])
    await wait_until_async(lambda: "Search" in stand.world.cancelled, seconds=25, what="the call was cancelled")


@pytest.mark.parametrize(
    ("body", "path"),
    [
        ({}, "body.question"),
        ({"question": ""}, "body.question"),
        ({"question": 5}, "body.question"),
        ({"question": "a", "k": 0}, "body.k"),
        ({"question": "a", "k": 201}, "body.k"),
        ({"question": "a", "as_of": "yesterday"}, "body.as_of"),
        ({"question": "a", "route": "moon"}, "body.route"),
        ({"question": "a", "colour": "red"}, "body.colour"),
        ({"question": "a", "filters": {"compny": "x"}}, "body.filters.compny"),
        ({"question": "a", "history": [{"role": "system", "content": "x"}]}, "body.history.0.role"),
        ({"question": "\ud800"}, "body.question"),
    ],
    ids=lambda value: str(value)[:40].encode("ascii", "replace").decode(),
)
async def test_a_malformed_request_is_a_400_that_names_the_field(web, body, path):
    response = await web.post(
        "/v1/ask", content=json.dumps(body).encode(), headers={"Content-Type": "application/json"}
    )
    error = response.json()["error"]
    assert response.status_code == 400
    assert error["code"] == "INVALID_INPUT"
    assert path in [field["path"] for field in error["details"]["fields"]]


@pytest.mark.parametrize(
    "body", [{"question": "a", "as_of": "2023-02-30"}, {"question": "a", "k": 2, "j": 3}, {"question": " "}]
)
async def test_what_no_schema_can_say_is_a_400_too(web, body):
    response = await web.post("/v1/ask", json=body)
    assert response.status_code == 400
    assert response.json()["error"]["details"]["field"]


async def test_not_json(web):
    response = await web.post("/v1/ask", content=b"{nope", headers={"Content-Type": "application/json"})
    assert response.status_code == 400
    assert response.json()["error"]["code"] == "INVALID_INPUT"


async def test_search_has_every_field_of_the_contract(web):
    response = await web.post(
        "/v1/search", json={"query": "total net sales", "k": 3, "filters": {"companies": ["Apple"]}}
    )
    found = response.json()
    assert response.status_code == 200
    wanted = {"document_id", "title", "uri", "page", "text", "published", "company", "period", "score", "cosine"}
    assert len(found["passages"]) == 3
    assert all(wanted <= set(passage) for passage in found["passages"])
    assert {p["company"] for p in found["passages"]} == {"Apple"}
    assert found["timings"]["total"] >= found["timings"]["retrieve"]


async def test_search_without_k_finds_ten_at_most(stand, web):
    await web.post("/v1/search", json={"query": "net sales"})
    assert stand.world.searches[0].k == 10


async def test_information(web):
    info = (await web.get("/v1/info")).json()
    assert info["reader"] == "extractive"
    assert "pdf" in info["formats"]
