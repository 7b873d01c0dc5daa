"""The product's generator, started alone: what prompt it makes of evidence, and what a model answers through it."""

from __future__ import annotations

import asyncio
import contextlib
import json
import threading
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

from quelea.generator.v1 import generator_pb2 as pb
from quelea.generator.v1 import generator_pb2_grpc as pb_grpc
from quelea_kit.client import channel, stream, unary

from quelea_training.own_service import running_service
from quelea_training.writer.model import Sample

_SERVICE = "quelea.generator.v1.GeneratorService"
_NAME = "recorder"
_MOST_BYTES = 4_000_000


@dataclass(frozen=True)
class Limits:
    """How much the writer is shown and may write; the generator's settings of the same names."""

    evidence_tokens: int = 3000
    excerpt_tokens: int = 360
    """0: whole passages, as on GPUs; 360 is what `quelea up --reader llama` shows."""
    max_tokens: int = 200
    context_tokens: int = 8192


@dataclass(frozen=True)
class Reply:
    """What came through the generator."""

    text: str
    declined: bool
    prompt_version: str


class Generator:
    """A generator at an address."""

    def __init__(self, address: str, seconds: float = 300.0) -> None:
        self._channel = channel(address, _SERVICE, idempotent=["GetInfo"])
        self._stub = pb_grpc.GeneratorServiceStub(self._channel)
        self._seconds = seconds

    async def answer(self, sample: Sample, as_of: str) -> Reply:
        """The answer to a sample's question from its evidence.

        Raises:
            QueleaError: The generator, or the model behind it, gave none.
        """
        evidence = [
            pb.Evidence(
                number=number, text=one.text, header=one.header, table_head=one.table_head, is_table=one.is_table
            )
            for number, one in enumerate(sample.evidence, 1)
        ]
        request = pb.GenerateRequest(question=sample.question, evidence=evidence, as_of=as_of)
        text, end = "", pb.Finished()
        async for response in stream(self._stub.Generate(request, timeout=self._seconds)):
            text += response.delta.text
            if response.HasField("finished"):
                end = response.finished
        return Reply(text, end.reason == "declined", end.prompt_version)

    async def close(self) -> None:
        """Close the channel."""
        await self._channel.close()


async def _is_ready(address: str) -> None:
    generator = Generator(address)
    try:
        await unary(generator._stub.GetInfo(pb.GetInfoRequest(), timeout=10))  # of this module
    finally:
        await generator.close()


@contextlib.contextmanager
def running_generator(url: str, model: str, key: str, limits: Limits, log: Path) -> Iterator[str]:
    """A generator in front of an OpenAI-compatible endpoint while the block runs; gives its address.

    Raises:
        Unavailable: It did not start.
    """
    settings = {
        "ENDPOINT": url,
        "MODEL": model,
        "API_KEY": key,
        "EVIDENCE_TOKENS": str(limits.evidence_tokens),
        "EXCERPT_TOKENS": str(limits.excerpt_tokens),
        "MAX_TOKENS": str(limits.max_tokens),
        "CONTEXT_TOKENS": str(limits.context_tokens),
        "QUOTES": "false",
        "COMEBACK_SECONDS": "120",  # a cold engine is waited for
        "MAX_IN_FLIGHT_PER_ENGINE": "1",
    }
    with running_service("generator", settings, log, _is_ready) as address:
        yield address


def write_prompts(
    samples: Sequence[Sample], limits: Limits, log: Path, as_of: str
) -> tuple[list[tuple[dict[str, str], ...]], str]:
    """The messages that the product would send for each sample, and the versions of the templates.

    A generator is started in front of an endpoint that answers nothing and keeps what it was sent, so the prompt is
    the product's own, whatever it does with evidence, budgets and instructions.

    Raises:
        Unavailable: The generator did not start.
        QueleaError: It refused a question.
    """
    recorder = _Recorder()
    try:
        with running_generator(recorder.url, _NAME, "", limits, log) as address:
            return asyncio.run(_record(samples, address, recorder, as_of))
    finally:
        recorder.close()


async def _record(
    samples: Sequence[Sample], address: str, recorder: _Recorder, as_of: str
) -> tuple[list[tuple[dict[str, str], ...]], str]:
    generator = Generator(address)
    found, versions = [], set()
    try:
        for sample in samples:  # one after the other, so that what was sent last is this one's
            recorder.sent.clear()
            reply = await generator.answer(sample, as_of)
            versions.add(reply.prompt_version)
            found.append(tuple(dict(one) for one in recorder.sent[-1]))
    finally:
        await generator.close()
    return found, ", ".join(sorted(versions))


@dataclass
class _Recorder:
    """An OpenAI-compatible endpoint on loopback that keeps the messages it gets."""

    sent: list[Sequence[Mapping[str, str]]] = field(default_factory=list)

    def __post_init__(self) -> None:
        recorder = self

        class Handler(BaseHTTPRequestHandler):
            def do_GET(self) -> None:
                if not self.path.endswith("/models"):
                    self.send_error(404)
                    return
                self._reply(json.dumps({"object": "list", "data": [{"id": _NAME, "object": "model"}]}))

            def do_POST(self) -> None:
                length = min(int(self.headers.get("Content-Length", "0")), _MOST_BYTES)
                body = json.loads(self.rfile.read(length))
                if "messages" not in body or not self.path.endswith("/chat/completions"):
                    self.send_error(404)
                    return
                if not body.get("stream"):  # the generator sees whether the endpoint computes
                    choice = {"index": 0, "message": {"role": "assistant", "content": "1"}, "finish_reason": "stop"}
                    whole = {"id": "1", "object": "chat.completion", "created": 0, "model": _NAME, "choices": [choice]}
                    self._reply(json.dumps(whole))
                    return
                recorder.sent.append(body["messages"])
                piece = {"id": "1", "object": "chat.completion.chunk", "created": 0, "model": _NAME}
                said: list[dict[str, Any]] = [
                    {"index": 0, "delta": {"role": "assistant", "content": "Kept."}, "finish_reason": None},
                    {"index": 0, "delta": {}, "finish_reason": "stop"},
                ]
                lines = [json.dumps({**piece, "choices": [one]}) for one in said] + ["[DONE]"]
                self._reply("".join(f"data: {line}\n\n" for line in lines), "text/event-stream")

            def _reply(self, text: str, kind: str = "application/json") -> None:
                data = text.encode()
                self.send_response(200)
                self.send_header("Content-Type", kind)
                self.send_header("Content-Length", str(len(data)))
                self.end_headers()
                self.wfile.write(data)

            def log_message(self, *_: object) -> None:
                """Nothing is said of requests."""

        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self._thread = threading.Thread(target=self._server.serve_forever, daemon=True)
        self._thread.start()
        self.url = f"http://127.0.0.1:{self._server.server_port}/v1"

    def close(self) -> None:
        """No longer listen."""
        self._server.shutdown()
        self._server.server_close()
        self._thread.join(10)
