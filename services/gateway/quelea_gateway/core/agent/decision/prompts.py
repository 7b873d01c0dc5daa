"""The wording of every prompt, in `templates/`: one file per sub-task and language, each with a version."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from importlib import resources
from string import Template

from quelea_gateway.core.agent.decision.token_budget import Section, share, tokens
from quelea_gateway.core.model import Message
from quelea_gateway.core.prompts import PromptTemplate

KINDS = ("plan", "action", "code", "answer", "repair")
_CODE_RULES = "code_rules"
LANGUAGES = ("en", "zh")


@dataclass(frozen=True, slots=True)
class _Parts:
    version: str
    system: Template
    user: Template


def _read(kind: str, language: str) -> str:
    return (resources.files(__package__) / "templates" / f"{kind}.{language}.txt").read_text(encoding="utf-8")


@cache
def _parts(kind: str, language: str) -> _Parts:
    head, system, user = re.split(r"^---(?:system|user)---\n", _read(kind, language), flags=re.MULTILINE)
    return _Parts(head.removeprefix("version:").strip(), Template(system.strip()), Template(user.strip()))


def prompts() -> list[PromptTemplate]:
    """Every template of the agent with its version."""
    return [
        PromptTemplate(f"agent-{kind}", language, _parts(kind, language).version, _read(kind, language))
        for kind in KINDS
        for language in LANGUAGES
    ]


class AgentPrompts:
    """The agent's templates among those that are listed."""

    async def prompts(self) -> tuple[PromptTemplate, ...]:
        """All of them."""
        return tuple(prompts())


@cache
def code_rules(language: str) -> dict[str, str]:
    """What code has to keep to, the same wherever it is asked for; no language: nothing, as no code can be run."""
    text = _read(_CODE_RULES, language) if language else ""
    return {"code_rules": text.partition("---user---\n")[2].strip()}


def version(kind: str, language: str) -> str:
    """The version of a template."""
    return _parts(kind, language).version


def build(
    kind: str, language: str, fixed: Mapping[str, str], sections: Sequence[Section], *, budget: int
) -> list[Message]:
    """The messages of a sub-task; the sections are cut so that all of it fits the budget (tokens, estimated)."""
    parts = _parts(kind, language)
    empty = {one.name: "" for one in sections}
    frame = tokens(parts.system.safe_substitute(fixed)) + tokens(parts.user.safe_substitute({**fixed, **empty})) + 16
    cut = share(sections, budget - frame)
    filled = {**fixed, **cut}
    return [
        Message("system", parts.system.safe_substitute(filled)),
        Message("user", parts.user.safe_substitute(filled)),
    ]


def repair(language: str, error: str) -> Message:
    """What is said about an answer that cannot be used."""
    return Message("user", _parts("repair", language).user.safe_substitute(error=error))
