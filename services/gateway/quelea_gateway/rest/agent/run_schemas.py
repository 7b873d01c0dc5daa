"""Runs of the agent as JSON, a contract that others build on: fields are added, never renamed or removed."""

from __future__ import annotations

from dataclasses import asdict
from typing import Annotated, Any, Literal

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field

from quelea_gateway.core.agent.model import Artifact, Run
from quelea_gateway.rest.fields import Collections, Day, ListOut, Time

State = Literal["queued", "running", "finished", "failed", "cancelled", "interrupted"]
Fetched = Annotated[Time | None, BeforeValidator(lambda stored: stored or None)]
"""Stored runs have an empty string where there was none."""


class LimitsIn(BaseModel):
    """What the run may use; what is left out is the server's default."""

    model_config = ConfigDict(extra="forbid")

    steps: int = Field(default=0, ge=0, description="Actions, the conclusion among them.")
    tokens: int = Field(default=0, ge=0, description="Of all prompts and completions.")
    seconds: float = Field(default=0, ge=0)
    calls: int = Field(default=0, ge=0, description="To data providers.")


class RunIn(BaseModel):
    """POST /v1/agent/runs."""

    model_config = ConfigDict(extra="forbid")

    question: str
    as_of: Day | None = Field(default=None, description="Data as it was on this day, YYYY-MM-DD; default: today.")
    model: str = Field(default="", max_length=300)
    limits: LimitsIn = LimitsIn()
    bundle_ids: list[Annotated[str, Field(min_length=1, max_length=200)]] = Field(
        default=[],
        max_length=20,
        description="Replay: the code sees the recorded calls of these bundles only; for administrators' keys.",
    )
    collections: Collections = []
    follows: str = Field(
        default="",
        max_length=64,
        description="A finished run of yours that this one goes on from; its bundles, and its as_of where it had one, "
        "are the defaults then.",
    )
    stream: bool = Field(default=False, description="Answer with the run's events at once.")


class LimitsOut(BaseModel):
    """What the run may use."""

    steps: int
    tokens: int
    seconds: float
    calls: int


class UsageOut(LimitsOut):
    """What the run has used."""

    model_calls: int
    prompt_tokens: int
    completion_tokens: int
    repairs: int = Field(description="Answers of the model that did not fit and were asked for again.")
    fallbacks: int = Field(description="Times when the model's answer could not be used at all.")


class ArtifactOut(BaseModel):
    """A file that the run made: GET url."""

    name: str
    media_type: str
    bytes: int
    step: int
    path: str = Field(description="What the code called it.")
    traced: bool = Field(
        default=False, description="It is a table or a text that draws on no number that was typed into the code."
    )
    url: str

    @classmethod
    def of(cls, artifact: Artifact, run_id: str) -> ArtifactOut:
        """From the core's."""
        return cls(**asdict(artifact), url=f"/v1/agent/runs/{run_id}/artifacts/{artifact.name}")


class SourceOut(BaseModel):
    """Something that the answer's figures rest on, with what is needed to open it."""

    number: int = Field(description="The n of [n] in the text.")
    kind: Literal["execution", "call", "passage"]
    title: str
    step: int
    excerpt: str
    url: str = Field(description="Of a call: what was fetched. Of a page of the web: its address.")
    fetched: Fetched
    sha256: str = Field(description="Of the bytes that a call brought.")
    call_id: str
    document_id: str = Field(description="Of a passage: it opens at `open`.")
    page: int
    start: int
    end: int
    used: bool = Field(description="The answer cites it, or has a figure of it.")
    run: str = Field(default="", description="The run before this one that brought it; empty: this one did.")
    open: str = Field(description="Where to look at it in this gateway.")


class RunFigureOut(BaseModel):
    """A figure of the answer: text[start:end]."""

    text: str
    start: int
    end: int
    verdict: Literal["supported", "derived", "contradicted", "not_found", "not_traced"]
    source: int = Field(description="Number of the source; 0: none.")
    formula: str


class ResultOut(BaseModel):
    """A result that the run's code reported."""

    name: str
    value: str
    unit: str
    step: int
    inputs: list[str] = Field(description="What it rests on: passages, files, functions of data libraries.")
    traced: bool = Field(description="It draws on no number that was typed into the code.")
    source: int = Field(description="Number of the source that has it; 0: none.")


class RunAnswerOut(BaseModel):
    """What the run concluded."""

    text: str
    complete: bool = Field(description="False when it had to end before, or something is missing.")
    grounded: bool = Field(description="No figure is without a source.")
    sources: list[SourceOut]
    figures: list[RunFigureOut]
    missing: list[str]
    withheld: list[str] = Field(description="Sentences whose figures nothing supports; not in the text.")
    artifacts: list[ArtifactOut]
    notices: list[str]
    results: list[ResultOut] = Field(default_factory=list, description="What its code reported.")
    ended_by: str = Field(
        default="",
        description="Why it had to conclude: steps, time, tokens, repeats, model_away, no_answer; empty: it chose to.",
    )

    @classmethod
    def of(cls, stored: dict[str, Any], run_id: str) -> RunAnswerOut:
        """From what is stored."""
        sources = [SourceOut(**one, open=_open(one, run_id)) for one in stored["sources"]]
        artifacts = [ArtifactOut.of(Artifact(**one), run_id) for one in stored["artifacts"]]
        return cls(**{**stored, "sources": sources, "artifacts": artifacts})


class CallOut(BaseModel):
    """A call that the run's code made through the market-data door."""

    id: str
    step: int
    method: str
    url: str
    asked: str
    fetched: Fetched
    status: int
    media_type: str
    sha256: str
    bytes: int
    source: str
    reason: str


class RunOut(BaseModel):
    """A run."""

    id: str
    question: str
    as_of: str
    language: str
    model: str
    state: State
    created: Time
    started: Time | None
    finished: Time | None
    limits: LimitsOut
    usage: UsageOut
    bundle_ids: list[str]
    follows: str = Field(default="", description="The run that it goes on from; empty: none.")
    error: str | None
    answer: RunAnswerOut | None
    artifacts: list[ArtifactOut]
    calls: list[CallOut]
    has_bundle: bool

    @classmethod
    def of(cls, run: Run) -> RunOut:
        """From the core's."""
        return cls(
            id=run.id,
            question=run.question,
            as_of=run.as_of,
            language=run.language,
            model=run.model,
            state=run.state,
            created=run.created,
            started=run.started or None,
            finished=run.ended or None,
            limits=LimitsOut(**asdict(run.budget)),
            usage=UsageOut(**asdict(run.usage)),
            bundle_ids=list(run.bundle_ids),
            follows=run.follows,
            error=run.error or None,
            answer=RunAnswerOut.of(run.answer, run.id) if run.answer else None,
            artifacts=[ArtifactOut.of(one, run.id) for one in run.artifacts],
            calls=[CallOut(**one) for one in run.calls],
            has_bundle=run.has_bundle,
        )


class RunsOut(ListOut):
    """The caller's runs, newest first, without answers: `GET /v1/agent/runs/{id}` has them."""

    runs: list[RunOut]


class CancelOut(BaseModel):
    """Whether it was queued or running."""

    cancelled: bool


def _open(source: dict[str, Any], run_id: str) -> str:
    run_id = source.get("run") or run_id
    if source["kind"] == "passage":
        span = f"?start={source['start']}&end={source['end']}#quote"
        return f"/v1/documents/{source['document_id']}/pages/{source['page']}{span}"
    if source["kind"] == "call":
        return f"/v1/agent/runs/{run_id}/bundle"
    return f"/v1/agent/runs/{run_id}/notebook"
