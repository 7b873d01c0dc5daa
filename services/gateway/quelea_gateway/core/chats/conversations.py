"""Saved conversations: questions with the answers that were given, as they were given."""

from __future__ import annotations

import json
import unicodedata
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from itertools import groupby
from typing import Any, NamedTuple

from quelea_gateway.core.answers.notices import say
from quelea_gateway.core.model import Turn

HISTORY_EXCHANGES = 3
"""How many of the last questions, with their answers, a follow-up is understood by."""


@dataclass(frozen=True)
class SavedTurn:
    """A question and its answer."""

    id: str
    """Begins with its time, so ids sort as the turns came."""
    created: str
    """RFC 3339 in UTC."""
    question: str
    answer: Mapping[str, Any]
    """As POST /v1/ask gave it."""
    filters: Mapping[str, Any] = field(default_factory=dict)
    """Those of the request that were set."""
    collections: Sequence[str] = ()
    """Those that the request named."""
    group: str = ""
    """Turns of one group answer one question side by side; empty of a turn by itself."""
    thumb: Mapping[str, Any] | None = None
    """The last one that was given on it: its id, thumb, why, reasons. The id of an early one is empty."""

    @property
    def text(self) -> str:
        """The answer's text."""
        return str(self.answer["answer"])

    def as_dict(self) -> dict[str, Any]:
        """For a store of JSON."""
        return {
            **asdict(self),
            "answer": dict(self.answer),
            "filters": dict(self.filters),
            "collections": list(self.collections),
        }

    @classmethod
    def from_dict(cls, value: dict[str, Any]) -> SavedTurn:
        """Raises KeyError or TypeError where it is no turn."""
        thumb = value.get("thumb")
        turn = cls(**{**value, "thumb": thumb and {"id": "", **thumb}})
        str(turn.answer["answer"])
        return turn


class Forgotten(NamedTuple):
    """What became of the saved answers, or of the thumbs, that name a document which is to be forgotten."""

    changed: int
    """They say nothing of it any more."""
    unreadable: int
    """They could not be read, and are as they were."""


_QUOTED = ("citations", "further_reading")
_MADE_OF = ("answer", "citations", "evidence", "figures", "grounding")
"""Parts of an answer that are made of what it cites."""


def documents_of(answer: Mapping[str, Any]) -> frozenset[str]:
    """The stored documents that an answer cites, or names as further reading; pages of the web are none."""
    return frozenset(
        one["document_id"]
        for part in _QUOTED
        for one in answer.get(part) or ()
        if one["document_id"] and one.get("source") != "web"
    )


def without(turn: SavedTurn, document_id: str) -> SavedTurn:
    """A turn that says nothing of a document's words any more.

    An answer whose reader was shown it may be made of them, so its text goes whole, with figures and verdicts, and with
    checks and notices, which name its figures; its other sources stay. Of one that only names it as further reading,
    the text stays.
    """
    answer = dict(turn.answer)
    for part in _QUOTED:
        answer[part] = [
            {**one, "quote": ""} if one["document_id"] == document_id else one for one in answer.get(part) or ()
        ]
    if any(document_id in json.dumps(answer.get(part)) for part in _MADE_OF):
        gone = say("forgotten", str(answer.get("language") or "en"))
        answer |= {"answer": gone, "figures": [], "grounding": None, "checks": [], "notices": []}
    return replace(turn, answer=answer)


@dataclass(frozen=True)
class Said:
    """What a turn says, to be searched."""

    question: str
    text: str


@dataclass(frozen=True)
class Conversation:
    """What is known of a conversation without reading its answers."""

    id: str
    title: str
    created: str
    updated: str
    """When its last answer was saved; empty while there is none."""
    said: Mapping[str, Said] = field(default_factory=dict)
    """By the turn's id."""

    @property
    def touched(self) -> str:
        """When something was last done in it."""
        return self.updated or self.created

    def with_turn(self, turn: SavedTurn) -> Conversation:
        """With one more."""
        said = {**self.said, turn.id: Said(turn.question, turn.text)}
        return replace(self, updated=max(self.updated, turn.created), said=dict(sorted(said.items())))

    def as_dict(self) -> dict[str, Any]:
        """For a store of JSON."""
        return asdict(self)

    @classmethod
    def from_dict(cls, value: dict[str, Any]) -> Conversation:
        """Raises KeyError or TypeError where it is no conversation."""
        return cls(**{**value, "said": {name: Said(**one) for name, one in value["said"].items()}})


def fold_text(text: str) -> str:
    """As texts are compared: full-width forms, ligatures and capitals do not matter (NFKC, case folding)."""
    return unicodedata.normalize("NFKC", text).casefold()


def matches(conversation: Conversation, words: Sequence[str]) -> bool:
    """Whether title, questions and answers have every word; words as `fold_text` gives them."""
    said = (part for one in conversation.said.values() for part in (one.question, one.text))
    whole = fold_text("\n".join((conversation.title, *said)))
    return all(word in whole for word in words)


def exchanges(turns: Sequence[SavedTurn]) -> Iterator[list[SavedTurn]]:
    """Turn by turn, those of a group together."""
    for _, found in groupby(turns, key=lambda turn: turn.group or turn.id):
        yield list(found)


def history_of(turns: Sequence[SavedTurn]) -> list[Turn]:
    """What a follow-up is understood by: the last questions and answers, those of a group as one answer."""
    found: list[Turn] = []
    for several in list(exchanges(turns))[-HISTORY_EXCHANGES:]:
        found.append(Turn("user", several[0].question))
        found.append(Turn("assistant", "\n\n".join(_named(one) for one in several)))
    return found


def _named(turn: SavedTurn) -> str:
    companies = ", ".join(turn.filters.get("companies", ())) if turn.group else ""
    return f"{companies}: {turn.text}" if companies else turn.text
