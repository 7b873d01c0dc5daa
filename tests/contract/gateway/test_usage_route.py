"""GET /v1/usage: what each door counts, who may read it, as JSON and CSV."""

import grpc
import httpx2
from quelea.gateway.v1 import gateway_pb2, gateway_pb2_grpc
from quelea_gateway import keys
from quelea_gateway.testing import standing

QUESTION = "What were Apple's net sales in the third quarter of 2023?"


def client(stand, key=""):
    headers = {"Authorization": f"Bearer {key}"} if key else {}
    return httpx2.AsyncClient(base_url=stand.url, trust_env=False, timeout=60, headers=headers)


async def rows(web, **query):
    reply = await web.get("/v1/usage", params=query)
    assert reply.status_code == 200, reply.text
    return reply.json()


async def test_questions_tokens_uploads_and_refusals_are_counted_by_key(tmp_path):
    file = tmp_path / "keys.json"
    chief, desk = keys.create(file, "chief"), keys.create(file, "desk", administrator=False)
    async with (
        standing(auth="keys", keys_file=str(file)) as stand,
        client(stand, chief) as chiefs,
        client(stand, desk) as desks,
    ):
        assert (await desks.post("/v1/ask", json={"question": QUESTION})).status_code == 200
        async with grpc.aio.insecure_channel(stand.grpc) as channel:
            ask = gateway_pb2_grpc.GatewayServiceStub(channel).Ask
            async for _ in ask(
                gateway_pb2.AskRequest(question=QUESTION), metadata=[("authorization", f"Bearer {desk}")]
            ):
                pass
        uploaded = await desks.post("/v1/documents", files={"files": ("a.txt", b"Net sales were 5.")})
        assert uploaded.status_code == 202
        assert (await desks.post("/v1/ask", json={"question": ""})).status_code == 400
        assert (await desks.get("/v1/usage")).status_code == 403
        assert (await desks.get("/v1/documents/nothing")).status_code == 404, "which is no refusal"
        found = await rows(chiefs, by="key")
        assert [row["key"] for row in found["usage"]] == ["desk"]
        (row,) = found["usage"]
        counted = {name: row[name] for name in ("questions", "tokens_read", "tokens_written", "uploads", "refusals")}
        assert counted == {"questions": 2, "tokens_read": 240, "tokens_written": 60, "uploads": 1, "refusals": 2}
        assert found["all"]["questions"] == 2
        assert desk not in str(found)
        assert chief not in str(found)
        table = await chiefs.get("/v1/usage", params={"format": "csv"})
        head, line = table.text.removeprefix("\ufeff").splitlines()
        assert head == "day,tenant,key,questions,tokens_read,tokens_written,runs,uploads,refusals"
        assert line == f"{found['day_to']},default,desk,2,240,60,0,1,2"


async def test_days_that_are_none_or_the_wrong_way_round_are_refused(web):
    assert (await web.get("/v1/usage", params={"from": "2026-13-01"})).status_code == 400
    turned = await web.get("/v1/usage", params={"from": "2026-11-02", "to": "2026-11-01"})
    assert turned.status_code == 400
    assert turned.json()["error"]["details"]["field"] == "from"
    assert (await web.get("/v1/usage", params={"by": "hour"})).status_code == 400
    found = await rows(web, **{"from": "2001-01-01", "to": "2001-01-31"})
    assert found["usage"] == []
    assert (found["day_from"], found["day_to"]) == ("2001-01-01", "2001-01-31")
