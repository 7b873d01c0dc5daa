"""The prompt templates in use, wherever they are kept."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

from quelea_kit.errors import QueleaError


@dataclass(frozen=True)
class PromptTemplate:
    """One template; its version changes with its text. language: "en", "zh"."""

    name: str
    language: str
    version: str
    text: str


class PromptSource(Protocol):
    """Whoever has templates."""

    async def prompts(self) -> tuple[PromptTemplate, ...]:
        """All of them. Raises QueleaError."""
        ...


async def collect(sources: Sequence[PromptSource]) -> tuple[tuple[PromptTemplate, ...], tuple[str, ...]]:
    """The templates of all sources, by name and language, and what is wrong with the sources that could not tell."""

    async def ask(source: PromptSource) -> tuple[PromptTemplate, ...] | str:
        try:
            return await source.prompts()
        except QueleaError as error:
            return error.message

    replies = await asyncio.gather(*map(ask, sources))
    found = [prompt for reply in replies if not isinstance(reply, str) for prompt in reply]
    problems = tuple(reply for reply in replies if isinstance(reply, str))
    return tuple(sorted(found, key=lambda prompt: (prompt.name, prompt.language))), problems
