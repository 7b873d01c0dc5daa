"""Runs of the agent that are cancelled, fail or lose their gateway: what is kept of them."""

import asyncio

from quelea_kit.errors import Unavailable
from support.agent_runs import QUESTION, client, code_runs, start, until, watched
from support.agent_stand import agent_standing
from support.agent_world import URL, good


async def test_cancel_kills_the_code_and_keeps_the_events(web, parts):
    parts.sandbox.hangs = True
    run = await start(web)
    await code_runs(parts)
    reply = await web.post(f"/v1/agent/runs/{run['id']}/cancel")
    assert reply.json() == {"cancelled": True}
    done = (await web.get(f"/v1/agent/runs/{run['id']}")).json()
    assert done["state"] == "cancelled"
    assert parts.sandbox.cancelled
    assert parts.sandbox.closed
    assert "code" in [name for _, name, _ in await watched(web, run["id"])]
    assert (await web.post(f"/v1/agent/runs/{run['id']}/cancel")).json() == {"cancelled": False}


async def test_delete_forgets_it(web):
    run = await start(web)
    await until(web, run["id"], "finished")
    assert (await web.delete(f"/v1/agent/runs/{run['id']}")).status_code == 204
    assert (await web.get(f"/v1/agent/runs/{run['id']}")).status_code == 404
    assert (await web.delete(f"/v1/agent/runs/{run['id']}")).status_code == 404


async def test_a_stopped_gateway_leaves_an_interrupted_run(tmp_path):
    url = str(tmp_path / "runs")
    async with agent_standing(runs_url=url) as parts:
        parts.sandbox.hangs = True
        async with client(parts) as web:
            run = await start(web)
            await code_runs(parts)
    async with (
        agent_standing(runs_url=url) as parts,
        client(parts) as web,
    ):
        found = (await web.get(f"/v1/agent/runs/{run['id']}")).json()
        assert found["state"] == "interrupted"
        assert [name for _, name, _ in await watched(web, run["id"])].count("code") == 1


FETCHES = f'```python\ndata = fetch("{URL}")\nprint("{{market}}")\n```'


async def test_a_cancelled_run_keeps_its_tokens_calls_code_and_bundle(web, parts):
    parts.model.says = good(code=FETCHES)
    hanging = asyncio.Event()
    # Only the decision after the code hangs: what was found and fetched before is known by then.
    parts.model.says["action"] = [*good()["action"][:2], lambda *_: hanging.wait()]
    run = await start(web)
    await code_runs(parts)
    async with asyncio.timeout(60):
        while not parts.market.log["door-1"]:  # noqa: ASYNC110  # the fake has no event
            await asyncio.sleep(0.02)
    assert (await web.post(f"/v1/agent/runs/{run['id']}/cancel")).json() == {"cancelled": True}
    done = (await web.get(f"/v1/agent/runs/{run['id']}")).json()
    assert done["state"] == "cancelled"
    used = done["usage"]
    assert used["tokens"] == used["prompt_tokens"] + used["completion_tokens"] > 0
    assert (used["steps"], used["calls"], used["model_calls"] > 3) == (2, 1, True)
    assert used["seconds"] > 0
    assert [one["url"] for one in done["calls"]] == [URL]
    assert done["has_bundle"]
    assert (await web.get(f"/v1/agent/runs/{run['id']}/bundle")).text == f"{URL}\n"
    assert "fetch(" in (await web.get(f"/v1/agent/runs/{run['id']}/notebook")).text


async def test_a_failed_run_keeps_them_too(web, parts):
    parts.model.says = good(code=FETCHES)
    store = parts.manager._store
    append = store.append

    async def full(tenant, run_id, event):
        if event.name == "reflection" and event.data["step"] == 2:
            raise Unavailable("The store of runs cannot be used: no space.")
        await append(tenant, run_id, event)

    store.append = full
    run = await start(web)
    done = await until(web, run["id"], "failed")
    assert "no space" in done["error"]
    assert done["usage"]["calls"] == len(done["calls"]) == 1
    assert done["usage"]["prompt_tokens"] > 0
    assert done["has_bundle"]


async def test_a_run_is_seen_listed_and_cancelled_from_another_gateway(tmp_path):
    url = str(tmp_path / "runs")
    async with agent_standing(runs_url=url) as one, agent_standing(runs_url=url) as other:
        one.sandbox.hangs = True
        async with client(one) as here, client(other) as there:
            run = await start(here)
            await code_runs(one)
            assert [found["id"] for found in (await there.get("/v1/agent/runs")).json()["runs"]] == [run["id"]]
            watching = asyncio.create_task(watched(there, run["id"]))
            assert (await there.post(f"/v1/agent/runs/{run['id']}/cancel")).json() == {"cancelled": True}
            for web in (here, there):
                assert (await web.get(f"/v1/agent/runs/{run['id']}")).json()["state"] == "cancelled"
            assert one.sandbox.cancelled
            assert (await watching)[-1][2]["state"] == "cancelled"
            assert (await there.post(f"/v1/agent/runs/{run['id']}/cancel")).json() == {"cancelled": False}


async def test_a_run_that_is_deleted_at_another_gateway_ends_first(tmp_path):
    url = str(tmp_path / "runs")
    async with agent_standing(runs_url=url) as one, agent_standing(runs_url=url) as other:
        one.sandbox.hangs = True
        async with client(one) as here, client(other) as there:
            run = await start(here)
            await code_runs(one)
            assert (await there.delete(f"/v1/agent/runs/{run['id']}")).status_code == 204
            assert one.sandbox.cancelled
            for web in (here, there):
                assert (await web.get(f"/v1/agent/runs/{run['id']}")).status_code == 404


async def test_a_budget_of_the_day_counts_the_runs_of_every_gateway(tmp_path):
    url = str(tmp_path / "runs")
    async with (
        agent_standing(runs_url=url, agent_day_runs=1) as one,
        agent_standing(runs_url=url, agent_day_runs=1) as other,
        client(one) as here,
        client(other) as there,
    ):
        await watched(here, (await start(here))["id"])
        reply = await there.post("/v1/agent/runs", json={"question": QUESTION})
        assert reply.status_code == 429
        assert reply.json()["error"]["details"]["of"] == "runs"
