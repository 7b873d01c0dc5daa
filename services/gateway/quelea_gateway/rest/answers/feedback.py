"""Thumbs on answers: given, listed for an evaluation, deleted."""

from __future__ import annotations

import contextlib
from typing import Annotated

from fastapi import APIRouter, Path, Query, Request, Response
from pydantic import BaseModel, ConfigDict, Field
from quelea_kit.errors import InvalidInput
from quelea_kit.paging import DEFAULT_PAGE_SIZE
from quelea_kit.text_fields import check_length

from quelea_gateway.adapters.stores.file_store import Unreadable
from quelea_gateway.core.chats.conversations import Said
from quelea_gateway.core.evaluation import feedback as core
from quelea_gateway.gateway import Gateway
from quelea_gateway.rest.error_schemas import ERRORS
from quelea_gateway.rest.fields import Day, ListOut, PageSize, PageToken, Short, Time
from quelea_gateway.rest.state import gateway_of, key_of
from quelea_gateway.rest.transport.streams import while_there

router = APIRouter(tags=["feedback"])

MOST_QUESTION = 8000
MOST_ANSWER = 20_000
MOST_WHY = 2000
_EARLIER = 50
"""Thumbs before a deleted one among which that is looked for which counts again."""
_PATH = "/v1/feedback"


class FeedbackIn(BaseModel):
    """POST /v1/feedback."""

    model_config = ConfigDict(extra="forbid")

    question: str = Field(min_length=1, description=f"As it was asked; at most {MOST_QUESTION:,} characters.")
    answer: str = Field(min_length=1, description=f"As it was given; at most {MOST_ANSWER:,} characters.")
    thumb: core.Thumb
    why: str = Field(default="", description=f"At most {MOST_WHY:,} characters.")
    reasons: list[core.Reason] = Field(
        default=[], max_length=6, description="accurate, complete, well_sourced of a thumb up; the others of one down."
    )
    answer_id: Short = Field(default="", description="Your own name for the answer: the id of a chat completion, say.")
    as_of: Day = Field(default="", description="The answer's.")
    model: Short = Field(default="", description="The answer's.")
    prompt_version: Short = Field(default="", description="The answer's.")
    document_ids: list[Short] = Field(default=[], max_length=100, description="Documents that the answer cites.")
    conversation_id: Short = Field(
        default="", description="Of a saved conversation that has the answer: the thumb is shown there from now on."
    )


class FeedbackOut(BaseModel):
    """A thumb."""

    id: str
    created: Time
    thumb: core.Thumb
    question: str
    answer: str
    why: str
    reasons: list[core.Reason]
    answer_id: str
    as_of: Day
    model: str
    prompt_version: str
    document_ids: list[str]

    @classmethod
    def of(cls, one: core.Feedback) -> FeedbackOut:
        """As the wire has it."""
        return cls(**{**one.as_dict(), "document_ids": list(one.document_ids), "reasons": list(one.reasons)})


class FeedbackListOut(ListOut):
    """Thumbs, newest first."""

    feedback: list[FeedbackOut]


@router.post(_PATH, status_code=201, response_model=FeedbackOut, responses=ERRORS, summary="Give a thumb")
async def give(body: FeedbackIn, request: Request) -> FeedbackOut:
    """Whether an answer helped, and why. Answers are not stored, so question and answer come along.

    A later thumb on the same question and answer stands beside the earlier one; an export takes the later. The last one
    sent again is that one: after a failure a caller may repeat it.
    """
    if not body.question.strip() or not body.answer.strip():
        field = "answer" if body.question.strip() else "question"
        raise InvalidInput(f"{field} is empty; send its text.", details={"field": field})
    for text, field, most in (
        (body.question, "question", MOST_QUESTION),
        (body.answer, "answer", MOST_ANSWER),
        (body.why, "why", MOST_WHY),
    ):
        check_length(text, field, most)
    if odd := [reason for reason in body.reasons if (reason in core.GOOD) != (body.thumb == "up")]:
        raise InvalidInput(
            f"{odd[0]} is not a reason for a thumb {body.thumb}, only for the other one.", details={"field": "reasons"}
        )
    lists = {"document_ids": tuple(body.document_ids), "reasons": tuple(dict.fromkeys(body.reasons))}
    said = body.model_dump(exclude={"conversation_id"})
    return FeedbackOut.of(
        await while_there(request, _add(request, core.Feedback(**{"id": "", "created": "", **said, **lists}), body))
    )


async def _add(request: Request, given: core.Feedback, body: FeedbackIn) -> core.Feedback:
    gateway, owner = gateway_of(request), key_of(request)
    if body.conversation_id:
        await gateway.conversations.check(owner, body.conversation_id)
    stored = await gateway.feedback.add(owner, given)
    if body.conversation_id:
        said = Said(stored.question, stored.answer)
        await gateway.conversations.mark(owner, body.conversation_id, said, stored.mark)
    return stored


@router.get(_PATH, response_model=FeedbackListOut, responses=ERRORS, summary="List thumbs")
async def listed(
    request: Request,
    thumb: Annotated[list[core.Thumb] | None, Query(description="Only these.")] = None,
    page_size: PageSize = DEFAULT_PAGE_SIZE,
    page_token: PageToken = "",
) -> FeedbackListOut:
    """Newest first, those that were given under the caller's key."""
    store = gateway_of(request).feedback
    # One more than asked for tells whether there is another page.
    found = await while_there(
        request, store.newest(key_of(request), page_size + 1, before=page_token, thumbs=tuple(thumb or ()))
    )
    page = found[:page_size]
    return FeedbackListOut(
        feedback=[FeedbackOut.of(one) for one in page], next_page_token=page[-1].id if len(found) > page_size else None
    )


@router.delete(
    _PATH + "/{feedback_id}", status_code=204, response_class=Response, responses=ERRORS, summary="Delete a thumb"
)
async def delete(feedback_id: Annotated[str, Path(max_length=64)], request: Request) -> Response:
    """Forgets it, question and answer with it; a saved answer that showed it shows the one before it, or none."""
    await while_there(request, _delete(gateway_of(request), key_of(request), feedback_id))
    return Response(status_code=204)


async def _delete(gateway: Gateway, owner: str, feedback_id: str) -> None:
    with contextlib.suppress(Unreadable):  # nobody knows which answer it is on
        given = await gateway.feedback.get(owner, feedback_id)
        # First, so that a call that fails half way can be made again.
        await gateway.conversations.unmark(owner, given, await _before(gateway, owner, given))
    await gateway.feedback.delete(owner, feedback_id)


async def _before(gateway: Gateway, owner: str, given: core.Feedback) -> core.Feedback | None:
    """The thumb before it on the same answer; None of one among those that cannot be read."""
    earlier: list[core.Feedback] = []
    with contextlib.suppress(Unreadable):
        earlier = await gateway.feedback.newest(owner, _EARLIER, before=given.id)
    on_it = (one for one in earlier if (one.question, one.answer) == (given.question, given.answer))
    return next(on_it, None)
