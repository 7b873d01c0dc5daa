"""Runs of the agent over the OpenAI route and gRPC, on a gateway with fake services."""

import json

import grpc
import openai
import pytest
from mcp import Client as McpClient
from quelea.gateway.v1 import agent_pb2, agent_pb2_grpc
from quelea_kit.errors import Unavailable
from support.agent_runs import QUESTION, client, until
from support.agent_stand import agent_standing
from support.agent_world import QUOTES, good


async def test_the_openai_route(parts):
    made = openai.AsyncOpenAI(base_url=f"{parts.url}/v1", api_key="none", http_client=httpx_client())
    assert "quelea-agent" in [one.id async for one in made.models.list()]
    asked = [{"role": "user", "content": QUESTION}]
    done = await made.chat.completions.create(model="quelea-agent", messages=asked)
    message = done.choices[0].message
    assert "190.17" in message.content
    mark = message.annotations[0].url_citation
    assert message.content[mark.start_index : mark.end_index] == "[1]"
    # The model of these tests counts 100 and 20 tokens a call: plan, 4 actions, pick, 3 reflections, code, conclusion.
    assert (done.usage.prompt_tokens, done.usage.completion_tokens, done.usage.total_tokens) == (600, 120, 720)
    assert done.choices[0].finish_reason == "stop"
    assert done.quelea["run"]["state"] == "finished"
    parts.model.says = good()
    pieces, events, thoughts, ends, usage = [], [], [], [], None
    async for chunk in await made.chat.completions.create(
        model="quelea-agent", messages=asked, stream=True, stream_options={"include_usage": True}
    ):
        usage = chunk.usage
        if not chunk.choices:
            continue
        pieces.append(chunk.choices[0].delta.content or "")
        thoughts.append(getattr(chunk.choices[0].delta, "reasoning_content", None) or "")
        ends += [chunk.choices[0].finish_reason] if chunk.choices[0].finish_reason else []
        more = getattr(chunk, "quelea", None) or {}
        events += [more["event"]["event"]] if "event" in more else []
    assert "".join(pieces) == message.content
    assert {"plan", "step", "code", "output", "answer"} <= set(events)
    assert "Step 2: code-exec print the closes, plot them" in "".join(thoughts)
    assert "The close of 2026-11-13 was 190.17." in "".join(thoughts)
    assert ends == ["stop"]
    assert (usage.prompt_tokens, usage.completion_tokens) == (600, 120)
    await made.close()


async def test_over_mcp_a_run_is_waited_for(parts):
    async with McpClient(f"{parts.url}/mcp") as made:
        result = await made.call_tool("analyse", {"question": QUESTION})
        refused = await made.call_tool("analyse", {"question": QUESTION, "as_of": "2999-01-01"})
    said = result.structured_content
    assert "190.17" in said["answer"]
    assert said["sources"][0]["number"] == 1
    assert refused.is_error


async def test_a_second_turn_of_a_chat_follows_the_run_whose_answer_came_before(web, parts):
    parts.model.says = coded_twice()
    body = {"model": "quelea-agent", "messages": [{"role": "user", "content": QUESTION}]}
    first = (await web.post("/v1/chat/completions", json=body)).json()
    said = first["choices"][0]["message"]["content"]
    again = {"role": "user", "content": "And on a log scale?"}
    body["messages"] += [{"role": "assistant", "content": f" {said}\n"}, again]
    second = (await web.post("/v1/chat/completions", json=body)).json()["quelea"]
    assert second["run"]["follows"] == first["quelea"]["run"]["id"]
    assert second["run"]["question"] == "And on a log scale?", "told of the run before, it needs no words of it"
    assert second["standalone"] is None
    assert len(set(parts.sandbox.ran_in)) == 1
    named = {"model": "quelea-agent", "messages": [again], "metadata": {"follows": second["run"]["id"]}}
    third = (await web.post("/v1/chat/completions", json=named)).json()["quelea"]
    assert third["run"]["follows"] == second["run"]["id"]
    assert len(set(parts.sandbox.ran_in)) == 1
    named["metadata"]["follows"] = "20261122000000-0000000000000000"
    assert (await web.post("/v1/chat/completions", json=named)).status_code == 404
    named["metadata"] = {"follows": 7, "of the front-end": {"nested": True}}
    refused = await web.post("/v1/chat/completions", json=named)
    assert refused.status_code == 400
    assert "metadata.follows" in refused.text


async def test_of_two_runs_with_the_same_answer_a_chat_follows_its_own_and_none_that_it_may_not_see(web, parts):
    parts.model.says = coded_twice() | {"code": '```python\nprint("nothing")\n```'}  # so both say that there is nothing

    async def ask(*messages, **more):
        body = {"model": "quelea-agent", "messages": list(messages), **more}
        return (await web.post("/v1/chat/completions", json=body)).json()

    mine = {"role": "user", "content": QUESTION}
    first = await ask(mine)
    other = await ask({"role": "user", "content": "What did it do in the year before?"})
    said = first["choices"][0]["message"]
    assert other["choices"][0]["message"]["content"] == said["content"]
    turns = [
        mine,
        {"role": "assistant", "content": said["content"]},
        {"role": "user", "content": "And on a log scale?"},
    ]
    assert (await ask(*turns))["quelea"]["run"]["follows"] == first["quelea"]["run"]["id"]
    assert (await ask(*turns, as_of="2020-01-01"))["quelea"]["run"]["follows"] == ""


async def test_over_mcp_a_run_follows_another(parts):
    parts.model.says = coded_twice()
    async with McpClient(f"{parts.url}/mcp") as made:
        first = (await made.call_tool("analyse", {"question": QUESTION})).structured_content
        again = {"question": "And on a log scale?", "follows": first["run"]}
        second = (await made.call_tool("analyse", again)).structured_content
        refused = await made.call_tool("analyse", again | {"follows": "20261122000000-0000000000000000"})
    assert len(parts.sandbox.ran_in) == 2
    assert len(set(parts.sandbox.ran_in)) == 1
    assert second["notices"] == []
    assert {one["run"] for one in second["sources"]} == {first["run"]}
    assert refused.is_error


def coded_twice():
    """What a model says in runs of one piece of code each."""
    code = json.dumps({"action": "code-exec", "task": "get them", "apis": ["stock_us_daily"]})
    ends = json.dumps({"notes": [], "plan": [], "actions": [{"action": "finish"}]})
    first, then = good()["code"], '```python\nprint("186.5 on a log scale")\n```'
    return good(action=[code, ends] * 3, code=[first, then, then.replace("on", "drawn on")])


async def test_a_run_that_used_its_steps_up_ends_with_length():
    async with agent_standing(agent_steps=2) as parts, client(parts) as web:
        body = {"model": "quelea-agent", "messages": [{"role": "user", "content": QUESTION}]}
        done = (await web.post("/v1/chat/completions", json=body)).json()
        assert done["choices"][0]["finish_reason"] == "length"
        assert "Missing:\n- all 2 steps were used." in done["choices"][0]["message"]["content"].replace("\n\n", "\n")


async def test_what_a_follow_up_takes_from_earlier_turns_is_put_into_it(web, parts):
    alone = "How did the stock price of Tesla move over the last two weeks?"
    parts.stand.world.rewrites["And Tesla?"] = alone
    turns = [
        {"role": "system", "content": "Be nice."}, {"role": "user", "content": QUESTION},
        {"role": "assistant", "content": "It rose."}, {"role": "user", "content": "And Tesla?"},
    ]  # fmt: skip
    done = (await web.post("/v1/chat/completions", json={"model": "quelea-agent", "messages": turns})).json()
    assert done["quelea"]["run"]["question"] == alone
    assert done["quelea"]["standalone"] == {"question": alone, "by": "rules"}
    (asked,) = parts.stand.world.rewrite_requests
    assert [turn.text for turn in asked.history] == [QUESTION, "It rose."]
    parts.model.says = good()
    parts.stand.world.rewrite_error = Unavailable("away")
    turns[-1]["content"] = "And what about its volume?"
    done = (await web.post("/v1/chat/completions", json={"model": "quelea-agent", "messages": turns})).json()
    assert done["quelea"]["run"]["question"] == f"{QUESTION}\nAnd what about its volume?"


def httpx_client():
    import httpx

    return httpx.AsyncClient(trust_env=False, timeout=60)


async def test_an_openai_caller_who_leaves_ends_the_run(web, parts):
    parts.sandbox.hangs = True
    body = {"model": "quelea-agent", "messages": [{"role": "user", "content": QUESTION}], "stream": True}
    async with web.stream("POST", "/v1/chat/completions", json=body) as reply:
        async for line in reply.aiter_lines():
            if '"code"' in line:
                break
    (run,) = (await web.get("/v1/agent/runs")).json()["runs"]
    await until(web, run["id"], "cancelled")


async def test_grpc(parts):
    async with grpc.aio.insecure_channel(parts.stand.grpc) as channel:
        stub = agent_pb2_grpc.AgentServiceStub(channel)
        run = (await stub.StartRun(agent_pb2.StartRunRequest(question=QUESTION))).run
        events = [one async for one in stub.WatchRun(agent_pb2.WatchRunRequest(id=run.id))]
        assert [one.number for one in events] == list(range(1, len(events) + 1))
        assert json.loads(events[-1].data_json)["state"] == "finished"
        rest = [one async for one in stub.WatchRun(agent_pb2.WatchRunRequest(id=run.id, after=len(events) - 2))]
        assert rest == events[-2:]
        done = (await stub.GetRun(agent_pb2.GetRunRequest(id=run.id))).run
        assert done.state == agent_pb2.RUN_STATE_FINISHED
        assert "190.17" in done.answer.text
        assert {one.kind for one in done.answer.sources} == {"execution", "call"}
        assert [one.id for one in (await stub.ListRuns(agent_pb2.ListRunsRequest())).runs] == [run.id]
        for name, magic in ((done.artifacts[0].name, b"\x89PNG"), ("report.pdf", b"%PDF"), ("notebook.ipynb", b"{"),
                            ("bundle", b"https")):  # fmt: skip
            wanted = agent_pb2.GetArtifactRequest(id=run.id, name=name)
            data = b"".join([piece.chunk async for piece in stub.GetArtifact(wanted)])
            assert data.startswith(magic)
        assert not (await stub.CancelRun(agent_pb2.CancelRunRequest(id=run.id))).found
        with pytest.raises(grpc.aio.AioRpcError) as caught:
            await stub.GetRun(agent_pb2.GetRunRequest(id="20261122000000-0000000000000000"))
        assert caught.value.code() == grpc.StatusCode.NOT_FOUND
    assert QUOTES
