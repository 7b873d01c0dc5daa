"""A question that the language model takes apart, through REST and gRPC."""

import json

import grpc
import httpx2
import pytest
from quelea.gateway.v1 import gateway_pb2, gateway_pb2_grpc
from quelea_gateway.testing import standing

QUESTION = "Why did the net sales of Apple change in the third quarter of fiscal 2023?"
PLANNED = {"query": "Apple net sales by product", "companies": [], "periods": [], "lines": [], "documents": []}
SEARCHES = ["Apple net sales by product"]


@pytest.fixture
async def stand():
    async with standing(query_plan="model") as running:
        running.world.completions = [[json.dumps({"searches": [PLANNED]})]]
        yield running


async def test_rest_says_what_was_searched_for(stand, web):
    answer = (await web.post("/v1/ask", json={"question": QUESTION, "route": "local"})).json()
    assert answer["searches"] == SEARCHES
    assert [one.query for one in stand.world.searches] == [QUESTION, *SEARCHES]
    async with web.stream("POST", "/v1/ask", json={"question": QUESTION, "route": "local", "stream": True}) as sent:
        events = [one async for one in httpx2.EventSource(sent)]
    assert json.loads(events[0].data)["searches"] == SEARCHES
    assert len(stand.world.completion_requests) == 1  # the plan is kept


async def test_so_does_grpc(stand):
    async with grpc.aio.insecure_channel(stand.grpc) as channel:
        stub = gateway_pb2_grpc.GatewayServiceStub(channel)
        request = gateway_pb2.AskRequest(question=QUESTION, route="local")
        events = [event async for event in stub.Ask(request)]
    assert list(events[0].started.searches) == list(events[-1].answer.searches) == SEARCHES
