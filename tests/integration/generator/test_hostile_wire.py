"""Engines whose HTTP itself is broken, or whose names and reasons no message can carry, on raw sockets."""

import asyncio
import contextlib
import json
from collections.abc import AsyncIterator
from datetime import date
from typing import Any

import pytest
from pydantic import SecretStr
from quelea_generator.adapters.openai_endpoint import OpenAIEndpoint
from quelea_generator.core.chat.chat_model import ChatRequest
from quelea_generator.core.chat.prompt import Message
from quelea_generator.core.chat.reader import ModelReader
from quelea_generator.core.model import Delta, Evidence, Finished, Task
from quelea_kit.errors import Unavailable

MESSAGES = [Message("user", "u")]
SSE = b"HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\nconnection: close\r\n\r\n"


def said(text: str = "Sales rose.", finish: object = "stop") -> bytes:
    choice = {"index": 0, "delta": {"content": text}, "finish_reason": finish}
    return f"data: {json.dumps({'choices': [choice]})}\n\n".encode()


def whole(body: bytes, media_type: str = "application/json", status: str = "200 OK") -> bytes:
    head = f"HTTP/1.1 {status}\r\ncontent-type: {media_type}\r\ncontent-length: {len(body)}\r\n\r\n"
    return head.encode() + body


@contextlib.asynccontextmanager
async def engine(reply: bytes) -> AsyncIterator[OpenAIEndpoint]:
    """An endpoint whose server sends these bytes to whatever it is asked, and hangs up."""

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        with contextlib.suppress(ConnectionError, asyncio.IncompleteReadError):
            head = (await reader.readuntil(b"\r\n\r\n")).lower()
            length = next((int(one[15:]) for one in head.split(b"\r\n") if one.startswith(b"content-length:")), 0)
            await reader.readexactly(length)
            writer.write(reply)
            await writer.drain()
        writer.close()

    server = await asyncio.start_server(serve, "127.0.0.1", 0)
    url = f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}/v1"
    made = OpenAIEndpoint(url, SecretStr(""), "tiny", stall_seconds=20.0)
    try:
        yield made
    finally:
        await made.close()
        server.close()


async def answer(endpoint: OpenAIEndpoint) -> tuple[str, str]:
    text, finish = "", ""
    async with asyncio.timeout(60):
        async for piece in endpoint.stream(ChatRequest(tuple(MESSAGES), "tiny", 50)):
            text, finish = text + piece.text, piece.finish or finish
    return text, finish


CHUNKED = b"HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\ntransfer-encoding: chunked\r\n\r\n"
BROKEN = {
    "hangs up at once": b"",
    "no HTTP": b"\x16\x03\x01\x02\x00\x01\x00\xff" * 50,
    "another protocol": b"220 mail.example ESMTP ready\r\n",
    "a status without a number": b"HTTP/1.1 OK fine\r\n\r\n",
    "half a head": b"HTTP/1.1 200 OK\r\ncontent-ty",
    "NUL in a header": b"HTTP/1.1 200 OK\r\nx-a: \x00\r\n\r\n",
    "two lengths": b"HTTP/1.1 200 OK\r\ncontent-length: 5\r\ncontent-length: 7\r\n\r\nhello",
    "a length that is none": b"HTTP/1.1 200 OK\r\ncontent-length: -1\r\n\r\nhello",
    "shorter than it says": SSE.replace(b"connection: close", b"content-length: 9999") + said(finish=None),
    "chunks without a size": CHUNKED + b"zz\r\n" + said(),
    "a chunk cut off": CHUNKED + b"ffff\r\n" + said(finish=None),
    "no body": b"HTTP/1.1 204 No Content\r\n\r\n",
    "a part": whole(b"{}", status="206 Partial Content"),
    "not modified": b"HTTP/1.1 304 Not Modified\r\n\r\n",
    "a status that does not exist": whole(b"{}", status="799 What"),
    "another protocol is offered": b"HTTP/1.1 101 Switching Protocols\r\nupgrade: x\r\nconnection: upgrade\r\n\r\n",
    "an error as a whole answer": whole(b'{"error": {"message": "out of memory", "code": 500}}'),
    "an error in plain text": whole(b"upstream connect error", "text/plain"),
    "an error as an event": SSE + b'event: error\ndata: {"message": "out of memory"}\n\n',
    "an error that is text": SSE + b'data: {"error": "out of memory"}\n\n',
    "broken off, as it says itself": SSE + said(finish=None) + said("", "abort"),
    "a mark of byte order before it": SSE + b"\xef\xbb\xbf" + said(),
    "an id and no data": SSE + b"id: 1\n\n" + said(),
    "HTML with 200": whole(b"<html><body>Please log in</body></html>", "text/html"),
    "a 500 with HTML": whole(b"<html>" + b"x" * 100_000, "text/html", "500 Oops"),
}


@pytest.mark.parametrize("reply", BROKEN.values(), ids=BROKEN)
async def test_what_is_no_http_or_no_answer_is_unavailable(reply: bytes) -> None:
    async with engine(reply) as endpoint:
        for ask in (answer(endpoint), endpoint.check(), endpoint.probe()):
            with pytest.raises(Unavailable) as caught:
                await asyncio.wait_for(ask, 60)
            assert caught.value.details["behind"] == "engine"
            assert len(caught.value.message) < 300
        assert await endpoint.count(MESSAGES, model="tiny") is None


ODD = {
    "lines ended by CR": said().replace(b"\n", b"\r"),
    "comments": b": hi\n\n: \x00\n\n" + said(),
    "an event in several lines": b'data: {"choices": [{"index": 0,\ndata: "delta": {"content": "Sales rose."},\n'
    b'data: "finish_reason": "stop"}]}\n\n',
    "another media type": said(),
    "no [DONE]": said(),
    "two ends": said() + said("", "length"),
    "another choice": said() + b'data: {"choices": [{"index": 7, "delta": {}, "finish_reason": null}]}\n\n',
}


@pytest.mark.parametrize("name", ODD)
async def test_an_odd_wire_takes_nothing_from_the_answer(name: str) -> None:
    head = SSE.replace(b"text/event-stream", b"text/plain") if name == "another media type" else SSE
    async with engine(head + ODD[name]) as endpoint:
        text, finish = await answer(endpoint)
    assert text == "Sales rose."
    assert finish in ("stop", "length")


@pytest.mark.parametrize("finish", ["\ud800", "\x00\x1b[2J", "x" * 100_000, ["stop"], {"why": "\udfff"}, 7, True])
async def test_a_reason_that_nobody_knows_is_an_end(finish: Any) -> None:
    async with engine(SSE + said(finish=finish)) as endpoint:
        reader = ModelReader(endpoint, evidence_tokens=1000, history_tokens=100, max_tokens=50, temperature=0.0)
        events = [event async for event in reader.read(Task("Why?", (Evidence(1, "Sales rose."),), date(2024, 6, 1)))]
    assert "".join(event.text for event in events if isinstance(event, Delta)) == "Sales rose."
    assert isinstance(events[-1], Finished)
    assert events[-1].reason == "stop"  # no text of the engine's: a message, and a metric's label


async def test_names_of_adapters_that_no_message_can_carry_are_left_out() -> None:
    names = ["tiny", "finance", "\ud800", "a\x00b", "\x1b[2J", "", "x" * 10_000, "财报"]
    listed = [{"id": name, "parent": "tiny" if name != "tiny" else None} for name in names]
    async with engine(whole(json.dumps({"data": listed}).encode())) as endpoint:
        await endpoint.check()
        assert endpoint.adapters == ("finance", "财报")
