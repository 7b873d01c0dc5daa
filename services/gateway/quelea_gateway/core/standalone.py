"""A follow-up as it was understood: a question that stands alone."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from quelea_kit.errors import QueleaError

if TYPE_CHECKING:  # the ports name Standalone
    from quelea_gateway.core.model import Question
    from quelea_gateway.core.ports import Generator, Retriever

_TURNS, _NAMES = 8, 200
_CHARACTERS = 2000
"""Of each turn that is looked into for companies."""


@dataclass(frozen=True)
class Standalone:
    """What a follow-up asks, with what it takes from the turns before it; by: "model" or "rules"."""

    question: str
    by: str


async def standing_alone(question: Question, retriever: Retriever, generator: Generator) -> Standalone | None:
    """The question as it stands alone, by the companies that the knowledge base knows; None when it does already.

    Raises:
        QueleaError: the generator cannot say. Without the retriever names are guessed.
    """
    asked = [turn.text for turn in question.history if turn.role == "user"][-_TURNS:]
    try:
        companies = await retriever.companies([text[:_CHARACTERS] for text in (*asked, question.text)])
    except QueleaError:
        companies = ()
    return await generator.rewrite(question, companies[:_NAMES])
