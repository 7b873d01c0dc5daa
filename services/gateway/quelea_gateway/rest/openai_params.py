"""What a chat completion may ask for: what is honoured, and what is refused because passing over it would mislead.

Passed over, as front-ends send it with every request and the answer is right without it: `user`, `metadata`, `store`,
penalties, `logit_bias`, `tools` that may be left unused, and whatever else is not named here.
"""

from __future__ import annotations

import json
from typing import Any

from quelea_kit.errors import InvalidInput
from quelea_kit.json_schema import read_schema

from quelea_gateway.rest.openai_schemas import ChatIn

_MOST_STOPS = 4
_ANY_OBJECT = '{"type": "object"}'


def refuse_what_is_not_offered(body: ChatIn) -> None:
    """Raise InvalidInput, naming the field, for what a caller relies on and would not get."""
    if body.n not in (None, 1):
        raise _refused("n", "n is 1: the same evidence gives one answer.")
    if body.logprobs or body.top_logprobs:
        raise _refused("logprobs", "logprobs are not offered; leave logprobs and top_logprobs out.")
    if body.tool_choice not in (None, "none", "auto"):
        raise _refused("tool_choice", "No tool is ever called here, so none can be required; leave tool_choice out.")
    if body.function_call not in (None, "none", "auto"):
        raise _refused("function_call", "No function is ever called here; leave function_call out.")
    if body.audio or any(kind != "text" for kind in body.modalities or ()):
        raise _refused("modalities", "Answers are text; leave modalities and audio out.")


def stops(body: ChatIn) -> tuple[str, ...]:
    """The texts to stop at. Raises InvalidInput for more than four."""
    given = [body.stop] if isinstance(body.stop, str) else body.stop or []
    wanted = tuple(text for text in given if text)
    if len(wanted) > _MOST_STOPS:
        raise _refused("stop", f"There may be {_MOST_STOPS} texts to stop at.")
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
        raise _refused("stop", "JSON that stops at a text would be half of it; send stop or response_format.")
    if kind == "json_object":
        return _ANY_OBJECT
    inner: Any = given.get("json_schema")
    schema = inner.get("schema") if isinstance(inner, dict) else None
    if kind != "json_schema" or not isinstance(schema, dict):
        raise _refused(
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


def _refused(field: str, message: str) -> InvalidInput:
    return InvalidInput(message, details={"field": field})
