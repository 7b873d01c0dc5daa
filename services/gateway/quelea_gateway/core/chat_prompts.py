"""Prompts of the gateway's own calls of a language model: in templates/, a system and a user part each."""

from __future__ import annotations

import re
from functools import cache
from importlib import resources
from string import Template

from quelea_kit import prompt_text

from quelea_gateway.core.model import Message
from quelea_gateway.core.prompts import PromptSet, PromptTemplate, in_force

_LANGUAGES = ("en", "zh")
_CLOSING = re.compile(r"<(?=\s{0,3}/\s{0,3}(?:answer|question)\b)", re.IGNORECASE)
"""What would end the data in the prompt."""


class ChatPrompt:
    """A prompt in every language.

    Args:
        name: Of its templates.
    """

    def __init__(self, name: str) -> None:
        self._name = name

    def template(self, language: str, edits: PromptSet) -> PromptTemplate:
        """The wording in force."""
        return in_force(_built_in(self._name, language), edits)[0]

    def messages(self, template: PromptTemplate, **values: str) -> list[Message]:
        """System and user message with the values, which are data, filled in."""
        parts = prompt_text.parse(template.text).parts
        shown = {name: _CLOSING.sub("‹", text) for name, text in values.items()}
        return [
            Message("system", Template(parts["system"]).substitute(shown)),
            Message("user", Template(parts["user"]).substitute(shown)),
        ]

    async def prompts(self) -> tuple[PromptTemplate, ...]:
        """The templates among those that are listed."""
        return tuple(_built_in(self._name, one) for one in _LANGUAGES)


@cache
def _built_in(name: str, language: str) -> PromptTemplate:
    text = (resources.files(__package__) / "templates" / f"{name}.{language}.txt").read_text(encoding="utf-8")
    return PromptTemplate(name, language, prompt_text.parse(text).label, text)
