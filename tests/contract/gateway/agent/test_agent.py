"""Runs of the agent over REST, on a gateway with fake services."""

import asyncio
import json

import httpx2
import pytest
from quelea_gateway import keys
from quelea_gateway.testing import standing
from support.agent_runs import QUESTION, client, parsed, start, until, watched
from support.agent_stand import agent_standing
from support.agent_world import URL, good
from support.chart_files import run_file


async def test_a_run_from_its_question_to_its_answer(web, parts):
    run = await start(web)
    assert run["state"] in ("queued", "running")
    events = await watched(web, run["id"])
    assert [number for number, _, _ in events] == list(range(1, len(events) + 1))
    names = [name for _, name, _ in events]
    assert names[:3] == ["state", "state", "plan"]
    assert {"step", "code", "output", "plot", "reflection"} < set(names)
    assert names[-2:] == ["answer", "state"]
    assert events[-1][2]["state"] == "finished"
    done = (await web.get(f"/v1/agent/runs/{run['id']}")).json()
    answer = done["answer"]
    assert answer["complete"]
    assert answer["grounded"]
    assert {one["kind"] for one in answer["sources"]} == {"execution", "call"}
    (call,) = done["calls"]
    assert (call["url"], call["step"], call["status"]) == (URL, 2, 200)
    assert done["usage"]["steps"] == 3
    assert [one["id"] for one in (await web.get("/v1/agent/runs")).json()["runs"]] == [run["id"]]
    plot = done["artifacts"][0]
    image = await web.get(plot["url"])
    assert image.headers["content-type"] == "image/png"
    assert image.content.startswith(b"\x89PNG")
    bundle = await web.get(f"/v1/agent/runs/{run['id']}/bundle")
    assert bundle.content.decode() == f"{URL}\n"
    assert parts.sandbox.spare, "its session waits for a follow-up"
    assert parts.market.closed, "its token is worth nothing"


async def test_a_stream_at_once_and_taken_up_again(web):
    reply = await web.post("/v1/agent/runs", json={"question": QUESTION, "stream": True})
    events = parsed(reply.text)
    assert reply.headers["content-type"].startswith("text/event-stream")
    run_id = events[0][2]["run"]
    rest = await watched(web, run_id, headers={"Last-Event-ID": "5"})
    assert rest == events[5:]
    assert await watched(web, run_id, params={"after": len(events)}) == []
    bad = await web.get(f"/v1/agent/runs/{run_id}/events", headers={"Last-Event-ID": "x"})
    assert bad.status_code == 400


@pytest.mark.parametrize(
    ("body", "field"),
    [
        ({"question": " "}, "question"), ({"question": "x", "as_of": "2099-01-01"}, "as_of"),
        ({"question": "x", "as_of": "tomorrow"}, "as_of"), ({"question": "x", "limits": {"steps": 1}}, "limits.steps"),
        ({"question": "x", "limits": {"steps": 999}}, "limits.steps"),
        ({"question": "x", "limits": {"seconds": 1e9}}, "limits.seconds"),
        ({"question": "x", "limits": {"steps": -1}}, ""), ({"question": "x", "unknown": 1}, ""),
        ({"question": "x", "bundle_ids": [""]}, ""), ({"question": "x" * 9000}, "question"), ({}, ""),
    ],
)  # fmt: skip
async def test_what_is_refused(web, body, field):
    reply = await web.post("/v1/agent/runs", json=body)
    assert reply.status_code in (400, 413), reply.text
    if field:
        details = reply.json()["error"]["details"]  # "fields" where the schema refuses it already
        assert field in (
            details.get("field"),
            *(one["path"].removeprefix("body.") for one in details.get("fields", [])),
        )


async def test_ids_and_names_that_are_none(web):
    run = await start(web)
    await until(web, run["id"], "finished")
    for bad in ("nothing", "..", "%2e%2e", "20261122000000-0000000000000000"):
        assert (await web.get(f"/v1/agent/runs/{bad}")).status_code == 404
    for bad in ("run.json", "..%2frun.json", "bundle.quelea", "events"):
        assert (await web.get(f"/v1/agent/runs/{run['id']}/artifacts/{bad}")).status_code == 404


async def test_a_queue_that_is_full():
    async with (
        agent_standing(agent_running=1, agent_queue=1) as parts,
        client(parts) as web,
    ):
        parts.sandbox.hangs = True
        first, second = await start(web), await start(web)
        third = await web.post("/v1/agent/runs", json={"question": QUESTION})
        assert third.status_code == 429
        assert int(third.headers["retry-after"]) > 0
        assert (await web.get(f"/v1/agent/runs/{second['id']}")).json()["state"] == "queued"
        for one in (second, first):
            await web.post(f"/v1/agent/runs/{one['id']}/cancel")
            assert (await web.get(f"/v1/agent/runs/{one['id']}")).json()["state"] == "cancelled"


async def test_a_budget_of_the_day():
    async with (
        agent_standing(agent_day_runs=1) as parts,
        client(parts) as web,
    ):
        run = await start(web)
        await until(web, run["id"], "finished")
        reply = await web.post("/v1/agent/runs", json={"question": QUESTION})
        assert reply.status_code == 429
        assert reply.json()["error"]["details"]["of"] == "runs"


async def test_only_the_owner_sees_a_run(tmp_path):
    ring = tmp_path / "keys.json"
    ours, theirs = keys.create(ring, "ours"), keys.create(ring, "theirs")
    async with (
        agent_standing(auth="keys", keys_file=str(ring)) as parts,
        client(parts) as web,
    ):
        mine, other = {"Authorization": f"Bearer {ours}"}, {"Authorization": f"Bearer {theirs}"}
        run = (await web.post("/v1/agent/runs", json={"question": QUESTION}, headers=mine)).json()
        for state in ("while it runs", "when it has ended"):
            for method, path in (
                ("GET", ""), ("GET", "/events"), ("GET", "/notebook"), ("GET", "/bundle"), ("GET", "/archive"),
                ("POST", "/cancel"),
                ("DELETE", ""), ("GET", "/artifacts/step2-trend.png"),
            ):  # fmt: skip
                reply = await web.request(method, f"/v1/agent/runs/{run['id']}{path}", headers=other)
                assert reply.status_code == 404, (state, method, path)
            assert (await web.get("/v1/agent/runs", headers=other)).json()["runs"] == []
            await web.get(f"/v1/agent/runs/{run['id']}/events", headers=mine)
        assert (await web.get(f"/v1/agent/runs/{run['id']}", headers=mine)).json()["state"] == "finished"


async def test_without_a_sandbox_the_agent_is_off():
    async with standing() as stand, httpx2.AsyncClient(base_url=stand.url, trust_env=False, timeout=60) as web:
        for reply in (
            await web.post("/v1/agent/runs", json={"question": QUESTION}), await web.get("/v1/agent/runs"),
        ):  # fmt: skip
            assert reply.status_code == 409
            assert "runner-image" in reply.json()["error"]["message"]
        assert "quelea-agent" not in [one["id"] for one in (await web.get("/v1/models")).json()["data"]]


async def test_a_dead_sandbox_is_503(web, parts):
    await parts.servers["sandbox"].stop()
    reply = await web.post("/v1/agent/runs", json={"question": QUESTION})
    assert reply.status_code == 503
    assert "Docker" in reply.json()["error"]["message"]


async def test_an_extractive_reader_is_409(web, parts):
    parts.model.language_model = False
    reply = await web.post("/v1/agent/runs", json={"question": QUESTION})
    assert reply.status_code == 409
    assert "language model" in reply.json()["error"]["message"]


async def test_helm_test_of_the_sandbox_is_content_where_only_the_model_is_missing(parts):
    told = {"QUELEA_URL": parts.url, "QUELEA_KEY": "none-is-asked-for"}
    parts.model.language_model = False
    done = await asyncio.to_thread(run_file, "helm_test", "sandbox", **told)
    assert done.returncode == 0, done.stderr
    assert "containers start" in done.stdout
    parts.model.language_model = True
    done = await asyncio.to_thread(run_file, "helm_test", "sandbox", **told)
    assert done.returncode == 1
    assert "without a language model" in done.stderr


async def test_many_at_once(web, parts):
    parts.model.says = good()
    parts.model.says["action"] = json.dumps({"action": "code-exec", "task": "go", "apis": []})
    started = await asyncio.gather(*(start(web) for _ in range(40)))
    await asyncio.gather(*(watched(web, one["id"]) for one in started))
    done = [await until(web, one["id"], "finished") for one in started]
    assert all(one["answer"]["text"] for one in done)
    assert len({one["id"] for one in done}) == 40
    assert sorted(parts.sandbox.closed) == sorted(set(parts.sandbox.closed))
    assert len(parts.market.closed) == 40
