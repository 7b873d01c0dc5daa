"""POST /v1/chat/completions and GET /v1/models, for the official client and the front-ends made for it."""

from __future__ import annotations

import time
import uuid
from collections.abc import AsyncGenerator
from typing import Any

from fastapi import APIRouter, Request, Response
from fastapi.responses import JSONResponse
from quelea_kit.errors import NotFound, QueleaError

from quelea_gateway.core.answers.numbering import as_streamed
from quelea_gateway.core.asking import question as rules
from quelea_gateway.core.chats.front_end_tasks import recognise
from quelea_gateway.core.model import Answer, Citation, Delta, Question
from quelea_gateway.core.pipeline import ReaderFailed
from quelea_gateway.gateway import Gateway
from quelea_gateway.metrics import observe_answer
from quelea_gateway.rest.answers.answer_schemas import AnswerOut
from quelea_gateway.rest.answers.ask import Item, whole
from quelea_gateway.rest.error_schemas import ERRORS
from quelea_gateway.rest.openai import agent as openai_agent
from quelea_gateway.rest.openai import json_answers as openai_json
from quelea_gateway.rest.openai import tasks as openai_tasks
from quelea_gateway.rest.openai.schemas import (
    DONE,
    ChatIn,
    ChatOut,
    Chunks,
    ModelOut,
    ModelsOut,
    conversation,
    data,
    json_schema_of,
    longest,
    refuse_what_is_not_offered,
    stops,
    text_of,
    usage_of,
    with_usage,
)
from quelea_gateway.rest.openai.sources import is_open_webui, source_events, url_citations
from quelea_gateway.rest.state import base_url, gateway_of, key_of, principal_of, read_in
from quelea_gateway.rest.transport.errors import body_of, body_with_evidence
from quelea_gateway.rest.transport.streams import EVENTS, respond, while_there
from quelea_gateway.rights import may_fetch

router = APIRouter(tags=["openai"])

MODEL = "quelea"
_PATH = "/v1/chat/completions"
_BORN = 1_790_000_000
"""The `created` of a model must be a number; nothing hangs on it."""


async def _names(gateway: Gateway) -> list[str]:
    info = await gateway.generator.info()
    agent = openai_agent.AGENT if gateway.analyst.on else ""
    return list(dict.fromkeys(name for name in (MODEL, agent, info.model, *info.adapters) if name))


def _model(name: str) -> dict[str, Any]:
    return {"id": name, "object": "model", "created": _BORN, "owned_by": "quelea"}


@router.get("/v1/models", response_model=ModelsOut, responses=ERRORS, summary="Models (OpenAI-compatible)")
async def models(request: Request) -> dict[str, Any]:
    """`quelea`, the reader's model and its adapters, all of which answer from the knowledge base; `quelea-agent`."""
    return {"object": "list", "data": [_model(name) for name in await _names(gateway_of(request))]}


@router.get("/v1/models/{name:path}", response_model=ModelOut, responses=ERRORS, summary="One model")
async def model(name: str, request: Request) -> dict[str, Any]:
    """One of the list."""
    await _require_model(gateway_of(request), name)
    return _model(name)


async def _require_model(gateway: Gateway, name: str) -> None:
    names = await _names(gateway)
    if name not in names:
        raise NotFound(
            f"There is no model {name[:100]!r} here; there is {' and '.join(names)}.", details={"field": "model"}
        )


async def _question(body: ChatIn, request: Request, *, as_json: bool) -> Question:
    gateway = gateway_of(request)
    await _require_model(gateway, body.model)
    text, turns = conversation(body.messages)
    return rules.build(
        text,
        gateway.limits,
        history=rules.trim_history(turns, gateway.limits),
        as_of=body.as_of,
        route=body.route,
        model="" if body.model == MODEL else body.model,
        max_tokens=0 if as_json else longest(body),  # else the text that JSON is made of would be cut
        temperature=body.temperature,
        stop=stops(body),
        top_p=body.top_p,
        seed=body.seed,
        tenant=key_of(request),
        strict=gateway.settings.strict if body.strict is None else body.strict,
        may_fetch=may_fetch(principal_of(request), body.collections),
    )


def _usage(answer: Answer) -> dict[str, int]:
    return usage_of(answer.prompt_tokens, answer.completion_tokens)


def _end(answer: Answer) -> str:
    return "length" if answer.finish_reason == "length" else "stop"


def _own(answer: Answer) -> dict[str, Any]:
    return AnswerOut.of(answer).model_dump(exclude={"answer"})


def _completion(answer: Answer, name: str, base: str) -> dict[str, Any]:
    message = {
        "role": "assistant",
        "content": answer.answer,
        "refusal": None,
        "annotations": url_citations(answer.answer, answer.citations, base),
    }
    return {
        "id": f"chatcmpl-{uuid.uuid4().hex}",
        "object": "chat.completion",
        "created": int(time.time()),
        "model": name,
        "choices": [{"index": 0, "message": message, "finish_reason": _end(answer), "logprobs": None}],
        "usage": _usage(answer),
        "quelea": _own(answer),
    }


async def _events(
    items: AsyncGenerator[Item, None], chunks: Chunks, base: str, *, annotated: bool
) -> AsyncGenerator[bytes, None]:
    sent = ""
    shown: dict[int, Citation] = {}
    try:
        yield chunks.piece({"role": "assistant", "content": ""})
        async for item in items:
            if isinstance(item, Delta):
                sent += item.text
                shown |= {one.number: one for one in item.citations}
                yield chunks.piece({"content": item.text})
            elif isinstance(item, Answer):
                observe_answer(item)
                answer = as_streamed(item)
                if (answer.declined or answer.stands_in) and answer.answer not in sent:
                    more = f"\n\n{answer.answer}" if sent else answer.answer  # what was streamed cannot be taken back
                    sent += more
                    yield chunks.piece({"content": more})
                for source in source_events(sent, answer.citations, shown, base):
                    yield chunks.piece({}, event=source)
                if annotated:
                    yield chunks.piece({"annotations": url_citations(sent, answer.citations, base)})
                yield chunks.piece({}, _end(answer), quelea=_own(answer))
                yield chunks.usage(_usage(answer)) + DONE
    except ReaderFailed as failed:
        yield data(body_with_evidence(failed, _PATH))
    except QueleaError as error:
        yield data(body_of(error, _PATH))
    finally:
        await items.aclose()


@router.post(
    _PATH,
    response_model=ChatOut,
    responses={200: {"content": EVENTS}, **ERRORS},
    summary="Chat completion (OpenAI-compatible)",
)
async def chat(body: ChatIn, request: Request) -> Response:
    """Answers the last message from the knowledge base.

    Citations come as standard `annotations` (url_citation) on the message, and as Quelea's own objects in `quelea`
    (streamed: on the chunk that carries finish_reason), where `grounding` has the verdicts; in a stream also as the
    `event`s by which Open WebUI shows a source with its quotes: [n] is the n-th of them. A stream sends the
    text as it is written; `quelea.grounding.text` is the text once it was checked, and an answer that the checks let
    fall ends with the sentence of a refusal. With `strict: true` the text comes in one piece, checked.

    A front-end's request for a title, tags, queries or follow-ups is answered without a search; `quelea.task` says so.

    With a `response_format` other than text the answer is written and checked first, and then put into JSON by the
    model; a refusal is the message's `refusal`, and its content is null.
    """
    gateway = gateway_of(request)
    refuse_what_is_not_offered(body)
    schema = json_schema_of(body)
    await read_in(request, body.collections)
    if task := recognise(text_of(body.messages[-1], f"messages.{len(body.messages) - 1}.content")):
        await _require_model(gateway, body.model)
        return await openai_tasks.chat(body, task, request)
    if body.model == openai_agent.AGENT:
        return await openai_agent.chat(body, request)
    question, base = await _question(body, request, as_json=bool(schema)), base_url(request)
    if schema:
        return await openai_json.chat(body, question, schema, request)
    if body.stream:
        items = gateway.pipeline.ask(question)
        await while_there(request, _first(items))
        chunks = Chunks(body.model, with_usage=with_usage(body))
        events = _events(items, chunks, base, annotated=not is_open_webui(request))
        return respond(events, gateway.settings.keep_alive_seconds)
    answer = await while_there(request, whole(gateway, question))
    return JSONResponse(_completion(answer, body.model, base))


async def _first(items: AsyncGenerator[Item, None]) -> None:
    """Waits for the evidence, so that a failed retrieval is an error response, not a broken stream."""
    await anext(items)
