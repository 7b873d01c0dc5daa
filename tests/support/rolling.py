"""What a cluster does to pods while people stream, on this machine: a Service, deletion with its grace, a slow engine.

A `Service` is kube-proxy: each new connection goes to an endpoint that was ready a moment ago, and existing ones stay
where they are. A `Pod` is one process of ours; deleting it is what the API server and the kubelet do: it leaves the
endpoints (callers see it `SEEN_SECONDS` later), the preStop sleep, SIGTERM, the process's own drain, and SIGKILL when
its grace is over. What is not like a cluster: a pod comes back under the address that it had.
"""

from __future__ import annotations

import asyncio
import contextlib
import itertools
import json
import os
import signal
import sys
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from pathlib import Path

import httpx2
import uvicorn
from fastapi import FastAPI, Request
from fastapi.responses import JSONResponse, Response, StreamingResponse
from quelea_kit.testing import free_port

SEEN_SECONDS = 0.5
PRE_STOP_SECONDS = 1.5
DRAIN_SECONDS = 120.0
GRACE_SECONDS = 15.0
"""What the chart adds to preStopSeconds and drainSeconds."""
START_SECONDS = 300.0


class Service:
    """A TCP address in front of ports; `endpoints` is who is ready."""

    def __init__(self) -> None:
        self.endpoints: set[int] = set()
        self.port = 0
        self._turn = itertools.count()
        self._server: asyncio.Server | None = None
        self._writers: set[asyncio.StreamWriter] = set()

    async def start(self) -> None:
        """Listen."""
        self._server = await asyncio.start_server(self._connect, "127.0.0.1", 0)
        self.port = self._server.sockets[0].getsockname()[1]

    async def stop(self) -> None:
        """Close everything."""
        if self._server:
            self._server.close()
        for writer in self._writers:
            writer.close()

    async def _connect(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        chosen = sorted(self.endpoints)
        if not chosen:
            writer.close()
            return
        port = chosen[next(self._turn) % len(chosen)]
        try:
            there_reader, there_writer = await asyncio.open_connection("127.0.0.1", port)
        except OSError:
            writer.close()
            return
        self._writers |= {writer, there_writer}
        try:
            await asyncio.gather(_copy(reader, there_writer), _copy(there_reader, writer))
        finally:
            self._writers -= {writer, there_writer}
            writer.close()
            there_writer.close()


async def _copy(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    """Bytes, and how they end: kube-proxy translates addresses, so a reset at one side is a reset at the other."""
    try:
        while data := await reader.read(65_536):
            writer.write(data)
            await writer.drain()
        writer.write_eof()
    except OSError:
        writer.transport.abort()


class Pod:
    """A process of ours that can be deleted, killed and started again under its ports.

    Args:
        module: What `python -m` runs.
        environment: Its settings; `{http}` and `{grpc}` are its ports.
        services: Service → which port of it stands behind.
        log: File for its log.
    """

    def __init__(self, module: str, environment: dict[str, str], services: dict[Service, str], log: Path) -> None:
        self.ports = {"http": free_port(), "grpc": free_port()}
        self._command = [sys.executable, "-m", module]
        self._environment = {**os.environ, **{k: v.format(**self.ports) for k, v in environment.items()}}
        self._services = services
        self._log = log
        self.process: asyncio.subprocess.Process | None = None
        self.drained = 0.0
        """Seconds from SIGTERM to the end, of the last deletion."""

    async def start(self, ready: Callable[[Pod], Awaitable[bool]]) -> None:
        """Start it; it becomes an endpoint when it is ready."""
        with self._log.open("ab") as log:
            self.process = await asyncio.create_subprocess_exec(
                *self._command, env=self._environment, stdout=log, stderr=log
            )
        async with asyncio.timeout(START_SECONDS):
            while not await ready(self):
                assert self.process.returncode is None, self.said()
                await asyncio.sleep(0.1)
        for service, port in self._services.items():
            service.endpoints.add(self.ports[port])

    async def delete(self) -> None:
        """As `kubectl delete pod`; fails when its grace was not enough."""
        assert self.process
        seen = asyncio.create_task(self._leave())
        await asyncio.sleep(PRE_STOP_SECONDS)
        await seen
        self.process.send_signal(signal.SIGTERM)
        began = asyncio.get_running_loop().time()
        async with asyncio.timeout(DRAIN_SECONDS + GRACE_SECONDS):
            code = await self.process.wait()
        self.drained = asyncio.get_running_loop().time() - began
        assert code == 0, self.said()

    async def kill(self) -> None:
        """As the kernel kills; callers see it a moment later."""
        assert self.process
        self.process.kill()
        await self.process.wait()
        await self._leave()

    async def _leave(self) -> None:
        await asyncio.sleep(SEEN_SECONDS)
        for service, port in self._services.items():
            service.endpoints.discard(self.ports[port])

    def said(self) -> str:
        """The end of its log."""
        return self._log.read_text(errors="replace")[-2000:]

    async def end(self) -> None:
        """Whatever state it is in."""
        if self.process and self.process.returncode is None:
            self.process.kill()
            await self.process.wait()


class _Quiet(uvicorn.Server):
    @contextlib.contextmanager
    def capture_signals(self) -> Iterator[None]:
        yield


def _chunk(text: str | None = None, finish: str | None = None) -> bytes:
    choice = {"index": 0, "delta": {"content": text} if text is not None else {}, "finish_reason": finish}
    body = {"id": "c", "object": "chat.completion.chunk", "created": 1, "model": "tiny", "choices": [choice]}
    return f"data: {json.dumps(body)}\n\n".encode()


class SlowEngine:
    """An OpenAI-compatible endpoint that stands for vLLM: a first token after `first` seconds, then one each `gap`."""

    def __init__(self, pieces: list[str], *, first: float, gap: float) -> None:
        self.pieces, self.first, self.gap = pieces, first, gap
        self.port = free_port()
        self._server = _Quiet(uvicorn.Config(self._application(), port=self.port, log_level="error", lifespan="off"))
        self._serving: asyncio.Task[None] | None = None

    @property
    def url(self) -> str:
        """With /v1."""
        return f"http://127.0.0.1:{self.port}/v1"

    async def start(self) -> None:
        """Listen."""
        self._serving = asyncio.create_task(self._server.serve())
        async with asyncio.timeout(START_SECONDS):
            while not self._server.started:  # noqa: ASYNC110  # uvicorn has a flag, no event
                await asyncio.sleep(0.01)

    async def stop(self) -> None:
        """Stop at once."""
        self._server.should_exit = self._server.force_exit = True
        if self._serving:
            await self._serving

    async def _written(self) -> AsyncIterator[bytes]:
        await asyncio.sleep(self.first)
        for piece in self.pieces:
            yield _chunk(piece)
            await asyncio.sleep(self.gap)
        yield _chunk(finish="stop")
        yield b"data: [DONE]\n\n"

    def _application(self) -> FastAPI:
        app = FastAPI()

        @app.get("/v1/models")
        async def models() -> JSONResponse:
            return JSONResponse({"object": "list", "data": [{"id": "tiny", "object": "model", "max_model_len": 8192}]})

        @app.post("/v1/chat/completions")
        async def completions(request: Request) -> Response:
            if (await request.json()).get("stream"):
                return StreamingResponse(self._written(), media_type="text/event-stream")
            message = {"role": "assistant", "content": "1"}
            choice = {"index": 0, "message": message, "finish_reason": "length"}
            return JSONResponse({"id": "c", "object": "chat.completion", "model": "tiny", "choices": [choice]})

        return app


async def answers(pod: Pod) -> bool:
    """The gateway's readiness probe, as the chart has it."""
    async with httpx2.AsyncClient(trust_env=False, timeout=3) as client:
        with contextlib.suppress(httpx2.HTTPError):
            return (await client.get(f"http://127.0.0.1:{pod.ports['http']}/healthz")).status_code == 200
    return False
