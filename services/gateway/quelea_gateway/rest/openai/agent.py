"""The model name `quelea-agent` on the OpenAI route: a run of the agent as a chat completion."""

from __future__ import annotations

import contextlib
import re
import time
from collections.abc import AsyncGenerator, Iterator, Sequence
from dataclasses import replace
from typing import Any

from fastapi import Request, Response
from fastapi.responses import JSONResponse
from quelea_kit.errors import InvalidInput, QueleaError
from quelea_kit.reach import current

from quelea_gateway.core.agent.model import ENDED, Event, Run
from quelea_gateway.core.agent.runs import run_requests
from quelea_gateway.core.agent.runs.manager import Manager
from quelea_gateway.core.agent.texts import say
from quelea_gateway.core.asking import question as rules
from quelea_gateway.core.asking.follow_ups import query_for, standing_alone
from quelea_gateway.core.model import Question, Standalone, Turn
from quelea_gateway.gateway import Gateway
from quelea_gateway.rest.agent.run_schemas import RunOut
from quelea_gateway.rest.answers.answer_schemas import StandaloneOut
from quelea_gateway.rest.openai.schemas import (
    DONE,
    ChatIn,
    Chunks,
    conversation,
    data,
    json_schema_of,
    usage_of,
    with_usage,
)
from quelea_gateway.rest.openai.sources import is_open_webui, source_event
from quelea_gateway.rest.state import base_url, gateway_of, key_of
from quelea_gateway.rest.transport.errors import body_of
from quelea_gateway.rest.transport.streams import respond, while_there

AGENT = "quelea-agent"
_PATH = "/v1/chat/completions"
_MARK = re.compile(r"\[(\d{1,3})\]")
_PIECES = re.compile(r".{1,40}(?:(?<=\s)|(?=\s)|\Z)|.{1,40}", re.DOTALL)
"""Pieces of a text that is whole already, cut between words where there are blanks."""
_SHOWN = 300
_RECENT = 50
"""Runs among which the one is looked for that a conversation goes on from."""


async def chat(body: ChatIn, request: Request) -> Response:
    """Answers the last message by a run.

    It goes on from the run that `metadata.follows` names, or whose answer is the turn before. Of another conversation
    what the message takes from the turns before is put into it first, as on the ask route.

    A caller who leaves ends the run.
    """
    if json_schema_of(body):
        raise InvalidInput(
            "quelea-agent answers in text only; leave response_format out or use another model.",
            details={"field": "response_format"},
        )
    gateway, tenant = gateway_of(request), key_of(request)
    text, turns = conversation(body.messages)
    runs = gateway.analyst.runs()
    named = (body.metadata or {}).get("follows") or ""
    if not isinstance(named, str):
        raise InvalidInput("metadata.follows is the id of a run, a text.", details={"field": "metadata.follows"})
    follows = await runs.get(tenant, named) if named else await _find_followed(runs, tenant, turns, body.as_of)
    wanted = run_requests.build(
        text, gateway.limits, gateway.analyst.budgets, tenant=tenant, as_of=body.as_of, follows=follows
    )
    question = rules.build(
        text,
        gateway.limits,
        history=rules.trim_history(turns, gateway.limits),
        as_of=wanted.as_of,
        tenant=tenant,
    )
    manager = await while_there(request, gateway.analyst.ready())
    standalone = None if follows else await while_there(request, _standing_alone(gateway, question))
    run = await manager.start(replace(wanted, question=standalone.question) if standalone else wanted)
    base = base_url(request)
    if body.stream:
        chunks = Chunks(AGENT, with_usage=with_usage(body))
        events = _events(manager, run, base, chunks, standalone, annotated=not is_open_webui(request))
        return respond(events, gateway.settings.keep_alive_seconds)
    ended = await while_there(request, finish(manager, run))
    if ended.answer is None:
        raise QueleaError(ended.error or f"The run was {ended.state}.", details={"run": ended.id})
    message = {
        "role": "assistant",
        "content": _content(ended),
        "refusal": None,
        "annotations": _annotations(ended, base),
    }
    return JSONResponse(
        {
            "id": f"chatcmpl-{run.id}",
            "object": "chat.completion",
            "created": int(time.time()),
            "model": AGENT,
            "choices": [{"index": 0, "message": message, "finish_reason": _finish(ended), "logprobs": None}],
            "usage": _usage(ended),
            "quelea": _own(ended, standalone),
        }
    )


async def _find_followed(runs: Manager, tenant: str, turns: Sequence[Turn], as_of: str) -> Run | None:
    """The run whose answer is the last turn: front-ends send back what they showed, and no id with it.

    Of several with that answer the newest that was asked what the conversation was; none that this call may not see,
    for of that one it would be told less than the conversation itself says.
    """
    if not turns or turns[-1].role != "assistant":
        return None
    said = turns[-1].text.split()
    asked = turns[-2].text.split() if len(turns) > 1 else []
    same = [
        run
        for run in await runs.newest(tenant, _RECENT)
        if run.state == "finished"
        and _content(run).split() == said
        and current().covers(run.reach)
        and (not as_of or as_of >= run.as_of)
    ]
    return next((run for run in same if run.question.split() == asked), same[0] if same else None)


async def _standing_alone(gateway: Gateway, question: Question) -> Standalone | None:
    """The question with what it takes from its history; where the generator cannot say, with the one before it."""
    if not question.history:
        return None
    try:
        return await standing_alone(question, gateway.retriever, gateway.generator)
    except QueleaError:
        together = query_for(question.text, question.history)
        return Standalone(together, "rules") if together != question.text else None


async def finish(manager: Manager, run: Run) -> Run:
    """The run once it has ended; it is ended where nobody waits for it any more."""
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
    missing = [say("missing", run.language), *(f"- {one}" for one in answer["missing"])] if answer["missing"] else []
    return "\n\n".join(part for part in (answer["text"], "\n".join(missing)) if part)


def _finish(run: Run) -> str:
    """ "length" where steps, time or tokens were used up before it was done."""
    return "length" if (run.answer or {}).get("ended_by") in ("steps", "time", "tokens") else "stop"


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


def _source_events(run: Run, base: str) -> Iterator[dict[str, Any]]:
    """The sources that the answer cites, each with its excerpt."""
    answer = RunOut.of(run).answer
    if answer is None:
        return
    cited = {int(mark[1]) for mark in _MARK.finditer(answer.text)}
    for one in answer.sources:
        if one.number > max(cited, default=0):
            return
        address = (one.url if one.kind == "call" else "") or f"{base}{one.open}#{one.number}"
        about = {"kind": one.kind, "document_id": one.document_id, "page": one.page, "fetched": one.fetched}
        yield source_event(f"{one.number} · {one.title}", address, [one.excerpt or one.title], about)


def _usage(run: Run) -> dict[str, int]:
    """Of all calls of the model that the run made."""
    return usage_of(run.usage.prompt_tokens, run.usage.completion_tokens)


def _own(run: Run, standalone: Standalone | None) -> dict[str, Any]:
    made = StandaloneOut.of(standalone)
    return {"run": RunOut.of(run).model_dump(), "standalone": made.model_dump() if made else None}


async def _events(
    manager: Manager, run: Run, base: str, chunks: Chunks, standalone: Standalone | None, *, annotated: bool
) -> AsyncGenerator[bytes, None]:
    """What happens as `reasoning_content` (which front-ends show apart) and as `quelea.event`, then the answer."""
    finished = False
    try:
        yield chunks.piece({"role": "assistant", "content": ""})
        async with contextlib.aclosing(manager.watch(run.tenant, run.id)) as events:
            async for one in events:
                told = progress(one, run.language)
                yield chunks.piece({"reasoning_content": told} if told else {}, quelea={"event": one.as_dict()})
        ended = await manager.get(run.tenant, run.id)
        finished = ended.state in ENDED
        if ended.answer is None:
            error = QueleaError(ended.error or f"The run was {ended.state}.", details={"run": ended.id})
            yield data(body_of(error, _PATH))
            return
        for piece in _PIECES.findall(_content(ended)):
            yield chunks.piece({"content": piece})
        for source in _source_events(ended, base):
            yield chunks.piece({}, event=source)
        if annotated:
            yield chunks.piece({"annotations": _annotations(ended, base)})
        yield chunks.piece({}, _finish(ended), quelea=_own(ended, standalone))
        yield chunks.usage(_usage(ended)) + DONE
    except QueleaError as error:
        yield data(body_of(error, _PATH))
    finally:
        if not finished:
            with contextlib.suppress(QueleaError):
                await manager.cancel(run.tenant, run.id)


def progress(one: Event, language: str) -> str:
    """An event in a line or two for whoever waits; empty for those that say nothing new."""
    told = one.data
    if one.name == "plan":
        lines = [f"{n}. {step['task'] or step['action']}" for n, step in enumerate(told["plan"], start=1)]
        return "\n".join([say("plan", language), *lines]) + "\n\n"
    if one.name == "step":
        about = told.get("query") or told.get("need") or told.get("name") or told.get("task") or ""
        return f"{say('step', language, n=told['step'], action=told['action'])} {about[:_SHOWN]}".rstrip() + "\n"
    if one.name == "output" and told.get("reason", "ok") != "ok":
        return say("ended_with", language, reason=told["reason"]) + "\n"
    if one.name == "reflection":
        return "".join(f"- {insight[:_SHOWN]}\n" for insight in told["insights"])
    return ""
