"""What the catalogue of tools needs of the world; the adapters give it."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal, Protocol

from quelea_gateway.core.tools.index_texts import IndexedTool
from quelea_gateway.core.tools.model import Tool, ToolHealth

SearchMode = Literal["both", "dense", "lexical"]


@dataclass(frozen=True)
class Listing:
    """Every tool, the catalogue's version, and its categories in the order to show them in."""

    version: str
    categories: tuple[str, ...]
    tools: tuple[Tool, ...]


@dataclass(frozen=True)
class Found:
    """A name that the index found."""

    name: str
    score: float
    cosine: float
    lexical: float


class Source(Protocol):
    """Where tools come from."""

    async def version(self) -> str:
        """The catalogue's version now. Raises QueleaError."""
        ...

    async def listing(self) -> Listing:
        """All of it. Raises QueleaError."""
        ...

    async def health(self) -> Mapping[str, ToolHealth]:
        """Of the tools of which something was reported. Raises QueleaError."""
        ...

    async def report(self, name: str, *, ok: bool, error: str = "") -> None:
        """What a call came to. Raises NotFound, QueleaError."""
        ...


class Index(Protocol):
    """Where tools are searched."""

    async def version(self) -> str:
        """What is indexed; empty while nothing is. Raises QueleaError."""
        ...

    async def put(self, version: str, tools: Sequence[IndexedTool], told: Callable[[int], None]) -> None:
        """Index these and nothing else, in one step; `told` hears how many are done. Raises QueleaError."""
        ...

    async def search(
        self, query: str, *, k: int, categories: Sequence[str] = (), mode: SearchMode = "both"
    ) -> tuple[str, list[Found]]:
        """The version that was searched (empty: there is none), and the best. Raises QueleaError."""
        ...
