"""The model name `quelea-agent` on the OpenAI route: a run of the agent as a chat completion."""

from __future__ import annotations

import contextlib
import json
import re
import time
import uuid
from collections.abc import AsyncGenerator
from typing import Any

from fastapi import Request, Response
from fastapi.responses import JSONResponse
from quelea_kit.errors import InvalidInput, QueleaError

from quelea_gateway.core.agent import asked
from quelea_gateway.core.agent.manager import Manager
from quelea_gateway.core.agent.model import ENDED, Event, Run
from quelea_gateway.rest.errors import body_of
from quelea_gateway.rest.openai_schemas import ChatIn, conversation
from quelea_gateway.rest.run_schemas import RunOut
from quelea_gateway.rest.state import base_url, gateway_of, key_of
from quelea_gateway.rest.streams import event, respond, while_there

AGENT = "quelea-agent"
_PATH = "/v1/chat/completions"
_MARK = re.compile(r"\[(\d{1,3})\]")
_PIECE = 40


async def chat(body: ChatIn, request: Request) -> Response:
    """Answers the last message by a run; turns before it are left out. A caller who leaves ends the run."""
    if body.n not in (None, 1):
        raise InvalidInput("n is 1: a run gives one answer.", details={"field": "n"})
    gateway, tenant = gateway_of(request), key_of(request)
    text, _ = conversation(body.messages)
    wanted = asked.build(text, gateway.limits, gateway.analyst.budgets, tenant=tenant, as_of=body.as_of)
    manager = await while_there(request, gateway.analyst.ready())
    run = await manager.start(wanted)
    base = base_url(request)
    if body.stream:
        usage = bool(body.stream_options and body.stream_options.include_usage)
        return respond(_events(manager, run, base, with_usage=usage), gateway.settings.keep_alive_seconds)
    ended = await while_there(request, _ended(manager, run))
    if ended.answer is None:
        raise QueleaError(ended.error or f"The run was {ended.state}.", details={"run": ended.id})
    content = _content(ended)
    message = {"role": "assistant", "content": content, "refusal": None, "annotations": _annotations(ended, base)}
    return JSONResponse(
        {
            "id": f"chatcmpl-{run.id}",
            "object": "chat.completion",
            "created": int(time.time()),
            "model": AGENT,
            "choices": [{"index": 0, "message": message, "finish_reason": "stop", "logprobs": None}],
            "usage": _usage(ended),
            "quelea": _own(ended),
        }
    )


async def _ended(manager: Manager, run: Run) -> Run:
    try:
        async with contextlib.aclosing(manager.watch(run.tenant, run.id)) as events:
            async for _ in events:
                pass
        return await manager.get(run.tenant, run.id)
    except BaseException:
        await manager.cancel(run.tenant, run.id)
        raise


def _content(run: Run) -> str:
    answer = run.answer or {"text": "", "missing": []}
    return "\n\n".join(part for part in (answer["text"], "\n".join(f"- {one}" for one in answer["missing"])) if part)


def _annotations(run: Run, base: str) -> list[dict[str, Any]]:
    answer = RunOut.of(run).answer
    if answer is None:
        return []
    sources = {one.number: one for one in answer.sources}
    return [
        {
            "type": "url_citation",
            "url_citation": {
                "url": (source.url if source.kind == "call" else "") or base + source.open,
                "title": source.title,
                "start_index": mark.start(),
                "end_index": mark.end(),
            },
        }
        for mark in _MARK.finditer(answer.text)
        if (source := sources.get(int(mark[1]))) is not None
    ]


def _usage(run: Run) -> dict[str, int]:
    """A run counts its tokens together: they are reported as the prompt's."""
    return {"prompt_tokens": run.usage.tokens, "completion_tokens": 0, "total_tokens": run.usage.tokens}


def _own(run: Run) -> dict[str, Any]:
    return {"run": RunOut.of(run).model_dump()}


async def _events(manager: Manager, run: Run, base: str, *, with_usage: bool) -> AsyncGenerator[bytes, None]:
    head = {
        "id": f"chatcmpl-{uuid.uuid4().hex}",
        "object": "chat.completion.chunk",
        "created": int(time.time()),
        "model": AGENT,
    }

    def chunk(delta: dict[str, Any], end: str | None = None, **more: Any) -> bytes:
        choice = {"index": 0, "delta": delta, "finish_reason": end, "logprobs": None}
        usage = {"usage": None} if with_usage else {}
        return _data({**head, "choices": [choice], **usage, **more})

    finished = False
    try:
        yield chunk({"role": "assistant", "content": ""})
        async with contextlib.aclosing(manager.watch(run.tenant, run.id)) as events:
            async for one in events:
                yield chunk({}, quelea={"event": _shown(one)})
        ended = await manager.get(run.tenant, run.id)
        finished = ended.state in ENDED
        if ended.answer is None:
            error = QueleaError(ended.error or f"The run was {ended.state}.", details={"run": ended.id})
            yield _data(body_of(error, _PATH))
            return
        content = _content(ended)
        for start in range(0, len(content), _PIECE):
            yield chunk({"content": content[start : start + _PIECE]})
        yield chunk({"annotations": _annotations(ended, base)})
        yield chunk({}, "stop", quelea=_own(ended))
        if with_usage:
            yield _data({**head, "choices": [], "usage": _usage(ended)})
        yield b"data: [DONE]\n\n"
    except QueleaError as error:
        yield _data(body_of(error, _PATH))
    finally:
        if not finished:
            with contextlib.suppress(QueleaError):
                await manager.cancel(run.tenant, run.id)


def _shown(one: Event) -> dict[str, Any]:
    return {"number": one.number, "event": one.name, "at": one.at, "data": one.data}


def _data(value: dict[str, Any]) -> bytes:
    return event(None, json.dumps(value, ensure_ascii=False))
