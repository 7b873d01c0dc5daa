"""A request as an OpenAI-compatible endpoint reads it; a JSON schema it enforces, or reads in the prompt."""

from __future__ import annotations

import json
from collections import OrderedDict
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from hashlib import blake2b
from typing import Any

from quelea_fintext.text import language_of

from quelea_generator.core.chat.chat_model import ChatRequest, JsonSchema
from quelea_generator.core.chat.prompt import Message
from quelea_generator.core.chat.prompt_files import prompt_file

_MOST_REFUSED = 256
"""Schemas that are remembered as refused, the latest ones."""


def request_body(request: ChatRequest, response_format: Mapping[str, Any] | None = None) -> dict[str, Any]:
    """The JSON of a request."""
    tools = [one.said() for one in request.functions] or None
    chosen = {**asdict(request.sampling), "response_format": response_format, "tools": tools}
    return {
        "model": request.model,
        "messages": message_params(request.messages),
        "max_tokens": request.max_tokens,
        "temperature": request.temperature,
        "stream": True,
        "stream_options": {"include_usage": True},
        **({"logprobs": True} if request.sureness else {}),
        **{name: value for name, value in chosen.items() if value is not None and value != ()},
    }


def message_params(messages: Sequence[Message]) -> list[dict[str, str]]:
    """The messages as they are sent."""
    return [{"role": message.role, "content": message.content} for message in messages]


class SchemaSupport:
    """What is known of one endpoint: whether it enforces schemas at all, and which ones it refuses."""

    def __init__(self) -> None:
        self._some_enforced = False
        self._refused: OrderedDict[bytes, None] = OrderedDict()

    def may_enforce(self, schema: JsonSchema) -> bool:
        """It is worth a try. An endpoint that refused one and never took any takes none."""
        return not self._refused or (self._some_enforced and _key(schema) not in self._refused)

    def enforced(self) -> None:
        """It took one."""
        self._some_enforced = True

    def refused(self, schema: JsonSchema) -> None:
        """It answers the same request without the schema, and not with it."""
        self._refused[_key(schema)] = None
        if len(self._refused) > _MOST_REFUSED:
            self._refused.popitem(last=False)


def response_format(schema: JsonSchema) -> dict[str, Any]:
    """OpenAI's and vLLM's way to say it."""
    return {"type": "json_schema", "json_schema": {"name": "answer", "strict": True, "schema": dict(schema)}}


def with_schema(messages: Sequence[Message], schema: JsonSchema) -> tuple[Message, ...]:
    """The messages, the last one of the user with the schema at its end, in its language."""
    said = list(messages)
    at = max((i for i, message in enumerate(said) if message.role == "user"), default=len(said) - 1)
    template = prompt_file("schema", language_of(said[at].content))
    text = template.fill("instruction", schema=json.dumps(schema, ensure_ascii=False))
    said[at] = Message(said[at].role, f"{said[at].content}\n\n{text}")
    return tuple(said)


def _key(schema: JsonSchema) -> bytes:
    return blake2b(json.dumps(schema, sort_keys=True).encode(), digest_size=16).digest()
