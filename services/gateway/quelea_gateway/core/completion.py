"""Plain chat completions, as the agent asks for them."""

from __future__ import annotations

from collections.abc import AsyncIterator, Sequence
from dataclasses import dataclass
from typing import Literal, Protocol


@dataclass(frozen=True)
class Message:
    """A message of the prompt."""

    role: Literal["system", "user", "assistant"]
    text: str


@dataclass(frozen=True)
class Completed:
    """How a completion ended: "stop", "length" (it was cut off), or "invalid" (no JSON that fits the schema)."""

    reason: str
    model: str = ""
    prompt_tokens: int = 0
    completion_tokens: int = 0
    first_token_ms: float = 0.0
    total_ms: float = 0.0


class ChatModel(Protocol):
    """A language model that is spoken to directly."""

    def complete(
        self,
        messages: Sequence[Message],
        *,
        json_schema: str = "",
        model: str = "",
        max_tokens: int = 0,
        temperature: float | None = None,
        tenant: str = "",
    ) -> AsyncIterator[str | Completed]:
        """Text as it comes, then Completed; leaving early stops the model.

        Args:
            messages: The prompt.
            json_schema: What the text has to fit, as JSON; empty: free text.
            model: Which model, or adapter; empty: the default.
            max_tokens: Longest text; 0: the generator's limit.
            temperature: 0 to 2; None: the generator's.
            tenant: Whose turn it uses up.

        Raises:
            InvalidInput: The prompt is longer than the model's context, or the schema is none.
            Conflict: The generator has no language model.
            Overloaded: Too many wait for it.
            Unavailable: It does not answer.
        """
        ...
