"""A two-turn dialogue through the door: how a follow-up was understood is shown, searched and answered."""

import json

from quelea.gateway.v1 import gateway_pb2, gateway_pb2_grpc
from quelea_kit.client import channel, stream
from quelea_kit.errors import Unavailable

FIRST = "What were Apple's total net sales in the third quarter of fiscal 2023?"
FOLLOW_UP = "and the quarter before?"
ALONE = "What were Apple's total net sales in the second quarter of fiscal 2023?"
HISTORY = [{"role": "user", "content": FIRST}, {"role": "assistant", "content": "81,797 million [1]"}]


async def test_the_standalone_question_is_in_the_answer_and_asked_for_everywhere(stand, web):
    stand.world.rewrites[FOLLOW_UP] = ALONE
    body = {"question": FOLLOW_UP, "history": HISTORY, "as_of": "2024-01-31"}
    answer = (await web.post("/v1/ask", json=body)).json()
    assert answer["standalone"] == {"question": ALONE, "by": "rules"}
    assert "rewrite" in answer["timings"]
    (request,) = stand.world.rewrite_requests
    assert (request.question, request.as_of) == (FOLLOW_UP, "2024-01-31")
    assert [(turn.role, turn.text) for turn in request.history] == [(t["role"], t["content"]) for t in HISTORY]
    assert list(request.companies) == ["Apple"]
    assert [search.query for search in stand.world.searches] == [ALONE]
    assert stand.world.asked[0].question == ALONE
    assert len(stand.world.asked[0].history) == 2


async def test_it_comes_with_the_first_event(stand, web):
    stand.world.rewrites[FOLLOW_UP] = ALONE
    reply = await web.post("/v1/ask", json={"question": FOLLOW_UP, "history": HISTORY, "stream": True})
    events = [block.split("\n") for block in reply.text.split("\n\n") if block.startswith("event: started")]
    (started,) = (json.loads(line[6:]) for block in events for line in block if line.startswith("data: "))
    assert started["standalone"] == {"question": ALONE, "by": "rules"}


async def test_without_a_history_nobody_is_asked(stand, web):
    answer = (await web.post("/v1/ask", json={"question": FIRST})).json()
    assert answer["standalone"] is None
    assert not stand.world.rewrite_requests


async def test_a_generator_that_cannot_rewrite_does_not_stop_the_answer(stand, web):
    stand.world.rewrite_error = Unavailable("not now")
    answer = (await web.post("/v1/ask", json={"question": FOLLOW_UP, "history": HISTORY})).json()
    assert answer["standalone"] is None
    assert stand.world.searches[0].query == f"{FIRST}\n{FOLLOW_UP}"
    assert stand.world.asked[0].question == FOLLOW_UP


async def test_the_openai_route_understands_follow_ups_too(stand, web):
    stand.world.rewrites[FOLLOW_UP] = ALONE
    messages = [*HISTORY, {"role": "user", "content": FOLLOW_UP}]
    reply = await web.post("/v1/chat/completions", json={"model": "quelea", "messages": messages})
    assert reply.status_code == 200
    assert stand.world.searches[0].query == ALONE


async def test_grpc_carries_it(stand):
    stand.world.rewrites[FOLLOW_UP] = ALONE
    async with channel(stand.grpc, "quelea.gateway.v1.GatewayService") as opened:
        stub = gateway_pb2_grpc.GatewayServiceStub(opened)
        history = [gateway_pb2.HistoryTurn(role=turn["role"], text=turn["content"]) for turn in HISTORY]
        request = gateway_pb2.AskRequest(question=FOLLOW_UP, history=history)
        events = [event async for event in stream(stub.Ask(request, timeout=60))]
    wanted = gateway_pb2.Standalone(question=ALONE, by="rules")
    assert events[0].started.standalone == wanted
    assert events[-1].answer.standalone == wanted


async def test_a_period_that_does_not_exist_is_declined_and_named_in_the_questions_language(stand, web):
    for question, notice in (
        ("What were Apple's total net sales in Q5 2023?", "There is no such period: Q5 2023."),
        ("苹果2023年第五季度的营收是多少？", "不存在这样的期间：2023年第五季度。"),
        ("What did Apple report on February 30, 2023?", "There is no such period: February 30, 2023."),
    ):
        answer = (await web.post("/v1/ask", json={"question": question, "as_of": "2024-01-31"})).json()
        assert answer["declined"]["reason"] == "no_such_period"
        assert answer["citations"] == []
        assert notice in answer["notices"]
        assert stand.world.asked[-1].question == question
        assert not stand.world.asked[-1].evidence
    assert answer["further_reading"]


async def test_a_period_that_has_not_begun_is_said_and_the_reader_is_told(stand, web):
    answer = (await web.post("/v1/ask", json={"question": "What is Apple's revenue in fiscal 2031?"})).json()
    assert "On the day of the question this period had not begun: fiscal 2031." in answer["notices"]
    assert stand.world.asked[-1].evidence_incomplete
    answer = (await web.post("/v1/ask", json={"question": "苹果2031年的营收是多少？"})).json()
    assert "到提问之日，该期间尚未开始：2031年。" in answer["notices"]


async def test_a_follow_up_to_a_period_that_does_not_exist_is_declined_too(stand, web):
    stand.world.rewrites["and in Q5?"] = "What were Apple's total net sales in Q5 2023?"
    body = {"question": "and in Q5?", "history": HISTORY}
    assert (await web.post("/v1/ask", json=body)).json()["declined"]["reason"] == "no_such_period"
