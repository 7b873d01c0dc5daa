"""The web route through the whole gateway: when it is taken, what it brings, what its failures leave."""

import json

import httpx2
import pytest
from quelea.retriever.v1 import retriever_pb2
from quelea.search.v1 import search_pb2
from quelea_gateway.adapters.services.fake_world import World
from quelea_gateway.gateway import build_gate
from quelea_gateway.settings import Settings
from quelea_gateway.testing import standing
from quelea_kit.errors import Conflict, InvalidInput, Overloaded, Unavailable
from support.web_route import ABROAD, AS_OF, AT_HOME, ask


@pytest.fixture
async def stand():
    async with standing(World.with_web()) as running:
        yield running


async def test_a_question_that_the_documents_do_not_answer_goes_to_the_web(stand, web):
    answer = await ask(web)
    assert answer["route"] == "local+web"
    assert answer["gate"]["passed"] is False
    assert answer["gate"]["kind"] == "calibrated"
    assert answer["gate"]["probability"] < answer["gate"]["threshold"]
    assert answer["gate"]["reasons"]
    assert answer["gate"]["features"]["names_missing"] == 1
    assert (answer["web"]["provider"], answer["web"]["pages_read"]) == ("searxng", 2)
    assert "50,122" in answer["answer"]
    assert answer["citations"][0]["source"] == "web"
    assert answer["citations"][0]["fetched"].endswith("Z")
    assert {"web", "rank", "web_provider", "web_fetch", "web_parse", "web_select"} <= set(answer["timings"])
    sent = stand.world.web_searches[0]
    assert (sent.query, sent.as_of, sent.max_pages, sent.max_passages) == (ABROAD, AS_OF, 5, 24)


async def test_a_question_that_they_do_answer_stays_at_home(stand, web):
    answer = await ask(web, AT_HOME)
    assert (answer["route"], answer["web"], answer["gate"]["passed"]) == ("local", None, True)
    assert stand.world.web_searches == []
    assert all(c["source"] == "local" for c in answer["citations"])


async def test_every_web_quote_opens_on_its_page(web):
    answer = await ask(web)
    cited = [c for c in answer["citations"] + answer["further_reading"] if c["source"] == "web"]
    assert cited
    for citation in cited:
        page = (await web.get(f"/v1/documents/{citation['document_id']}/pages/{citation['page']}")).json()
        assert page["text"][citation["start"] : citation["end"]] == citation["quote"]


async def test_the_reader_is_told_what_is_from_the_web_and_what_gives_orders(stand, web):
    await ask(web)
    evidence = stand.world.asked[0].evidence
    orders = [e for e in evidence if e.suspicious]
    assert orders
    assert all(e.from_web for e in orders)
    assert all("gnore your" in e.text for e in orders)
    assert not any(e.suspicious for e in evidence if "gnore your" not in e.text)
    assert [e.from_web for e in evidence] == ["Rivian" in e.text for e in evidence]


async def test_a_stored_web_page_is_from_the_web_for_the_reader_too(stand, web):
    stand.world.documents.update({page.id: page for page in stand.world.web_pages[:1]})
    answer = await ask(web, route="local")
    assert answer["citations"][0]["source"] == "local"
    assert stand.world.asked[0].evidence[0].from_web


async def test_the_known_cosines_go_along_and_the_rest_is_encoded(stand, web):
    await ask(web)
    candidates = stand.world.rank_requests[0].candidates
    known = [c for c in candidates if c.HasField("cosine")]
    fresh = [c for c in candidates if not c.HasField("cosine")]
    assert known
    assert all(c.header for c in known)
    assert fresh
    assert all(c.metadata.title and not c.header for c in fresh)


async def test_useful_pages_are_kept_and_suspicious_ones_never(stand, web):
    answer = await ask(web)
    assert [page["url"] for page in answer["web"]["kept"]] == ["https://news.test/rivian-2023"]
    assert answer["web"]["kept"][0]["state"] == "kept"
    assert answer["web"]["kept"][0]["job_id"] in stand.world.jobs
    sent = stand.world.keep_requests[0]
    assert (sent.query, sent.provider) == (ABROAD, "searxng")
    assert sent.pages[0].score > 0.84


async def test_pages_of_other_hosts_wait(stand, web):
    stand.world.trusted_hosts.clear()
    answer = await ask(web)
    assert [(page["state"], page["job_id"]) for page in answer["web"]["kept"]] == [("pending", "")]


async def test_the_second_time_the_answer_is_local(stand, web):
    stand.world.reading = retriever_pb2.Reading(companies=["Rivian Automotive"])
    assert (await ask(web))["route"] == "local+web"
    again = await ask(web)
    assert again["route"] == "local"
    assert "50,122" in again["answer"]


@pytest.mark.parametrize(
    "fault", [{"keep_error": Unavailable("no queue")}, {"keep_hangs": True}], ids=["error", "hangs"]
)
async def test_an_answer_does_not_depend_on_keeping(stand, web, fault):
    for name, value in fault.items():
        setattr(stand.world, name, value)
    answer = await ask(web)
    assert answer["route"] == "local+web"
    assert answer["web"]["kept"] == []


async def test_a_later_page_is_not_used(web):
    question = "How many vehicles did Rivian Automotive deliver in the first quarter of 2024?"
    assert "13,588" not in json.dumps(await ask(web, question, route="web"))
    assert "13,588" in json.dumps(await ask(web, question, route="web", as_of="2024-05-01"))


async def test_a_later_document_is_not_used(web):
    answer = await ask(web, AT_HOME, as_of="2023-01-31", route="local")
    days = [c["published"] for c in answer["citations"] + answer["further_reading"]]
    assert days
    assert max(days) <= "2023-01-31"


@pytest.mark.parametrize(
    ("fault", "problem"),
    [
        ({"web_error": Unavailable("down")}, "The search service does not answer"),
        ({"web_error": Conflict("No provider is left.")}, "No provider is left"),
        ({"web_error": Overloaded("Too many searches.")}, "Too many searches"),
        ({"web_hangs": True}, "no answer in 0.5 s|did not answer in time"),
        ({"rank_error": Unavailable("no encoder")}, "The retriever service does not answer, or the embedder"),
        ({"rank_error": Unavailable("The embedder is away.", details={"behind": "embedder"})}, "The embedder is away"),
    ],
    ids=["down", "conflict", "busy", "hangs", "rank", "behind"],
)
async def test_a_web_that_fails_leaves_a_local_answer_that_says_so(fault, problem):
    world = World.with_web()
    for name, value in fault.items():
        setattr(world, name, value)
    seconds = 0.5 if "web_hangs" in fault else 20.0  # a fault that is told is told in time, on a busy machine too
    async with (
        standing(world, web_seconds=seconds) as stand,
        httpx2.AsyncClient(base_url=stand.url, trust_env=False, timeout=60) as web,
    ):
        answer = await ask(web, "How many Services vehicles were sold in 2023?", route="web")
    assert answer["route"] == "local"
    assert [c["source"] for c in answer["citations"]]
    assert any(part in line for part in problem.split("|") for line in answer["web"]["problems"])
    assert any("knowledge base alone" in notice for notice in answer["notices"])


async def test_search_that_is_away_leaves_a_local_answer_that_says_so(stand, web):
    await stand.services.stop("search")
    for route in ("auto", "web"):
        answer = await ask(web, route=route)
        assert answer["route"] == "local"
        assert any("web search failed" in notice for notice in answer["notices"])


async def test_problems_of_single_pages_are_listed(stand, web):
    stand.world.web_problems = [
        search_pb2.WebProblem(where="https://slow.test/", reason="TIMEOUT", message="Too slow.")
    ]
    answer = await ask(web)
    assert answer["web"]["problems"] == ["https://slow.test/: Too slow. (TIMEOUT)"]
    assert answer["route"] == "local+web"
    assert len([n for n in answer["notices"] if "web.problems" in n]) == 1


async def test_without_a_web_a_doubtful_answer_is_marked_and_a_good_one_is_not():
    async with standing() as stand, httpx2.AsyncClient(base_url=stand.url, trust_env=False, timeout=60) as web:
        doubtful, good = await ask(web), await ask(web, AT_HOME)
        refused = await web.post("/v1/ask", json={"question": AT_HOME, "route": "web"})
        info = (await web.get("/v1/info")).json()
    assert "this deployment has no web search" in doubtful["notices"][0]
    assert doubtful["web"] is None
    assert good["notices"] == []
    assert refused.status_code == 409
    assert (info["routes"], info["web_providers"]) == (["auto", "local"], [])


async def test_information_names_the_providers(web):
    info = (await web.get("/v1/info")).json()
    assert (info["routes"], info["web_providers"]) == (["auto", "local", "web"], ["searxng"])
    assert info["gate"] == "calibrated"


@pytest.mark.parametrize("rule", ["asks_latest", "period_newer"])
async def test_the_latest_goes_to_the_web_however_good_the_match(stand, web, rule):
    stand.world.reading = retriever_pb2.Reading(companies=["Apple"], **{rule: True})
    answer = await ask(web, AT_HOME)
    assert stand.world.web_searches
    assert answer["gate"]["passed"] is False
    assert answer["reading"][rule]


async def test_metrics_count_routes_verdicts_and_kept_pages(web):
    def value(text, name):
        return next((float(line.rsplit(" ", 1)[1]) for line in text.splitlines() if line.startswith(name)), 0.0)

    names = (
        'quelea_answer_routes_total{route="local+web"}', 'quelea_gate_total{kind="calibrated",passed="false"}',
        'quelea_web_seconds_count{stage="web"}', 'quelea_web_kept_pages_total{state="kept"}',
    )  # fmt: skip
    before = (await web.get("/metrics")).text
    await ask(web)
    after = (await web.get("/metrics")).text
    assert [value(after, name) - value(before, name) for name in names] == [1, 1, 1, 1]


def test_the_gate_of_the_settings(tmp_path):
    assert build_gate(Settings(gate="cosine", gate_cosine=0.5)).of("").cosine == 0.5
    file = tmp_path / "gate.json"
    file.write_text('{"encoder": "mine", "fitted": "today", "cosine": 0.77}')
    assert build_gate(Settings(gate="cosine", gate_file=str(file))).of("").cosine == 0.77
    for bad in (tmp_path / "none.json", tmp_path):
        with pytest.raises(InvalidInput, match="gate_file"):
            build_gate(Settings(gate_file=str(bad)))
