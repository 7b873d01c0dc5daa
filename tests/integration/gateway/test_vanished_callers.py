"""A caller that vanishes: gateway and generator let the engine know at once. Real sockets and real gRPC all the way."""

from __future__ import annotations

import asyncio
import contextlib
import itertools
import json
import time
from collections.abc import AsyncIterator

import pytest
from quelea.generator.v1 import generator_pb2_grpc as pb_grpc
from quelea_gateway.testing import Stand, standing
from quelea_generator.__main__ import build
from quelea_generator.service import NAME
from quelea_generator.settings import GeneratorSettings
from quelea_kit.testing import running, wait_until_async

OUR_SHARE = 0.2
"""Seconds from the caller's FIN to the engine's; what the engine then needs to stop is its own affair."""
TRIES = 20
PIECE = b'data: {"choices": [{"index": 0, "delta": {"content": "word%d "}, "finish_reason": null}]}\n\n'
QUESTION = "What were Apple's total net sales?"
DOORS = {
    "/v1/ask": {"question": QUESTION, "route": "local", "stream": True},
    "/v1/chat/completions": {
        "model": "quelea", "messages": [{"role": "user", "content": QUESTION}], "route": "local", "stream": True,
    },
    "not streamed": {"question": QUESTION, "route": "local"},
}  # fmt: skip


class Engine:
    """Answers for as long as somebody listens; `left` has the moment of each FIN or reset."""

    def __init__(self, *, silent: bool) -> None:
        self.silent = silent
        self.asked = 0
        self.left: list[float] = []

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        with contextlib.suppress(ConnectionError, asyncio.IncompleteReadError):
            while True:
                head = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1").lower()
                length = next((int(line[16:]) for line in head.split("\r\n") if line.startswith("content-length: ")), 0)
                body = json.loads(await reader.readexactly(length)) if length else {}
                if body.get("stream"):
                    break
                choice = {"index": 0, "message": {"role": "assistant", "content": "1"}, "finish_reason": "length"}
                reply = json.dumps({"data": [{"id": "tiny", "max_model_len": 100_000}], "choices": [choice]}).encode()
                writer.write(b"HTTP/1.1 200 OK\r\ncontent-type: application/json\r\n")
                writer.write(b"content-length: %d\r\n\r\n%s" % (len(reply), reply))
            self.asked += 1
            writer.write(b"HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\n\r\n")
            writing = asyncio.create_task(self._write(writer))
            with contextlib.suppress(ConnectionError):
                await reader.read()
            self.left.append(time.perf_counter())
            writing.cancel()
        writer.close()

    async def _write(self, writer: asyncio.StreamWriter) -> None:
        for number in itertools.count():
            if not self.silent:
                writer.write(PIECE % (number * 7919 % 10007))  # what repeats itself would be ended
            await asyncio.sleep(0.05)


@contextlib.asynccontextmanager
async def product(engine: Engine) -> AsyncIterator[Stand]:
    """A gateway and a generator in front of the engine."""
    server = await asyncio.start_server(engine.serve, "127.0.0.1", 0)
    url = f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}/v1"
    # An answer may be as long as the test takes.
    made = GeneratorSettings(endpoint=url, model="tiny", max_tokens=50_000, drain_seconds=0.5, stall_seconds=600)
    service = build(made)
    try:
        async with (
            running(
                lambda grpc: pb_grpc.add_GeneratorServiceServicer_to_server(service, grpc),
                [NAME],
                settings=made,
                ready=service.ready,
            ) as target,
            standing(generator=target) as stand,
        ):
            yield stand
    finally:
        await service.close()
        server.close()


@pytest.mark.parametrize("silent", [False, True], ids=["while it writes", "before the first word"])
@pytest.mark.parametrize("door", DOORS)
async def test_the_engine_hears_of_it_at_once(door: str, silent: bool) -> None:
    body = json.dumps(DOORS[door]).encode()
    head = f"POST {door if door.startswith('/') else '/v1/ask'} HTTP/1.1\r\nhost: 127.0.0.1\r\n"
    head += f"content-type: application/json\r\ncontent-length: {len(body)}\r\n\r\n"
    engine, took = Engine(silent=silent), []
    async with product(engine) as stand:
        port = int(stand.url.rpartition(":")[2])
        # A busy machine delays any one of them; what we add ourselves it adds to all.
        while not took or (min(took) > OUR_SHARE and len(took) < TRIES):
            asked, gone = engine.asked, len(engine.left)
            reader, writer = await asyncio.open_connection("127.0.0.1", port)
            writer.write(head.encode() + body)
            await wait_until_async(lambda asked=asked: engine.asked > asked, what="the engine is asked")
            if door.startswith("/") and not silent:
                await reader.readuntil(b"word")
            left = time.perf_counter()
            writer.close()
            await wait_until_async(lambda gone=gone: len(engine.left) > gone, what="the engine's caller is gone")
            took.append(engine.left[-1] - left)
    assert min(took) < OUR_SHARE, took
