"""What the model reader needs from a chat model, whoever serves it."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

from quelea_generator.core.chat.prompt import Message
from quelea_generator.core.model import PLAIN, Sampling

JsonSchema = Mapping[str, Any]


NO_FUNCTIONS = "no_functions"
"""The finish of an answer that was not asked for: the model, or its server, calls no functions."""


@dataclass(frozen=True, slots=True)
class Function:
    """What a model may call instead of writing text; `parameters` is the schema of the object of its arguments."""

    name: str
    description: str
    parameters: JsonSchema

    def said(self) -> dict[str, Any]:
        """As OpenAI-compatible endpoints are told of it."""
        return {
            "type": "function",
            "function": {
                "name": self.name,
                "description": self.description,
                "parameters": dict(self.parameters),
            },
        }


@dataclass(frozen=True, slots=True)
class FunctionCall:
    """A call of a function; the arguments are JSON as the model wrote it."""

    name: str
    arguments: str


@dataclass(frozen=True, slots=True)
class ChatPiece:
    """A piece of a streamed answer. finish is set on the last one with text; the counts come when the server says.

    All calls of functions come with the finish. `sureness` is the lowest probability that the model gave to a token
    with a digit, 0 to 1; None where the piece has no digit, or the endpoint does not say.
    """

    text: str = ""
    finish: str = ""
    prompt_tokens: int = 0
    completion_tokens: int = 0
    calls: tuple[FunctionCall, ...] = ()
    sureness: float | None = None


@dataclass(frozen=True, slots=True)
class TokenCount:
    """Tokens of a prompt as the model reads them, and of its context (0 where unknown)."""

    tokens: int
    context: int


@dataclass(frozen=True, slots=True)
class ChatRequest:
    """What a model is asked.

    Attributes:
        messages: The prompt.
        model: The model, or one of its adapters.
        max_tokens: Longest answer.
        temperature: 0 to 2.
        tenant: Whose turn it uses up where requests wait for one another.
        prompt_tokens: Of the messages, as far as known: what the turn costs; 0: unknown.
        schema: The answer is JSON that fits it, as far as the model can be made to; checking is the caller's.
        sampling: How words are chosen, beside the temperature.
        functions: What it may call instead of writing text; never together with a schema.
        sureness: Ask for the probabilities of the answer's tokens.
    """

    messages: tuple[Message, ...]
    model: str
    max_tokens: int
    temperature: float = 0.0
    tenant: str = ""
    prompt_tokens: int = 0
    schema: JsonSchema | None = None
    sampling: Sampling = PLAIN
    functions: tuple[Function, ...] = ()
    sureness: bool = False


class ChatEndpoint(Protocol):
    """Where a streaming chat model is served."""

    model: str
    """The name that answers when a request names none."""

    def stream(self, request: ChatRequest) -> AsyncGenerator[ChatPiece, None]:
        """Pieces as they come; closing the generator stops the work at the server. Raises QueleaError."""
        ...

    def context(self, model: str) -> int:
        """Tokens that a model's prompt and answer may have together; 0 while it is not known."""
        ...

    @property
    def adapters(self) -> tuple[str, ...]:
        """Names of the model's adapters (LoRA), any of which a request may name; as last heard."""
        ...

    async def count(self, messages: Sequence[Message], *, model: str) -> TokenCount | None:
        """The prompt's tokens by the model's own tokenizer; None where nobody can say."""
        ...

    async def check(self) -> None:
        """Raise a QueleaError when the endpoint does not serve the model now. Cheap."""
        ...

    async def close(self) -> None:
        """Give back connections."""
        ...


class ChatModel(ChatEndpoint, Protocol):
    """A chat model with a queue in front of it."""

    async def refuse_when_full(self, tenant: str) -> None:
        """Raise Overloaded when a request of the tenant would be refused now: before any work is done for it."""
        ...
