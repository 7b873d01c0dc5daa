"""Requests of chat front-ends that ask no question: titles, tags, queries and follow-ups for a conversation.

A front-end sends these as chat completions like any other, several for each answer. Searched for as questions they
would cost as much as the answer and come back declined. They are answered from the conversation that they quote.
"""

from __future__ import annotations

import functools
import json
import re
import tomllib
from dataclasses import dataclass
from importlib import resources
from itertools import pairwise

from quelea_fintext.text import language_of
from quelea_fintext.times.periods import find_periods

_MOST_LETTERS = 60
_TURN = re.compile(r"^(user|human|assistant|ai|system): ?", re.IGNORECASE | re.MULTILINE)
_ASKING = frozenset({"user", "human"})
_FIELD = {"en": "Finance", "zh": "财经"}
"""What every conversation here is about."""
_NEXT = {
    "en": ("And the year before?", "How did it change over the last three years?"),
    "zh": ("那前一年呢？", "近三年的变化如何？"),
}
"""Questions that lean on one with a period; the pipeline makes them stand alone."""


@dataclass(frozen=True)
class Prompt:
    """A published prompt: see front_end_tasks.toml."""

    says: tuple[str, ...]
    reply: str
    after: str
    before: str


@dataclass(frozen=True)
class Task:
    """What a front-end wants of a conversation.

    Attributes:
        reply: The key of the JSON object that is wanted ("title", "tags", "queries", …); empty: a bare title.
        questions: What the user asked in it, the newest last.
    """

    reply: str
    questions: tuple[str, ...]

    @property
    def kind(self) -> str:
        """What it is called."""
        return self.reply or "title"


@functools.cache
def _prompts() -> tuple[Prompt, ...]:
    text = resources.files(__package__).joinpath("front_end_tasks.toml").read_text(encoding="utf-8")
    return tuple(Prompt(**{**one, "says": tuple(one["says"])}) for one in tomllib.loads(text)["prompt"])


def recognise(message: str) -> Task | None:
    """The task that a message is; None: it is a question, as nearly all are."""
    start = message.lstrip()
    for prompt in _prompts():
        if start.startswith(prompt.says[0]) and all(phrase in message for phrase in prompt.says):
            quoted = message[message.find(prompt.after) + len(prompt.after) :]
            return Task(prompt.reply, _questions(quoted.split(prompt.before)[0] if prompt.before else quoted))
    return None


def _questions(conversation: str) -> tuple[str, ...]:
    turns = list(_TURN.finditer(conversation))
    ends = [*(after.start() for _, after in pairwise(turns)), len(conversation)]
    said = [(turn[1].lower(), conversation[turn.end() : end].strip()) for turn, end in zip(turns, ends, strict=False)]
    return tuple(text for who, text in said if who in _ASKING and text)


def perform(task: Task, companies: tuple[str, ...] = ()) -> str:
    """The reply, as the front-end reads it.

    Args:
        task: What it wants.
        companies: Names that the questions have, for tags.
    """
    first, last = (task.questions[0], task.questions[-1]) if task.questions else ("", "")
    language = language_of(last) if last else "en"
    if not task.reply:
        return _title(first)
    replies: dict[str, str | list[str]] = {
        "title": _title(first),
        "tags": [_FIELD[language], *dict.fromkeys(companies)][:4],
        "queries": [last] if last else [],
        "follow_ups": list(_NEXT[language]) if any(True for _ in find_periods(last)) else [],
        "text": "",
    }
    return json.dumps({task.reply: replies[task.reply]}, ensure_ascii=False)


def _title(question: str) -> str:
    """The question, cut behind a word where it is long."""
    text = " ".join(question.split()).rstrip("?？。.")
    if len(text) <= _MOST_LETTERS:
        return text or "Quelea"
    cut = text[: _MOST_LETTERS - 1]
    return (cut[: cut.rfind(" ")] if " " in cut[_MOST_LETTERS // 2 :] else cut).rstrip(" ,，、;；:：") + "…"
