"""Evaluations: asked for, watched, cancelled; their matrix, leaderboard and items. A worker does them."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from fastapi import APIRouter, Depends, Path, Query, Request, Response
from pydantic import BaseModel, ConfigDict, Field
from quelea_kit.errors import InvalidInput, PermissionDenied, Unavailable
from quelea_kit.paging import DEFAULT_PAGE_SIZE, page_of

from quelea_gateway.core.evaluation import evaluations as core
from quelea_gateway.rest.error_schemas import ERRORS
from quelea_gateway.rest.fields import ListOut, PageSize, PageToken, Short, Time
from quelea_gateway.rest.state import gateway_of, key_of, only_administrators
from quelea_gateway.rest.transport.streams import while_there

router = APIRouter(tags=["evaluations"], dependencies=[Depends(only_administrators)])

_PATH = "/v1/evaluations"
ONE = _PATH + "/{evaluation_id}"
Id = Annotated[str, Path(max_length=64)]
_NO_WORKER = "No worker is running. Start one with `quelea eval work`; `quelea up` starts one by itself."


class OmniSettings(BaseModel):
    """OmniEval: every question of a set to one system; by topic and task."""

    model_config = ConfigDict(extra="forbid")

    questions: Short = Field(min_length=1, description="Name of a set of questions, of `question_sets`.")
    system: Short = Field(default=core.QUELEA, description="`quelea`, or the name of a model.")
    route: Literal["auto", "local", "web"] = Field(default="local", description="Of quelea.")
    passages: Literal["none", "given"] = Field(
        default="none", description="Of a model: closed book, or with the relevant passages."
    )
    judges: list[Short] = Field(default=[], max_length=5, description="Names of models; none: rule metrics only.")


class ArenaSettings(BaseModel):
    """UCFE: simulated users talk with systems, a judge compares."""

    model_config = ConfigDict(extra="forbid")

    bench: Short = Field(default="ucfe", description="Name of a file of items, of `benches`.")
    systems: list[Short] = Field(min_length=2, max_length=8, description="`quelea`, and names of models.")
    user: Short = Field(default="", description="Name of the model that plays the user; needed for conversations.")
    judge: Short = Field(min_length=1, description="Name of the model that judges.")
    tasks: list[Short] = Field(default=[], max_length=50, description="Only these of the bench.")
    per_task: int = Field(default=0, ge=0, le=1000, description="Most items of each task; 0: all.")


class _Start(BaseModel):
    model_config = ConfigDict(extra="forbid")

    name: Short = Field(default="", description="What people call it; its kind when left out.")
    seconds: float = Field(default=0, ge=0, description="Deadline from its start; 0: the longest that is allowed.")


class OmniIn(_Start):
    """POST /v1/evaluations, a matrix."""

    kind: Literal["omni"]
    settings: OmniSettings


class ArenaIn(_Start):
    """POST /v1/evaluations, a leaderboard."""

    kind: Literal["arena"]
    settings: ArenaSettings


EvaluationIn = Annotated[OmniIn | ArenaIn, Field(discriminator="kind")]


class EvaluationProgressOut(BaseModel):
    """How far the step is."""

    step: str = Field(description="`run`, `judge`, `talk`, `report`, …; empty while it waits.")
    done: int
    total: int = Field(description="0 while nobody knows.")


class EvaluationOut(BaseModel):
    """An evaluation."""

    id: str
    kind: core.Kind
    name: str
    state: core.State
    progress: EvaluationProgressOut
    settings: dict[str, Any]
    seconds: float = Field(description="Deadline from its start; 0 of one that a command published.")
    created: Time
    started: Time | None
    finished: Time | None
    error: str | None

    @classmethod
    def of(cls, one: core.Evaluation) -> EvaluationOut:
        """As the wire has it."""
        return cls(
            id=one.id,
            kind=one.kind,
            name=one.name,
            state=one.state,
            progress=EvaluationProgressOut(step=one.step, done=one.done, total=one.total),
            settings=one.settings,
            seconds=one.seconds,
            created=one.created,
            started=one.started,
            finished=one.finished,
            error=one.error,
        )


class EvaluationResultOut(EvaluationOut):
    """An evaluation with what came out."""

    result: dict[str, Any] | None = Field(
        description="Of `omni` the matrix (`cells`, `by_topic`, `by_task`, `overall`), of `arena` the `leaderboard` "
        "and `pair_wins`, as `quelea eval … report` writes them; null while there is none."
    )


class EvaluationListOut(ListOut):
    """Evaluations, newest first."""

    evaluations: list[EvaluationOut]


class EvaluationOptionsOut(BaseModel):
    """What can be evaluated here."""

    may_start: bool = Field(description="Whether the caller's key is an operator's.")
    worker: bool = Field(description="Whether a worker has been heard of within a minute.")
    advice: str | None = Field(description="Where none has, what to do.")
    updated: Time | None = Field(description="When it last was.")
    models: list[str]
    question_sets: dict[str, int] = Field(description="Name → number of questions.")
    benches: dict[str, int] = Field(description="Name → number of items.")


class ItemLineOut(BaseModel):
    """An item in short."""

    id: str
    topic: str = Field(description="Of an arena: the two systems.")
    task: str
    title: str
    failed: bool
    declined: bool
    values: dict[str, float | None] = Field(description="By metric; null where no verdict could be read.")


class ItemListOut(ListOut):
    """Items, in the order of the run."""

    items: list[ItemLineOut]
    total: int


class TurnOut(BaseModel):
    """What was said."""

    role: str = Field(description="`question`, `reference`, `answer`; in an arena `user` and `assistant`.")
    text: str


class DialogueOut(BaseModel):
    """What one system and its user said."""

    system: str
    turns: list[TurnOut]
    error: str | None


class EvidenceOut(BaseModel):
    """A passage."""

    role: str = Field(description="`relevant`: it should have been found; `read`: the system had it.")
    document_id: str
    title: str
    page: int
    start: int
    end: int
    text: str


class VerdictOut(BaseModel):
    """What a judge said."""

    judge: str
    about: str = Field(description="The aspect, or who stood first.")
    verdict: str = Field(description="Empty where it failed.")
    text: str
    failed: bool


class ItemOut(ItemLineOut):
    """An item with all that is known of it."""

    dialogues: list[DialogueOut]
    evidence: list[EvidenceOut]
    verdicts: list[VerdictOut]


def _may_start(request: Request) -> bool:
    gateway = gateway_of(request)
    return not gateway.access.required or key_of(request) in gateway.settings.operators


def _advice(request: Request) -> str:
    """What to do where no worker runs."""
    return gateway_of(request).settings.evaluations_advice or _NO_WORKER


def _check_operator(request: Request) -> None:
    if not _may_start(request):
        raise PermissionDenied(
            "Only operators' keys may start, cancel and delete evaluations; the operator names them in "
            "QUELEA_GATEWAY_OPERATORS."
        )


@router.get(
    _PATH + "/options", response_model=EvaluationOptionsOut, responses=ERRORS, summary="What can be evaluated here"
)
async def options(request: Request) -> EvaluationOptionsOut:
    """Models, sets of questions and benches of the worker."""
    worker = await while_there(request, gateway_of(request).evaluations.worker())
    return EvaluationOptionsOut(
        may_start=_may_start(request),
        worker=worker.alive,
        advice=None if worker.alive else _advice(request),
        updated=worker.updated or None,
        models=list(worker.models),
        question_sets=dict(worker.question_sets),
        benches=dict(worker.benches),
    )


@router.post(_PATH, status_code=202, response_model=EvaluationOut, responses=ERRORS, summary="Start an evaluation")
async def start(body: EvaluationIn, request: Request) -> EvaluationOut:
    """Accepted, it waits for the worker, which does one at a time. Only with an operator's key."""
    _check_operator(request)
    gateway = gateway_of(request)
    most = gateway.settings.evaluation_seconds
    if body.seconds > most:
        raise InvalidInput(f"seconds must be at most {most:g}, got {body.seconds:g}.", details={"field": "seconds"})
    worker = await while_there(request, gateway.evaluations.worker())
    if not worker.alive:
        raise Unavailable(_advice(request))
    settings = body.settings.model_dump()
    core.check_settings(body.kind, settings, worker)
    added = gateway.evaluations.add(
        body.kind, body.name.strip() or body.kind, settings, key=key_of(request), seconds=body.seconds or most
    )
    return EvaluationOut.of(await while_there(request, added))


@router.get(_PATH, response_model=EvaluationListOut, responses=ERRORS, summary="List evaluations")
async def listed(
    request: Request,
    kind: Annotated[list[core.Kind] | None, Query(description="Only these.")] = None,
    state: Annotated[list[core.State] | None, Query(description="Only these.")] = None,
    page_size: PageSize = DEFAULT_PAGE_SIZE,
    page_token: PageToken = "",
) -> EvaluationListOut:
    """Newest first, those of every key: they are of the deployment."""
    store = gateway_of(request).evaluations
    # One more than asked for tells whether there is another page.
    newest = store.newest(page_size + 1, before=page_token, kinds=tuple(kind or ()), states=tuple(state or ()))
    found = await while_there(request, newest)
    page = found[:page_size]
    return EvaluationListOut(
        evaluations=[EvaluationOut.of(one) for one in page],
        next_page_token=page[-1].id if len(found) > page_size else None,
    )


@router.get(ONE, response_model=EvaluationResultOut, responses=ERRORS, summary="One evaluation and its result")
async def one(evaluation_id: Id, request: Request) -> EvaluationResultOut:
    """How far it is, and once it has ended its matrix or leaderboard."""
    store = gateway_of(request).evaluations
    found = await while_there(request, store.get(evaluation_id))
    result = await while_there(request, store.result(evaluation_id))
    return EvaluationResultOut(**EvaluationOut.of(found).model_dump(), result=result)


@router.get(ONE + "/items", response_model=ItemListOut, responses=ERRORS, summary="List the items of an evaluation")
async def items(
    evaluation_id: Id,
    request: Request,
    topic: Annotated[list[str] | None, Query(description="Only these.")] = None,
    task: Annotated[list[str] | None, Query(description="Only these.")] = None,
    failed: Annotated[bool | None, Query(description="Only those that failed, or that did not.")] = None,
    page_size: PageSize = DEFAULT_PAGE_SIZE,
    page_token: PageToken = "",
) -> ItemListOut:
    """In the order of the run; none before it has a result."""
    lines = await while_there(request, gateway_of(request).evaluations.lines(evaluation_id))
    chosen = [
        line
        for line in lines
        if (not topic or line["topic"] in topic)
        and (not task or line["task"] in task)
        and (failed is None or line["failed"] == failed)
    ]
    page, token = page_of(chosen, lambda line: str(line["id"]), page_size, page_token)
    return ItemListOut(items=[ItemLineOut(**line) for line in page], total=len(chosen), next_page_token=token or None)


@router.get(ONE + "/items/{item_id}", response_model=ItemOut, responses=ERRORS, summary="One item")
async def item(evaluation_id: Id, item_id: Annotated[str, Path(max_length=300)], request: Request) -> ItemOut:
    """Question, evidence, answer, verdicts, failures."""
    return ItemOut(**await while_there(request, gateway_of(request).evaluations.item(evaluation_id, item_id)))


@router.post(ONE + "/cancel", response_model=EvaluationOut, responses=ERRORS, summary="Cancel an evaluation")
async def cancel(evaluation_id: Id, request: Request) -> EvaluationOut:
    """One that waits ends at once, one that runs within seconds. Can be repeated. Only with an operator's key."""
    _check_operator(request)
    return EvaluationOut.of(await while_there(request, gateway_of(request).evaluations.cancel(evaluation_id)))


@router.delete(ONE, status_code=204, response_class=Response, responses=ERRORS, summary="Delete an evaluation")
async def delete(evaluation_id: Id, request: Request) -> Response:
    """Forgets it with its items; 409 while it waits or runs. Only with an operator's key."""
    _check_operator(request)
    await while_there(request, gateway_of(request).evaluations.delete(evaluation_id))
    return Response(status_code=204)
