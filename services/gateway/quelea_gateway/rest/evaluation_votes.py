"""What people say of an evaluation: labels of its items, blind votes on its dialogues, and how far they agree."""

from __future__ import annotations

from dataclasses import asdict
from typing import Annotated

from fastapi import APIRouter, Depends, Path, Query, Request
from pydantic import BaseModel, ConfigDict, Field
from quelea_kit.errors import InvalidInput
from quelea_kit.paging import DEFAULT_PAGE_SIZE

from quelea_gateway.core.evaluation import evaluations as core
from quelea_gateway.core.evaluation.votes import Choice
from quelea_gateway.rest.error_schemas import ERRORS
from quelea_gateway.rest.evaluations import ONE, Id, TurnOut
from quelea_gateway.rest.fields import ListOut, PageSize, PageToken, Short, Time
from quelea_gateway.rest.state import gateway_of, only_administrators
from quelea_gateway.rest.transport.streams import while_there

router = APIRouter(tags=["evaluations"], dependencies=[Depends(only_administrators)])

Rater = Annotated[str, Field(min_length=1, max_length=60, description="The person's name.")]


class AspectIn(BaseModel):
    """A number for one aspect."""

    model_config = ConfigDict(extra="forbid")

    aspect: Short = Field(description="`accuracy`, `completeness`, …; the result's `scales` have them.")
    turn: int = Field(default=1, ge=1, description="Which answer of a conversation.")
    label: int


class LabelsIn(BaseModel):
    """POST /v1/evaluations/{evaluation_id}/labels."""

    model_config = ConfigDict(extra="forbid")

    item_id: str = Field(max_length=300)
    rater: Rater
    labels: list[AspectIn] = Field(min_length=1, max_length=100)


class LabelOut(BaseModel):
    """A label, as `quelea eval omni agreement` reads it."""

    question: str = Field(description="Id of the item.")
    turn: int
    aspect: str
    label: int
    rater: str
    judge: int | None = Field(description="The judge's number; null where it gave none, or several judged.")


class LabelListOut(ListOut):
    """Labels; a page has those of so many items and raters."""

    labels: list[LabelOut]


class ComparisonOut(BaseModel):
    """Two dialogues without the names of their systems; who stands where is drawn for each rater."""

    number: int
    total: int
    voted: int = Field(description="How many of them this rater has voted on.")
    next: int | None = Field(description="One that this rater has not voted on; null: there is none.")
    task: str
    complete: bool = Field(description="False where a dialogue failed: there is nothing to vote on.")
    left: list[TurnOut]
    right: list[TurnOut]
    choice: Choice | None = Field(description="This rater's vote.")


class VoteIn(BaseModel):
    """POST /v1/evaluations/{evaluation_id}/votes."""

    model_config = ConfigDict(extra="forbid")

    number: int = Field(ge=1, description="Of the comparison.")
    rater: Rater
    choice: Choice


class VoteOut(BaseModel):
    """A vote; a line of JSON each, they are what `quelea eval arena vote ARENA --add` reads."""

    item_id: str
    rater: str
    task: str
    first: str
    second: str
    score: float = Field(description="Of the first: 1 better, 0.5 equal, 0 worse.")
    at: Time


class VoteListOut(ListOut):
    """Votes, in no order."""

    votes: list[VoteOut]


class VoteAgreementOut(BaseModel):
    """How far people agree, and the judge with them."""

    votes: int
    raters: dict[str, int] = Field(description="Name → votes.")
    comparisons: int
    shared: int = Field(description="Comparisons on which several voted.")
    alpha: float | None = Field(description="Krippendorff's, nominal; null where nobody could have disagreed.")
    judged: int = Field(description="Comparisons that the judge compared too.")
    same: float | None = Field(description="Share of these where judge and people find the same side better.")


def _rater(name: str) -> str:
    """A name without what stands around it."""
    if not (rater := name.strip()):
        raise InvalidInput("rater is empty; send a name.", details={"field": "rater"})
    return rater


def _label_out(one: core.Label) -> LabelOut:
    told = {name: getattr(one, name) for name in ("turn", "aspect", "label", "rater", "judge")}
    return LabelOut(question=one.item_id, **told)


@router.post(
    ONE + "/labels", status_code=201, response_model=list[LabelOut], responses=ERRORS, summary="Judge an item by hand"
)
async def label(evaluation_id: Id, body: LabelsIn, request: Request) -> list[LabelOut]:
    """A rater's later labels of an item replace the earlier ones."""
    rater = _rater(body.rater)
    given = [(one.aspect, one.turn, one.label) for one in body.labels]
    stored = gateway_of(request).evaluations.label(evaluation_id, body.item_id, rater, given)
    return [_label_out(one) for one in await while_there(request, stored)]


@router.get(ONE + "/labels", response_model=LabelListOut, responses=ERRORS, summary="List labels of people")
async def labels(
    evaluation_id: Id, request: Request, page_size: PageSize = DEFAULT_PAGE_SIZE, page_token: PageToken = ""
) -> LabelListOut:
    """One line of JSON each, they are the file that `quelea eval omni agreement` reads."""
    found, token = await while_there(
        request, gateway_of(request).evaluations.labels(evaluation_id, page_size, page_token)
    )
    return LabelListOut(labels=[_label_out(one) for one in found], next_page_token=token or None)


@router.get(
    ONE + "/comparisons/{number}", response_model=ComparisonOut, responses=ERRORS, summary="Two dialogues, blind"
)
async def comparison(
    evaluation_id: Id,
    number: Annotated[int, Path(ge=1)],
    request: Request,
    rater: Annotated[str, Query(min_length=1, max_length=60, description="Who reads them.")],
) -> ComparisonOut:
    """Of an arena, in an order drawn once; nothing here tells which system is which."""
    found = gateway_of(request).evaluations.comparison(evaluation_id, number, _rater(rater))
    return ComparisonOut(**asdict(await while_there(request, found)))


@router.post(ONE + "/votes", status_code=201, response_model=ComparisonOut, responses=ERRORS, summary="Vote, blind")
async def vote(evaluation_id: Id, body: VoteIn, request: Request) -> ComparisonOut:
    """A rater's later vote on a comparison replaces the earlier one."""
    store = gateway_of(request).evaluations
    voted = store.vote(evaluation_id, body.number, _rater(body.rater), body.choice)
    return ComparisonOut(**asdict(await while_there(request, voted)))


@router.get(ONE + "/votes", response_model=VoteListOut, responses=ERRORS, summary="List votes of people")
async def votes(
    evaluation_id: Id, request: Request, page_size: PageSize = DEFAULT_PAGE_SIZE, page_token: PageToken = ""
) -> VoteListOut:
    """With the systems' names: read them when you have voted."""
    found, token = await while_there(
        request, gateway_of(request).evaluations.votes(evaluation_id, page_size, page_token)
    )
    return VoteListOut(votes=[VoteOut(**asdict(one)) for one in found], next_page_token=token or None)


@router.get(ONE + "/agreement", response_model=VoteAgreementOut, responses=ERRORS, summary="How far people agree")
async def agreement(evaluation_id: Id, request: Request) -> VoteAgreementOut:
    """Krippendorff's alpha among raters, and how often the judge finds the same side better."""
    found = await while_there(request, gateway_of(request).evaluations.agreement(evaluation_id))
    return VoteAgreementOut(**asdict(found))
