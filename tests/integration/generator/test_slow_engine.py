"""Engines that keep a caller waiting byte by byte, on raw sockets: no byte that comes makes a deadline longer."""

import asyncio
import contextlib
from collections.abc import AsyncIterator

import pytest
from pydantic import SecretStr
from quelea_generator.adapters.openai_endpoint import OpenAIEndpoint
from quelea_generator.core.chat.chat_model import ChatRequest
from quelea_generator.core.chat.prompt import Message
from quelea_kit.errors import DeadlineExceeded, QueleaError, Unavailable

MESSAGES = [Message("user", "u")]
HEAD = b"HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\ntransfer-encoding: chunked\r\n\r\n"
JSON = b"HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: 100000\r\n\r\n"
PIECE = b'data: {"choices": [{"index": 0, "delta": {"content": "Sales "}, "finish_reason": null}]}\n\n'


def chunked(data: bytes) -> bytes:
    return b"%x\r\n%s\r\n" % (len(data), data)


DRIPS = {
    "headers": (b"HTTP/1.1 200 OK\r\n", b"x-more: 1\r\n"),
    "one header": (b"HTTP/1.1 200 OK\r\nx-more: ", b"x"),
    "comments before the first piece": (HEAD, chunked(b": wait\n\n")),
    "comments after a piece": (HEAD + chunked(PIECE), chunked(b": wait\n\n")),
    "a piece that never ends": (HEAD + chunked(PIECE), chunked(b"data: {")),
    "the body of an error": (JSON.replace(b"200 OK", b"400 No"), b" "),
}


@contextlib.asynccontextmanager
async def dripping(head: bytes, drop: bytes, asked: list[bytes] | None = None) -> AsyncIterator[str]:
    """A server that sends the head, and then the drop for as long as somebody listens; `asked`: heads it was sent."""

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        with contextlib.suppress(ConnectionError, asyncio.IncompleteReadError):
            request = await reader.readuntil(b"\r\n\r\n")
            if asked is not None:
                asked.append(request)
            writer.write(head)
            while not writer.is_closing():
                writer.write(drop)
                await writer.drain()
                await asyncio.sleep(0.02)
        writer.close()

    server = await asyncio.start_server(serve, "127.0.0.1", 0)
    try:
        yield f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}/v1"
    finally:
        server.close()


@pytest.mark.parametrize(("head", "drop"), DRIPS.values(), ids=DRIPS.keys())
async def test_drops_end_at_the_deadline_of_a_silence(head: bytes, drop: bytes) -> None:
    async with dripping(head, drop) as url:
        endpoint = OpenAIEndpoint(url, SecretStr(""), "tiny", stall_seconds=0.5)
        try:
            async with asyncio.timeout(60):
                with pytest.raises(DeadlineExceeded):
                    async for _ in endpoint.stream(ChatRequest(tuple(MESSAGES), "tiny", 9)):
                        pass
        finally:
            await endpoint.close()


async def test_endless_headers_are_not_kept() -> None:
    async with dripping(b"HTTP/1.1 200 OK\r\n", b"x-more: " + b"x" * 65536 + b"\r\n") as url:
        endpoint = OpenAIEndpoint(url, SecretStr(""), "tiny", stall_seconds=20.0)
        try:
            async with asyncio.timeout(60):
                with pytest.raises(Unavailable):
                    async for _ in endpoint.stream(ChatRequest(tuple(MESSAGES), "tiny", 9)):
                        pass
        finally:
            await endpoint.close()


async def test_a_list_of_models_a_probe_and_a_count_that_drip_end_too(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("quelea_generator.adapters.openai_endpoint._SHORT_SECONDS", 0.3)
    asked: list[bytes] = []
    async with dripping(JSON, b" ", asked) as url:
        endpoint = OpenAIEndpoint(url, SecretStr(""), "tiny", stall_seconds=0.5)
        try:
            async with asyncio.timeout(60):
                for ask in (endpoint.check, endpoint.probe):
                    with pytest.raises(QueleaError):
                        await ask()
                assert await endpoint.count(MESSAGES, model="tiny") is None
                before = len(asked)
                for _ in range(50):  # nobody waits for the next ones
                    assert await endpoint.count(MESSAGES, model="tiny") is None
                assert len(asked) == before
        finally:
            await endpoint.close()
