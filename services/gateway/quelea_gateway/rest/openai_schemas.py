"""What the OpenAI route takes; fields that it does not know are ignored, as front-ends send many."""

from __future__ import annotations

from typing import Any, Literal

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
