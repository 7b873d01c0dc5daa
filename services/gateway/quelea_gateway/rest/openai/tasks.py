"""Chat completions that a front-end asks for itself (core/front_end_tasks): answered without a search."""

from __future__ import annotations

import time
import uuid
from collections.abc import AsyncGenerator
from typing import Any

from fastapi import Request, Response
from fastapi.responses import JSONResponse
from quelea_kit.errors import QueleaError

from quelea_gateway.core.chats.front_end_tasks import Task, perform
from quelea_gateway.gateway import Gateway
from quelea_gateway.rest.openai.schemas import DONE, ChatIn, Chunks, usage_of, with_usage
from quelea_gateway.rest.state import gateway_of
from quelea_gateway.rest.transport.streams import respond, while_there


async def chat(body: ChatIn, task: Task, request: Request) -> Response:
    """The reply; `quelea.task` says what the message was taken for."""
    gateway = gateway_of(request)
    companies = await while_there(request, _companies(gateway, task))
    said, own = perform(task, companies), {"task": task.kind}
    if body.stream:
        events = _events(said, own, Chunks(body.model, with_usage=with_usage(body)))
        return respond(events, gateway.settings.keep_alive_seconds)
    message: dict[str, Any] = {"role": "assistant", "content": said, "refusal": None, "annotations": []}
    return JSONResponse(
        {
            "id": f"chatcmpl-{uuid.uuid4().hex}",
            "object": "chat.completion",
            "created": int(time.time()),
            "model": body.model,
            "choices": [{"index": 0, "message": message, "finish_reason": "stop", "logprobs": None}],
            "usage": usage_of(0, 0),
            "quelea": own,
        }
    )


async def _companies(gateway: Gateway, task: Task) -> tuple[str, ...]:
    """Names in the questions, by the catalogue of stored documents; none where nobody can say."""
    if task.kind != "tags" or not task.questions:
        return ()
    try:
        return await gateway.retriever.companies(task.questions[-3:])
    except QueleaError:
        return ()


async def _events(said: str, own: dict[str, str], chunks: Chunks) -> AsyncGenerator[bytes, None]:
    yield chunks.piece({"role": "assistant", "content": ""})
    yield chunks.piece({"content": said})
    yield chunks.piece({}, "stop", quelea=own)
    yield chunks.usage(usage_of(0, 0)) + DONE
