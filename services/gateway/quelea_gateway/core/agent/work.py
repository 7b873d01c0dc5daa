"""A run under way: what it knows, what it has used, how much time is left."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Protocol

from quelea_gateway.core.agent.grounding.evidence import Evidence
from quelea_gateway.core.agent.grounding.provenance import Session
from quelea_gateway.core.agent.model import (
    Artifact,
    Choice,
    EarlierRun,
    EventName,
    PlanStep,
    ReportedResult,
    RunRequest,
    Usage,
)
from quelea_gateway.core.agent.ports import (
    Checks,
    Clock,
    CodeFile,
    Door,
    DoorSession,
    KnowledgeBase,
    Model,
    ModelInfo,
    Pages,
    Sandbox,
    Statements,
    Tools,
    Trajectories,
    WebSearch,
)
from quelea_gateway.core.agent.texts import say
from quelea_gateway.core.prompts import NO_EDITS, Prompts, PromptSet, built_in_only

_KEYS = re.compile(r"quelea_[A-Za-z0-9_-]{20,}|\bsk-[A-Za-z0-9_-]{20,}")


@dataclass(frozen=True, slots=True)
class Ports:
    """The world of the agent; what a deployment lacks is None."""

    model: Model
    knowledge: KnowledgeBase
    clock: Clock
    tools: Tools | None = None
    sandbox: Sandbox | None = None
    door: Door | None = None
    web: WebSearch | None = None
    trajectories: Trajectories | None = None
    checks: Checks | None = None
    statements: Statements | None = None
    pages: Pages | None = None
    prompts: Prompts = built_in_only


@dataclass(frozen=True, slots=True)
class Rules:
    """How the loop behaves.

    Attributes:
        repairs: How often an answer of the model that does not fit is asked for again.
        code_repairs: How often code that failed is written again within a step.
        context_tokens: Where the model does not tell its own.
        output_tokens: Of one answer, at most half the context; 0: 2,048, at most a quarter. Thoughts count too.
        temperature: Of every answer; None: 0, a little more for code and for what is asked again.
        model_seconds, code_seconds, search_seconds: Deadlines of one call.
        finish_seconds: Kept for the conclusion, at most a third of the run's time.
        repeats: So many repeated actions end the loop.
        candidates: APIs shown to the model to pick from.
    """

    repairs: int = 2
    code_repairs: int = 2
    context_tokens: int = 8192
    output_tokens: int = 0
    temperature: float | None = None
    model_seconds: float = 90.0
    code_seconds: float = 60.0
    search_seconds: float = 20.0
    finish_seconds: float = 45.0
    repeats: int = 3
    candidates: int = 20
    passages: int = 6
    most_artifacts: int = 40
    most_artifact_bytes: int = 64 * 1024 * 1024


class Journal(Protocol):
    """Where a run writes down what happens. May raise QueleaError when it cannot be kept."""

    async def event(self, name: EventName, data: dict[str, Any]) -> None:
        """One event."""
        ...

    async def artifact(self, artifact: Artifact, data: bytes) -> None:
        """One file."""
        ...

    def progress(self, usage: Usage, calls: Sequence[dict[str, Any]], model: str) -> None:
        """What the run has used and called so far; kept however it ends."""
        ...


@dataclass(slots=True)
class Work:
    """A run under way; only its own loop changes it."""

    run_id: str
    request: RunRequest
    ports: Ports
    rules: Rules
    journal: Journal
    info: ModelInfo
    started: float
    prompts: PromptSet = NO_EDITS
    """The wordings of prompts that were in force when the run began."""
    actions: tuple[str, ...] = ()
    categories: tuple[str, ...] = ()
    profile: str = ""
    plan: tuple[PlanStep, ...] = ()
    insights: list[str] = field(default_factory=list)
    done: list[Choice] = field(default_factory=list)
    candidates: dict[str, str] = field(default_factory=dict)
    """APIs that were found: name to description."""
    documents: dict[str, str] = field(default_factory=dict)
    """APIs whose documents were read, the newest last."""
    observation: str = ""
    """Of what was done since the last decision."""
    verdict: str = "good"
    """On the last observation."""
    evidence: Evidence = field(default_factory=Evidence)
    artifacts: list[Artifact] = field(default_factory=list)
    results: list[ReportedResult] = field(default_factory=list)
    """What code reported."""
    variables: Session = field(default_factory=Session)
    """What the variables and files of the sandbox's session draw on."""
    notices: list[str] = field(default_factory=list)
    usage: Usage = field(default_factory=Usage)
    step: int = 0
    failures: int = 0
    """Calls of the model that failed, in a row."""
    shrink: float = 1.0
    """Of the prompt budget, after the endpoint said that a prompt was too long."""
    calls_functions: bool = True
    """Actions are asked for as calls of functions, until the model or its server is seen to make none."""
    out_of_tokens: bool = False
    """A prompt could not be afforded any more."""
    sandbox_session: str = ""
    door_session: DoorSession | None = None
    calls: dict[str, dict[str, Any]] = field(default_factory=dict)
    """Calls through the door by their id, in order."""
    ran: dict[str, int] = field(default_factory=dict)
    """Code that was run, by its words, to the step."""
    before: tuple[EarlierRun, ...] = ()
    """Of a follow-up the runs that it goes on from, the oldest first."""
    holds_of: tuple[str, ...] = ()
    """Ids of all runs before whose values it may hold; it is told of the last of them alone."""
    drawn_on: frozenset[str] = frozenset()
    """Ids of documents that these drew on."""
    told_of_session: str = ""
    """Of a follow-up: what its code finds, for the model."""
    files: list[CodeFile] = field(default_factory=list)
    """What the run before left, to lie beside the code of another session."""
    begins_with: Session = field(default_factory=Session)
    """What these files draw on: all that is known of a container that begins."""
    data_notes: list[str] = field(default_factory=list)
    """What is said of recorded data that it has seen."""

    @property
    def language(self) -> str:
        """ "en" or "zh", of the question."""
        return self.request.language

    @property
    def asked(self) -> str:
        """All that the user said: the question, behind those of the runs that it follows."""
        return "\n".join([*(one.question for one in self.before), self.request.question])

    @property
    def elapsed(self) -> float:
        """Seconds since the start."""
        return self.ports.clock.monotonic() - self.started

    @property
    def reserve(self) -> float:
        """Seconds kept for the conclusion."""
        return min(self.rules.finish_seconds, self.request.budget.seconds / 3)

    @property
    def time_left(self) -> float:
        """Seconds until the loop has to conclude."""
        return self.request.budget.seconds - self.reserve - self.elapsed

    @property
    def tokens_left(self) -> int:
        """Tokens until the loop has to conclude."""
        total = self.request.budget.tokens
        return total - min(self.context // 2, total // 4) - self.usage.tokens

    @property
    def context(self) -> int:
        """Tokens that a prompt and its answer may have."""
        return self.info.context_tokens or self.rules.context_tokens

    @property
    def output_tokens(self) -> int:
        """Tokens of one answer of the model, its thoughts among them."""
        wanted = self.rules.output_tokens or 2048
        return max(64, min(wanted, self.context // (2 if self.rules.output_tokens else 4)))

    @property
    def prompt_tokens(self) -> int:
        """Estimated tokens that a prompt may have; a margin is kept, as it is an estimate."""
        return max(200, int((self.context - self.output_tokens) * 0.85 * self.shrink))

    def count(self, **more: int) -> None:
        """Add to the usage."""
        self.usage = replace(self.usage, **{name: getattr(self.usage, name) + value for name, value in more.items()})

    def tell(self) -> None:
        """Tell the journal what was used so far."""
        calls = tuple(self.calls.values())
        used = replace(self.usage, seconds=round(self.elapsed, 3), calls=len(calls))
        self.journal.progress(used, calls, self.info.model)

    def scrubbed(self, text: str) -> str:
        """The text without the run's secrets and what looks like a key."""
        if self.door_session and self.door_session.token:
            text = text.replace(self.door_session.token, "[token]")
        return _KEYS.sub("[key]", text)

    def note_data(self, note: str) -> None:
        """Say in the answer what is said of recorded data."""
        if note not in self.data_notes:
            self.data_notes.append(note)
        self.notice(say("recorded_data", self.language, note=note))

    def notice(self, text: str) -> None:
        """For the answer, once."""
        if text not in self.notices:
            self.notices.append(text)


def plan_lines(plan: Sequence[PlanStep]) -> str:
    """The plan as a prompt shows it."""
    return "\n".join(f"{n}. {step.action}: {step.task}" for n, step in enumerate(plan, start=1)) or "-"
