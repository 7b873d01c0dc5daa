"""OpenBB Workspace: its requests as its library makes them, the answers as its models and documentation have them."""

from __future__ import annotations

import json
from dataclasses import replace

import httpx2
import pytest
from openbb_ai.models import CitationCollection, ClientArtifact, QueryRequest, SourceInfo
from openbb_ai.testing import CopilotResponse
from quelea.common.v1 import common_pb2
from quelea.retriever.v1 import retriever_pb2
from quelea_gateway.core.asking import question as rules
from quelea_gateway.core.model import AnswerFigure, AnswerOperand
from quelea_gateway.keys import create
from quelea_gateway.rest.openbb import _ended
from quelea_gateway.testing import standing

ORIGIN = "https://pro.openbb.co"
STATED = (("Kestrel", 2031, "900"), ("Kestrel", 2030, "80.5"), ("Osprey, Inc.", 2031, "7"))
QUESTION = "What were Apple's total net sales in the third quarter of fiscal 2023?"
PARAMETER_TYPES = {"text", "number", "boolean", "date", "endpoint", "ticker", "tabs", "form"}
WIDGET_TYPES = {"table", "chart", "markdown", "metric", "omni", "newsfeed", "note"}


@pytest.fixture
async def stand():
    async with standing(openbb_origins=(ORIGIN,)) as running:
        running.world.facts = [
            retriever_pb2.StatedFact(
                fact=common_pb2.Fact(
                    statement="income", label="Turnover", concept="revenue", value=value, unit="USD",
                    period_start=f"{year}-01-01", period_end=f"{year}-12-31", printed=value, basis="consolidated",
                ),
                document_id="d1", metadata=common_pb2.DocumentMetadata(company=company), passage_id=f"{company}{year}",
                page=7,
            )
            for company, year, value in STATED
        ]  # fmt: skip
        yield running


@pytest.fixture
async def web(stand):
    headers = {"Origin": ORIGIN}
    async with httpx2.AsyncClient(base_url=stand.url, trust_env=False, timeout=60, headers=headers) as client:
        yield client


def asked(stand):
    return rules.build(QUESTION, stand.gateway.limits)


def request(*messages: tuple[str, str]) -> str:
    return QueryRequest(messages=[{"role": role, "content": text} for role, text in messages]).model_dump_json()


async def ask(web, body):
    sent = await web.post("/openbb/query", content=body, headers={"Content-Type": "application/json"})
    assert sent.status_code == 200, sent.text
    assert sent.headers["content-type"].startswith("text/event-stream")
    events = [block.split("\n", 1) for block in sent.text.strip().split("\n\n") if block.startswith("event:")]
    return sent.text, [(name[7:], json.loads(data[6:])) for name, data in events]


async def test_it_is_off_unless_configured():
    async with standing() as plain, httpx2.AsyncClient(base_url=plain.url, trust_env=False) as client:
        for path in ("agents.json", "widgets.json", "companies"):
            assert (await client.get(f"/openbb/{path}")).status_code == 404
        assert (await client.get("/v1/info", headers={"Origin": ORIGIN})).status_code == 403


async def test_the_agent_says_where_it_is_asked(web, stand):
    (agent,) = (await web.get("/openbb/agents.json")).json().values()
    assert agent["endpoints"] == {"query": f"{stand.url}/openbb/query"}
    assert agent["features"]["streaming"] is True
    assert (await web.get(agent["image"].removeprefix(stand.url))).status_code == 200


async def test_widgets_have_what_workspace_needs_and_their_endpoints_answer(web):
    widgets = (await web.get("/openbb/widgets.json")).json()
    assert set(widgets) == {"quelea_statements", "quelea_metrics", "quelea_filings", "quelea_answer"}
    for widget in widgets.values():
        assert {"name", "description", "endpoint", "type", "params", "gridData"} <= set(widget)
        assert widget["type"] in WIDGET_TYPES
        assert widget["gridData"]["w"] <= 40
        for parameter in widget["params"]:
            assert {"paramName", "type", "label", "description", "value"} <= set(parameter)
            assert parameter["type"] in PARAMETER_TYPES
            if parameter["type"] == "endpoint":
                options = (await web.get(f"/openbb/{parameter['optionsEndpoint']}")).json()
                assert options and all(set(one) == {"label", "value"} for one in options)
        given = {one["paramName"]: one["value"] for one in widget["params"]}
        path = f"/openbb/{widget['endpoint']}"
        found = await (web.post(path, json=given) if widget["type"] == "omni" else web.get(path, params=given))
        assert found.status_code == 200, found.text


async def test_tables_are_flat_rows_with_numbers(web):
    rows = (await web.get("/openbb/statements", params={"company": "Kestrel", "theme": "dark"})).json()
    assert rows == [
        {"line": "Turnover", "2031-12-31": 900, "2030-12-31": 80.5, "unit": "USD", "concept": "revenue"}
    ]  # fmt: skip
    asked = {"company": "Kestrel,Osprey, Inc.", "concept": "revenue, debt"}
    found = await web.get("/openbb/metrics", params=asked)
    assert [row["company"] for row in found.json()] == ["Kestrel"]  # no stored document is Osprey's
    filings = (await web.get("/openbb/filings")).json()
    assert filings and all(not isinstance(value, dict | list) for row in filings for value in row.values())
    page = await web.get(filings[0]["link"], headers={"Accept": "application/json"})
    assert page.json()["title"] == filings[0]["title"]
    assert (await web.get("/openbb/statements", params={"company": "Nobody"})).status_code == 404


async def test_an_answer_streams_with_citations_that_open(web):
    text, events = await ask(web, request(("human", "Hello"), ("ai", "Hello."), ("human", QUESTION)))
    read = CopilotResponse(text)  # the library's own reader of a stream
    assert "net sales" in read.text
    names = [name for name, _ in events]
    assert names[0] == "copilotStatusUpdate"
    assert names[-1] == "copilotCitationCollection"
    cited = CitationCollection.model_validate(events[-1][1]).citations
    assert [one.source_info.type for one in cited] == ["direct retrieval"] * len(cited)
    (details,) = cited[0].details
    page = (await web.get(details["Link"], headers={"Accept": "application/json"})).json()
    assert details["Quote"] in page["text"]
    assert (details["Page"], details["Document"]) == (page["page"], page["title"])


async def test_figures_are_a_table_and_a_chart(stand):
    *_, answer = [item async for item in stand.gateway.pipeline.ask(asked(stand))]

    def figure(year: int, value: str) -> AnswerFigure:
        cell = AnswerOperand(
            label="Net sales", concept="revenue", value=value, unit="USD", period_start=f"{year}-01-01",
            period_end=f"{year}-12-31", source="table", number=1, document_id="d", page=2, start=1, end=3,
            printed=value,
        )  # fmt: skip
        return AnswerFigure("Apple", "", value, "USD", cell.period_start, cell.period_end, "", "", year, (), (cell,))

    answer = replace(answer, figures=(figure(2023, "81797000000"), figure(2022, "82959000000")))
    sent = list(_ended(answer, "http://here", answer.answer))
    artifacts = [ClientArtifact.model_validate(one.data.model_dump()) for one in sent if "Artifact" in one.event]
    assert [one.type for one in artifacts] == ["table", "chart"]
    assert artifacts[0].content[0]["value"] == 81797000000
    assert artifacts[1].content == [{"period": "2022", "Apple": 82.959}, {"period": "2023", "Apple": 81.797}]
    changed = list(_ended(answer, "http://here", "Other words."))
    assert changed[0].data.delta.startswith("\n\n**As checked:**")


async def test_what_fails_is_told_in_the_stream_and_before_it(web, stand):
    for body in (request(("human", "x"), ("ai", "y")), '{"messages": []}', "{}", request(("human", "  "))):
        bad = await web.post("/openbb/query", content=body, headers={"Content-Type": "application/json"})
        assert (bad.status_code, "error" in bad.json()) == (400, True)
    called = {"role": "tool", "function": "get_widget_data", "input_arguments": {}, "data": []}
    body = json.dumps({"messages": [{"role": "human", "content": "x"}, called]})
    assert (await web.post("/openbb/query", content=body)).status_code == 400


async def test_the_omni_widget_has_text_and_citations(web):
    found = (await web.post("/openbb/answer", json={"prompt": QUESTION, "type": "markdown"})).json()
    assert found["data_format"] == {"data_type": "object", "parse_as": "text"}
    assert "/pages/2?start=" in found["content"]
    assert SourceInfo.model_validate(found["extra_citations"][0]["source_info"]).name.startswith("[1]")
    assert (await web.post("/openbb/answer", json={})).json()["citable"] is False


async def test_workspace_may_call_from_its_page_and_needs_a_key(tmp_path):
    keys = tmp_path / "keys.json"
    key = create(keys, "desk")
    given = {"openbb_origins": (ORIGIN,), "auth": "keys", "keys_file": str(keys)}
    async with standing(**given) as stand, httpx2.AsyncClient(base_url=stand.url, trust_env=False) as client:
        asks = {"Origin": ORIGIN, "Access-Control-Request-Method": "POST",
                "Access-Control-Request-Headers": "authorization,content-type"}  # fmt: skip
        allowed = await client.options("/openbb/query", headers=asks)
        assert allowed.status_code == 200
        assert allowed.headers["access-control-allow-origin"] == ORIGIN
        other = await client.options("/openbb/query", headers={**asks, "Origin": "https://evil.example"})
        assert other.status_code == 400
        for path in ("agents.json", "widgets.json", "companies"):
            refused = await client.get(f"/openbb/{path}", headers={"Origin": ORIGIN})
            assert refused.status_code == 401
            keyed = {"Origin": ORIGIN, "Authorization": f"Bearer {key}"}
            assert (await client.get(f"/openbb/{path}", headers=keyed)).status_code == 200
