"""A key that is revoked while something is streamed to it: the stream ends, and so does the work behind it."""

import asyncio
import json

import httpx2
import pytest
from quelea.gateway.v1 import gateway_pb2, gateway_pb2_grpc
from quelea_gateway import keys
from quelea_gateway.testing import standing
from quelea_kit.client import channel, stream
from quelea_kit.errors import Unauthenticated
from quelea_kit.testing import wait_until_async

QUESTION = "What were Apple's total net sales?"
CHAT = {"model": "quelea", "messages": [{"role": "user", "content": QUESTION}], "stream": True}


@pytest.fixture
async def locked(tmp_path):
    file = tmp_path / "keys.json"
    key = keys.create(file, "desk")
    async with standing(auth="keys", keys_file=str(file)) as stand:
        yield stand, file, key


@pytest.mark.parametrize("silent", [False, True], ids=["words come", "nothing comes"])
@pytest.mark.parametrize(
    ("path", "body"), [("/v1/ask", {"question": QUESTION, "stream": True}), ("/v1/chat/completions", CHAT)]
)
async def test_a_stream_of_events_ends_with_the_error(locked, path, body, silent):
    stand, file, key = locked
    stand.world.generator_hangs, stand.world.word_seconds = silent, 0.5
    lines = []
    async with (
        httpx2.AsyncClient(base_url=stand.url, trust_env=False, timeout=60) as client,
        client.stream("POST", path, json=body, headers={"Authorization": f"Bearer {key}"}) as reply,
    ):
        assert reply.status_code == 200
        async for line in reply.aiter_lines():
            if not lines:
                keys.revoke(file, "desk")
            lines.append(line)
    last = json.loads([line for line in lines if line.startswith("data: ")][-1].removeprefix("data: "))
    assert last["error"]["code"] == "UNAUTHENTICATED"
    assert last["error"]["message"] == "This key has been revoked."
    assert ("event: error" in lines) is (path == "/v1/ask")
    await wait_until_async(lambda: "Generate" in stand.world.cancelled, what="the work behind it has ended")


@pytest.mark.parametrize("silent", [False, True], ids=["words come", "nothing comes"])
async def test_a_grpc_stream_ends_with_the_status(locked, silent):
    stand, file, key = locked
    stand.world.generator_hangs, stand.world.word_seconds = silent, 0.5
    async with channel(stand.grpc, "quelea.gateway.v1.GatewayService") as opened:
        stub = gateway_pb2_grpc.GatewayServiceStub(opened)
        call = stub.Ask(
            gateway_pb2.AskRequest(question=QUESTION), timeout=60, metadata=(("authorization", f"Bearer {key}"),)
        )
        revoked = False
        with pytest.raises(Unauthenticated, match="revoked"):
            async for _ in stream(call):
                if not revoked:
                    keys.revoke(file, "desk")
                revoked = True
    await wait_until_async(lambda: "Generate" in stand.world.cancelled, what="the work behind it has ended")


async def test_other_keys_go_on(locked):
    stand, file, key = locked
    other = keys.create(file, "other")
    stand.world.word_seconds = 0.3
    async with httpx2.AsyncClient(base_url=stand.url, trust_env=False, timeout=60) as client:
        body = {"question": QUESTION, "stream": True}
        asking = asyncio.create_task(client.post("/v1/ask", json=body, headers={"Authorization": f"Bearer {key}"}))
        await wait_until_async(lambda: stand.world.asked, what="it is being answered")
        keys.revoke(file, "other")
        assert other
        assert "event: answer" in (await asking).text


async def test_a_rotated_key_opens_with_the_old_and_the_new_secret_without_a_restart(locked):
    stand, file, old = locked
    async with httpx2.AsyncClient(base_url=stand.url, trust_env=False, timeout=60) as client:

        async def status(key):
            return (await client.get("/v1/jobs", headers={"Authorization": f"Bearer {key}"})).status_code

        new = keys.rotate(file, "desk", overlap_hours=1)
        assert [await status(key) for key in (old, new)] == [200, 200]
        newest = keys.rotate(file, "desk", overlap_hours=0)
        assert [await status(key) for key in (old, new, newest)] == [200, 401, 200]
        keys.revoke(file, "desk")
        assert [await status(key) for key in (old, new, newest)] == [401, 401, 401]
