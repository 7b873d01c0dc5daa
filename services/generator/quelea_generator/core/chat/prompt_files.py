"""The prompt templates: files in `templates/`, NAME.LANGUAGE.txt, each with a version that the answers report.

A request may bring another wording of one (`PromptEdit`): the gateway keeps what administrators have changed and sends
it along, so that every replica answers with the same. One that does not fit what is filled in here is passed over, and
the version that is reported says so.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cache, lru_cache
from importlib import resources
from importlib.resources.abc import Traversable
from string import Template

from quelea_kit import prompt_text
from quelea_kit.logging import get_logger

from quelea_generator.core.model import PromptEdit

LANGUAGES = ("en", "zh")
_NAME = re.compile(r"([a-z_]+)\.(en|zh)\.txt")

log = get_logger(__name__)


@dataclass(frozen=True, slots=True)
class PromptFile:
    """One template.

    Attributes:
        name: What it is for: "answer", "rewrite", "schema".
        language: "en" or "zh".
        version: LABEL.DIGEST, for example "en-2.1f0c9a44".
        text: The file.
        parts: Its parts by name, without surrounding space.
    """

    name: str
    language: str
    version: str
    text: str
    parts: dict[str, str]

    def fill(self, part: str, **values: str) -> str:
        """A part with its $names filled in. Raises KeyError for a part or a name that is not there."""
        return Template(self.parts[part]).substitute(values)


def folder() -> Traversable:
    """Where the templates are; a test may point this elsewhere and call prompt_file.cache_clear()."""
    return resources.files(__package__) / "templates"


def parse(name: str, language: str, text: str) -> PromptFile:
    """Read a template. Raises ValueError when it has no version."""
    try:
        read = prompt_text.parse(text)
    except ValueError as error:
        raise ValueError(f"The template {name}.{language}.txt cannot be read. {error}") from error
    return PromptFile(name, language, read.version, text, read.parts)


@cache
def prompt_file(name: str, language: str) -> PromptFile:
    """A template by name and language."""
    return parse(name, language, (folder() / f"{name}.{language}.txt").read_text(encoding="utf-8"))


def template_for(name: str, language: str, edits: tuple[PromptEdit, ...]) -> PromptFile:
    """The wording of a template that a request brings, where it does and it fits; else the one that is built in."""
    for edit in edits:
        if (edit.name, edit.language) == (name, language):
            return _edited(edit) or prompt_file(name, language)
    return prompt_file(name, language)


@lru_cache(maxsize=64)
def _edited(edit: PromptEdit) -> PromptFile | None:
    wrong = prompt_text.misfits(edit.text, prompt_file(edit.name, edit.language).text)
    if wrong:
        log.warning("prompt_edit_passed_over", name=edit.name, language=edit.language, why=wrong)
        return None
    return parse(edit.name, edit.language, edit.text)


def prompt_files() -> tuple[PromptFile, ...]:
    """Every template, by name and language."""
    found = [match for entry in folder().iterdir() if (match := _NAME.fullmatch(entry.name))]
    return tuple(prompt_file(match[1], match[2]) for match in sorted(found, key=lambda match: match.groups()))


def versions(name: str) -> str:
    """The versions of one template in every language, separated by commas."""
    return ",".join(prompt_file(name, language).version for language in LANGUAGES)
