"""The objects of a run."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, replace
from typing import Any, Literal

from quelea_checker import UNSUPPORTED
from quelea_kit.reach import DEFAULT_TENANT, Reach

State = Literal["queued", "running", "finished", "failed", "cancelled", "interrupted"]
ENDED: frozenset[str] = frozenset({"finished", "failed", "cancelled", "interrupted"})

Why = Literal["", "steps", "time", "tokens", "repeats", "model_away", "no_answer"]
"""Why a run had to conclude; empty: the model chose to."""

EventName = Literal["state", "plan", "step", "code", "output", "plot", "reflection", "answer", "error"]
NOT_TRACED = "not_traced"
"""Verdict on a figure that rests on numbers typed into code."""
TEXTS = ("text/csv", "text/plain", "application/json")
"""Kinds of files that are read as evidence."""
FINISH = "finish"
"""The action that ends the loop."""


@dataclass(frozen=True, slots=True)
class Budget:
    """What a run may use.

    Attributes:
        steps: Actions; the paper's L.
        tokens: Of all prompts and completions together.
        seconds: From its start, waiting in the queue apart.
        calls: To data providers, through the market-data door.
    """

    steps: int = 10
    tokens: int = 200_000
    seconds: float = 300.0
    calls: int = 100


@dataclass(frozen=True, slots=True)
class RunRequest:
    """What was asked for; every value checked and filled in."""

    question: str
    as_of: str
    """YYYY-MM-DD."""
    tenant: str
    language: str = "en"
    model: str = ""
    budget: Budget = Budget()
    bundle_ids: tuple[str, ...] = ()
    """Replay: the run sees the recorded calls of these bundles and no others."""
    pinned: bool = False
    """The caller gave as_of: data is as it was on that day."""
    follows: str = ""
    """Id of a finished run of the same caller, which this one goes on from."""


@dataclass(frozen=True, slots=True)
class Usage:
    """What a run has used."""

    steps: int = 0
    tokens: int = 0
    """Of prompts and completions together."""
    seconds: float = 0.0
    calls: int = 0
    model_calls: int = 0
    prompt_tokens: int = 0
    completion_tokens: int = 0
    repairs: int = 0
    """Answers of the model that did not fit and were asked for again."""
    fallbacks: int = 0
    """Times when the model's answer could not be used at all."""


@dataclass(frozen=True, slots=True)
class Artifact:
    """A file that a run made."""

    name: str
    media_type: str
    bytes: int
    step: int
    path: str = ""
    """What the code called it."""
    traced: bool = False
    """It is a table or a text that draws on no number that was typed into code."""


@dataclass(frozen=True, slots=True)
class PlanStep:
    """One step of the overall plan."""

    action: str
    task: str


@dataclass(frozen=True, slots=True)
class EarlierRun:
    """What a follow-up is told of a run before it; `code` is the last that ran."""

    id: str
    question: str
    plan: tuple[PlanStep, ...] = ()
    code: str = ""
    report: str = ""


@dataclass(frozen=True, slots=True)
class Choice:
    """The next action, with the fields that the model filled in.

    Attributes:
        code: Code that came with the action already; it is what runs first.
    """

    action: str
    arguments: Mapping[str, str | tuple[str, ...]] = field(default_factory=dict)
    code: str = ""

    def __post_init__(self) -> None:
        object.__setattr__(self, "arguments", {name: value for name, value in self.arguments.items() if value})

    def text(self, name: str) -> str:
        """A field that is one text; empty when it was not filled in."""
        value = self.arguments.get(name, "")
        return value if isinstance(value, str) else " ".join(value)

    def texts(self, name: str) -> tuple[str, ...]:
        """A field that is a list of texts."""
        value = self.arguments.get(name, ())
        return (value,) if isinstance(value, str) else value

    @property
    def key(self) -> tuple[str, ...]:
        """Equal for the same action with the same arguments, whatever its case and blanks."""
        fields = (f"{name} {' '.join(self.texts(name))}" for name in sorted(self.arguments))
        return tuple(" ".join(part.lower().split()) for part in (self.action, *fields, self.code))

    def shown(self) -> dict[str, Any]:
        """The action and its fields, for events and prompts."""
        fields = {name: value if isinstance(value, str) else list(value) for name, value in self.arguments.items()}
        return {"action": self.action, **fields}


@dataclass(frozen=True, slots=True)
class Source:
    """Something that the answer's figures rest on, with what a reader needs to open it.

    Attributes:
        number: The n of [n] in the answer, where what is cited comes first; while the run lasts, the order in which
            sources came.
        kind: "execution", "call" or "passage".
        step: Of an execution: where its code and output are. Of a call or passage: the step that brought it.
        url, fetched, sha256, call_id: Of a call; of a web passage url and fetched.
        document_id, page, start, end: Of a passage: GET /v1/documents/{id}/pages/{page}?start=&end=.
        used: The answer cites it or has a figure of it.
        run: The run that brought it, where that is one before this.
    """

    number: int
    kind: Literal["execution", "call", "passage"]
    title: str
    step: int
    excerpt: str = ""
    url: str = ""
    fetched: str = ""
    sha256: str = ""
    call_id: str = ""
    document_id: str = ""
    page: int = 0
    start: int = 0
    end: int = 0
    used: bool = False
    run: str = ""


@dataclass(frozen=True, slots=True)
class FigureCheck:
    """A figure of the answer and its verdict (the checker's, or "not_traced"); the span is the answer's."""

    text: str
    start: int
    end: int
    verdict: str
    source: int = 0
    """Number of the source; 0: none."""
    formula: str = ""


@dataclass(frozen=True, slots=True)
class ReportedResult:
    """A result that code reported.

    Attributes:
        inputs: What it rests on: "passage 3", "file prices.csv", "akshare.stock_us_daily", …
        traced: It draws on no number that was typed into the code.
        source: Number of the source that has it.
    """

    name: str
    value: str
    unit: str
    step: int
    inputs: tuple[str, ...]
    traced: bool
    source: int


@dataclass(frozen=True, slots=True)
class RunAnswer:
    """What the run concluded.

    Attributes:
        complete: The model concluded by itself; False when steps, time or tokens ran out, or the model failed.
        missing: What could not be done, one line each.
        withheld: Sentences whose figures nothing supports; they are not in the text.
    """

    text: str
    complete: bool
    sources: tuple[Source, ...] = ()
    figures: tuple[FigureCheck, ...] = ()
    missing: tuple[str, ...] = ()
    withheld: tuple[str, ...] = ()
    artifacts: tuple[Artifact, ...] = ()
    notices: tuple[str, ...] = ()
    results: tuple[ReportedResult, ...] = ()
    """What its code reported, in order."""
    ended_by: Why = ""
    """Why it had to conclude; empty: the model chose to."""

    @property
    def grounded(self) -> bool:
        """No figure is without a source, and none rests on numbers that were typed into code."""
        return all(figure.verdict not in (*UNSUPPORTED, NOT_TRACED) for figure in self.figures)

    def as_dict(self) -> dict[str, Any]:
        """For JSON."""
        return {**asdict(self), "grounded": self.grounded}


@dataclass(frozen=True, slots=True)
class Event:
    """One event of a run: numbered from 1 without gaps.

    Attributes:
        at: RFC 3339.
    """

    number: int
    name: EventName
    at: str
    data: dict[str, Any]

    def as_dict(self) -> dict[str, Any]:
        """For JSON."""
        return {"number": self.number, "event": self.name, "at": self.at, "data": self.data}


@dataclass(frozen=True, slots=True)
class Run:
    """A run as it is stored and shown."""

    id: str
    tenant: str
    question: str
    as_of: str
    language: str
    model: str
    state: State
    created: str
    budget: Budget
    usage: Usage = Usage()
    started: str = ""
    ended: str = ""
    bundle_ids: tuple[str, ...] = ()
    error: str = ""
    answer: dict[str, Any] | None = None
    artifacts: tuple[Artifact, ...] = ()
    calls: tuple[dict[str, Any], ...] = ()
    """Every call that its code made through the door."""
    has_bundle: bool = False
    gateway: str = ""
    """Identity of the gateway process that runs it."""
    follows: str = ""
    """The run that it goes on from; empty: none."""
    reach: Reach = field(default_factory=Reach)
    """What it found was found within it."""
    documents: tuple[str, ...] = ()
    """Ids of the documents that it, or a run that it was told of, drew on."""

    def as_dict(self) -> dict[str, Any]:
        """For JSON."""
        return asdict(self)

    @classmethod
    def from_dict(cls, stored: dict[str, Any]) -> Run:
        """From as_dict(). Raises TypeError or KeyError when it is none."""
        return cls(
            **{
                **stored,
                "budget": Budget(**stored["budget"]),
                "usage": Usage(**stored["usage"]),
                "bundle_ids": tuple(stored["bundle_ids"]),
                "artifacts": tuple(Artifact(**one) for one in stored["artifacts"]),
                "calls": tuple(stored["calls"]),
                "reach": _reach_of(stored.get("reach", {})),
                "documents": tuple(stored.get("documents", ())),
            }
        )

    def changed(self, **fields: Any) -> Run:
        """The run with some fields changed."""
        return replace(self, **fields)


def _reach_of(stored: dict[str, Any]) -> Reach:
    named = stored.get("collections")
    return Reach(stored.get("tenant", DEFAULT_TENANT), None if named is None else tuple(named))


@dataclass(slots=True)
class Observation:
    """What an action brought.

    Attributes:
        text: For the model.
        verdict: "good", "empty" or "wrong", as far as it can be told without reading.
        sources: Numbers of the sources that it added.
        again: It could not be done yet; to choose it once more is no repetition.
    """

    text: str
    verdict: Literal["good", "empty", "wrong"] = "good"
    sources: list[int] = field(default_factory=list)
    artifacts: list[Artifact] = field(default_factory=list)
    again: bool = False
