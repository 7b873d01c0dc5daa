"""Every door of the gateway, opened by a stranger with real ids of another tenant: nothing.

The tables name each route and each rpc, so a new one fails here until somebody has said what a stranger may see of it.
"""

import json
import re
from dataclasses import dataclass, field
from typing import Any

import grpc
from google.protobuf.json_format import MessageToJson
from quelea.gateway.v1 import agent_pb2, agent_pb2_grpc, gateway_pb2, gateway_pb2_grpc, prompts_pb2, prompts_pb2_grpc
from quelea_kit.files.storage import Storage
from quelea_kit.rpc.wire_errors import from_rpc_error
from quelea_search.adapters.retriever import Retriever
from support.crossing import FIGURE, QUESTION, SECRET, SHARED
from support.tenant_stack import BONDS

MISSING = "0" * 32
MISSING_RUN = "20200101000000-" + "0" * 16
MISSING_THUMB = "0" * 20 + "-" + "0" * 16


@dataclass(frozen=True)
class Door:
    """How a stranger opens a route, and how it must answer."""

    kind: str
    """by_id: as for an id that is not there. hidden: whatever it says, nothing of the owner. refused: 403."""
    ids: dict[str, tuple[str, str]] = field(default_factory=dict)
    """Of the path: the owner's (an attribute of Crossing) and one that is nobody's."""
    query: str = ""
    body: Any = None
    status: int = 0
    """Of the answer; 0: below 300 of what is hidden, 404 by id."""


ASKED = {"question": QUESTION}
DOCUMENT = {"document_id": ("document", MISSING)}
JOB = {"job_id": ("job", MISSING)}
RUN = {"run_id": ("run", MISSING_RUN)}
TALK = {"conversation_id": ("conversation", MISSING_THUMB)}
REFUSED = Door("refused")
HIDDEN = Door("hidden")
COMPANY = "company=Zanzibar%20Motors"
PROMPT = "/v1/prompts/{name}/{language}"
TEMPLATE = {"name": ("", "answer"), "language": ("", "en")}
ROUTES = {
    ("post", "/v1/ask"): Door("hidden", body=ASKED),
    ("post", "/v1/search"): Door("hidden", body={"query": QUESTION, "k": 100}),
    ("post", "/v1/check"): Door("hidden", body={"answer": "Sales grew [1].", "passages": [{"text": "Sales grew."}]}),
    ("post", "/v1/export"): Door("hidden", body={"question": "q", "answer": {}}, status=400),
    ("post", "/v1/chat/completions"): Door(
        "hidden", body={"model": "quelea", "messages": [{"role": "user", "content": QUESTION}]}
    ),
    ("get", "/v1/models"): HIDDEN,
    ("get", "/v1/models/{name}"): Door("by_id", {"name": ("document", MISSING)}),
    ("get", "/v1/documents"): HIDDEN,
    ("post", "/v1/documents"): Door("hidden", body={"url": "file:///etc/passwd"}, status=400),
    ("get", "/v1/documents/{document_id}"): Door("by_id", DOCUMENT),
    ("delete", "/v1/documents/{document_id}"): Door("by_id", DOCUMENT),
    ("get", "/v1/documents/{document_id}/pages/{page}"): Door("by_id", {**DOCUMENT, "page": ("", "1")}),
    ("get", "/v1/documents/{document_id}/pages/{page}/boxes"): Door(
        "by_id", {**DOCUMENT, "page": ("", "1")}, query="start=0&end=4"
    ),
    ("get", "/v1/documents/{document_id}/original"): Door("by_id", DOCUMENT),
    ("get", "/v1/documents/{document_id}/html"): Door("by_id", DOCUMENT),
    ("get", "/v1/collections"): HIDDEN,
    ("post", "/v1/collections"): Door("hidden", body={"name": "hk"}, status=201),
    ("delete", "/v1/collections/{name}"): Door("by_id", {"name": ("", "sg")}),
    ("get", "/v1/facts"): HIDDEN,
    ("get", "/v1/companies"): HIDDEN,
    ("get", "/v1/companies/{company}/statements"): Door("by_id", {"company": ("", "Zanzibar Motors")}),
    ("get", "/v1/comparison"): Door("hidden", query=f"{COMPANY}&concept=revenue"),
    ("post", "/v1/fetch"): Door("hidden", body={"company": "ZNZ"}, status=409),
    ("get", "/v1/fetch/{run_id}/bundle"): Door("by_id", {"run_id": ("fetch", f"fetch-{MISSING}")}),
    ("get", "/v1/watches"): HIDDEN,
    ("post", "/v1/watches"): Door("hidden", body={"company": "ZNZ"}, status=409),
    ("delete", "/v1/watches/{watch_id}"): Door("by_id", {"watch_id": ("watch", "0" * 16)}),
    ("get", "/v1/jobs"): HIDDEN,
    ("get", "/v1/jobs/{job_id}"): Door("by_id", JOB),
    ("get", "/v1/jobs/{job_id}/events"): Door("by_id", JOB),
    ("post", "/v1/jobs/replay"): HIDDEN,
    ("get", "/v1/web/pages"): HIDDEN,
    ("post", "/v1/web/pages/approve"): Door("hidden", body={"states": ["pending"]}),
    ("post", "/v1/web/pages/reject"): Door("hidden", body={"states": ["pending"]}),
    ("post", "/v1/web/pages/roll-back"): Door("hidden", body={"hosts": [f"{SECRET}.example"]}),
    ("get", "/v1/feedback"): HIDDEN,
    ("post", "/v1/feedback"): Door("hidden", body={"question": "q", "answer": "a", "thumb": "up"}, status=201),
    ("delete", "/v1/feedback/{feedback_id}"): Door("by_id", {"feedback_id": ("feedback", MISSING_THUMB)}),
    ("get", "/v1/conversations"): Door("hidden", query=f"query={SECRET}"),
    ("post", "/v1/conversations"): Door("hidden", body={"title": "t"}, status=201),
    ("get", "/v1/conversations/{conversation_id}"): Door("by_id", TALK),
    ("patch", "/v1/conversations/{conversation_id}"): Door("by_id", TALK, body={"title": "mine"}),
    ("delete", "/v1/conversations/{conversation_id}"): Door("by_id", TALK),
    ("get", "/v1/conversations/{conversation_id}/export"): Door("by_id", TALK),
    ("get", "/v1/agent/runs"): HIDDEN,
    ("post", "/v1/agent/runs"): Door("hidden", body={"question": " "}, status=400),
    ("get", "/v1/agent/runs/{run_id}"): Door("by_id", RUN),
    ("delete", "/v1/agent/runs/{run_id}"): Door("by_id", RUN),
    ("get", "/v1/agent/runs/{run_id}/events"): Door("by_id", RUN),
    ("post", "/v1/agent/runs/{run_id}/cancel"): Door("by_id", RUN),
    ("get", "/v1/agent/runs/{run_id}/artifacts/{name}"): Door("by_id", {**RUN, "name": ("", "plot.png")}),
    ("get", "/v1/agent/runs/{run_id}/notebook"): Door("by_id", RUN),
    ("get", "/v1/agent/runs/{run_id}/report.pdf"): Door("by_id", RUN),
    ("get", "/v1/agent/runs/{run_id}/bundle"): Door("by_id", RUN),
    ("get", "/v1/agent/runs/{run_id}/archive"): Door("by_id", RUN),
    ("get", "/v1/agent/bundles"): REFUSED,
    ("post", "/v1/agent/bundles"): REFUSED,
    ("get", "/v1/tools"): Door("hidden", status=415),
    ("get", "/v1/tools/categories"): Door("hidden", status=415),
    ("post", "/v1/tools/select"): Door("hidden", body=ASKED, status=415),
    ("get", "/v1/tools/{name}"): Door("by_id", {"name": ("document", MISSING)}, status=415),
    ("get", "/v1/prompts"): HIDDEN,
    ("get", f"{PROMPT}/versions"): Door("refused", TEMPLATE),
    ("post", f"{PROMPT}/versions"): Door("refused", TEMPLATE, body={"text": "t", "note": "n"}),
    ("delete", f"{PROMPT}/versions/{{version}}"): Door("refused", {**TEMPLATE, "version": ("", "v")}),
    ("get", f"{PROMPT}/diff"): Door("refused", TEMPLATE, query="before=a&after=b"),
    ("post", f"{PROMPT}/activate"): Door("refused", TEMPLATE, body={"version": "v"}),
    ("post", f"{PROMPT}/roll-back"): Door("refused", TEMPLATE),
    ("post", f"{PROMPT}/try"): Door("refused", TEMPLATE, body={"text": "t", "question": "q"}),
    ("get", "/v1/keys"): REFUSED,
    ("post", "/v1/keys"): Door("refused", body={"name": "mine"}),
    ("post", "/v1/keys/{key_id}/rotate"): Door("refused", {"key_id": ("", "k")}, body={}),
    ("delete", "/v1/keys/{key_id}"): Door("refused", {"key_id": ("", "k")}),
    ("get", "/v1/usage"): REFUSED,
    ("get", "/v1/deployment"): REFUSED,
    ("get", "/v1/info"): HIDDEN,
    ("get", "/healthz"): HIDDEN,
    ("get", "/readyz"): HIDDEN,
    ("get", "/metrics"): REFUSED,
}
"""Evaluations, of the deployment and for administrators, are told by their prefix below."""

RPCS = {
    "Ask": gateway_pb2.AskRequest(question=QUESTION),
    "Search": gateway_pb2.SearchRequest(query=QUESTION, k=100),
    "Ingest": None,
    "IngestUrl": gateway_pb2.IngestUrlRequest(url="file:///etc/passwd"),
    "FetchFilings": gateway_pb2.FetchFilingsRequest(fetch={"company": "ZNZ"}),
    "GetJob": lambda it: gateway_pb2.GetJobRequest(id=it.job),
    "ListFacts": gateway_pb2.ListFactsRequest(),
    "ListCompanies": gateway_pb2.ListCompaniesRequest(),
    "GetStatement": gateway_pb2.GetStatementRequest(company="Zanzibar Motors"),
    "ListCollections": gateway_pb2.ListCollectionsRequest(),
    "CreateCollection": gateway_pb2.CreateCollectionRequest(name="jp"),
    "DeleteCollection": gateway_pb2.DeleteCollectionRequest(name="hk"),
    "StartRun": agent_pb2.StartRunRequest(question=" "),
    "WatchRun": lambda it: agent_pb2.WatchRunRequest(id=it.run),
    "GetRun": lambda it: agent_pb2.GetRunRequest(id=it.run),
    "ListRuns": agent_pb2.ListRunsRequest(),
    "CancelRun": lambda it: agent_pb2.CancelRunRequest(id=it.run),
    "GetArtifact": lambda it: agent_pb2.GetArtifactRequest(id=it.run, name="report.pdf"),
    "ListTemplates": prompts_pb2.ListTemplatesRequest(),
    "ListVersions": prompts_pb2.ListVersionsRequest(name="answer", language="en"),
    "SaveVersion": prompts_pb2.SaveVersionRequest(name="answer", language="en", text="t"),
    "DeleteVersion": prompts_pb2.DeleteVersionRequest(name="answer", language="en", version="v"),
    "CompareVersions": prompts_pb2.CompareVersionsRequest(name="answer", language="en", before="a", after="b"),
    "ActivateVersion": prompts_pb2.ActivateVersionRequest(name="answer", language="en", version="v"),
    "RollBackVersion": prompts_pb2.RollBackVersionRequest(name="answer", language="en"),
}


def leaked(crossing, text):
    """Secrets of the owner that a text holds; digits inside a longer number are none, as in 7.048213 ms."""
    return [
        secret
        for secret in crossing.secrets
        if re.search(rf"(?<![\w.]){secret}(?!\w)" if secret.isdecimal() else re.escape(secret), text)
    ]


async def opened(http, method, path, door, ids):
    address = path
    for name, value in ids.items():
        address = address.replace(f"{{{name}}}", value)
    more = {"json": door.body} if door.body is not None else {}
    answer = await http.request(method, f"{address}?{door.query}" if door.query else address, **more)
    text = answer.text
    for value in ids.values():
        text = text.replace(value, "ID")
    return answer.status_code, text


async def everything_of(crossing):
    """What the owner has: the same after every try of a stranger."""
    found = {}
    async with crossing.stack.client(f"{crossing.owner} all") as http:
        for path in ("documents", "collections", "facts", "jobs", "watches", "web/pages", "feedback", "agent/runs"):
            answer = await http.get(f"/v1/{path}")
            assert answer.status_code == 200, (path, answer.text)
            found[path] = answer.json()
    return found


async def test_every_route_is_told_and_a_stranger_sees_nothing(crossing):
    stack = crossing.stack
    async with stack.client(f"{crossing.owner} all") as http:
        assert SECRET in (await http.get(f"/v1/fetch/{crossing.fetch}/bundle")).text
    before = await everything_of(crossing)
    assert before["documents"]["total"] == 3
    assert before["facts"]["total"] > 0, "what is hidden must be there"
    assert before["web/pages"]["total"] == 1
    assert before["watches"]["watches"]
    async with stack.client(f"{crossing.stranger} all") as http:
        schema = (await http.get("/openapi.json")).json()
        told = {(method, path) for path, methods in schema["paths"].items() for method in methods}
        evaluations = {one for one in told if one[1].startswith("/v1/evaluations")}
        assert told - evaluations == set(ROUTES), "say in ROUTES what a stranger may see of it"
        doors = {**ROUTES, **dict.fromkeys(evaluations, REFUSED)}
        wrong = {}
        for (method, path), door in sorted(doors.items()):
            names = re.findall(r"{(\w+)}", path)
            known = {
                name: getattr(crossing, door.ids[name][0])
                if name in door.ids and door.ids[name][0]
                else door.ids.get(name, ("", MISSING))[1]
                for name in names
            }
            status, text = await opened(http, method, path, door, known)
            if door.kind == "refused":
                right = status == 403
            elif door.kind == "by_id":
                nobody = {name: door.ids[name][1] for name in names}
                right = status == (door.status or 404) and (status, text) == await opened(
                    http, method, path, door, nobody
                )
            else:
                right = status == door.status if door.status else status < 300
            if not right or leaked(crossing, text):
                wrong[method, path] = (status, leaked(crossing, text), text[:300])
        assert not wrong, "\n".join(f"{route}: {what}" for route, what in wrong.items())
    assert await everything_of(crossing) == before


async def test_a_strangers_run_is_not_gone_on_from(crossing):
    """A run is followed under its owner's key alone; to all others it is not there."""
    async with crossing.stack.client(f"{crossing.stranger} all") as http:
        said = []
        for run in (crossing.run, MISSING_RUN):
            answer = await http.post("/v1/agent/runs", json={"question": "and the same for NVDA", "follows": run})
            said.append((answer.status_code, answer.text.replace(run, "ID")))
        assert said[0] == said[1]
        assert said[0][0] == 404


async def test_what_is_out_of_reach_is_looked_for_as_often_as_what_is_not_there(crossing, monkeypatch):
    """The time of an answer tells nobody what another tenant has; tests/eval/crossing_times.py measures it."""
    asked = []

    def watched(kind, name):
        original = getattr(kind, name)

        def call(self, of, *args, **more):
            asked.append((name, of))
            try:
                return original(self, of, *args, **more)
            except FileNotFoundError:
                asked.append(("not there", of))
                raise

        monkeypatch.setattr(kind, name, call)

    for kind, name in ((Storage, "read"), (Storage, "size"), (Storage, "exists"), (Retriever, "get")):
        watched(kind, name)
    async with crossing.stack.client(f"{crossing.stranger} all") as http:
        for (method, path), door in ROUTES.items():
            if "{document_id}" in path:
                seen = []
                for document in (crossing.document, MISSING):
                    asked.clear()
                    ids = {name: nobodys for name, (_, nobodys) in door.ids.items()} | {"document_id": document}
                    assert (await opened(http, method, path, door, ids))[0] == 404
                    seen.append([(name, of.replace(document, "ID")) for name, of in asked if document in of])
                assert seen[0] == seen[1], (method, path)  # no file of another tenant is touched, found or not
                assert seen[0] or (method, path) == ("get", "/v1/documents/{document_id}")


async def said(call):
    """All that an rpc says, as text; of an error its message."""
    try:
        if hasattr(call, "__aiter__"):
            return "".join([MessageToJson(one) async for one in call])
        return MessageToJson(await call)
    except grpc.RpcError as error:
        return repr(from_rpc_error(error).message)


async def test_every_rpc_is_told_and_a_stranger_sees_nothing(crossing):
    stack = crossing.stack
    services = (
        (gateway_pb2.DESCRIPTOR.services_by_name["GatewayService"], gateway_pb2_grpc.GatewayServiceStub),
        (agent_pb2.DESCRIPTOR.services_by_name["AgentService"], agent_pb2_grpc.AgentServiceStub),
        (prompts_pb2.DESCRIPTOR.services_by_name["PromptService"], prompts_pb2_grpc.PromptServiceStub),
    )
    assert {rpc.name for service, _ in services for rpc in service.methods} == set(RPCS)
    before = await everything_of(crossing)
    own = [("authorization", f"Bearer {stack.keys[f'{crossing.stranger} all']}")]
    # Whoever says of himself what he may see is not heard.
    claimed = [*own, ("quelea-reach", json.dumps({"tenant": crossing.owner}))]
    async with grpc.aio.insecure_channel(stack.grpc) as channel:
        for service, made in services:
            stub = made(channel)
            for rpc in service.methods:
                request = RPCS[rpc.name]
                if request is None:
                    continue
                request = request(crossing) if callable(request) else request
                text = await said(getattr(stub, rpc.name)(request, metadata=claimed, timeout=60))
                asked = (
                    text.replace(crossing.run, "RUN").replace(crossing.job, "JOB") if "There is no" in text else text
                )
                assert not leaked(crossing, asked), (rpc.name, text[:300])
    assert await everything_of(crossing) == before


async def test_the_same_question_of_both_is_answered_from_what_each_has(crossing):
    for _ in range(2):
        for who, sees in ((crossing.owner, True), (crossing.stranger, False)):
            async with crossing.stack.client(f"{who} all") as http:
                text = (await http.post("/v1/ask", json=ASKED)).text
            assert (FIGURE in text) is sees, (who, text[:500])
            assert bool(leaked(crossing, text)) is sees


async def run_of(http, question):
    started = await http.post("/v1/agent/runs", json={"question": question})
    assert started.status_code == 202, started.text
    return started.json()["id"]


async def events_of(http, run):
    async with http.stream("GET", f"/v1/agent/runs/{run}/events") as events:
        return "\n".join([line async for line in events.aiter_lines()])


async def test_a_run_sees_what_its_own_caller_may_whoever_gave_it_its_turn(crossing):
    stack = crossing.stack
    looks = json.dumps({"action": "kb-search", "query": QUESTION})
    ends = json.dumps({"notes": [], "plan": [], "actions": [{"action": "finish"}]})
    stack.parts.model.says["action"] = [looks, ends] * 3
    stack.parts.model.says["answer"] = json.dumps({"answer": "It is as the evidence says [1].", "missing": []})
    async with stack.client(f"{crossing.owner} all") as owner, stack.client(f"{crossing.stranger} all") as stranger:
        # One at a time: the end of the owner's gives the stranger's its turn, and that of the stranger's the next.
        runs = [await run_of(http, QUESTION) for http in (owner, stranger, owner)]
        texts = [await events_of(http, run) for http, run in zip((owner, stranger, owner), runs, strict=True)]
    assert [FIGURE in text for text in texts] == [True, False, True], [text[-1500:] for text in texts]
    assert not leaked(crossing, texts[1])


async def test_the_same_bytes_are_a_document_of_each(crossing):
    stack = crossing.stack
    async with stack.client(f"{crossing.stranger} all") as http:
        (own,) = (await http.get("/v1/documents")).json()["documents"]
        assert own["id"] != crossing.shared
        assert (await http.get(f"/v1/documents/{own['id']}/pages/1")).status_code == 200
        assert (await http.delete(f"/v1/documents/{own['id']}")).status_code == 200
        assert (await http.get("/v1/documents")).json()["total"] == 0
    async with stack.client(f"{crossing.owner} all") as http:
        assert (await http.get(f"/v1/documents/{crossing.shared}/pages/1")).status_code == 200
        found = (await http.post("/v1/search", json={"query": "apples and pears"})).json()["passages"]
        assert crossing.shared in {one["document_id"] for one in found}


async def test_a_reader_sees_his_collection_and_is_told_which_right_he_lacks(crossing):
    stack = crossing.stack
    async with stack.client(f"{crossing.owner} reader") as http:
        listed = (await http.get("/v1/documents")).json()
        assert {one["collection"] for one in listed["documents"]} == {"default"}
        assert [one["name"] for one in (await http.get("/v1/collections")).json()["collections"]] == ["default"]
        for tried in (
            http.delete(f"/v1/documents/{crossing.document}"),
            http.post("/v1/documents", files={"files": ("a.txt", b"text")}),
            http.post("/v1/fetch", json={"company": "ZNZ"}),
            http.post("/v1/collections", json={"name": "mine"}),
            http.delete("/v1/collections/default"),
            http.get("/v1/web/pages"),
            http.post("/v1/agent/runs", json={"question": "q", "bundle_ids": ["x"]}),
        ):
            answer = await tried
            assert answer.status_code == 403, answer.text
            assert "right" in answer.json()["error"]["details"], answer.text
        # Another collection of his own tenant is not there for him, whether it is or not.
        for name in ("hk", "nowhere"):
            for tried in (
                http.post("/v1/ask", json={**ASKED, "collections": [name]}),
                http.get("/v1/documents", params={"collection": name}),
                http.post("/v1/documents", files={"files": ("a.txt", b"text")}, data={"collection": name}),
                http.delete(f"/v1/collections/{name}"),
            ):
                answer = await tried
                assert (answer.status_code, answer.json()["error"]["message"]) == (
                    404,
                    f"There is no collection {name!r}.",
                )
        assert (await http.get(f"/v1/documents/{crossing.other}")).status_code == 404
        assert (await http.get(f"/v1/documents/{crossing.other}/pages/1")).status_code == 404
    async with stack.client(f"{crossing.owner} other") as http:
        assert (await http.get("/v1/documents")).json()["total"] == 1
        assert (await http.get(f"/v1/documents/{crossing.document}")).status_code == 404
        assert FIGURE in (await http.post("/v1/ask", json={**ASKED, "collections": ["hk"]})).text
        gone = await http.delete("/v1/collections/hk")
        assert gone.json() == {"name": "hk", "documents": 1}, gone.text
        assert (await http.post("/v1/ask", json={**ASKED, "collections": ["hk"]})).status_code == 404
    async with stack.client(f"{crossing.owner} all") as http:
        assert (await http.get(f"/v1/documents/{crossing.document}")).status_code == 200


async def test_a_collection_narrows_what_an_owner_asks(crossing):
    async with crossing.stack.client(f"{crossing.owner} all") as http:
        for collection, document in (("default", crossing.document), ("hk", crossing.other)):
            found = (await http.post("/v1/search", json={"query": QUESTION, "collections": [collection]})).json()
            assert document in {one["document_id"] for one in found["passages"]}
            listed = (await http.get("/v1/facts", params={"collection": collection})).json()["facts"]
            assert {one["document_id"] for one in listed} == {document}


MCP_TOOLS = {
    "ask": {"question": QUESTION},
    "search_passages": {"query": QUESTION},
    "list_documents": {},
    "list_collections": {},
    "list_companies": {},
    "get_statement": {"company": "Zanzibar Motors"},
    "find_figures": {"company": "Zanzibar Motors", "names": ["revenue"]},
}


async def test_mcp_and_openbb_are_bounded_by_the_key(crossing):
    headers = {"Accept": "application/json, text/event-stream"}
    for who, sees in ((crossing.owner, True), (crossing.stranger, False)):
        texts = []
        async with crossing.stack.client(f"{who} all") as http:
            for name, arguments in MCP_TOOLS.items():
                call = {"jsonrpc": "2.0", "id": 1, "method": "tools/call"}
                params = {"name": name, "arguments": arguments}
                answer = await http.post("/mcp", json={**call, "params": params}, headers=headers)
                texts.append(answer.text)
            for path in ("companies", "filings", f"statements?{COMPANY}", f"metrics?{COMPANY}"):
                texts += [(await http.get(f"/openbb/{path}")).text]
            texts.append((await http.post("/openbb/answer", json={"prompt": QUESTION})).text)
        assert [bool(leaked(crossing, text)) for text in texts[:4]] == [sees] * 4, texts
        assert any(leaked(crossing, text) for text in texts[7:]) is sees, texts


async def test_mcp_narrows_to_a_collection_and_does_not_have_another_tenants(crossing):
    headers = {"Accept": "application/json, text/event-stream"}
    for who in (crossing.owner, crossing.stranger):
        async with crossing.stack.client(f"{who} all") as http:
            for name, arguments in MCP_TOOLS.items():
                if name == "list_collections":
                    continue
                params = {"name": name, "arguments": {**arguments, "collections": ["hk"]}}
                call = {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params}
                text = (await http.post("/mcp", json=call, headers=headers)).text
                if who == crossing.owner:
                    assert crossing.document not in text, (name, text)
                    assert name == "list_companies" or crossing.other in text, (name, text)
                else:
                    assert "There is no collection 'hk'." in text, (name, text)
                    assert not leaked(crossing, text), (name, text)


async def test_only_who_may_manage_a_document_can_have_its_quotes_forgotten(crossing):
    talk, document = f"/v1/conversations/{crossing.conversation}", f"/v1/documents/{crossing.document}"
    forget = {"forget_quotes": "true"}
    async with crossing.stack.client(f"{crossing.owner} all") as owner:
        before = (await owner.get(talk)).json()
        assert FIGURE in json.dumps(before)
        async with crossing.stack.client(f"{crossing.stranger} all") as stranger:
            refused = await stranger.delete(document, params=forget)
            nobody = await stranger.delete(f"/v1/documents/{MISSING}", params=forget)
        async with crossing.stack.client(f"{crossing.owner} operator") as operator:
            hidden = await operator.delete(document, params=forget)
        for one in (refused, hidden):
            assert (one.status_code, one.text.replace(crossing.document, MISSING)) == (404, nobody.text)
        assert (await owner.get(talk)).json() == before
        assert (await owner.delete(document, params=forget)).json()["answers_forgotten"] == 1
        text = (await owner.get(talk)).text
        (turn,) = json.loads(text)["saved"]
        quotes = [one["quote"] for one in turn["answer"]["citations"] if one["document_id"] == crossing.document]
        assert set(quotes) <= {""}
        assert FIGURE not in turn["answer"]["answer"]


async def test_labels_of_metrics_name_nobody_and_nothing_of_anybodys(crossing):
    async with crossing.stack.client(f"{crossing.owner} all") as http:
        assert (await http.post("/v1/ask", json=ASKED)).status_code == 200
        assert (await http.get(f"/v1/documents/{crossing.document}/pages/1")).status_code == 200
    async with crossing.stack.client("operator") as http:
        told = (await http.get("/metrics")).text
    assert 'route="/v1/documents/{document_id}/pages/{page}"' in told
    labels = set(re.findall(r'="([^"]*)"', told))
    assert not [label for label in labels if leaked(crossing, label)]
    assert not labels & {BONDS, *crossing.stack.keys, "Zanzibar Motors"}


async def test_what_a_stranger_uploads_replaces_nothing(crossing):
    stack = crossing.stack
    about = {"uri": "reports/annual", "company": "Orchard Foods"}
    first = (await stack.upload(f"{crossing.owner} all", "a.html", SHARED + "1", **about))[1]
    await stack.upload(f"{crossing.stranger} all", "a.html", SHARED + "2", **about)
    async with stack.client(f"{crossing.owner} all") as http:
        assert (await http.get(f"/v1/documents/{first}")).status_code == 200
