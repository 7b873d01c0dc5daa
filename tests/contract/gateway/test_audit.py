"""Every way to call is recorded as the table says; what must be recorded and cannot be, is not served."""

import contextlib

import httpx2
import pytest
from prometheus_client import REGISTRY
from quelea.gateway.v1 import agent_pb2, gateway_pb2, gateway_pb2_grpc, prompts_pb2
from quelea_gateway import keys
from quelea_gateway.adapters.stores import audit_log
from quelea_gateway.adapters.stores.audit_log import read
from quelea_gateway.core.callers import audit
from quelea_gateway.mcp.server import build_server
from quelea_gateway.rest import openbb
from quelea_gateway.rest.callers import auth, resource_metadata
from quelea_gateway.testing import standing
from quelea_kit.client import channel, stream, unary
from quelea_kit.errors import Unauthenticated, Unavailable
from quelea_kit.testing import wait_until_async
from support.broken_disk import BrokenDisk

QUESTION = "What were Apple's total net sales?"
ASK = {"question": QUESTION}


@contextlib.asynccontextmanager
async def audited(tmp_path, **settings):
    file = tmp_path / "keys.json"
    key = keys.create(file, "desk")
    given = {"auth": "keys", "keys_file": str(file), "audit_dir": str(tmp_path / "audit"), **settings}
    async with (
        standing(**given) as stand,
        httpx2.AsyncClient(base_url=stand.url, trust_env=False, timeout=60) as client,
    ):
        client.headers["Authorization"] = f"Bearer {key}"
        yield stand, client, key


def entries(tmp_path, **wanted):
    return [one for one in audit_log.filter_entries(read(tmp_path / "audit"), **wanted) if one["via"] != "gateway"]


async def recorded(tmp_path, count, **wanted):
    await wait_until_async(lambda: len(entries(tmp_path, **wanted)) >= count, what=f"{count} entries of {wanted}")
    found = entries(tmp_path, **wanted)
    assert len(found) == count
    return found


async def test_the_table_has_every_route_every_rpc_and_every_tool_and_no_other():
    async with standing() as stand, httpx2.AsyncClient(base_url=stand.url, trust_env=False, timeout=60) as client:
        paths = (await client.get("/openapi.json")).json()["paths"]
    routes = {f"{method.upper()} {path}" for path, methods in paths.items() for method in methods}
    hidden = (openbb, auth, resource_metadata)
    routes |= {
        f"{method} {route.path}" for module in hidden for route in module.router.routes for method in route.methods
    }
    assert set(audit.ROUTES) == routes
    services = [
        gateway_pb2.DESCRIPTOR.services_by_name["GatewayService"],
        agent_pb2.DESCRIPTOR.services_by_name["AgentService"],
        prompts_pb2.DESCRIPTOR.services_by_name["PromptService"],
    ]  # fmt: skip
    assert set(audit.RPCS) == {f"{one.full_name}/{method.name}" for one in services for method in one.methods}
    tools = await build_server(None).list_tools()
    assert set(audit.TOOLS) == {one.name for one in tools}


async def test_who_asked_when_how_and_what_was_shown_but_not_the_text(tmp_path):
    async with audited(tmp_path) as (_, client, key):
        reply = await client.post("/v1/ask", json=ASK)
        assert reply.status_code == 200
        [one] = await recorded(tmp_path, 1)
    known = keys.read(tmp_path / "keys.json")[0]
    shown = {said["document_id"] for said in reply.json()["citations"]}
    expected = {
        "subject": "desk", "tenant": "default", "key": known.id, "act": "asked", "of": "answer", "via": "rest",
        "route": "POST /v1/ask", "outcome": "ok", "status": 200,
    }  # fmt: skip
    assert {name: one[name] for name in expected} == expected
    assert shown
    assert shown <= set(one["objects"]["documents"])
    assert reply.headers["X-Request-Id"] == one["request"]
    stored = "".join(path.read_text() for path in (tmp_path / "audit").glob("*.jsonl"))
    assert QUESTION not in stored
    assert key not in stored
    assert "127.0.0.1" not in stored
    assert one["address"]


async def test_text_and_plain_addresses_by_setting(tmp_path):
    async with audited(tmp_path, audit_questions=True, audit_addresses="plain") as (stand, client, key):
        await client.post("/v1/ask", json=ASK)
        chat = {"model": "quelea", "messages": [{"role": "user", "content": [{"type": "text", "text": QUESTION}]}]}
        await client.post("/v1/chat/completions", json=chat)
        await call_tool(stand, key, "ask", question=QUESTION)
        async with channel(stand.grpc, "quelea.gateway.v1.GatewayService") as opened:
            stub = gateway_pb2_grpc.GatewayServiceStub(opened)
            metadata = (("authorization", f"Bearer {key}"),)
            asked = gateway_pb2.AskRequest(question=QUESTION)
            _ = [item async for item in stream(stub.Ask(asked, timeout=60, metadata=metadata))]
        found = await recorded(tmp_path, 5, act="asked")
    assert [one["via"] for one in found] == ["rest", "openai", "mcp", "grpc", "grpc"]
    assert {one["text"] for one in found} == {QUESTION}
    assert {one["address"] for one in found} == {"127.0.0.1"}
    assert [one["outcome"] for one in found] == ["ok"] * 4 + ["ended"]
    assert found[2]["route"] == "tool ask"


async def test_a_tool_that_fails_is_recorded_as_what_it_is(tmp_path):
    async with audited(tmp_path) as (stand, _, key):
        await call_tool(stand, key, "search_passages", query="net sales")
        await call_tool(stand, key, "search_passages", query="net sales", as_of="today")
        await call_tool(stand, key, "search_passages", query="net sales", limit=51)
        await call_tool(stand, key, "ask", question=QUESTION, collections=["nowhere"])
        await call_tool(stand, key, "analyse", question=QUESTION)
        stand.world.retriever_error = Unavailable("The retriever is away.")
        await call_tool(stand, key, "search_passages", query="net sales")
        found = await recorded(tmp_path, 6)
    assert [(one["route"], one["outcome"], one["status"]) for one in found] == [
        ("tool search_passages", "ok", 200),
        ("tool search_passages", "refused", 400),
        ("tool search_passages", "refused", 400),
        ("tool ask", "refused", 404),
        ("tool analyse", "refused", 409),
        ("tool search_passages", "failed", 503),
    ]


async def call_tool(stand, key, name, **arguments):
    body = {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {"name": name, "arguments": arguments}}
    headers = {"Authorization": f"Bearer {key}", "Accept": "application/json, text/event-stream"}
    async with httpx2.AsyncClient(base_url=stand.url, trust_env=False, timeout=60, headers=headers) as client:
        reply = await client.post("/mcp", json=body)
        assert reply.status_code == 200, reply.text


async def test_pages_uploads_deletions_and_refusals_by_their_ids(tmp_path):
    async with audited(tmp_path) as (_, client, _):
        document = (await client.get("/v1/documents")).json()["documents"][0]["id"]
        await client.get(f"/v1/documents/{document}/pages/1")
        await client.get(f"/v1/documents/{document}/pages/9999")
        uploaded = await client.post("/v1/documents", files={"files": ("note.txt", b"Net sales were 1.")})
        await client.delete(f"/v1/documents/{document}", params={"forget_quotes": "true"})
        await client.get("/v1/info")
        await client.get("/v1/documents", headers={"Authorization": "Bearer wrong"})
        found = await recorded(tmp_path, 6)
    assert [(one["act"], one.get("of"), one.get("objects"), one["outcome"], one["status"]) for one in found] == [
        ("listed", "documents", None, "ok", 200),
        ("saw", "page", {"document_id": document, "page": "1"}, "ok", 200),
        ("saw", "page", {"document_id": document, "page": "9999"}, "refused", 404),
        ("uploaded", "document", {"jobs": [uploaded.json()["jobs"][0]["id"]]}, "ok", 202),
        ("deleted", "document", {"document_id": document, "forget_quotes": ["true"]}, "ok", 200),
        ("refused", None, None, "refused", 401),
    ]
    assert "subject" not in found[5]


async def test_a_stream_is_recorded_when_it_begins_and_when_it_ends_or_is_cut(tmp_path):
    async with audited(tmp_path) as (stand, client, _):
        async with client.stream("POST", "/v1/ask", json={**ASK, "stream": True}) as reply:
            await recorded(tmp_path, 1, act="asked")
            _ = [line async for line in reply.aiter_lines()]
        begun, ended = await recorded(tmp_path, 2, act="asked")
        assert (begun["outcome"], ended["outcome"]) == ("ok", "ended")
        assert begun["request"] == ended["request"]
        assert "documents" in ended["objects"]
        stand.world.generator_hangs = True
        async with client.stream("POST", "/v1/ask", json={**ASK, "stream": True}):
            pass
        found = await recorded(tmp_path, 4, act="asked")
        assert [one["outcome"] for one in found][2:] == ["ok", "cut"]


async def test_grpc_calls_by_their_outcome(tmp_path):
    async with audited(tmp_path) as (stand, _, key):
        async with channel(stand.grpc, "quelea.gateway.v1.GatewayService") as opened:
            stub = gateway_pb2_grpc.GatewayServiceStub(opened)
            metadata = (("authorization", f"Bearer {key}"),)
            request = gateway_pb2.SearchRequest(query=QUESTION)
            await unary(stub.Search(request, timeout=60, metadata=metadata))
            with pytest.raises(Unauthenticated):
                await unary(stub.Search(request, timeout=60))
            with contextlib.suppress(Exception):
                await unary(stub.GetJob(gateway_pb2.GetJobRequest(id="nothing"), timeout=60, metadata=metadata))
        found = await recorded(tmp_path, 3)
    assert [(one["act"], one["outcome"], one["status"]) for one in found] == [
        ("searched", "ok", "OK"), ("searched", "refused", "UNAUTHENTICATED"), ("saw", "refused", "NOT_FOUND")
    ]  # fmt: skip
    assert [one.get("subject") for one in found] == ["desk", None, "desk"]
    assert found[2]["objects"] == {"id": "nothing"}


async def test_nothing_is_served_unrecorded_where_that_is_set(tmp_path, monkeypatch):
    disk = BrokenDisk(monkeypatch)
    async with audited(tmp_path, audit_failure="refuse") as (stand, client, key):
        assert (await client.get("/readyz")).json()["audit"] == {"ready": True, "reason": ""}
        disk.failing = True
        first = await client.post("/v1/ask", json=ASK)  # the one that meets the failure
        second = await client.post("/v1/ask", json={**ASK, "stream": True})
        for reply in (first, second):
            assert reply.status_code == 503
            assert reply.json()["error"]["code"] == "UNAVAILABLE"
            assert "audit log" in reply.json()["error"]["message"]
            assert "net sales" not in reply.text.lower()
        async with channel(stand.grpc, "quelea.gateway.v1.GatewayService") as opened:
            stub = gateway_pb2_grpc.GatewayServiceStub(opened)
            call = stub.Search(
                gateway_pb2.SearchRequest(query=QUESTION), timeout=20, metadata=(("authorization", f"Bearer {key}"),)
            )
            with pytest.raises(Unavailable, match="audit log"):
                await unary(call)
        ready = await client.get("/readyz")
        assert ready.status_code == 503
        assert "Input/output error" in ready.json()["audit"]["reason"]
        assert (await client.get("/healthz")).status_code == 200
        assert REGISTRY.get_sample_value("quelea_audit_failing") == 1
        disk.failing = False
        await wait_until_async(lambda: not stand.gateway.auditing(), what="it is written again")
        assert (await client.post("/v1/ask", json=ASK)).status_code == 200
        assert (await client.get("/readyz")).status_code == 200


async def test_calls_go_on_where_that_is_set_and_readiness_says_so(tmp_path, monkeypatch):
    disk = BrokenDisk(monkeypatch)
    async with audited(tmp_path) as (stand, client, _):
        disk.failing = True
        assert (await client.post("/v1/ask", json=ASK)).status_code == 200
        await wait_until_async(stand.gateway.auditing, what="the failure is seen")
        ready = await client.get("/readyz")
        assert ready.status_code == 200
        assert ready.json()["audit"]["ready"] is False
        assert (await client.post("/v1/ask", json=ASK)).status_code == 200
        disk.failing = False
        await recorded(tmp_path, 2, act="asked")


async def test_the_gateways_own_start_and_end(tmp_path):
    async with audited(tmp_path):
        pass
    found = [one for one in read(tmp_path / "audit") if one["via"] == "gateway"]
    assert [one["act"] for one in found] == ["started", "stopped"]
    assert len(found[0]["objects"]["settings"]) == 16
