"""The generator's chat completions as the agent's model."""

from __future__ import annotations

import contextlib
from collections.abc import AsyncGenerator, Sequence
from typing import Protocol, cast

from quelea_gateway.core.agent.ports import Completed, ModelInfo
from quelea_gateway.core.model import CompletionEnd, Function, Message, ReaderInfo
from quelea_gateway.core.ports import ChatModel

_LONGEST = 200_000
"""Characters of one answer; a model that does not stop is stopped here."""
_NO_LANGUAGE_MODEL = ("extractive",)


class Chatting(ChatModel, Protocol):
    """A chat model that tells about itself."""

    async def info(self) -> ReaderInfo:
        """The reader in use."""
        ...


class Chat:
    """The agent's model over a chat model's stream."""

    def __init__(self, chat: Chatting) -> None:
        self._chat = chat

    async def info(self) -> ModelInfo:
        """The reader in use."""
        info = await self._chat.info()
        return ModelInfo(info.model, info.context_tokens, info.reader not in _NO_LANGUAGE_MODEL)

    async def complete(
        self,
        messages: Sequence[Message],
        *,
        json_schema: str = "",
        model: str = "",
        max_tokens: int,
        temperature: float,
        tenant: str,
        functions: Sequence[Function] = (),
    ) -> Completed:
        """The whole text, and the calls."""
        pieces: list[str] = []
        size, end = 0, CompletionEnd("length")
        stream = self._chat.complete(
            messages,
            json_schema=json_schema,
            model=model,
            max_tokens=max_tokens,
            temperature=temperature,
            tenant=tenant,
            functions=functions,
        )
        # Every stream of a service is an asynchronous generator; closing it stops the model.
        async with contextlib.aclosing(cast("AsyncGenerator[str | CompletionEnd, None]", stream)) as items:
            async for item in items:
                if isinstance(item, CompletionEnd):
                    end = item
                    break
                pieces.append(item)
                size += len(item)
                if size > _LONGEST:
                    break
        return Completed("".join(pieces), end.reason, end.model, end.prompt_tokens, end.completion_tokens, end.calls)
