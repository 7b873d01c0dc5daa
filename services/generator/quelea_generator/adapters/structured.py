"""Answers that have to fit a JSON schema: enforced by the endpoint where it can, said in the prompt where it cannot."""

from __future__ import annotations

import json
from collections import OrderedDict
from collections.abc import Sequence
from hashlib import blake2b

from openai.types.chat.completion_create_params import ResponseFormat
from quelea_fintext.text import language_of

from quelea_generator.core.chat.chat_model import JsonSchema
from quelea_generator.core.chat.prompt import Message
from quelea_generator.core.chat.prompt_files import prompt_file

_MOST_REFUSED = 256
"""Schemas that are remembered as refused, the latest ones."""


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


def response_format(schema: JsonSchema) -> ResponseFormat:
    """OpenAI's and vLLM's way to say it."""
    return {"type": "json_schema", "json_schema": {"name": "answer", "strict": True, "schema": dict(schema)}}


def with_schema(messages: Sequence[Message], schema: JsonSchema) -> list[Message]:
    """The messages, the last one of the user with the schema at its end, in its language."""
    said = list(messages)
    at = max((i for i, message in enumerate(said) if message.role == "user"), default=len(said) - 1)
    template = prompt_file("schema", language_of(said[at].content))
    text = template.fill("instruction", schema=json.dumps(schema, ensure_ascii=False))
    said[at] = Message(said[at].role, f"{said[at].content}\n\n{text}")
    return said


def _key(schema: JsonSchema) -> bytes:
    return blake2b(json.dumps(schema, sort_keys=True).encode(), digest_size=16).digest()
