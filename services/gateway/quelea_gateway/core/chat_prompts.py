"""Prompts of the gateway's own calls of a language model: in templates/, with a version, a system and a user part."""

from __future__ import annotations

import re
from functools import cache
from importlib import resources
from string import Template

from quelea_gateway.core.model import Message
from quelea_gateway.core.prompts import PromptTemplate

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

    def version(self, language: str) -> str:
        """Changes with the template's text."""
        return _parts(self._name, language)[0]

    def messages(self, language: str, **values: str) -> list[Message]:
        """System and user message with the values, which are data, filled in."""
        _, system, user = _parts(self._name, language)
        shown = {name: _CLOSING.sub("‹", text) for name, text in values.items()}
        return [Message("system", system.substitute(shown)), Message("user", user.substitute(shown))]

    async def prompts(self) -> tuple[PromptTemplate, ...]:
        """The templates among those that are listed."""
        return tuple(PromptTemplate(self._name, one, self.version(one), _read(self._name, one)) for one in _LANGUAGES)


@cache
def _parts(name: str, language: str) -> tuple[str, Template, Template]:
    """(version, system, user)."""
    head, system, user = re.split(r"^---(?:system|user)---\n", _read(name, language), flags=re.MULTILINE)
    return head.removeprefix("version:").strip(), Template(system.strip()), Template(user.strip())


def _read(name: str, language: str) -> str:
    return (resources.files(__package__) / "templates" / f"{name}.{language}.txt").read_text(encoding="utf-8")
