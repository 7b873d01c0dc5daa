"""POST /v1/ask, POST /v1/search and POST /v1/export."""

from __future__ import annotations

import contextlib
import json
import time
from collections.abc import AsyncGenerator, Sequence
from dataclasses import replace
from json import JSONEncoder
from typing import Any

from fastapi import APIRouter, Request, Response
from fastapi.responses import JSONResponse
from pydantic import BaseModel, ConfigDict, Field, TypeAdapter
from quelea_kit.errors import InvalidInput, QueleaError

from quelea_gateway.core.answers.notices import say
from quelea_gateway.core.asking import question as rules
from quelea_gateway.core.callers.access import Principal
from quelea_gateway.core.chats.conversations import history_of
from quelea_gateway.core.model import Answer, Delta, Passage, Question, Quoted, Retrieved, Source, Started, Turn
from quelea_gateway.core.pipeline import ReaderFailed
from quelea_gateway.core.review.verdicts import Grounding
from quelea_gateway.exports import MEDIA_TYPES, AnswerFormat, export_answer
from quelea_gateway.gateway import Gateway
from quelea_gateway.metrics import observe_answer
from quelea_gateway.rest.answers.answer_schemas import AnswerOut, PassageOut, ReadingOut, SearchOut, StartedOut
from quelea_gateway.rest.answers.question_schemas import AskIn, SearchIn
from quelea_gateway.rest.error_schemas import ERRORS
from quelea_gateway.rest.knowledge_base.documents import place_link
from quelea_gateway.rest.openapi import events
from quelea_gateway.rest.state import base_url, gateway_of, key_of, principal_of, read_in
from quelea_gateway.rest.transport.errors import body_of, body_with_evidence
from quelea_gateway.rest.transport.streams import event, respond, while_there
from quelea_gateway.rights import may_fetch

_STARTED, _GROUNDING, _ANSWER = TypeAdapter(Started), TypeAdapter(Grounding), TypeAdapter(Answer)
_QUOTED, _DELTA = TypeAdapter(Quoted), TypeAdapter(Delta)
_ANSWER.rebuild(_types_namespace={"Source": Source})  # the model's module imports it for type checkers only
_READING = set(ReadingOut.model_fields)
_SHOWN_STARTED: dict[str, Any] = {**dict.fromkeys(StartedOut.model_fields, True), "reading": _READING}
_SHOWN_ANSWER: dict[str, Any] = {**dict.fromkeys(AnswerOut.model_fields, True), "reading": _READING}
_plain = JSONEncoder(ensure_ascii=False).encode

Item = Started | Quoted | Delta | Grounding | Answer


def data_of(item: Item) -> str:
    """The JSON of one event."""
    if isinstance(item, Delta):
        if item.citations:
            return _DELTA.dump_json(item).decode()
        return f'{{"text": {_plain(item.text)}}}'
    if isinstance(item, Grounding):
        return _GROUNDING.dump_json(item).decode()
    if isinstance(item, Quoted):
        return _QUOTED.dump_json(item).decode()
    if isinstance(item, Started):
        return _STARTED.dump_json(item, include=_SHOWN_STARTED).decode()
    return _ANSWER.dump_json(item, include=_SHOWN_ANSWER).decode()


router = APIRouter(tags=["ask"])

_NAMES = {Started: "started", Quoted: "quotes", Delta: "delta", Grounding: "verdicts", Answer: "answer"}
_PATH = "/v1/ask"
_SEARCH_K = 10


async def _question(body: AskIn, gateway: Gateway, tenant: str, principal: Principal) -> Question:
    history: Sequence[Turn] = [Turn(turn.role, turn.content) for turn in body.history]
    if body.conversation_id:
        if history:
            message = "history and conversation_id exclude each other: a saved conversation is its own history."
            raise InvalidInput(message, details={"field": "history"})
        saved = await gateway.conversations.open(tenant, body.conversation_id)
        before = [one for one in saved if not body.group or one.group != body.group]
        history = rules.trim_history(history_of(before), gateway.limits)
    elif body.group:
        message = "group names turns of a saved conversation; send conversation_id too."
        raise InvalidInput(message, details={"field": "group"})
    return rules.build(
        body.question,
        gateway.limits,
        history=history,
        as_of=body.as_of or "",
        route=body.route,
        k=body.k or 0,
        j=body.j or 0,
        filters=body.filters.core(),
        model=body.model,
        tenant=tenant,
        strict=gateway.settings.strict if body.strict is None else body.strict,
        may_fetch=may_fetch(principal, body.collections),
    )


async def whole(gateway: Gateway, question: Question) -> Answer:
    """Ask and wait for the answer."""
    async with contextlib.aclosing(gateway.pipeline.ask(question)) as events:
        async for item in events:
            if isinstance(item, Answer):
                observe_answer(item)
                return item
    raise AssertionError("the pipeline ends with an answer or raises")


async def _save_turn(gateway: Gateway, owner: str, body: AskIn, answer: Answer) -> Answer:
    """The answer, once it is in its conversation; where it cannot be saved it says so, and is given all the same."""
    if not body.conversation_id:
        return answer
    try:
        await gateway.conversations.add(
            owner,
            body.conversation_id,
            question=body.question.strip(),
            answer=json.loads(data_of(answer)),
            filters=body.filters.model_dump(exclude_defaults=True),
            collections=body.collections,
            group=body.group,
        )
    except QueleaError as error:
        notice = say("not_saved", answer.language, error.message)
        return replace(answer, notices=(*answer.notices, notice))
    return answer


async def _saving(
    items: AsyncGenerator[Item, None], gateway: Gateway, owner: str, body: AskIn
) -> AsyncGenerator[Item, None]:
    async with contextlib.aclosing(items):
        async for item in items:
            yield await _save_turn(gateway, owner, body, item) if isinstance(item, Answer) else item


async def _events(first: Item, rest: AsyncGenerator[Item, None]) -> AsyncGenerator[bytes, None]:
    try:
        yield _as_event(first)
        async for item in rest:
            yield _as_event(item)
    except ReaderFailed as failed:
        yield event("error", _json(body_with_evidence(failed, _PATH)))
    except QueleaError as error:
        yield event("error", _json(body_of(error, _PATH)))
    finally:
        await rest.aclose()


def _as_event(item: Item) -> bytes:
    if isinstance(item, Answer):
        observe_answer(item)
    return event(_NAMES[type(item)], data_of(item))


def _json(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False)


MARKDOWN: dict[str, Any] = {"text/markdown": {"schema": {"type": "string"}}}
_EVENTS = events(
    started="StartedOut",
    quotes="QuotesOut",
    delta="DeltaOut",
    verdicts="GroundingOut",
    answer="AnswerOut",
    error="ErrorOut",
)

_ASK_CONTENT = {
    "description": "The answer; as server-sent events (started, quotes, delta, verdicts, answer, error) or as Markdown "
    "when asked for.",
    "content": {**_EVENTS, **MARKDOWN},
}


@router.post(_PATH, response_model=AnswerOut, responses={200: _ASK_CONTENT, **ERRORS}, summary="Ask a question")
async def ask(body: AskIn, request: Request) -> Response:
    """A cited answer from the knowledge base.

    With `stream: true`, or with `Accept: text/event-stream`, the answer comes as server-sent events. What fails before
    the evidence is found is an ordinary error response; what fails later is the event `error`. When the reader is
    down the error carries the evidence: `error.details.evidence`. Where a language model writes, the event `quotes` may
    come before its first word: quotes that answer the question, which are the answer if the model fails. A `delta` that
    cites a passage for the first time brings it along, with its number. After the last
    `delta` the event `verdicts` has the checked text and what was found of its sentences and figures.

    With `conversation_id` the question goes on with a saved conversation, and the answer is saved in it.
    With `format: "markdown"`, or with `Accept: text/markdown`, the answer comes as Markdown with its sources.
    """
    gateway = gateway_of(request)
    owner = key_of(request)
    await read_in(request, body.collections)
    question = await while_there(request, _question(body, gateway, owner, principal_of(request)))
    accept = request.headers.get("accept", "")
    as_text = body.format == "markdown" or "text/markdown" in accept
    if as_text and body.stream:
        raise InvalidInput("Markdown cannot be streamed; leave stream out.", details={"field": "stream"})
    if body.stream or ("text/event-stream" in accept and not as_text):
        rest = _saving(gateway.pipeline.ask(question), gateway, owner, body)
        first = await while_there(request, _first(rest))
        return respond(_events(first, rest), gateway.settings.keep_alive_seconds)
    answer = await while_there(request, whole(gateway, question))
    answer = await _save_turn(gateway, owner, body, answer)
    if as_text:
        return await _export(body.question, AnswerOut.of(answer), "markdown", request)
    return Response(AnswerOut.of(answer).model_dump_json(), media_type="application/json")


async def _first(events: AsyncGenerator[Item, None]) -> Item:
    return await anext(events)


def _passage(passage: Passage) -> PassageOut:
    return PassageOut.model_construct(**{name: getattr(passage, name) for name in PassageOut.model_fields})


async def _search(gateway: Gateway, body: SearchIn, query: str) -> Retrieved:
    return await gateway.retriever.search(
        query,
        k=rules.check_k(body.k or 0, _SEARCH_K),
        as_of=rules.check_as_of(body.as_of or ""),
        filters=body.filters.core(),
    )


@router.post("/v1/search", response_model=SearchOut, responses=ERRORS, summary="Find passages")
async def search(body: SearchIn, request: Request) -> Response:
    """The k best passages (10 when k is left out), best first. Scores compare within one answer only."""
    started = time.perf_counter()
    gateway = gateway_of(request)
    query = rules.check_text(body.query, gateway.limits, "query")
    await read_in(request, body.collections)
    waiting = time.perf_counter()
    found = await while_there(request, _search(gateway, body, query))
    retrieve = (time.perf_counter() - waiting) * 1000
    passages = [_passage(passage) for passage in found.passages]
    total = (time.perf_counter() - started) * 1000
    timings = {"retrieve": retrieve, "gateway": total - retrieve, "total": total, **found.stages}
    out = SearchOut.model_construct(
        passages=passages,
        timings={name: round(value, 2) for name, value in timings.items()},
        reading=ReadingOut.of(found.reading),
    )
    return Response(out.model_dump_json(), media_type=JSONResponse.media_type)


class ExportIn(BaseModel):
    """POST /v1/export."""

    model_config = ConfigDict(extra="forbid")

    question: str = Field(max_length=8000)
    answer: AnswerOut = Field(description="As POST /v1/ask gave it.")
    format: AnswerFormat = Field(
        default="markdown",
        description="xlsx: text, figures and sources as a workbook; docx and pdf: a research note with charts.",
    )


async def _export(question: str, answer: AnswerOut, wanted: AnswerFormat, request: Request) -> Response:
    link = place_link(base_url(request))
    data = await export_answer(question, answer.model_dump(), link, wanted)
    headers = {} if wanted == "markdown" else {"Content-Disposition": f'attachment; filename="answer.{wanted}"'}
    return Response(data, media_type=MEDIA_TYPES[wanted], headers=headers)


_FILES: dict[str, Any] = {
    MEDIA_TYPES[name]: {"schema": {"type": "string", "format": "binary"}} for name in ("xlsx", "docx", "pdf")
}


@router.post(
    "/v1/export",
    response_class=Response,
    responses={200: {"description": "The answer as a file.", "content": {**MARKDOWN, **_FILES}}, **ERRORS},
    summary="Export an answer",
)
async def export(body: ExportIn, request: Request) -> Response:
    """An answer that was given, with its sources, as a file. Answers are not stored: it is sent along."""
    return await _export(body.question, body.answer, body.format, request)
