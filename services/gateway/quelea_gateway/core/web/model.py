"""The web half of the pipeline: what search brings from the web, and what it is told to keep."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Protocol

from quelea_gateway.core.model import Kept, Passage


@dataclass(frozen=True)
class WebPage:
    """A page that was read, with those of its passages that share the question's words."""

    document_id: str
    """Of the document that the page would become."""
    url: str
    """Without tracking parameters and fragment."""
    passages: tuple[Passage, ...]
    trusted: bool = False


@dataclass(frozen=True)
class WebFound:
    """What a web search brought; what failed in part is in problems, one line each."""

    pages: tuple[WebPage, ...]
    provider: str = ""
    cached: bool = False
    problems: tuple[str, ...] = ()
    stages: dict[str, float] = field(default_factory=dict)
    """Stage to milliseconds: provider, fetch, parse, select."""


@dataclass(frozen=True)
class Useful:
    """A page with a passage above the gate's cosine."""

    document_id: str
    url: str
    score: float
    """The best passage's cosine."""


@dataclass(frozen=True)
class KeepOrder:
    """Which pages of one search were useful."""

    query: str
    provider: str
    pages: tuple[Useful, ...]


class Web(Protocol):
    """The web, behind search."""

    async def providers(self) -> tuple[str, ...] | None:
        """Names of the providers in use, none where the deployment has no web; None while nobody can say."""
        ...

    async def find(self, query: str, *, as_of: str, pages: int, passages: int, seconds: float) -> WebFound:
        """Pages for a query, nothing published after `as_of`. Raises QueleaError."""
        ...

    async def keep(self, order: KeepOrder) -> tuple[Kept, ...]:
        """Tell which pages were useful; what becomes of each. Raises QueleaError."""
        ...
