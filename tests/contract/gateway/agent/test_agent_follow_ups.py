"""A finished run is gone on from: in its session while that waits, in an empty one with its tables after that."""

import json

import grpc
import pytest
from quelea.gateway.v1 import agent_pb2, agent_pb2_grpc
from quelea_gateway import keys
from quelea_kit.errors import Conflict, NotFound
from quelea_kit.rpc.wire_errors import from_rpc_error
from quelea_kit.testing import wait_until_async
from support.agent_runs import client, code_runs, start, until
from support.agent_stand import agent_standing
from support.agent_world import URL, good

AGAIN = "And as a chart with a log scale."
TABLE = f'```python\nprices = fetch("{URL}")\nprint("{{market}}")\nprices.to_csv("prices.csv")\n```'
LOG = '```python\nprint("186.5 on a log scale")\nplt.savefig("log.png")\n```'
CODED = [
    json.dumps({"action": "code-exec", "task": "get them", "apis": ["stock_us_daily"]}),
    json.dumps({"notes": [], "plan": [], "actions": [{"action": "finish"}]}),
]
ANSWER = json.dumps({"answer": "It closed at 186.5 [1].", "missing": []})


def twice(**changed):
    """What a model says in two runs and more, each of one piece of code."""
    return good(action=CODED * 3, code=[TABLE, LOG], answer=ANSWER, **changed)


async def followed(web, before, question=AGAIN, **more):
    run = await start(web, question, follows=before["id"], **more)
    return await until(web, run["id"], "finished", "failed")


async def first_run(web, **more):
    return await until(web, (await start(web, **more))["id"], "finished")


async def test_a_follow_up_goes_on_in_the_session_with_sources_and_what_was_done():
    async with agent_standing(twice()) as parts, client(parts) as web:
        first = await first_run(web)
        (session,) = parts.sandbox.spare
        assert parts.sandbox.spare[session] == 600
        second = await followed(web, first)
        assert parts.sandbox.ran_in == [session, session]
        assert second["follows"] == first["id"]
        assert second["answer"]["notices"] == []
        of_first = [one for one in second["answer"]["sources"] if one["run"] == first["id"]]
        assert {one["kind"] for one in of_first} == {"execution", "call"}
        assert all(first["id"] in one["open"] for one in of_first)
        fresh = [one for one in second["answer"]["sources"] if not one["run"]]
        assert [one["kind"] for one in fresh] == ["execution"]
        plan = parts.model.asked[-4][1][1].text
        for told in (AGAIN, "<earlier>", first["question"], "It closed at 186.5", "to_csv", "(prices)", "prices.csv"):
            assert told in plan, told
        told = plan.partition("<earlier>")[2].partition("</earlier>")[0]
        assert "It closed at 186.5." in told, "without [1]: its report has numbers of its own"
        assert len(parts.market.closed) == 2, "each run has a token of its own"
        third = await followed(web, first)  # its session went on with the second
        assert third["state"] == "finished"
        assert parts.sandbox.ran_in[-1] != session
        assert any("began afresh" in one for one in third["answer"]["notices"])


async def test_where_the_session_has_ended_the_follow_up_has_the_tables_and_says_so():
    async with agent_standing(twice(), agent_session_seconds=0) as parts, client(parts) as web:
        first = await first_run(web)
        assert not parts.sandbox.spare
        assert parts.sandbox.closed
        second = await followed(web, first)
        assert parts.sandbox.ran_in[0] != parts.sandbox.ran_in[1]
        assert parts.sandbox.files["prices.csv"].startswith(b"date,close")
        assert any("prices.csv" in one for one in second["answer"]["notices"])
        (table,) = [one for one in second["answer"]["sources"] if one["run"]]
        assert (table["title"], table["run"]) == ("step1-prices.csv, of step 1", first["id"])
        assert "181.25" in table["excerpt"]
        assert "variables are gone and its sources are no evidence" in parts.model.asked[-4][1][1].text


async def test_where_the_sandbox_needed_the_place_the_sources_are_still_there():
    async with agent_standing(twice()) as parts, client(parts) as web:
        first = await first_run(web)
        parts.sandbox.sessions.clear()
        second = await followed(web, first)
        assert any(one["run"] for one in second["answer"]["sources"])
        assert parts.sandbox.files["prices.csv"]
        assert any("began afresh" in one for one in second["answer"]["notices"])


async def test_sessions_that_wait_are_bounded_and_end_in_time():
    async with agent_standing(twice(), agent_sessions=2, agent_sessions_per_key=1) as parts, client(parts) as web:
        await first_run(web)
        (oldest,) = parts.sandbox.spare
        await first_run(web)
        assert parts.sandbox.closed == [oldest]
        assert len(parts.sandbox.sessions) == 1
    assert not parts.sandbox.sessions, "all end with the gateway"
    async with agent_standing(twice(), agent_session_seconds=0.05) as parts, client(parts) as web:
        await first_run(web)
        await wait_until_async(lambda: bool(parts.sandbox.closed))
        assert not parts.sandbox.sessions


async def test_deleting_a_run_ends_the_session_that_has_its_values():
    async with agent_standing(twice()) as parts, client(parts) as web:
        first = await first_run(web)
        second = await followed(web, first)
        assert (await web.delete(f"/v1/agent/runs/{first['id']}")).status_code == 204
        assert not parts.sandbox.sessions
        third = await followed(web, second)
        assert first["question"] not in parts.model.asked[-4][1][1].text
        assert third["state"] == "finished"


async def test_an_earlier_day_does_not_see_what_a_later_one_brought():
    async with agent_standing(twice()) as parts, client(parts) as web:
        first = await first_run(web)
        second = await followed(web, first, as_of="2020-01-01")
        assert parts.sandbox.ran_in[0] != parts.sandbox.ran_in[1]
        assert not any(one["run"] for one in second["answer"]["sources"])
        assert "prices.csv" not in parts.sandbox.files
        plan = parts.model.asked[-4][1][1].text
        assert first["question"] in plan
        assert "It closed at 186.5" not in plan


async def test_a_call_that_may_read_less_is_told_the_task_alone_also_when_the_session_has_ended():
    async with agent_standing(twice(), agent_session_seconds=0) as parts, client(parts) as web:
        first = await first_run(web)
        await followed(web, first, collections=["default"])
        assert "prices.csv" not in parts.sandbox.files
        plan = parts.model.asked[-4][1][1].text
        assert first["question"] in plan
        assert "It closed at 186.5" not in plan


async def test_day_and_bundles_of_the_run_before_are_the_defaults():
    async with agent_standing(twice()) as parts, client(parts) as web:
        first = await first_run(web, as_of="2026-11-20", bundle_ids=["b" * 8])
        second = await followed(web, first)
        assert (second["as_of"], second["bundle_ids"]) == ("2026-11-20", ["b" * 8])


async def test_only_a_finished_run_of_ones_own_can_be_followed(tmp_path):
    ring = tmp_path / "keys.json"
    desk, other = keys.create(ring, "desk"), keys.create(ring, "other")
    async with agent_standing(twice(), auth="keys", keys_file=str(ring)) as parts, client(parts) as web:
        web.headers["Authorization"] = f"Bearer {desk}"
        first = await first_run(web)
        parts.sandbox.hangs = True
        parts.model.says = good()
        hanging = await start(web)
        await code_runs(parts)
        refused = await web.post("/v1/agent/runs", json={"question": AGAIN, "follows": hanging["id"]})
        assert refused.status_code == 409
        assert "finished" in refused.text
        await web.post(f"/v1/agent/runs/{hanging['id']}/cancel")
        web.headers["Authorization"] = f"Bearer {other}"
        missing = await web.post("/v1/agent/runs", json={"question": AGAIN, "follows": first["id"]})
        assert missing.status_code == 404
        async with grpc.aio.insecure_channel(parts.stand.grpc) as line:
            stub = agent_pb2_grpc.AgentServiceStub(line)
            asked = agent_pb2.StartRunRequest(question=AGAIN, follows=first["id"])
            with pytest.raises(grpc.aio.AioRpcError) as raised:
                await stub.StartRun(asked, metadata=[("authorization", f"Bearer {other}")], timeout=60)
            assert isinstance(from_rpc_error(raised.value), NotFound)
            asked = agent_pb2.StartRunRequest(question=AGAIN, follows=hanging["id"])
            with pytest.raises(grpc.aio.AioRpcError) as raised:
                await stub.StartRun(asked, metadata=[("authorization", f"Bearer {desk}")], timeout=60)
            assert isinstance(from_rpc_error(raised.value), Conflict)
