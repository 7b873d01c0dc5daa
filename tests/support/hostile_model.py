"""An OpenAI-compatible endpoint that lies, babbles, breaks off or never stops, as a test tells it to."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator
from itertools import count

from fastapi import FastAPI, Request
from fastapi.responses import JSONResponse, Response, StreamingResponse

QUESTION = "What were Apple's total net sales?"


def chunk(text: str | None = None, finish: str | None = None) -> bytes:
    """An ordinary chunk."""
    choice = {"index": 0, "delta": {} if text is None else {"content": text}, "finish_reason": finish}
    body = {"id": "c", "object": "chat.completion.chunk", "created": 1, "model": "tiny", "choices": [choice]}
    return f"data: {json.dumps(body)}\n\n".encode()


def delta(given: object, finish: str | None = None, usage: object = None) -> bytes:
    """A chunk with any delta at all."""
    choice = {"index": 0, "delta": given, "finish_reason": finish}
    return f"data: {json.dumps({'choices': [choice], 'usage': usage})}\n\n".encode()


class HostileModel:
    """One endpoint.

    Attributes:
        says: Its next answers.
        parts: The raw body of them, where it is set.
        json_parts: The same, of answers that are asked for with a response_format.
        endless: It never stops.
        status: Of its answers, where it is no 200.
        listed: Its models.
        asked: The model of each request for an answer.
        open: Answers that it is sending.
        url: Where it listens, with /v1.
    """

    def __init__(self) -> None:
        self.says = ""
        self.parts: list[bytes] | None = None
        self.json_parts: list[bytes] | None = None
        self.endless = False
        self.status = 200
        self.listed = [{"id": "tiny", "object": "model", "max_model_len": 8192}]
        self.asked: list[str] = []
        self.url = ""
        self.open = 0
        self.app = FastAPI()
        self.app.get("/v1/models")(self._models)
        self.app.post("/v1/chat/completions")(self._completions)

    async def _models(self) -> Response:
        return JSONResponse({"object": "list", "data": self.listed})

    async def _completions(self, request: Request) -> Response:
        body = await request.json()
        if not body.get("stream"):
            choice = {"index": 0, "message": {"role": "assistant", "content": "1"}, "finish_reason": "length"}
            return JSONResponse({"id": "c", "object": "chat.completion", "model": "tiny", "choices": [choice]})
        self.asked.append(body["model"])
        if self.status != 200:
            return JSONResponse({"error": {"message": "no"}}, self.status, {"location": "http://127.0.0.1:9/v1"})
        parts = self.json_parts if "response_format" in body else self.parts
        return StreamingResponse(self._body(parts), media_type="text/event-stream")

    async def _body(self, parts: list[bytes] | None) -> AsyncIterator[bytes]:
        self.open += 1
        try:
            if self.endless:
                for number in count():
                    yield chunk(f"Net sales were {number} units more. ")
                    await asyncio.sleep(0.001)
            for part in parts if parts is not None else self._spoken():
                yield part
        finally:
            self.open -= 1

    def _spoken(self) -> list[bytes]:
        pieces = [self.says[at : at + 7] for at in range(0, len(self.says), 7)]
        return [*(chunk(piece) for piece in pieces), chunk(finish="stop"), b"data: [DONE]\n\n"]
