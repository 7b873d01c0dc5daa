"""Engines that answer garbage: each ends bounded and clear, over real HTTP."""

import asyncio
import gzip
import json
from collections.abc import AsyncIterator
from itertools import count
from typing import Any

import pytest
from pydantic import SecretStr
from quelea_generator.adapters.openai_endpoint import OpenAIEndpoint
from quelea_generator.core.chat.chat_model import ChatRequest
from quelea_generator.core.chat.prompt import Message
from quelea_kit.errors import Unavailable
from quelea_kit.testing import wait_until_async

MESSAGES = [Message("user", "u")]


def event(body: object) -> bytes:
    return f"data: {json.dumps(body)}\n\n".encode()


def choice(delta: object, finish: object = None) -> dict[str, object]:
    return {"choices": [{"index": 0, "delta": delta, "finish_reason": finish}]}


async def answer(engine: Any, max_tokens: int = 50) -> tuple[str, str]:
    """The text and how it ended."""
    endpoint = OpenAIEndpoint(engine.url, SecretStr(""), "tiny", stall_seconds=30.0)
    text, finish = "", ""
    try:
        async with asyncio.timeout(60):
            async for piece in endpoint.stream(ChatRequest(tuple(MESSAGES), "tiny", max_tokens)):
                text += piece.text
                finish = piece.finish or finish
    finally:
        await endpoint.close()
    return text, finish


def told(engine: Any, *parts: bytes, media_type: str = "text/event-stream") -> None:
    async def body() -> AsyncIterator[bytes]:
        for part in parts:
            yield part

    engine.answer, engine.media_type = body, media_type


GARBAGE = {
    "no JSON": [b"data: {not json\n\n"],
    "half an object": [b'data: {"choices": [{"index": 0, "delta": {"con\n\n'],
    "HTML": [b"<html><body>502 Bad Gateway</body></html>"],
    "nothing": [b""],
    "binary": [bytes(range(256)) * 10],
    "not UTF-8": [b'data: {"choices": [{"delta": {"content": "\xff\xfe"}}]}\n\n'],
    "a list": [event([1, 2, 3])],
    "a string": [event("text")],
    "null": [event(None)],
    "choices is no list": [event({"choices": 7})],
    "a choice is text": [event({"choices": ["text"]})],
    "no delta": [event({"choices": [{"index": 0, "finish_reason": None}]})],
    "content is a number": [event(choice({"content": 42}))],
    "content is a list": [event(choice({"content": [{"type": "text", "text": "x"}]}))],
    "too deep to read": [b"data: " + b"[" * 200_000 + b"\n\n"],
    "an error event": [b'data: {"error": {"message": "out of memory"}}\n\n'],
    "only [DONE]": [b"data: [DONE]\n\n"],
    "the end is missing": [event(choice({"content": "Sales were"}))],
    "the end is missing, [DONE] is not": [event(choice({"content": "Sales were"})), b"data: [DONE]\n\n"],
    "ends in the middle of JSON": [event(choice({"content": "Sales were"})), b'data: {"choices": [{"del'],
    "JSON, then none": [event(choice({"content": "Sales were"})), b"data: oops\n\n"],
}


@pytest.mark.parametrize("parts", GARBAGE.values(), ids=GARBAGE.keys())
async def test_garbage_is_an_unavailable_engine(engines: list[Any], parts: list[bytes]) -> None:
    told(engines[0], *parts)
    with pytest.raises(Unavailable):
        await answer(engines[0])


async def test_a_whole_answer_instead_of_a_stream_is_garbage(engines: list[Any]) -> None:
    whole = json.dumps({"choices": [{"message": {"content": "Sales rose."}, "finish_reason": "stop"}]}).encode()
    told(engines[0], whole, media_type="application/json")
    with pytest.raises(Unavailable):
        await answer(engines[0])


ODD = {
    "usage is text": {"usage": "many"},
    "usage is negative": {"usage": {"prompt_tokens": -7, "completion_tokens": -1}},
    "usage is huge": {"usage": {"prompt_tokens": 10**30, "completion_tokens": 10**12}},
    "usage is no number": {"usage": {"prompt_tokens": float("inf"), "completion_tokens": float("nan")}},
    "usage is odd": {"usage": {"prompt_tokens": True, "completion_tokens": [3]}},
    "usage is empty": {"usage": {}},
    "other fields are odd": {"id": None, "created": "yesterday", "model": 7, "object": {}, "system_fingerprint": []},
}


@pytest.mark.parametrize("more", ODD.values(), ids=ODD.keys())
async def test_oddities_beside_the_text_take_nothing_from_it(engines: list[Any], more: dict[str, object]) -> None:
    told(engines[0], event(choice({"content": "Sales rose."}) | more), event(choice({}, "stop") | more))
    assert await answer(engines[0]) == ("Sales rose.", "stop")


async def test_half_a_character_is_replaced_and_a_pair_is_one(engines: list[Any]) -> None:
    told(engines[0], event(choice({"content": "a\ud800b \ud83d\ude00"})), event(choice({}, "stop")))
    assert await answer(engines[0]) == ("a\ufffdb \U0001f600", "stop")


AFTER = {
    "no JSON": b"data: {not json\n\n",
    "an error event": b'data: {"error": {"message": "out of memory"}}\n\n',
    "another shape": event([1]),
    "a broken line": b'data: {"choices": [{"del',
}


@pytest.mark.parametrize("part", AFTER.values(), ids=AFTER.keys())
async def test_what_comes_after_the_end_does_not_matter(engines: list[Any], part: bytes) -> None:
    told(engines[0], event(choice({"content": "Sales rose."})), event(choice({}, "stop")), part)
    assert await answer(engines[0]) == ("Sales rose.", "stop")


async def test_a_broken_connection_is_unavailable(engines: list[Any]) -> None:
    async def breaks() -> AsyncIterator[bytes]:
        yield event(choice({"content": "Sales were"}))
        raise RuntimeError("the connection breaks")

    engines[0].answer = breaks
    with pytest.raises(Unavailable):
        await answer(engines[0])


def endless(engine: Any, make: Any) -> None:
    async def body() -> AsyncIterator[bytes]:
        for number in count():
            yield make(number)
            await asyncio.sleep(0)

    engine.answer = body


@pytest.mark.parametrize(
    "text", [lambda n: f"word{n * 7919 % 10007} ", lambda _: "the same ", lambda _: "x" * 5000, lambda n: f"{n}" * 400]
)
async def test_an_engine_that_never_stops_is_stopped(engines: list[Any], text: Any) -> None:
    endless(engines[0], lambda n: event(choice({"content": text(n)})))
    shown, finish = await answer(engines[0])
    assert finish == "length"
    assert 0 < len(shown) <= 50 * 24 + 256
    await left(engines[0])


@pytest.mark.parametrize("delta", [{"content": " "}, {"content": "\n\n"}, {"content": ""}, {}, {"reasoning": "hm"}])
async def test_endless_nothing_is_stopped_and_not_shown(engines: list[Any], delta: dict[str, str]) -> None:
    endless(engines[0], lambda _: event(choice(delta)))
    assert await answer(engines[0]) == ("", "length")
    await left(engines[0])


async def test_going_on_after_the_end_is_not_read(engines: list[Any]) -> None:
    endless(engines[0], lambda n: event(choice({"content": f"w{n} "}, "stop" if n == 3 else None)))
    shown, finish = await answer(engines[0])
    assert finish == "stop"
    assert len(shown) < 2000
    await left(engines[0])


async def left(engine: Any) -> None:
    await wait_until_async(lambda: engine.left > 0, what="the engine notices that nobody reads")


async def test_a_huge_chunk_is_cut(engines: list[Any]) -> None:
    text = "".join(f"{n} " for n in range(60_000))
    told(engines[0], event(choice({"content": text})), event(choice({}, "stop")))
    assert await answer(engines[0]) == (text[: 50 * 24 + 256], "length")


async def test_an_endless_line_is_not_kept(engines: list[Any]) -> None:
    async def body() -> AsyncIterator[bytes]:
        yield b'data: {"choices": [{"delta": {"content": "'
        while True:
            yield b"x" * 65536
            await asyncio.sleep(0)

    engines[0].answer = body
    with pytest.raises(Unavailable):
        await answer(engines[0])
    assert engines[0].sent < 200


async def test_endless_comments_are_not_read_for_ever(engines: list[Any]) -> None:
    endless(engines[0], lambda _: b": keep-alive\n" * 5000)
    with pytest.raises(Unavailable):
        await answer(engines[0])


async def test_a_compressed_answer_is_not_unpacked(engines: list[Any]) -> None:
    engines[0].headers = {"content-encoding": "gzip"}
    told(engines[0], gzip.compress(event(choice({"content": "x"}, "stop"))))
    with pytest.raises(Unavailable):
        await answer(engines[0])


@pytest.mark.parametrize("listing", [b"oops", b"[]", b'{"data": 3}', b'{"data": [{"name": "tiny"}]}', b""])
async def test_garbage_instead_of_a_list_of_models_is_not_ready(engines: list[Any], listing: bytes) -> None:
    engines[0].listing = listing
    endpoint = OpenAIEndpoint(engines[0].url, SecretStr(""), "tiny")
    try:
        with pytest.raises(Unavailable):
            await endpoint.check()
    finally:
        await endpoint.close()


async def test_a_list_of_many_other_models_makes_a_short_error(engines: list[Any]) -> None:
    names = [f"model\x1b[31m {n} {'x' * 200}" for n in range(500)]
    engines[0].listing = json.dumps({"data": [{"id": name} for name in names]}).encode()
    endpoint = OpenAIEndpoint(engines[0].url, SecretStr(""), "tiny")
    try:
        with pytest.raises(Unavailable, match="and 495 more") as caught:
            await endpoint.check()
    finally:
        await endpoint.close()
    assert len(caught.value.message) < 800  # it travels in a header
    assert caught.value.message.isprintable()


async def test_an_engine_whose_completions_are_garbage_is_not_ready(engines: list[Any]) -> None:
    engines[0].probes_work = False
    endpoint = OpenAIEndpoint(engines[0].url, SecretStr(""), "tiny")
    try:
        await endpoint.check()
        with pytest.raises(Unavailable):
            await endpoint.probe()
        engines[0].probes_work = True
        await endpoint.probe()
    finally:
        await endpoint.close()
