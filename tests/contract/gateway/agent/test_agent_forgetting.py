"""What was removed is not gone on from: earlier runs and documents, whoever removes them and through which gateway."""

import asyncio
import json
import uuid
from contextlib import asynccontextmanager

import pytest
from quelea_gateway.core.agent.runs import kept_sessions
from quelea_kit.testing import wait_until_async
from support.agent_runs import client, code_runs, start, until
from support.agent_stand import agent_standing
from support.agent_world import good

FINDS = json.dumps({"action": "kb-search", "query": "织羽股份 营业收入"})
CODES = json.dumps({"action": "code-exec", "task": "compute"})
ENDS = json.dumps({"notes": [], "plan": [], "actions": [{"action": "finish"}]})
CODE = '```python\nprint("12.36")\nprices.to_csv("sales.csv")\n```'
NEWS = "c1" * 16


def reads_then_codes():
    """A model whose first run finds the news, and whose every run has code run."""
    return good(
        action=[FINDS, CODES, ENDS, CODES, ENDS],
        code=[CODE, '```python\nprint("12.36 again")\n```', '```python\nprint("12.36 once more")\n```'],
        answer=json.dumps({"answer": "Its revenue was 12.36 [1].", "missing": []}),
    )


@asynccontextmanager
async def two_gateways():
    """The parts of one, a client of it, and a client of another one that has the same runs."""
    shared = {"runs_url": f"memory://runs-{uuid.uuid4().hex}"}
    async with (
        agent_standing(reads_then_codes(), **shared) as parts,
        agent_standing(reads_then_codes(), **shared) as others,
        client(parts) as web,
        client(others) as of_other,
    ):
        yield parts, web, of_other


async def ended(web, **more):
    return await until(web, (await start(web, **more))["id"], "finished", "failed")


def plan_of_last(parts):
    return [messages[1].text for kind, messages, _ in parts.model.asked if kind == "plan"][-1]


async def test_a_removed_document_is_in_no_session_file_or_report_that_a_follow_up_gets():
    async with agent_standing(reads_then_codes()) as parts, client(parts) as web:
        first = await ended(web)
        assert NEWS in {one["document_id"] for one in first["answer"]["sources"]}
        (session,) = parts.sandbox.sessions
        second = await ended(web, follows=first["id"])
        assert parts.sandbox.ran_in == [session, session]
        assert (await web.delete(f"/v1/documents/{NEWS}")).status_code in (200, 204)
        parts.model.says["action"] = [CODES, ENDS]
        third = await ended(web, follows=second["id"])
        assert session in parts.sandbox.closed
        assert parts.sandbox.ran_in[-1] != session
        assert "sales.csv" not in parts.sandbox.files
        assert third["question"] in plan_of_last(parts)
        assert "12.36" not in plan_of_last(parts)
        assert not any(one["document_id"] or one["run"] for one in third["answer"]["sources"])
        assert any("a document that is gone" in one for one in third["answer"]["notices"])


async def test_a_report_that_rests_on_one_of_another_run_goes_with_that_ones_document():
    async with agent_standing(reads_then_codes(), agent_session_seconds=0) as parts, client(parts) as web:
        first = await ended(web)
        second = await ended(web, follows=first["id"])
        assert not any(one["document_id"] for one in second["answer"]["sources"])
        assert "12.36" in plan_of_last(parts)
        assert (await web.delete(f"/v1/agent/runs/{first['id']}")).status_code == 204
        assert (await web.delete(f"/v1/documents/{NEWS}")).status_code in (200, 204)
        parts.model.says["action"] = [CODES, ENDS]
        await ended(web, follows=second["id"])
        assert "12.36" not in plan_of_last(parts)


@pytest.mark.parametrize("what", ["run", "document"])
async def test_what_is_removed_while_a_follow_up_runs_is_not_kept_with_it(what):
    async with agent_standing(reads_then_codes()) as parts, client(parts) as web:
        first = await ended(web)
        (session,) = parts.sandbox.sessions
        going, goes_on = asyncio.Event(), asyncio.Event()

        async def concluding(*_):
            going.set()
            await goes_on.wait()
            return json.dumps({"answer": "Its revenue was 12.36 [1].", "missing": []})

        parts.model.says["answer"] = concluding
        second = await start(web, follows=first["id"])
        async with asyncio.timeout(60):
            await going.wait()
        path = f"/v1/agent/runs/{first['id']}" if what == "run" else f"/v1/documents/{NEWS}"
        assert (await web.delete(path)).status_code in (200, 204)
        goes_on.set()
        await until(web, second["id"], "finished")
        await wait_until_async(lambda: session in parts.sandbox.closed)
        assert not parts.sandbox.sessions


async def test_a_run_that_another_gateway_deleted_leaves_no_session(monkeypatch):
    monkeypatch.setattr(kept_sessions, "_LOOK_SECONDS", 0.05)
    async with two_gateways() as (parts, web, of_other):
        first = await ended(web)
        (session,) = parts.sandbox.sessions
        assert (await of_other.delete(f"/v1/agent/runs/{first['id']}")).status_code == 204
        await wait_until_async(lambda: session in parts.sandbox.closed)
        assert not parts.sandbox.sessions


async def test_a_run_that_another_gateway_deleted_is_not_gone_on_from_through_its_follow_up():
    async with two_gateways() as (parts, web, of_other):
        first = await ended(web)
        (session,) = parts.sandbox.sessions
        second = await ended(web, follows=first["id"])
        assert (await of_other.delete(f"/v1/agent/runs/{first['id']}")).status_code == 204
        parts.model.says["action"] = [CODES, ENDS]
        await ended(web, follows=second["id"])
        assert session in parts.sandbox.closed
        assert parts.sandbox.ran_in[-1] != session


async def test_a_follow_up_that_reaches_another_gateway_begins_afresh_and_says_so():
    shared = {"runs_url": f"memory://runs-{uuid.uuid4().hex}"}
    async with (
        agent_standing(reads_then_codes(), **shared) as parts,
        agent_standing(good(action=[CODES, ENDS], code=CODE), **shared) as others,
        client(parts) as web,
        client(others) as of_other,
    ):
        first = await ended(web)
        second = await ended(of_other, follows=first["id"])
        assert second["state"] == "finished"
        assert "sales.csv" in others.sandbox.files
        assert "Its revenue was 12.36" in plan_of_last(others)
        assert any("began afresh" in one for one in second["answer"]["notices"])
        parts.model.says["action"] = [CODES, ENDS]
        third = await ended(web, follows=second["id"])  # and back: the session of the first is not this one's
        assert any("began afresh" in one for one in third["answer"]["notices"])


async def test_a_follow_up_that_is_cancelled_before_it_goes_on_ends_the_session():
    async with agent_standing(reads_then_codes()) as parts, client(parts) as web:
        first = await ended(web)
        (session,) = parts.sandbox.sessions
        parts.sandbox.ran.clear()
        parts.sandbox.hangs = True
        second = await start(web, follows=first["id"])
        await code_runs(parts)
        assert (await web.delete(f"/v1/agent/runs/{first['id']}")).status_code == 204
        await web.post(f"/v1/agent/runs/{second['id']}/cancel")
        await until(web, second["id"], "cancelled")
        assert session in parts.sandbox.closed
