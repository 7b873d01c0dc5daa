"""Engines over real HTTP, made here: OpenAI's protocol with vLLM's /tokenize, and every way to get it wrong."""

from __future__ import annotations

import asyncio
import contextlib
import json
import socket
import threading
from collections.abc import AsyncIterator, Callable, Iterator
from typing import Any

import pytest
import uvicorn
from fastapi import FastAPI, Request
from fastapi.responses import JSONResponse, Response, StreamingResponse
from quelea_kit.testing import free_port, wait_until


def chunk(text: str | None = None, finish: str | None = None) -> bytes:
    choice = {"index": 0, "delta": {"content": text} if text is not None else {}, "finish_reason": finish}
    body = {"id": "c", "object": "chat.completion.chunk", "created": 1, "model": "tiny", "choices": [choice]}
    return f"data: {json.dumps(body)}\n\n".encode()


class FakeEngine:
    """One engine; start() and stop() as often as a test likes, always at the same address.

    Attributes:
        answer: Makes the body of a streamed answer; the server's end is cut off where it raises.
        media_type, headers: Of that body.
        listing: What /v1/models answers instead of its list.
        statuses: Of the next answers, before ordinary ones.
        probes_work: Whether one-token completions come back.
        gate: Held answers go on when it is set.
        context: As /v1/models tells it; 0: it does not.
        refuses_schemas: How many requests with response_format are refused with 400.
        rate: Tokens per word for /tokenize; 0: there is no such path.
        cached: Whole prefixes seen so far, as its prefix cache: what /metrics counts.
    """

    def __init__(self) -> None:
        self.port = free_port()
        self.url = f"http://127.0.0.1:{self.port}/v1"
        self.answer: Callable[[], AsyncIterator[bytes]] = self.ordinary
        self.media_type = "text/event-stream"
        self.headers: dict[str, str] = {}
        self.listing: bytes | None = None
        self.pieces = ["Sales ", "rose ", "[1]."]
        self.statuses: list[int] = []
        self.refuses_schemas = 0
        self.probes_work = True
        self.gate = threading.Event()
        self.gate.set()
        self.context, self.rate = 4096, 1.5
        self.bodies: list[dict[str, Any]] = []
        self.probes = self.counts = self.sent = self.left = 0
        self.cached: set[str] = set()
        self.looked_up = self.found = 0
        self._server: uvicorn.Server | None = None
        self._thread: threading.Thread | None = None

    async def ordinary(self) -> AsyncIterator[bytes]:
        for piece in self.pieces:
            yield chunk(piece)
            while not self.gate.is_set():  # noqa: ASYNC110  # set by another thread's loop
                await asyncio.sleep(0.01)
        yield chunk(finish="stop")
        yield b"data: [DONE]\n\n"

    async def _counted(self) -> AsyncIterator[bytes]:
        try:
            async for part in self.answer():
                self.sent += 1
                yield part
        except (asyncio.CancelledError, GeneratorExit):
            self.left += 1
            raise

    def tokens(self, messages: list[dict[str, str]]) -> int:
        return round(self.rate * sum(len(message["content"].split()) for message in messages))

    def _application(self) -> FastAPI:
        app = FastAPI()

        @app.get("/v1/models")
        async def models() -> Response:
            if self.listing is not None:
                return Response(self.listing, media_type="application/json")
            told = {"max_model_len": self.context} if self.context else {}
            return JSONResponse({"object": "list", "data": [{"id": "tiny", "object": "model", **told}]})

        @app.get("/metrics")
        async def metrics() -> Response:
            lines = (
                f'vllm:prefix_cache_queries_total{{engine="0"}} {float(self.looked_up)}',
                f'vllm:prefix_cache_hits_total{{engine="0"}} {float(self.found)}',
                'vllm:prefix_cache_hits_created{engine="0"} 1.7e9',
            )
            return Response("\n".join(lines), media_type="text/plain")

        @app.post("/tokenize")
        async def tokenize(request: Request) -> JSONResponse:
            self.counts += 1
            if not self.rate:
                return JSONResponse({"detail": "Not Found"}, status_code=404)
            count = self.tokens((await request.json())["messages"])
            return JSONResponse({"count": count, "max_model_len": self.context, "tokens": [1] * count})

        @app.post("/v1/chat/completions")
        async def completions(request: Request) -> Response:
            body = await request.json()
            if not body.get("stream"):
                self.probes += 1
                if not self.probes_work:
                    return Response("<html>500</html>", media_type="text/html")
                message = {"role": "assistant", "content": "1"}
                choice = {"index": 0, "message": message, "finish_reason": "length"}
                return JSONResponse({"id": "c", "object": "chat.completion", "model": "tiny", "choices": [choice]})
            self.bodies.append(body)
            prefix = body["messages"][-1]["content"].splitlines()[0]
            self.looked_up += len(prefix.split())
            self.found += len(prefix.split()) if prefix in self.cached else 0
            self.cached.add(prefix)
            if "response_format" in body and self.refuses_schemas:
                self.refuses_schemas -= 1
                return JSONResponse({"error": {"message": "response_format is not supported"}}, status_code=400)
            if self.statuses:
                status = self.statuses.pop(0)
                return JSONResponse({"error": {"message": f"status {status}"}}, status_code=status)
            return StreamingResponse(self._counted(), media_type=self.media_type, headers=self.headers)

        return app

    def start(self) -> None:
        config = uvicorn.Config(self._application(), host="127.0.0.1", port=self.port, log_level="critical")
        server = uvicorn.Server(config)
        self._thread = threading.Thread(target=server.run, daemon=True)
        self._thread.start()
        self._server = server
        wait_until(lambda: server.started, every=0.01)

    def stop(self) -> None:
        """At once: open answers are cut off."""
        if self._server and self._thread:
            self._server.force_exit = True
            self._server.should_exit = True
            self._thread.join(10)
            self._server = None

    @contextlib.contextmanager
    def unreachable(self) -> Iterator[None]:
        """As a machine that is off: no SYN is answered, for the queue of a socket that accepts nothing is full."""
        self.stop()
        with contextlib.ExitStack() as opened:
            listener = opened.enter_context(socket.socket())
            listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            listener.bind(("127.0.0.1", self.port))
            listener.listen(0)
            for _ in range(8):
                one = opened.enter_context(socket.socket())
                one.setblocking(False)
                one.connect_ex(("127.0.0.1", self.port))
            yield


@pytest.fixture
def engines() -> Iterator[list[FakeEngine]]:
    """Two engines that run."""
    both = [FakeEngine(), FakeEngine()]
    for one in both:
        one.start()
    yield both
    for one in both:
        one.gate.set()
        one.stop()
