"""The objects of this room: what a reader is given, and what it gives back."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import date
from typing import Literal

from quelea_fintext.facts import StatedFigure

Reason = Literal["stop", "length", "declined"]
DeclineReason = Literal[
    "no_evidence", "no_such_period", "asks_for_advice", "not_a_question", "model_refused", "engine_empty"
]


@dataclass(frozen=True, slots=True)
class Evidence:
    """One passage, as the caller numbered it. Dates are YYYY-MM-DD, empty where unknown."""

    number: int
    text: str
    header: str = ""
    table_head: str = ""
    is_table: bool = False
    published: str = ""
    period_end: str = ""
    period_label: str = ""
    company: str = ""
    score: float = 0.0
    cosine: float = 0.0
    from_web: bool = False
    """From a page of the web that nobody has approved."""
    suspicious: bool = False
    """The caller says that it reads like instructions to a machine."""

    @property
    def date(self) -> str:
        """The date that the passage is read by: when it was published, else the end of its period."""
        return self.published or self.period_end

    @property
    def filing(self) -> tuple[str, str]:
        """What tells one filing from another: company and period, else the date."""
        return self.company, self.period_label or self.period_end or self.published


@dataclass(frozen=True, slots=True)
class Operand:
    """A fact of a statement in a figure; its span is one of evidence.text.

    quelea.common.v1.Fact says what the other fields are.
    """

    number: int
    """Of the evidence that prints it."""
    start: int
    end: int
    label: str
    concept: str
    value: str
    unit: str
    period_start: str
    period_end: str
    printed: str
    group: str = ""
    column: str = ""


Figure = StatedFigure[Operand]


@dataclass(frozen=True, slots=True)
class Turn:
    """An earlier message of the conversation; role is "user" or "assistant"."""

    role: str
    text: str


@dataclass(frozen=True, slots=True)
class Sampling:
    """How a model chooses its words, beside the temperature; what is not set is the model's own.

    Attributes:
        stop: Texts before which the answer ends.
        top_p: The share of probability that it chooses from, over 0 to 1.
        seed: The same one gives the same choices, as far as the endpoint can.
    """

    stop: tuple[str, ...] = ()
    top_p: float | None = None
    seed: int | None = None


PLAIN = Sampling()


@dataclass(frozen=True, slots=True)
class PromptEdit:
    """The wording of a template that a request brings."""

    name: str
    language: str
    text: str


@dataclass(frozen=True, slots=True)
class Task:
    """A question with its evidence, best passage first."""

    question: str
    evidence: tuple[Evidence, ...]
    as_of: date
    history: tuple[Turn, ...] = ()
    model: str = ""
    max_tokens: int = 0
    temperature: float | None = None
    evidence_incomplete: bool = False
    tenant: str = ""
    """Whose task it is: those of several tenants take turns."""
    figures: tuple[Figure, ...] = ()
    """What the statements in the evidence say to the question."""
    sampling: Sampling = PLAIN
    """How a language model chooses its words; other readers pass over it."""
    edits: tuple[PromptEdit, ...] = ()
    """Wordings of templates that the request brings."""


@dataclass(frozen=True, slots=True)
class Delta:
    """The next piece of the answer's text; `sureness` as ChatPiece has it, where it was asked for."""

    text: str
    sureness: float | None = None


@dataclass(frozen=True, slots=True)
class Quote:
    """A span of evidence that the answer rests on: text == evidence.text[start:end], in code points; score 0 to 1."""

    number: int
    start: int
    end: int
    text: str
    score: float


@dataclass(frozen=True, slots=True)
class Decline:
    """Why there is no answer; `detail` is one sentence in English that says what was missing."""

    reason: DeclineReason
    detail: str


@dataclass(frozen=True, slots=True)
class Finished:
    """The end of an answer, always the last event. `decline` is set when the reason is "declined"."""

    reason: Reason
    model: str
    prompt_version: str = ""
    prompt_tokens: int = 0
    completion_tokens: int = 0
    removed_markers: int = 0
    decline: Decline | None = None
    reader: str = ""
    """Who answered, where it is another than the service's reader."""


Event = Delta | Quote | Finished
