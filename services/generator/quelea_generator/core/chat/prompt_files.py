"""The prompt templates: files in `templates/`, NAME.LANGUAGE.txt, each with a version that the answers report.

A file begins with a line "version: LABEL"; its parts follow, each after a line "---PART---". The reported version is
the label and the first digits of the SHA-256 of the whole file, so that no change of a template goes unrecorded.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cache
from hashlib import sha256
from importlib import resources
from importlib.resources.abc import Traversable
from string import Template

LANGUAGES = ("en", "zh")
_PART = re.compile(r"^---([a-z_]+)---\n", re.MULTILINE)
_NAME = re.compile(r"([a-z_]+)\.(en|zh)\.txt")


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
    head, *rest = _PART.split(text)
    label = head.strip().removeprefix("version:").strip()
    if not head.startswith("version:") or not label:
        raise ValueError(f"The template {name}.{language}.txt does not begin with a line 'version: LABEL'.")
    parts = dict(zip(rest[::2], (part.strip() for part in rest[1::2]), strict=True))
    return PromptFile(name, language, f"{label}.{sha256(text.encode()).hexdigest()[:8]}", text, parts)


@cache
def prompt_file(name: str, language: str) -> PromptFile:
    """A template by name and language."""
    return parse(name, language, (folder() / f"{name}.{language}.txt").read_text(encoding="utf-8"))


def prompt_files() -> tuple[PromptFile, ...]:
    """Every template, by name and language."""
    found = [match for entry in folder().iterdir() if (match := _NAME.fullmatch(entry.name))]
    return tuple(prompt_file(match[1], match[2]) for match in sorted(found, key=lambda match: match.groups()))


def versions(name: str) -> str:
    """The versions of one template in every language, separated by commas."""
    return ",".join(prompt_file(name, language).version for language in LANGUAGES)
