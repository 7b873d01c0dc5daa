"""Thumbs that people give on answers."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, replace
from typing import Any, Literal

Thumb = Literal["up", "down"]
Reason = Literal[
    "accurate",
    "complete",
    "well_sourced",
    "wrong_figure",
    "wrong_company_or_period",
    "wrong_source",
    "incomplete",
    "off_topic",
    "should_have_answered",
]
"""The first three are of a thumb up, the others of one down."""
GOOD: frozenset[Reason] = frozenset({"accurate", "complete", "well_sourced"})


@dataclass(frozen=True)
class Feedback:
    """A thumb, with the question and the answer it is on: answers are not stored here, so both come along."""

    id: str
    created: str
    """RFC 3339 in UTC."""
    thumb: Thumb
    question: str
    answer: str
    why: str = ""
    answer_id: str = ""
    """How the caller knows the answer: the id of a chat completion, say."""
    as_of: str = ""
    model: str = ""
    prompt_version: str = ""
    document_ids: tuple[str, ...] = ()
    """Documents that the answer cites."""
    reasons: tuple[Reason, ...] = ()

    def as_dict(self) -> dict[str, Any]:
        """For a store of JSON."""
        return asdict(self)

    @classmethod
    def from_dict(cls, value: dict[str, Any]) -> Feedback:
        """Raises KeyError or TypeError where it is no feedback."""
        # Those that main stored until 27 November 2026 may have no reasons.
        lists = {"document_ids": tuple(value["document_ids"]), "reasons": tuple(value.get("reasons", ()))}
        return cls(**{**value, **lists})

    def repeats(self, other: Feedback) -> bool:
        """Whether it says what another says, of the same answer."""
        return replace(self, id=other.id, created=other.created) == other

    @property
    def mark(self) -> dict[str, Any]:
        """What a saved answer shows of it."""
        return {"id": self.id, "thumb": self.thumb, "why": self.why, "reasons": list(self.reasons)}

    def is_shown_by(self, mark: Mapping[str, Any]) -> bool:
        """Whether a saved answer shows it; a mark without an id is known by what it says."""
        return bool(mark["id"] == self.id) or (not mark["id"] and {**mark, "id": self.id} == self.mark)
