"""The chunks of one streamed chat completion, for every model name of the OpenAI route."""

from __future__ import annotations

import json
import time
import uuid
from typing import Any

from quelea_gateway.rest.streams import event

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


def counted(prompt: int, completion: int) -> dict[str, int]:
    """Tokens as OpenAI has them."""
    return {"prompt_tokens": prompt, "completion_tokens": completion, "total_tokens": prompt + completion}
