"""A language model that writes, and the reader that quotes beside it: for quotes meanwhile, or instead."""

from __future__ import annotations

from collections.abc import AsyncGenerator

from quelea_generator.core.model import Event, Task
from quelea_generator.core.reader import Reader, WriterBehind


class TwoReaders(WriterBehind):
    """Reader whose tasks go to the one that writes, or, by the name of its model, to the one that quotes.

    Args:
        writer: Asks a language model.
        quoter: Needs none: it answers also while no engine does.
    """

    def __init__(self, writer: Reader, quoter: Reader) -> None:
        super().__init__(writer)
        self._quoter = quoter

    @property
    def adapters(self) -> tuple[str, ...]:
        """The writer's, and the name of the quoter's model."""
        return (*super().adapters, self._quoter.model)

    def quotes(self, model: str) -> bool:
        """Whether a request that names this model is the quoter's."""
        return model == self._quoter.model

    def read(self, task: Task) -> AsyncGenerator[Event, None]:
        """As the one whose task it is."""
        return (self._quoter if self.quotes(task.model) else self._writer).read(task)

    async def close(self) -> None:
        """Close both."""
        await super().close()
        await self._quoter.close()
