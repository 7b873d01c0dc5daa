"""Every door of a gateway whose generator's engine sends garbage: one clear error, or a checked or declined answer."""

from __future__ import annotations

import asyncio
import json
import re
from typing import Any

import httpx2
import pytest
from quelea.gateway.v1 import gateway_pb2, gateway_pb2_grpc
from quelea_gateway.testing import Stand
from quelea_kit.client import channel, stream
from quelea_kit.errors import QueleaError
from support.hostile_model import QUESTION, HostileModel, chunk, delta

REFUSAL = "Unable to answer the question based on the information provided"
FAILED = {"UNAVAILABLE", "DEADLINE_EXCEEDED", "OVERLOADED"}
"""The last of them where an engine comes back just when the patience of one who waits for it ends."""
FAILS: dict[str, list[bytes]] = {
    "nothing": [b""],
    "HTML": [b"<html><body>502 Bad Gateway</body></html>"],
    "only [DONE]": [b"data: [DONE]\n\n"],
    "no end": [chunk("Net sales")],
    "ends in JSON": [chunk("Net sales"), b'data: {"choices": [{"index": 0, "delta": {"con'],
    "an error in the middle": [chunk("Net sales"), b'data: {"error": {"message": "out of memory"}}\n\n'],
    "no UTF-8": [b'data: {"choices": [{"delta": {"content": "\xff\xfe"}}]}\n\n'],
    "a number for text": [delta({"content": 42})],
    "ten megabytes at once": [b'data: {"choices": [{"delta": {"content": "', b"x" * (10 << 20), b'"}}]}\n\n'],
    "nested without end": [b"data: " + b'{"choices":' * 100_000 + b"\n\n"],
}
DECLINES: dict[str, list[bytes]] = {
    "the length at once": [chunk(finish="length")],
    "tool calls": [delta({"tool_calls": [{"index": 0, "function": {"name": "f", "arguments": "{}"}}]}, "tool_calls")],
    "thoughts only": [chunk("<think>Net sales were $81,797 million."), chunk(finish="length")],
    "reasoning only": [delta({"reasoning_content": "Net sales were $81,797 million."}), chunk(finish="stop")],
    "control characters only": [chunk("\x1b[2J\x00\x07"), chunk(finish="stop")],
    "null": [delta({"content": None, "role": None}), delta(None), chunk(finish="stop")],
}
SAYS = "Total net sales were $81,797 million in the quarter."
SAID: dict[str, list[bytes]] = {
    "thoughts before it": [chunk("<think>maybe 9,999?</th"), chunk(f"ink>\n{SAYS}"), chunk(finish="stop")],
    "terminal escapes in it": [chunk(f"\x1b]0;owned\x07\x1b[31m{SAYS}\x9b2J"), chunk(finish="stop")],
    "impossible usage": [chunk(SAYS), delta({}, "stop", {"prompt_tokens": -1, "completion_tokens": 10**20})],
    "half a character": [delta({"content": f"{SAYS} \ud800"}), chunk(finish="stop")],
    "garbage after its end": [chunk(SAYS), chunk(finish="stop"), b"data: {no\n\n"],
}


async def rest(desk: Stand) -> tuple[str, str]:
    """(code of the error or "", text) of POST /v1/ask."""
    async with httpx2.AsyncClient(base_url=desk.url, trust_env=False, timeout=60) as client:
        reply = await client.post("/v1/ask", json={"question": QUESTION})
    body = reply.json()
    if reply.status_code == 200:
        assert body["grounding"] is not None
        return "", body["answer"]
    assert reply.status_code in (429, 503, 504), reply.text
    assert body["error"]["details"]["evidence"]
    return body["error"]["code"], ""


async def events(desk: Stand) -> tuple[str, str]:
    """The same, streamed."""
    async with httpx2.AsyncClient(base_url=desk.url, trust_env=False, timeout=60) as client:
        reply = await client.post("/v1/ask", json={"question": QUESTION, "stream": True})
    assert reply.status_code == 200
    blocks = [block.split("\ndata: ", 1) for block in reply.text.split("\n\n") if block.startswith("event: ")]
    assert [name for name, _ in blocks].count("event: answer") + [name for name, _ in blocks].count("event: error") == 1
    name, data = blocks[-1][0].removeprefix("event: "), json.loads(blocks[-1][1])
    if name == "error":
        return data["error"]["code"], ""
    return "", data["answer"]


async def grpc(desk: Stand) -> tuple[str, str]:
    """The same over gRPC."""
    async with channel(desk.grpc, "quelea.gateway.v1.GatewayService") as opened:
        stub = gateway_pb2_grpc.GatewayServiceStub(opened)
        try:
            found = [e async for e in stream(stub.Ask(gateway_pb2.AskRequest(question=QUESTION), timeout=60))]
        except QueleaError as error:
            return error.reason, ""
    return "", found[-1].answer.answer


async def chat(desk: Stand) -> tuple[str, str]:
    """The same on the OpenAI route."""
    body = {"model": "quelea", "messages": [{"role": "user", "content": QUESTION}]}
    async with httpx2.AsyncClient(base_url=desk.url, trust_env=False, timeout=60) as client:
        reply = await client.post("/v1/chat/completions", json=body)
        streamed = await client.post("/v1/chat/completions", json={**body, "stream": True})
    last = [json.loads(line[6:]) for line in streamed.text.splitlines() if line.startswith("data: {")][-1]
    if reply.status_code != 200:
        assert reply.status_code in (429, 503, 504), reply.text
        assert {last["error"]["code"], reply.json()["error"]["code"]} <= FAILED
        return last["error"]["code"], ""
    assert "error" not in last
    return "", reply.json()["choices"][0]["message"]["content"]


DOORS = (rest, events, grpc, chat)


async def everywhere(desk: Stand, model: HostileModel, parts: list[bytes]) -> list[tuple[str, str]]:
    """What each door gives, one after the other; the engine works again in between."""
    found = []
    for door in DOORS:
        model.parts = parts
        async with asyncio.timeout(60):
            found.append(await door(desk))
    return found


@pytest.mark.parametrize("parts", FAILS.values(), ids=FAILS)
async def test_no_answer_is_one_clear_error_at_every_door(desk: Stand, model: Any, parts: list[bytes]) -> None:
    assert {code for code, _ in await everywhere(desk, model, parts)} <= FAILED
    model.parts, model.says = None, SAYS
    async with asyncio.timeout(60):
        while (await rest(desk))[0]:  # noqa: ASYNC110  # only asking tells: the engine is asked for a token first
            await asyncio.sleep(0.05)


@pytest.mark.parametrize("parts", DECLINES.values(), ids=DECLINES)
async def test_an_answer_of_nothing_is_declined_at_every_door(desk: Stand, model: Any, parts: list[bytes]) -> None:
    assert await everywhere(desk, model, parts) == [("", REFUSAL)] * len(DOORS)


@pytest.mark.parametrize("parts", SAID.values(), ids=SAID)
async def test_an_answer_among_oddities_is_checked_at_every_door(desk: Stand, model: Any, parts: list[bytes]) -> None:
    for code, text in await everywhere(desk, model, parts):
        assert code == ""
        assert "Total net sales were $81,797 million in the quarter" in text
        assert re.search(r"\[\d\]", text)  # attached by the checks
        assert not any(character in text for character in "\x1b\x07\x9b\ud800")
        assert "9,999" not in text
        assert "think" not in text


async def test_markup_is_text_at_every_door(desk: Stand, model: Any) -> None:
    says = f'{SAYS} <img src=x onerror="alert(1)"> [click](javascript:alert(1))'
    for code, text in await everywhere(desk, model, [chunk(says), chunk(finish="stop")]):
        assert code == ""
        assert "$81,797 million" in text  # the page sets it as text (tests/e2e), other front-ends get it as it is


@pytest.mark.parametrize(("status", "words"), [(401, "refuses our key"), (404, "does not know"), (302, "elsewhere")])
async def test_what_is_wrong_with_our_settings_is_not_the_callers_fault(
    desk: Stand, model: Any, status: int, words: str
) -> None:
    model.status = status
    async with httpx2.AsyncClient(base_url=desk.url, trust_env=False, timeout=60) as client:
        reply = await client.post("/v1/ask", json={"question": QUESTION})
    assert reply.status_code == 503, reply.text
    error = reply.json()["error"]
    assert words in error["message"]
    assert (error["details"]["dependency"], error["details"]["behind"]) == ("generator", "engine")
