"""Parses untrusted pages and preselects their passages, in processes of their own."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

from quelea_kit.errors import QueleaError
from quelea_kit.processes.process_pool import ProcessPool, WorkCrashed, WorkTimeout

from quelea_search.core.model import ParseLimits
from quelea_search.core.web.model import Fetched, WebDocument
from quelea_search.core.web.preselect import Paragraph, Selected, preselect


@dataclass(frozen=True, slots=True)
class Refused:
    """A page that cannot be read: an error that goes through a pipe whatever its class looks like."""

    reason: str
    message: str


class PageParser(Protocol):
    """What the web search needs; PooledParser, or a stand-in for tests."""

    async def read(
        self, fetched: Fetched, *, title: str, published: str, today: str, seconds: float
    ) -> WebDocument | Refused:
        """The page, read within the seconds; title and published are what the provider said."""

    async def select(
        self, query: str, paragraphs: Sequence[Paragraph], limit: int, *, seconds: float
    ) -> list[Selected] | None:
        """core.preselect.preselect within the seconds; None when that was not possible."""

    async def warm(self) -> None:
        """Get ready, so that the first question does not wait for it."""

    async def close(self) -> None:
        """End what is running."""


class PooledParser:
    """PageParser in a pool of processes.

    Args:
        pool: The processes.
        limits: What is refused.
    """

    def __init__(self, pool: ProcessPool, limits: ParseLimits) -> None:
        self._pool = pool
        self._limits = limits

    async def read(
        self, fetched: Fetched, *, title: str, published: str, today: str, seconds: float
    ) -> WebDocument | Refused:
        """See PageParser."""
        try:
            return await self._pool.run(seconds, parse_page, fetched, self._limits, title, published, today)
        except WorkTimeout:
            return Refused("READ_TIMEOUT", f"reading the page took longer than {seconds:.1f} s")
        except WorkCrashed:
            return Refused("CRASHED_READER", "reading the page ended its process")

    async def select(
        self, query: str, paragraphs: Sequence[Paragraph], limit: int, *, seconds: float
    ) -> list[Selected] | None:
        """See PageParser."""
        try:
            return await self._pool.run(seconds, preselect, query, list(paragraphs), limit)
        except (WorkTimeout, WorkCrashed):
            return None

    async def warm(self) -> None:
        """See PageParser."""
        await self._pool.warm()

    async def close(self) -> None:
        """See PageParser."""
        await self._pool.close()


def parse_page(fetched: Fetched, limits: ParseLimits, title: str, published: str, today: str) -> WebDocument | Refused:
    """web_page_parsing.parse_web_page, with a result that can be pickled."""
    from quelea_search.web.page_parsing import parse_web_page  # noqa: PLC0415  # brings every parser: only for processes

    try:
        document = parse_web_page(fetched, limits, title=title, published=published, today=today)
    except QueleaError as error:
        return Refused(error.reason, error.message)
    except MemoryError:
        return Refused("TOO_LARGE", "reading the page needs too much memory")
    # The parsers make `stated` a read-only view, which cannot be pickled.
    return dataclasses.replace(
        document, parsed=dataclasses.replace(document.parsed, stated=dict(document.parsed.stated))
    )
