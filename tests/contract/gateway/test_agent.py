"""Runs of the agent over REST, the OpenAI route and gRPC, on a gateway with fake services."""

import asyncio
import io
import json

import grpc
import httpx2
import nbformat
import openai
import pytest
from quelea.gateway.v1 import agent_pb2, agent_pb2_grpc
from quelea_gateway import keys
from quelea_gateway.testing import standing
from support.agent_stand import agent_standing
from support.agent_world import QUOTES, URL, good

QUESTION = "What is NVIDIA's price trend over the last two weeks?"


@pytest.fixture
async def parts():
    async with agent_standing() as found:
        yield found


@pytest.fixture
async def web(parts):
    async with httpx2.AsyncClient(base_url=parts.url, trust_env=False, timeout=30) as client:
        yield client


async def start(web, question=QUESTION, **more):
    reply = await web.post("/v1/agent/runs", json={"question": question, **more})
    assert reply.status_code == 202, reply.text
    return reply.json()


def parsed(text):
    found = []
    for block in text.split("\n\n"):
        fields = dict(line.split(": ", 1) for line in block.split("\n") if ": " in line and not line.startswith(":"))
        if "data" in fields:
            found.append((int(fields["id"]), fields["event"], json.loads(fields["data"])))
    return found


async def watched(web, run_id, **more):
    reply = await web.get(f"/v1/agent/runs/{run_id}/events", **more)
    assert reply.status_code == 200, reply.text
    return parsed(reply.text)


async def until(web, run_id, *states):
    async with asyncio.timeout(20):
        while True:
            run = (await web.get(f"/v1/agent/runs/{run_id}")).json()
            if run["state"] in states:
                return run
            await asyncio.sleep(0.02)


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
    assert (call["url"], call["step"], call["status"]) == (URL, 3, 200)
    assert done["usage"]["steps"] == 4
    assert [one["id"] for one in (await web.get("/v1/agent/runs")).json()["runs"]] == [run["id"]]
    plot = done["artifacts"][0]
    image = await web.get(plot["url"])
    assert image.headers["content-type"] == "image/png"
    assert image.content.startswith(b"\x89PNG")
    bundle = await web.get(f"/v1/agent/runs/{run['id']}/bundle")
    assert bundle.content.decode() == f"{URL}\n"
    assert parts.sandbox.closed
    assert parts.market.closed


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


async def test_notebook_and_report(web):
    run = await start(web)
    await watched(web, run["id"])
    made = await web.get(f"/v1/agent/runs/{run['id']}/notebook")
    book = nbformat.reads(made.text, as_version=4)
    nbformat.validate(book)
    code = [cell for cell in book.cells if cell.cell_type == "code"]
    assert "savefig" in code[0].source
    assert [output.output_type for output in code[0].outputs] == ["stream", "display_data"]
    assert "190.17" in book.cells[-1].source
    report = await web.get(f"/v1/agent/runs/{run['id']}/report.pdf")
    assert report.headers["content-type"] == "application/pdf"
    assert "190.17" in text_of(report.content)


def text_of(pdf):
    import pypdfium2

    document = pypdfium2.PdfDocument(io.BytesIO(pdf))
    return "\n".join(page.get_textpage().get_text_range() for page in document)


async def test_a_chinese_report_has_its_characters():
    says = good(answer=json.dumps({"answer": "收盘价最高为 190.17 美元 [1]。", "missing": []}, ensure_ascii=False))
    async with (
        agent_standing(says) as parts,
        httpx2.AsyncClient(base_url=parts.url, trust_env=False, timeout=30) as web,
    ):
        run = await start(web, "英伟达最近两周的股价走势如何？")
        await watched(web, run["id"])
        # The model of this test writes English insights; the question and the answer are Chinese.
        text = text_of((await web.get(f"/v1/agent/runs/{run['id']}/report.pdf")).content)
        assert "英伟达最近两周的股价走势如何" in text.replace("\n", "").replace("\r", "")
        assert "190.17" in text


async def test_cancel_kills_the_code_and_keeps_the_events(web, parts):
    parts.sandbox.hangs = True
    run = await start(web)
    async with asyncio.timeout(20):
        while not parts.sandbox.ran:  # noqa: ASYNC110  # the fake has no event
            await asyncio.sleep(0.02)
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
        assert reply.json()["error"]["details"]["field"] == field


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
        httpx2.AsyncClient(base_url=parts.url, trust_env=False, timeout=30) as web,
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
        httpx2.AsyncClient(base_url=parts.url, trust_env=False, timeout=30) as web,
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
        httpx2.AsyncClient(base_url=parts.url, trust_env=False, timeout=30) as web,
    ):
        mine, other = {"Authorization": f"Bearer {ours}"}, {"Authorization": f"Bearer {theirs}"}
        run = (await web.post("/v1/agent/runs", json={"question": QUESTION}, headers=mine)).json()
        for state in ("while it runs", "when it has ended"):
            for method, path in (
                ("GET", ""), ("GET", "/events"), ("GET", "/notebook"), ("GET", "/bundle"), ("POST", "/cancel"),
                ("DELETE", ""), ("GET", "/artifacts/step3-trend.png"),
            ):  # fmt: skip
                reply = await web.request(method, f"/v1/agent/runs/{run['id']}{path}", headers=other)
                assert reply.status_code == 404, (state, method, path)
            assert (await web.get("/v1/agent/runs", headers=other)).json() == {"runs": []}
            await web.get(f"/v1/agent/runs/{run['id']}/events", headers=mine)
        assert (await web.get(f"/v1/agent/runs/{run['id']}", headers=mine)).json()["state"] == "finished"


async def test_a_stopped_gateway_leaves_an_interrupted_run(tmp_path):
    url = str(tmp_path / "runs")
    async with agent_standing(runs_url=url) as parts:
        parts.sandbox.hangs = True
        async with httpx2.AsyncClient(base_url=parts.url, trust_env=False, timeout=30) as web:
            run = await start(web)
            async with asyncio.timeout(20):
                while not parts.sandbox.ran:  # noqa: ASYNC110  # the fake has no event
                    await asyncio.sleep(0.02)
    async with (
        agent_standing(runs_url=url) as parts,
        httpx2.AsyncClient(base_url=parts.url, trust_env=False, timeout=30) as web,
    ):
        found = (await web.get(f"/v1/agent/runs/{run['id']}")).json()
        assert found["state"] == "interrupted"
        assert [name for _, name, _ in await watched(web, run["id"])].count("code") == 1


async def test_without_a_sandbox_the_agent_is_off():
    async with standing() as stand, httpx2.AsyncClient(base_url=stand.url, trust_env=False) as web:
        for reply in (
            await web.post("/v1/agent/runs", json={"question": QUESTION}), await web.get("/v1/agent/runs"),
        ):  # fmt: skip
            assert reply.status_code == 409
            assert "make runner-image" in reply.json()["error"]["message"]
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


async def test_the_openai_route(parts):
    client = openai.AsyncOpenAI(base_url=f"{parts.url}/v1", api_key="none", http_client=httpx_client())
    assert "quelea-agent" in [one.id async for one in client.models.list()]
    asked = [{"role": "user", "content": QUESTION}]
    done = await client.chat.completions.create(model="quelea-agent", messages=asked)
    message = done.choices[0].message
    assert "190.17" in message.content
    mark = message.annotations[0].url_citation
    assert message.content[mark.start_index : mark.end_index] == "[1]"
    assert done.usage.total_tokens > 0
    assert done.quelea["run"]["state"] == "finished"
    parts.model.says = good()
    pieces, events = [], []
    async for chunk in await client.chat.completions.create(model="quelea-agent", messages=asked, stream=True):
        pieces.append(chunk.choices[0].delta.content or "")
        more = getattr(chunk, "quelea", None) or {}
        events += [more["event"]["event"]] if "event" in more else []
    assert "".join(pieces) == message.content
    assert {"plan", "step", "code", "output", "answer"} <= set(events)
    await client.close()


def httpx_client():
    import httpx

    return httpx.AsyncClient(trust_env=False, timeout=30)


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
