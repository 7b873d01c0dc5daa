"""The wording of every prompt, in `templates/`: one file per sub-task and language, each with a version."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache, lru_cache
from importlib import resources
from string import Template
from typing import Literal

from quelea_kit import prompt_text

from quelea_gateway.core.agent.decision.token_budget import Section, share, tokens
from quelea_gateway.core.model import Message
from quelea_gateway.core.prompts import NO_EDITS, PromptSet, PromptTemplate, in_force

KINDS = ("plan", "action", "code", "answer", "repair")
_CODE_RULES = "code_rules"
LANGUAGES = ("en", "zh")


Form = Literal["", "json", "calls"]
"""How an action is asked for: as a JSON object, or as calls of functions. Nothing else has a choice."""


@dataclass(frozen=True, slots=True)
class _Parts:
    version: str
    system: Template
    user: Template


def _read(kind: str, language: str) -> str:
    return (resources.files(__package__) / "templates" / f"{kind}.{language}.txt").read_text(encoding="utf-8")


@cache
def _built_in(kind: str, language: str) -> PromptTemplate:
    text = _read(kind, language)
    return PromptTemplate(f"agent-{kind}", language, prompt_text.parse(text).label, text)


@lru_cache(maxsize=128)
def _split(template: PromptTemplate, form: Form) -> _Parts:
    parts = prompt_text.parse(template.text).parts
    user = "\n\n".join(parts[name] for name in ("user", form) if name)
    return _Parts(template.version, Template(parts["system"]), Template(user))


def _parts(kind: str, language: str, edits: PromptSet, form: Form = "") -> _Parts:
    return _split(in_force(_built_in(kind, language), edits)[0], form)


def prompts() -> list[PromptTemplate]:
    """Every template of the agent as it is built in."""
    return [_built_in(kind, language) for kind in KINDS for language in LANGUAGES]


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


def version(kind: str, language: str, edits: PromptSet = NO_EDITS) -> str:
    """The version of a template that is in force."""
    return _parts(kind, language, edits).version


def build(
    kind: str,
    language: str,
    fixed: Mapping[str, str],
    sections: Sequence[Section],
    *,
    budget: int,
    edits: PromptSet = NO_EDITS,
    form: Form = "",
) -> list[Message]:
    """The messages of a sub-task; the sections are cut so that all of it fits the budget (tokens, estimated).

    `edits` are wordings to use in the place of built-in ones.
    """
    parts = _parts(kind, language, edits, form)
    empty = {one.name: "" for one in sections}
    frame = tokens(parts.system.safe_substitute(fixed)) + tokens(parts.user.safe_substitute({**fixed, **empty})) + 16
    cut = share(sections, budget - frame)
    filled = {**fixed, **cut}
    return [
        Message("system", parts.system.safe_substitute(filled)),
        Message("user", parts.user.safe_substitute(filled)),
    ]


def repair(language: str, error: str, edits: PromptSet = NO_EDITS) -> Message:
    """What is said about an answer that cannot be used."""
    return Message("user", _parts("repair", language, edits).user.safe_substitute(error=error))
