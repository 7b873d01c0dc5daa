"""Chat completions with a response_format: the checked answer as JSON, in one piece also when streamed."""

from __future__ import annotations

import time
import uuid
from collections.abc import AsyncGenerator
from typing import Any

from fastapi import Request, Response
from fastapi.responses import JSONResponse
from quelea_kit.errors import InvalidInput, QueleaError

from quelea_gateway.core.answers.structured import Structured, answer_as_json
from quelea_gateway.core.model import Answer, Question
from quelea_gateway.core.pipeline import ReaderFailed
from quelea_gateway.core.review.answer_review import QUOTING
from quelea_gateway.gateway import Gateway
from quelea_gateway.rest.answers.answer_schemas import AnswerOut
from quelea_gateway.rest.answers.ask import whole
from quelea_gateway.rest.openai.schemas import DONE, ChatIn, Chunks, data, longest, usage_of, with_usage
from quelea_gateway.rest.state import gateway_of
from quelea_gateway.rest.transport.errors import body_of, body_with_evidence
from quelea_gateway.rest.transport.streams import respond, while_there

_PATH = "/v1/chat/completions"


async def chat(body: ChatIn, question: Question, schema: str, request: Request) -> Response:
    """The answer as JSON that fits the schema.

    Raises:
        InvalidInput: The reader is no language model.
    """
    gateway = gateway_of(request)
    if (await gateway.generator.info()).reader == QUOTING:
        raise InvalidInput(
            "JSON needs a language model; the reader of this deployment quotes the evidence word for word. Leave "
            "response_format out, or send text.",
            details={"field": "response_format"},
        )
    if body.stream:
        chunks = Chunks(body.model, with_usage=with_usage(body))
        return respond(_events(gateway, question, schema, body, chunks), gateway.settings.keep_alive_seconds)
    answer, made = await while_there(request, _make_json(gateway, question, schema, body))
    message: dict[str, Any] = {
        "role": "assistant",
        "content": None if made.refusal else made.content,
        "refusal": made.refusal or None,
        "annotations": [],
    }
    return JSONResponse(
        {
            "id": f"chatcmpl-{uuid.uuid4().hex}",
            "object": "chat.completion",
            "created": int(time.time()),
            "model": body.model,
            "choices": [{"index": 0, "message": message, "finish_reason": made.finish_reason, "logprobs": None}],
            "usage": _usage(answer, made),
            "quelea": _own(answer, made),
        }
    )


async def _make_json(gateway: Gateway, question: Question, schema: str, body: ChatIn) -> tuple[Answer, Structured]:
    answer = await whole(gateway, question)
    return answer, await answer_as_json(
        answer,
        question,
        schema,
        gateway.generator,
        gateway.checker,
        max_tokens=longest(body),
        prompts=await gateway.prompts.store.current(),
    )


async def _events(
    gateway: Gateway, question: Question, schema: str, body: ChatIn, chunks: Chunks
) -> AsyncGenerator[bytes, None]:
    try:
        yield chunks.piece({"role": "assistant", "content": ""})
        answer, made = await _make_json(gateway, question, schema, body)
        yield chunks.piece({"refusal": made.refusal} if made.refusal else {"content": made.content})
        yield chunks.piece({}, made.finish_reason, quelea=_own(answer, made))
        yield chunks.usage(_usage(answer, made)) + DONE
    except ReaderFailed as failed:
        yield data(body_with_evidence(failed, _PATH))
    except QueleaError as error:
        yield data(body_of(error, _PATH))


def _usage(answer: Answer, made: Structured) -> dict[str, int]:
    """Of both calls of the model."""
    return usage_of(answer.prompt_tokens + made.prompt_tokens, answer.completion_tokens + made.completion_tokens)


def _own(answer: Answer, made: Structured) -> dict[str, Any]:
    """The answer with its text, which the citations are of, and what became of it on the way into JSON."""
    return {
        **AnswerOut.of(answer).model_dump(),
        "structured": {
            "model": made.model,
            "prompt_version": made.prompt_version,
            "figures": None if made.figures is None else [vars(one) for one in made.figures],
        },
    }
