"""The extractive reader: it quotes, it does not write. Deterministic, no model, the default without an endpoint."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator

from quelea_generator.core.compose import lines, opening
from quelea_generator.core.coverage import declines
from quelea_generator.core.model import Delta, Event, Finished, Quote, Task
from quelea_generator.core.question import read_question
from quelea_generator.core.reader import REFUSALS
from quelea_generator.core.scoring import WEIGHTS, candidates
from quelea_generator.core.selection import select

MOST_QUOTES = 3


def answer(task: Task) -> tuple[list[str], list[Quote]]:
    """The lines of the answer and the quotes behind them, in the same order; both empty when the reader declines."""
    asked = read_question(task)
    chosen = select(asked, candidates(asked, task.evidence), most=MOST_QUOTES)
    if declines(task, asked, chosen):
        return [], []
    full = sum(weight for weight in WEIGHTS.values() if weight > 0)
    quotes = [
        Quote(c.evidence.number, c.span.start, c.span.end, c.text, round(min(1.0, max(0.0, c.score / full)), 4))
        for c in chosen
    ]
    return [opening(asked.language), *lines(asked, chosen)], quotes


class ExtractiveReader:
    """Reader that answers with the best supported sentences and table rows, or declines."""

    name = "extractive"
    model = "extractive-1"
    prompt_version = ""

    async def read(self, task: Task) -> AsyncGenerator[Event, None]:
        """One delta per line, then the quotes, then Finished."""
        # In a thread: some milliseconds of pure computing would hold up health checks and other callers' streams.
        found, quotes = await asyncio.to_thread(answer, task)
        if not found:
            yield Delta(REFUSALS[read_question(task).language])
            yield Finished("declined", self.model)
            return
        for index, text in enumerate(found):
            yield Delta(text if index == 0 else f"\n{text}")
        for quote in quotes:
            yield quote
        yield Finished("stop", self.model)

    async def ready(self) -> None:
        """Always: it needs nothing."""

    async def close(self) -> None:
        """Nothing to give back."""
