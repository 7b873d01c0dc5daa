"""The request for a streamed chat completion, as an OpenAI-compatible endpoint reads it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any, cast

from openai.types.chat import ChatCompletionMessageParam
from openai.types.chat.completion_create_params import ResponseFormat

from quelea_generator.core.chat.prompt import Message
from quelea_generator.core.model import Sampling


@dataclass(frozen=True, slots=True)
class ChatRequest:
    """A request but for its messages."""

    model: str
    max_tokens: int
    temperature: float
    sampling: Sampling
    response_format: ResponseFormat | None = None

    def body(self, messages: list[ChatCompletionMessageParam]) -> dict[str, Any]:
        """As the endpoint reads it."""
        chosen = {**asdict(self.sampling), "response_format": self.response_format}
        return {
            "model": self.model,
            "messages": messages,
            "max_tokens": self.max_tokens,
            "temperature": self.temperature,
            "stream": True,
            "stream_options": {"include_usage": True},
            **{name: value for name, value in chosen.items() if value is not None and value != ()},
        }


def message_params(messages: Sequence[Message]) -> list[ChatCompletionMessageParam]:
    """The messages as they are sent."""
    return [cast("ChatCompletionMessageParam", {"role": m.role, "content": m.content}) for m in messages]
