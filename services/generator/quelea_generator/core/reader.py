"""What both readers are: evidence and a question in, a stream of events out."""

from __future__ import annotations

from collections.abc import AsyncGenerator
from typing import Protocol

from quelea_generator.core.model import Event, Task


class Reader(Protocol):
    """A way to read evidence. Implementations: ExtractiveReader, ModelReader."""

    name: str
    """ "extractive" or "openai"."""

    model: str
    """What answers when the request names no model."""

    prompt_version: str
    """Version of the prompt, empty when there is none."""

    @property
    def context_tokens(self) -> int:
        """Tokens that a prompt and its answer may have together; 0 where unknown."""
        ...

    @property
    def adapters(self) -> tuple[str, ...]:
        """Adapters of the model, by the names that a request may give as its model."""
        ...

    def read(self, task: Task) -> AsyncGenerator[Event, None]:
        """Deltas, then quotes, then one Finished. Closing the generator stops the work behind it."""
        ...

    async def ready(self) -> None:
        """Raise a QueleaError when the reader cannot answer now."""
        ...

    async def close(self) -> None:
        """Give back connections."""
        ...


class WriterBehind:
    """What a reader shows of the one that writes for it: its names, its bounds, its state.

    Args:
        writer: Asks a language model.
    """

    def __init__(self, writer: Reader) -> None:
        self._writer = writer
        self.name = writer.name
        self.model = writer.model
        self.prompt_version = writer.prompt_version

    @property
    def context_tokens(self) -> int:
        """Of the writer."""
        return self._writer.context_tokens

    @property
    def adapters(self) -> tuple[str, ...]:
        """The writer's."""
        return self._writer.adapters

    async def ready(self) -> None:
        """The writer is."""
        await self._writer.ready()

    async def close(self) -> None:
        """Close the writer."""
        await self._writer.close()
