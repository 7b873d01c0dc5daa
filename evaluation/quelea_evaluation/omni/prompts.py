"""The prompts of OmniEval, in Chinese and English: texts in `prompts.LANGUAGE.toml`, with versions."""

from __future__ import annotations

import tomllib
from dataclasses import dataclass
from functools import cache
from importlib import resources
from string import Template
from typing import Any

from quelea_evaluation.endpoints.chat import Message
from quelea_evaluation.omni.matrix import LANGUAGES, Language
from quelea_evaluation.reports.store import hash_text


@dataclass(frozen=True)
class Prompts:
    """The texts of one language.

    Args:
        version: "en-3-" and the first digits of the file's hash, so that an edit without a new number shows.
    """

    language: Language
    version: str
    texts: dict[str, dict[str, str]]

    def text(self, section: str, name: str, **values: object) -> str:
        """A text with its values put in."""
        return Template(self.texts[section][name]).substitute({k: str(v) for k, v in values.items()}).strip()

    def messages(self, section: str, user: str = "user", **values: object) -> list[Message]:
        """System and user message of a section, each with its values."""
        return [
            {"role": "system", "content": self.text(section, "system", **values)},
            {"role": "user", "content": self.text(section, user, **values)},
        ]


@cache
def load_prompts(language: Language) -> Prompts:
    """The prompts of a language."""
    text = (resources.files(__package__) / f"prompts.{language}.toml").read_text(encoding="utf-8")
    document: dict[str, Any] = tomllib.loads(text)
    version = f"{language}-{document.pop('version')}-{hash_text(text)[:8]}"
    return Prompts(language, version, document)


def language_of(text: str) -> Language:
    """Chinese when a tenth of the letters are Chinese characters, else English."""
    letters = [one for one in text if one.isalpha()]
    chinese = sum("\u4e00" <= one <= "\u9fff" for one in letters)
    zh, en = LANGUAGES
    return zh if letters and chinese >= len(letters) / 10 else en
