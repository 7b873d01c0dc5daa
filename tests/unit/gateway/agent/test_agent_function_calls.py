"""The agent with a model that calls functions, with one that does not, and with one that does so badly."""

import asyncio
import json
from dataclasses import replace

from quelea_gateway.core.agent.decision.token_budget import tokens
from quelea_gateway.core.agent.ports import DocumentPage
from quelea_gateway.core.model import FunctionCall
from quelea_kit.errors import Unavailable
from support.agent_world import FAST, Knowledge, SayingModel, asking, good, ran, world

FINISH = (FunctionCall("finish", '{"notes": []}'),)


async def done(ports, request=None):
    return await ran(ports, request or asking(), FAST)


def call(name, **arguments):
    return FunctionCall(name, json.dumps({"notes": [], **arguments}))


def calling(*decisions, **says):
    return SayingModel(good(action=[*decisions, FINISH], **says), calls_functions=True)


def actions_asked(model):
    return [m for kind, m, _ in model.asked if kind == "action"]


async def test_actions_are_functions_with_their_schemas_and_no_json_is_asked_for():
    model = calling((call("kb-search", query="revenue"),))
    await done(world(model))
    (offered,) = {tuple(one.name for one in functions) for functions in model.offered if functions}
    assert offered == ("kb-search", "api-select", "code-exec", "finish")
    functions = next(one for one in model.offered if one)
    schema = json.loads(functions[0].parameters)
    assert schema["required"] == ["notes", "query"]
    assert "search the stored documents" in functions[0].description
    for (kind, messages, schema_text), offered in zip(model.asked, model.offered, strict=True):
        assert bool(offered) == (kind == "action")
        if kind == "action":
            assert not schema_text
            assert "call its function" in messages[1].text
            assert "write one JSON object" not in messages[1].text


async def test_calls_of_one_turn_are_steps_and_their_notes_one_memory():
    first = (
        call("kb-search", query="revenue", notes=["Nothing yet."]),
        call("kb-search", query="margin", notes=["Still nothing."]),
    )
    model = calling(first)
    _, journal = await done(world(model))
    assert [one.get("query") for one in journal.of("step")] == ["revenue", "margin", None]
    assert [one["by"] for one in journal.of("step")] == ["model"] * 3
    assert len(actions_asked(model)) == 2


async def test_notes_and_a_new_plan_come_with_the_call():
    second = (
        call(
            "kb-search",
            query="margin",
            notes=["Revenue was $35,082 million [1]."],
            plan=[{"action": "finish", "task": "say it"}],
        ),
    )
    model = calling((call("kb-search", query="revenue"),), second)
    _, journal = await done(world(model))
    reflection = journal.of("reflection")[0]
    assert reflection["insights"] == ["Revenue was $35,082 million [1]."]
    assert reflection["plan"] == [{"action": "finish", "task": "say it"}]
    assert "Revenue was $35,082 million [1]." in actions_asked(model)[-1][1].text


async def test_a_model_without_functions_is_asked_for_json_and_that_costs_no_call_of_it():
    model = SayingModel(good())
    outcome, journal = await done(world(model))
    assert outcome.answer.complete
    assert outcome.usage.model_calls == len(model.asked)
    assert outcome.usage.repairs == 0
    assert "write one JSON object" in actions_asked(model)[0][1].text
    assert journal.of("step")


async def test_text_instead_of_calls_is_read_where_it_is_a_decision_and_else_json_is_asked_for():
    said = json.dumps({"notes": [], "plan": [], "actions": [{"action": "kb-search", "query": "revenue"}]})
    model = SayingModel(
        good(action=[said, "I would now search.", json.dumps({"action": "finish"})]), calls_functions=True
    )
    outcome, journal = await done(world(model))
    assert [one["action"] for one in journal.of("step")] == ["kb-search", "finish"]
    assert outcome.usage.repairs == 1
    kinds = [kind for kind, _, _ in model.asked]
    offered = [bool(one) for kind, one in zip(kinds, model.offered, strict=True) if kind == "action"]
    assert offered == [True, True, False]


async def test_a_call_that_does_not_fit_is_repaired_with_its_error():
    model = calling((call("kb-search"),), (FunctionCall("kb-search", '{"notes": [], "query": "reve'),))
    outcome, journal = await done(world(model))
    assert outcome.usage.repairs == 1
    assert '"query" is missing' in actions_asked(model)[1][-1].text
    assert journal.of("step")[0]["query"] == "reve"  # cut off, and read as far as it came


async def test_lookups_of_one_turn_run_at_once_and_are_numbered_as_they_were_chosen():
    class Meeting(Knowledge):
        """Answers the first query only when the second one was asked."""

        def __init__(self):
            super().__init__()
            self.both = asyncio.Event()

        async def search(self, query, **more):
            if query == "second":
                self.both.set()
            else:
                await asyncio.wait_for(self.both.wait(), 10)
                await asyncio.sleep(0)
            self.text = f"About {query}: 12 million."
            return await super().search(query, **more)

    model = calling((call("kb-search", query="first"), call("kb-search", query="second")))
    outcome, journal = await done(world(model, knowledge=Meeting()))
    outputs = journal.of("output")
    assert [(one["step"], one["sources"]) for one in outputs] == [(1, [1]), (2, [2])]
    assert "About first" in outputs[0]["text"]
    assert "About second" in outputs[1]["text"]
    assert outcome.usage.steps == 3


async def test_one_lookup_that_fails_spoils_no_other_and_the_rest_is_decided_anew():
    class Half(Knowledge):
        async def search(self, query, **more):
            if query == "broken":
                raise Unavailable("The index is away.")
            return await super().search(query, **more)

    turn = (
        call("kb-search", query="broken"),
        call("kb-search", query="revenue"),
        call("code-exec", task="x", code="1"),
    )
    model = calling(turn)
    _, journal = await done(world(model, knowledge=Half()))
    assert [one["result"] for one in journal.of("output")] == ["wrong", "good"]
    assert [one["action"] for one in journal.of("step")] == ["kb-search", "kb-search", "finish"]


async def test_calls_of_one_turn_keep_to_the_budget_of_steps():
    turn = tuple(call("kb-search", query=f"q{n}") for n in range(4))
    model = calling(turn)
    outcome, journal = await done(world(model), asking(budget={"steps": 3}))
    assert [one["action"] for one in journal.of("step")] == ["kb-search", "kb-search", "finish"]
    assert outcome.answer.ended_by == "steps"


async def test_the_same_call_twice_in_a_turn_is_done_once():
    model = calling((call("kb-search", query="revenue"), call("kb-search", query="Revenue ")))
    knowledge = Knowledge()
    await done(world(model, knowledge=knowledge))
    assert knowledge.asked == ["revenue"]


async def test_finish_beside_other_calls_waits_for_what_they_bring():
    model = calling((call("kb-search", query="revenue"), *FINISH))
    _, journal = await done(world(model))
    assert [one["action"] for one in journal.of("step")] == ["kb-search", "finish"]
    assert len(actions_asked(model)) == 2


async def test_a_context_that_is_too_small_for_functions_is_asked_for_json():
    model = calling(json.dumps({"action": "kb-search", "query": "revenue"}))
    model.context = 1200
    model.says["action"] = [json.dumps({"action": "kb-search", "query": "revenue"}), json.dumps({"action": "finish"})]
    _, journal = await done(world(model))
    assert not any(model.offered)
    assert [one["action"] for one in journal.of("step")] == ["kb-search", "finish"]


async def test_functions_count_as_read_where_an_endpoint_does_not_count():
    class Uncounted(SayingModel):
        async def complete(self, messages, **more):
            reply = await super().complete(messages, **more)
            return replace(reply, prompt_tokens=0, completion_tokens=0)

    model = Uncounted(good(action=[(call("kb-search", query="revenue"),), FINISH]), calls_functions=True)
    _, journal = await done(world(model))
    prompts = sum(tokens(one.text) for _, messages, _ in model.asked for one in messages)
    functions = sum(
        tokens(f"{one.name} {one.description} {one.parameters}") for offered in model.offered for one in offered
    )
    assert functions > 500
    assert journal.used.prompt_tokens == prompts + functions


async def test_an_example_has_functions_and_calls():
    model = calling((call("kb-search", query="revenue"),))
    ports = world(model)
    await done(ports)
    first = next(one for one in ports.trajectories.kept if one["subtask"] == "action")
    assert first["schema"] == ""
    assert first["tools"][0]["name"] == "kb-search"
    assert first["tool_calls"] == [{"name": "kb-search", "arguments": json.dumps({"notes": [], "query": "revenue"})}]
    assert all("tools" not in one for one in ports.trajectories.kept if one["subtask"] != "action")


async def test_pages_that_are_opened_together_are_cited_apart():
    class Book:
        async def read(self, document_id, page):
            return DocumentPage(f"Page {page}: total assets were ${page},728 million.", 9, "2024-02-21")

    turn = (call("open-page", source=1, page=4), call("open-page", source=1, page=5))
    model = calling((call("kb-search", query="assets"),), turn)
    _, journal = await done(world(model, pages=Book()))
    assert [one["sources"] for one in journal.of("output")] == [[1], [2], [3]]
