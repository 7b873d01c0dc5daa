"""What the OpenAI route takes; fields that it does not know are ignored, as front-ends send many."""

from __future__ import annotations

from typing import Any

from pydantic import BaseModel, ConfigDict, Field
from quelea_kit.errors import InvalidInput

from quelea_gateway.core.model import Turn


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
    """POST /v1/chat/completions. Temperature and token limits go to the reader; it is free to ignore them."""

    model: str = Field(max_length=300)
    messages: list[MessageIn] = Field(min_length=1)
    stream: bool = False
    stream_options: StreamOptionsIn | None = None
    n: int | None = None
    temperature: float | None = Field(default=None, ge=0, le=2)
    max_tokens: int | None = Field(default=None, ge=1, le=1_000_000)
    max_completion_tokens: int | None = Field(default=None, ge=1, le=1_000_000)
    route: str = Field(default="", max_length=20, description="Quelea's own: auto, local or web.")
    as_of: str = Field(default="", max_length=20, description="Quelea's own: the day of the question, YYYY-MM-DD.")
    strict: bool | None = Field(default=None, description="Quelea's own: withhold sentences with unsupported figures.")


def text_of(message: MessageIn, field: str) -> str:
    """The text of a message. Raises InvalidInput for images and other parts that cannot be read."""
    if isinstance(message.content, str):
        return message.content
    pieces = []
    for part in message.content or []:
        text = part.get("text")
        if part.get("type") not in ("text", "input_text") or not isinstance(text, str):
            raise InvalidInput(
                f"{field}: a part of type {str(part.get('type'))[:40]!r} cannot be read here; send text parts only.",
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
