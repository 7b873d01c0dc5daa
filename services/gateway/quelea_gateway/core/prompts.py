"""The prompt templates: what is built in, wherever it is kept, and what administrators have put in its place."""

from __future__ import annotations

import asyncio
import difflib
import re
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Literal, Protocol

from quelea_kit import prompt_text
from quelea_kit.errors import QueleaError
from quelea_kit.prompt_text import PromptText


@dataclass(frozen=True)
class PromptTemplate:
    """One template.

    Attributes:
        name: "answer", "agent-plan", ...
        language: "en" or "zh".
        version: Changes with the text; answers report it.
        text: All of it.
        is_editable: Whether another text can be put in its place.
        is_built_in: Whether it came with the software.
    """

    name: str
    language: str
    version: str
    text: str
    is_editable: bool = True
    is_built_in: bool = True


@dataclass(frozen=True)
class PromptVersion:
    """A version of a template that is stored.

    Attributes:
        number: From 1, in the order in which they came.
        version: As answers report it.
        text: All of it.
        created: RFC 3339.
        author: The name of who saved it.
        note: Why, in the author's words.
        based_on: The version that it was made from; empty where nobody said.
    """

    number: int
    version: str
    text: str
    created: str
    author: str
    note: str = ""
    based_on: str = ""


@dataclass(frozen=True)
class Activation:
    """That a version was put in force; an empty version is the built-in one."""

    version: str
    author: str
    created: str


class PromptSet:
    """The wordings in force that are not built in; it never changes.

    Args:
        texts: By name and language.
    """

    def __init__(self, texts: Mapping[tuple[str, str], str]) -> None:
        self._texts = dict(texts)

    def text(self, name: str, language: str) -> str:
        """The wording of a template; empty where the built-in one is in force."""
        return self._texts.get((name, language), "")

    def chosen(self, name: str, language: str, built_in: str) -> PromptText | None:
        """The wording to use instead of the built-in one; None: use that, as there is no other or it does not fit."""
        text = self.text(name, language)
        return fitting(text, built_in) if text else None

    def of(self, *names: str) -> tuple[tuple[str, str, str], ...]:
        """(name, language, text) of those templates that have another wording."""
        return tuple((name, language, text) for (name, language), text in self._texts.items() if name in names)

    def having(self, name: str, language: str, text: str) -> PromptSet:
        """This one with another wording of a template: for a try-out."""
        return PromptSet({**self._texts, (name, language): text})


NO_EDITS = PromptSet({})

Prompts = Callable[[], Awaitable[PromptSet]]
"""Tells the wordings that are in force now; never fails."""


async def built_in_only() -> PromptSet:
    """Where nothing can be edited."""
    return NO_EDITS


@lru_cache(maxsize=64)
def fitting(text: str, built_in: str) -> PromptText | None:
    """A text that can stand in the place of a built-in one; None where it cannot."""
    return None if prompt_text.misfits(text, built_in) else prompt_text.parse(text)


class PromptSource(Protocol):
    """Whoever has templates."""

    async def prompts(self) -> tuple[PromptTemplate, ...]:
        """All that are built in. Raises QueleaError."""
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


def in_force(built_in: PromptTemplate, edits: PromptSet) -> tuple[PromptTemplate, str]:
    """(the template that is in force, what is wrong with an edit that should be)."""
    text = edits.text(built_in.name, built_in.language)
    if not text or not built_in.is_editable:
        return built_in, ""
    edited = fitting(text, built_in.text)
    if edited is None:
        why = " ".join(prompt_text.misfits(text, built_in.text))
        where = f"{built_in.name} ({built_in.language})"
        return built_in, f"The edited prompt {where} does not fit this release, so the built-in one is used. {why}"
    return replace(built_in, version=edited.version, text=text, is_built_in=False), ""


def label_prompt(text: str, built_in: PromptTemplate, name: str) -> PromptText:
    """A text under a label of its own: of "en-4", "en-edit-1". Raises ValueError when it cannot be read."""
    label = re.sub(r"-\d+$", "", prompt_text.parse(built_in.text).label)
    return prompt_text.parse(prompt_text.with_label(text, f"{label}-{name}"))


def body_of(text: str) -> str:
    """A text without its label: what two versions are compared by."""
    return prompt_text.with_label(text, "-").strip()


LineKind = Literal["same", "removed", "added"]
_KINDS: dict[str, LineKind] = {" ": "same", "-": "removed", "+": "added"}


def compare(before: str, after: str) -> list[tuple[LineKind, str]]:
    """The lines of two texts, each with whether it is in both, in the first alone, or in the second alone."""
    lines = difflib.ndiff(before.splitlines(), after.splitlines())
    return [(_KINDS[line[0]], line[2:]) for line in lines if line[0] in _KINDS]
