"""What the model reader needs from a chat model, whoever serves it."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Sequence
from dataclasses import dataclass
from typing import Protocol

from quelea_generator.core.prompt import Message


@dataclass(frozen=True, slots=True)
class ChatPiece:
    """A piece of a streamed answer. finish is set on the last one with text; the counts come when the server says."""

    text: str = ""
    finish: str = ""
    prompt_tokens: int = 0
    completion_tokens: int = 0


class ChatModel(Protocol):
    """A streaming chat model."""

    model: str
    """The name that answers when a request names none."""

    def stream(
        self, messages: Sequence[Message], *, model: str, max_tokens: int, temperature: float
    ) -> AsyncGenerator[ChatPiece, None]:
        """Pieces as they come; closing the generator stops the work at the server. Raises QueleaError."""
        ...

    async def check(self) -> None:
        """Raise a QueleaError when the endpoint does not serve the model now."""
        ...

    async def close(self) -> None:
        """Give back connections."""
        ...
