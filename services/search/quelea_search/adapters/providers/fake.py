"""A provider that says what a test tells it to."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence

from quelea_search.adapters.providers.base import tidy
from quelea_search.core.web.failover import ProviderError
from quelea_search.core.web.model import Result
from quelea_search.core.web.query import WebQuery


class FakeProvider:
    """Answers from a script.

    Attributes:
        queries: Every query that it was asked.
        items: Its list, whatever the question.
        failures: Errors that the next calls raise, first in first out.
        gate: Calls wait while it is cleared.
        closed: Whether close() was called.
    """

    def __init__(self, name: str = "fake", items: Sequence[Result] = ()) -> None:
        self.name = name
        self.items = list(items)
        self.queries: list[WebQuery] = []
        self.failures: list[ProviderError] = []
        self.gate = asyncio.Event()
        self.gate.set()
        self.closed = False

    async def search(self, query: WebQuery) -> list[Result]:
        """See Provider."""
        self.queries.append(query)
        await self.gate.wait()
        if self.failures:
            raise self.failures.pop(0)
        return tidy(self.items, query)

    async def close(self) -> None:
        """See Provider."""
        self.closed = True
