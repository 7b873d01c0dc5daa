"""What the web route did is said alike at every door: events, gRPC and the OpenAI route."""

import json

import openai
import pytest
from quelea.common.v1 import common_pb2
from quelea.gateway.v1 import gateway_pb2, gateway_pb2_grpc
from quelea_gateway.adapters.services.fake_world import World
from quelea_gateway.testing import standing
from quelea_kit.client import channel, stream
from quelea_kit.testing import wait_until_async
from support.web_route import ABROAD, AS_OF, AT_HOME, ask

SERVICE = "quelea.gateway.v1.GatewayService"


@pytest.fixture
async def stand():
    async with standing(World.with_web()) as running:
        yield running


async def test_events_tell_the_route_before_the_first_word(web):
    async with web.stream("POST", "/v1/ask", json={"question": ABROAD, "as_of": AS_OF, "stream": True}) as response:
        text = "".join([piece async for piece in response.aiter_text()])
    events = [block.split("\n") for block in text.split("\n\n") if block.startswith("event")]
    first, last = (json.loads(events[n][1].removeprefix("data: ")) for n in (0, -1))
    assert events[0][0] == "event: started"
    assert first["route"] == last["route"] == "local+web"
    assert first["gate"] == last["gate"]
    assert first["web"]["pages_read"] == 2
    assert first["evidence"][0]["source"] == "web"


async def test_grpc_says_the_same(stand, web):
    stand.world.trusted_hosts.clear()  # else the first answer changes what the second finds
    rest = await ask(web)
    async with channel(stand.grpc, SERVICE) as opened:
        stub = gateway_pb2_grpc.GatewayServiceStub(opened)
        request = gateway_pb2.AskRequest(question=ABROAD, as_of=AS_OF, route="web")
        events = [event async for event in stream(stub.Ask(request, timeout=60))]
    started, answer = events[0].started, events[-1].answer
    assert (started.route, answer.route) == ("local+web", "local+web")
    assert started.gate == answer.gate
    assert list(answer.gate.reasons) == rest["gate"]["reasons"]
    assert dict(answer.gate.features) == pytest.approx(rest["gate"]["features"])
    assert (answer.web.provider, answer.web.pages_read) == ("searxng", 2)
    assert [page.url for page in answer.web.kept] == [page["url"] for page in rest["web"]["kept"]]
    assert (answer.citations[0].source, bool(answer.citations[0].fetched)) == ("web", True)


async def test_a_local_answer_over_grpc_has_no_web(stand):
    async with channel(stand.grpc, SERVICE) as opened:
        stub = gateway_pb2_grpc.GatewayServiceStub(opened)
        events = [e async for e in stream(stub.Ask(gateway_pb2.AskRequest(question=AT_HOME), timeout=60))]
    assert not events[-1].answer.HasField("web")
    assert events[-1].answer.gate.passed


async def test_a_page_is_ingested_over_grpc(stand):
    async with channel(stand.grpc, SERVICE) as opened:
        stub = gateway_pb2_grpc.GatewayServiceStub(opened)
        url = "https://news.test/rivian-2023"
        said = common_pb2.DocumentMetadata(company="Rivian")
        job = (await stub.IngestUrl(gateway_pb2.IngestUrlRequest(url=url, metadata=said), timeout=60)).job
        assert (job.url, job.id in stand.world.jobs) == (url, True)


async def test_the_openai_route_carries_gate_and_web(stand, web):
    async with openai.AsyncOpenAI(base_url=f"{stand.url}/v1", api_key="x", max_retries=0) as client:
        said = {"model": "quelea", "messages": [{"role": "user", "content": AT_HOME}]}
        auto = await client.chat.completions.create(**said, extra_body={"as_of": AS_OF})
        forced = await client.chat.completions.create(**said, extra_body={"route": "web", "as_of": AS_OF})
        with pytest.raises(openai.BadRequestError):
            await client.chat.completions.create(**said, extra_body={"route": "moon"})
    assert auto.model_extra["quelea"]["route"] == "local"
    assert auto.model_extra["quelea"]["gate"]["passed"]
    assert stand.world.web_searches
    assert forced.model_extra["quelea"]["web"] is not None


async def test_a_caller_who_leaves_cancels_the_web_search(stand):
    stand.world.web_hangs = True
    async with channel(stand.grpc, SERVICE) as opened:
        call = gateway_pb2_grpc.GatewayServiceStub(opened).Ask(
            gateway_pb2.AskRequest(question=ABROAD, as_of=AS_OF), timeout=600
        )
        await wait_until_async(lambda: bool(stand.world.web_searches), what="the web is searched")
        call.cancel()
        await wait_until_async(lambda: "SearchWeb" in stand.world.cancelled, seconds=25, what="the search is cancelled")
