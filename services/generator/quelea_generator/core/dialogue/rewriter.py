"""A follow-up made to stand alone: by the model where there is one and its words can be trusted, else by the rules."""

from __future__ import annotations

import asyncio
import contextlib
import re
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from datetime import date
from typing import Literal

from quelea_fintext.languages import LANGUAGES
from quelea_fintext.text import language_of, normalise, words
from quelea_kit.errors import QueleaError

from quelea_generator.core.chat.completion import Completed, Completer, CompletionRequest
from quelea_generator.core.chat.prompt import Message, escape_passage
from quelea_generator.core.chat.prompt_files import template_for
from quelea_generator.core.dialogue.follow_up import FollowUp, stand_alone
from quelea_generator.core.dialogue.parts import read_parts
from quelea_generator.core.model import Delta, PromptEdit, Turn

_TURNS = 6
_TURN_CHARS = 600
"""Of a turn, its beginning: what was asked and answered, not how."""
_MAX_TOKENS = 96
_LONGEST = 400
_ASKS = LANGUAGES.pattern("dialogue.asks", r"<>|[?？]\s*$")
_LABEL = LANGUAGES.pattern("dialogue.labels", r"^\s{0,8}+<>\s{0,8}+")
_QUOTES = "\"'“”‘’「」`"
_NUMBER = re.compile(r"\d+(?:[.,]\d+)*")


@dataclass(frozen=True, slots=True)
class Rewrite:
    """A question as it stands alone.

    Attributes:
        question: Its text; the given one where nothing was changed.
        by: "model", "rules", or "" when nothing was changed.
        prompt_version: Of the template that the model was asked with.
    """

    question: str
    by: Literal["", "model", "rules"] = ""
    prompt_version: str = ""


class Rewriter:
    """Makes follow-ups stand alone.

    Args:
        completer: Asks the model; None: the rules alone.
        seconds: Longest wait for the model, its queue included.
        run: Where the rules read the conversation: a server's must be a place where reading can be ended.
    """

    def __init__(
        self,
        completer: Completer | None = None,
        *,
        seconds: float = 4.0,
        run: Callable[..., Awaitable[FollowUp]] = asyncio.to_thread,
    ) -> None:
        self._completer = completer
        self._run = run
        self._seconds = seconds

    async def rewrite(
        self,
        question: str,
        history: tuple[Turn, ...],
        as_of: date,
        *,
        companies: tuple[str, ...] = (),
        model: str = "",
        tenant: str = "",
        edits: tuple[PromptEdit, ...] = (),
    ) -> Rewrite:
        """The question, standing alone. Where the model fails, the rules decide.

        `companies` are names by the caller's catalogue, as question and history write them; `edits` are wordings of
        templates that the request brings.
        """
        ruled = await self._run(stand_alone, question, history, as_of, companies)
        if self._completer is None or not history or not _may_lean(question, ruled, companies):
            return _by_rules(question, ruled)
        template = template_for("rewrite", language_of(question), edits)
        content = template.fill(
            "user",
            conversation="\n".join(_line(turn) for turn in history[-_TURNS:]),
            current_date=as_of.isoformat(),
            question=escape_passage(question),
        )
        wanted = CompletionRequest(
            (Message("system", template.fill("system")), Message("user", content)),
            model=model,
            max_tokens=_MAX_TOKENS,
            temperature=0.0,
            tenant=tenant,
        )
        said = ""
        with contextlib.suppress(QueleaError, TimeoutError):
            async with asyncio.timeout(self._seconds):
                said = await self._read_reply(wanted)
        text = read_reply(said, question, history, as_of)
        if not text or (ruled.leans and _same(text, question)):
            return _by_rules(question, ruled)
        if _same(text, question):
            return Rewrite(question)
        return Rewrite(text, "model", template.version)

    async def _read_reply(self, wanted: CompletionRequest) -> str:
        """The whole reply; empty when it was cut off."""
        assert self._completer is not None  # noqa: S101  # the caller looked
        said = ""
        async with contextlib.aclosing(self._completer.complete(wanted)) as events:
            async for event in events:
                if isinstance(event, Delta):
                    said += event.text
                elif isinstance(event, Completed) and event.reason != "stop":
                    return ""
        return said


def read_reply(said: str, question: str, history: tuple[Turn, ...], as_of: date) -> str:
    """The question in a model's reply; empty when the reply cannot be trusted to be one.

    It has to be one line that asks, in the language of the question, with no figure, company or year that is not in
    the conversation or next to a year that is.
    """
    lines = [line.strip() for line in said.strip().splitlines() if line.strip()]
    if len(lines) != 1:
        return ""
    text = _LABEL.sub("", lines[0]).strip(_QUOTES + " ")
    if not text or len(text) > _LONGEST or not _ASKS.search(text) or language_of(text) != language_of(question):
        return ""
    if re.search(r"[<>\[\]{}]|https?:", text) and not re.search(r"[<>\[\]{}]|https?:", question):
        return ""
    told = "\n".join([question, *(turn.text for turn in history)])
    known = {number.replace(",", "") for number in _NUMBER.findall(told)}
    years = {int(number) for number in known if re.fullmatch(r"(?:19|20)\d\d", number)} | {as_of.year}
    for number in (number.replace(",", "") for number in _NUMBER.findall(text)):
        near = re.fullmatch(r"(?:19|20)\d\d", number) and any(abs(int(number) - year) <= 3 for year in years)
        if number not in known and not near and number not in ("1", "2", "3", "4"):
            return ""
    spoken = set(words(told))
    if any(not spoken.issuperset(words(part.text)) for part in read_parts(text).companies):
        return ""
    # A reply that shares nothing with the conversation but its form is about something else.
    return text if set(words(text)) & spoken else ""


def _may_lean(question: str, ruled: FollowUp, companies: tuple[str, ...]) -> bool:
    """Worth the model's time: the rules see that it leans, or it names no company."""
    return ruled.leans or (len(question) <= _LONGEST and not read_parts(question, companies).companies)


def _by_rules(question: str, ruled: FollowUp) -> Rewrite:
    if not ruled.leans or _same(ruled.text, question):
        return Rewrite(question)
    return Rewrite(ruled.text, "rules")


def _line(turn: Turn) -> str:
    said = re.sub(r"\s+", " ", turn.text[: 2 * _TURN_CHARS]).strip()[:_TURN_CHARS]
    return f"{'assistant' if turn.role == 'assistant' else 'user'}: {escape_passage(said)}"


def _same(one: str, other: str) -> bool:
    return [*words(normalise(one))] == [*words(normalise(other))]
