"""OpenAI's wire: what a chat completion takes and gives, what is refused, and the chunks of a stream.

Fields that the route does not know are ignored, as front-ends send many: `user`, `store`, penalties,
`logit_bias`, and `tools` that may be left unused. What would mislead a caller who relies on it is refused.
"""

from __future__ import annotations

import json
import time
import uuid
from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, Field
from quelea_kit.errors import InvalidInput
from quelea_kit.json_schema import read_schema

from quelea_gateway.core.model import Turn
from quelea_gateway.rest.fields import Collections
from quelea_gateway.rest.transport.streams import event


class _Open(BaseModel):
    model_config = ConfigDict(extra="allow")


class MessageIn(_Open):
    """One message; content is a text or a list of parts."""

    role: str
    content: str | list[dict[str, Any]] | None = None


class StreamOptionsIn(_Open):
    """Options of a streamed answer."""

    include_usage: bool = False


class ChatIn(_Open):
    """POST /v1/chat/completions. How words are chosen goes to the reader; the extractive one passes over it."""

    model: str = Field(max_length=300)
    messages: list[MessageIn] = Field(min_length=1)
    stream: bool = False
    stream_options: StreamOptionsIn | None = None
    n: int | None = None
    temperature: float | None = Field(default=None, ge=0, le=2)
    top_p: float | None = Field(default=None, gt=0, le=1)
    seed: int | None = Field(default=None, ge=-(2**63), lt=2**63)
    stop: str | list[str] | None = None
    response_format: dict[str, Any] | None = Field(
        default=None, description="`json_object` or `json_schema`: the checked answer, put into JSON by the model."
    )
    logprobs: bool | None = None
    top_logprobs: int | None = None
    tools: list[dict[str, Any]] | None = Field(default=None, description="May be sent; none is ever called.")
    tool_choice: str | dict[str, Any] | None = None
    function_call: str | dict[str, Any] | None = None
    modalities: list[str] | None = None
    audio: dict[str, Any] | None = None
    max_tokens: int | None = Field(default=None, ge=1, le=1_000_000)
    max_completion_tokens: int | None = Field(default=None, ge=1, le=1_000_000)
    route: str = Field(default="", max_length=20, description="Quelea's own: auto, local or web.")
    as_of: str = Field(default="", max_length=20, description="Quelea's own: the day of the question, YYYY-MM-DD.")
    strict: bool | None = Field(
        default=None, description="Quelea's own: withhold sentences whose figures are contradicted or not found."
    )
    metadata: dict[str, Any] | None = Field(
        default=None,
        description="Quelea's own, for `quelea-agent`: `follows` is the id of the run to go on from. Left out, it is "
        "the run whose answer the conversation ends with, where there is one.",
    )
    collections: Collections = Field(
        default=[], description="Quelea's own: only these; all that the key may read when left out."
    )


class UrlCitationOut(BaseModel):
    """Where a marker's citation opens; the marker is content[start_index:end_index]."""

    url: str
    title: str
    start_index: int
    end_index: int


class AnnotationOut(BaseModel):
    """One marker of the content."""

    type: Literal["url_citation"]
    url_citation: UrlCitationOut


class ChatMessageOut(BaseModel):
    """The answer."""

    role: Literal["assistant"]
    content: str | None = Field(description="null with a refusal.")
    refusal: str | None = Field(description="With response_format: the sentence, where there is no answer.")
    annotations: list[AnnotationOut]


class ChoiceOut(BaseModel):
    """The only one."""

    index: int
    message: ChatMessageOut
    finish_reason: Literal["stop", "length"]
    logprobs: None


class ChatUsageOut(BaseModel):
    """Tokens as the engine, or an estimate, counts them; zeros of the extractive reader."""

    prompt_tokens: int
    completion_tokens: int
    total_tokens: int


class ChatOut(BaseModel):
    """The answer of POST /v1/chat/completions, not streamed."""

    id: str
    object: Literal["chat.completion"]
    created: int
    model: str
    choices: list[ChoiceOut]
    usage: ChatUsageOut
    quelea: dict[str, Any] = Field(
        description="The answer as POST /v1/ask gives it, without its text; of quelea-agent what its run found."
    )


class ModelOut(BaseModel):
    """One model."""

    id: str
    object: Literal["model"]
    created: int
    owned_by: str


class ModelsOut(BaseModel):
    """All models."""

    object: Literal["list"]
    data: list[ModelOut]


def text_of(message: MessageIn, field: str) -> str:
    """The text of a message. Raises InvalidInput for images and other parts that cannot be read."""
    if isinstance(message.content, str):
        return message.content
    pieces = []
    for part in message.content or []:
        text = part.get("text")
        if part.get("type") not in ("text", "input_text") or not isinstance(text, str):
            raise InvalidInput(
                f"{field}: parts of type {str(part.get('type'))[:40]!r} are not supported; send text parts only.",
                details={"field": field},
            )
        pieces.append(text)
    return "\n".join(pieces)


def conversation(messages: list[MessageIn]) -> tuple[str, list[Turn]]:
    """(the question, the turns before it).

    The question is the last message, which must be the user's. System and developer messages are left out: the readers
    have one task, answering from evidence, and instructions of a front-end do not change it. Tool messages too.

    Raises:
        InvalidInput: the last message is not the user's, or a part is not text.
    """
    last = len(messages) - 1
    if messages[last].role != "user":
        raise InvalidInput("The last message must be the user's.", details={"field": "messages"})
    turns = []
    for index, message in enumerate(messages[:last]):
        if message.role == "user":
            turns.append(Turn("user", text_of(message, f"messages.{index}.content")))
        elif message.role == "assistant":
            turns.append(Turn("assistant", text_of(message, f"messages.{index}.content")))
    return text_of(messages[last], f"messages.{last}.content"), turns


_MOST_STOPS = 4
_ANY_OBJECT = '{"type": "object"}'


def refuse_what_is_not_offered(body: ChatIn) -> None:
    """Raise InvalidInput, naming the field, for what a caller relies on and would not get."""
    if body.n not in (None, 1):
        raise _refuse("n", "n must be 1: the same evidence gives one answer.")
    if body.logprobs or body.top_logprobs:
        raise _refuse("logprobs", "logprobs are not offered; leave logprobs and top_logprobs out.")
    if body.tool_choice not in (None, "none", "auto"):
        raise _refuse("tool_choice", "No tool is ever called here, so none can be required; leave tool_choice out.")
    if body.function_call not in (None, "none", "auto"):
        raise _refuse("function_call", "No function is ever called here; leave function_call out.")
    if body.audio or any(kind != "text" for kind in body.modalities or ()):
        raise _refuse("modalities", "Answers are text; leave modalities and audio out.")


def stops(body: ChatIn) -> tuple[str, ...]:
    """The texts to stop at. Raises InvalidInput for more than four."""
    given = [body.stop] if isinstance(body.stop, str) else body.stop or []
    wanted = tuple(text for text in given if text)
    if len(wanted) > _MOST_STOPS:
        raise _refuse("stop", f"stop may have at most {_MOST_STOPS} texts.")
    return wanted


def json_schema_of(body: ChatIn) -> str:
    """The schema, as JSON, that the answer has to fit; empty: text.

    Raises:
        InvalidInput: response_format is none of OpenAI's, its schema is none, or it comes with `stop`.
        TooLarge: The schema is.
    """
    given = body.response_format
    kind = given.get("type") if given is not None else "text"
    if given is None or kind == "text":
        return ""
    if stops(body):
        raise _refuse("stop", "JSON that stops at a text would be half of it; send stop or response_format.")
    if kind == "json_object":
        return _ANY_OBJECT
    inner: Any = given.get("json_schema")
    schema = inner.get("schema") if isinstance(inner, dict) else None
    if kind != "json_schema" or not isinstance(schema, dict):
        raise _refuse(
            "response_format",
            'response_format is {"type": "text"}, {"type": "json_object"}, or {"type": "json_schema", "json_schema": '
            '{"name": …, "schema": {…}}}.',
        )
    text = json.dumps(schema, ensure_ascii=False)
    read_schema(text, "response_format")
    return text


def longest(body: ChatIn) -> int:
    """Tokens of the message; 0: as many as the reader likes."""
    return body.max_completion_tokens or body.max_tokens or 0


def with_usage(body: ChatIn) -> bool:
    """A stream ends with its usage."""
    return bool(body.stream_options and body.stream_options.include_usage)


def _refuse(field: str, message: str) -> InvalidInput:
    return InvalidInput(message, details={"field": field})


DONE = b"data: [DONE]\n\n"


class Chunks:
    """Builds chunks under one head.

    Args:
        name: The model's.
        with_usage: The caller asked for usage: a null in every chunk but the last.
    """

    def __init__(self, name: str, *, with_usage: bool) -> None:
        self._head = {
            "id": f"chatcmpl-{uuid.uuid4().hex}",
            "object": "chat.completion.chunk",
            "created": int(time.time()),
            "model": name,
        }
        self._with_usage = with_usage

    def piece(self, delta: dict[str, Any], end: str | None = None, **more: Any) -> bytes:
        """A chunk with a delta."""
        choice = {"index": 0, "delta": delta, "finish_reason": end, "logprobs": None}
        usage = {"usage": None} if self._with_usage else {}
        return data({**self._head, "choices": [choice], **usage, **more})

    def usage(self, counted: dict[str, int]) -> bytes:
        """The chunk after the last, when the caller asked for it."""
        return data({**self._head, "choices": [], "usage": counted}) if self._with_usage else b""


def data(value: dict[str, Any]) -> bytes:
    """A server-sent event without a name."""
    return event(None, json.dumps(value, ensure_ascii=False))


def usage_of(prompt: int, completion: int) -> dict[str, int]:
    """Tokens as OpenAI has them."""
    return {"prompt_tokens": prompt, "completion_tokens": completion, "total_tokens": prompt + completion}
