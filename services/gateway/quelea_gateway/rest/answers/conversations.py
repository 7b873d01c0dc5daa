"""Saved conversations: made, listed, searched, opened, renamed, exported, deleted. POST /v1/ask adds to them."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import Annotated, Any

from fastapi import APIRouter, Path, Query, Request, Response
from pydantic import BaseModel, ConfigDict, Field
from quelea_kit.errors import InvalidInput, QueleaError
from quelea_kit.paging import DEFAULT_PAGE_SIZE, MAX_PAGE_SIZE, Position, decode_position, encode_position
from quelea_kit.text_fields import check_length

from quelea_gateway.core.chats.conversations import Conversation, SavedTurn, documents_of
from quelea_gateway.core.evaluation.feedback import Reason, Thumb
from quelea_gateway.core.model import Filters
from quelea_gateway.exports import MEDIA_TYPES, AnswerFormat, export_conversation
from quelea_gateway.gateway import Gateway
from quelea_gateway.rest.answers.answer_schemas import AnswerOut
from quelea_gateway.rest.answers.ask import MARKDOWN
from quelea_gateway.rest.answers.question_schemas import FiltersIn
from quelea_gateway.rest.error_schemas import ERRORS
from quelea_gateway.rest.fields import ListOut, PageSize, PageToken, Time
from quelea_gateway.rest.knowledge_base.documents import place_link
from quelea_gateway.rest.state import base_url, gateway_of, key_of
from quelea_gateway.rest.transport.streams import while_there

router = APIRouter(tags=["conversations"])

MOST_TITLE = 200
MOST_SEARCHED = 300
_PATH = "/v1/conversations"
_ENDINGS = {"markdown": "md"}
Id = Annotated[str, Path(max_length=64)]


class ConversationIn(BaseModel):
    """POST and PATCH /v1/conversations."""

    model_config = ConfigDict(extra="forbid")

    title: str = Field(description=f"At most {MOST_TITLE} characters: the first question, say.")


class ConversationOut(BaseModel):
    """A saved conversation without its answers."""

    id: str
    title: str
    created: Time
    updated: Time | None = Field(description="When its last answer was saved; null while there is none.")
    turns: int = Field(description="How many questions with their answers it has.")

    @classmethod
    def of(cls, one: Conversation) -> ConversationOut:
        """As the wire has it."""
        return cls(id=one.id, title=one.title, created=one.created, updated=one.updated or None, turns=len(one.said))


class ConversationsOut(ListOut):
    """The last one talked in first."""

    conversations: list[ConversationOut]


class SavedThumbOut(BaseModel):
    """A thumb on a saved answer."""

    id: str = Field(description="As DELETE /v1/feedback/{id} takes it; empty where an early version stored the thumb.")
    thumb: Thumb
    why: str
    reasons: list[Reason]


class SavedTurnOut(BaseModel):
    """A question and its answer, as it was given."""

    id: str
    created: Time
    question: str
    filters: FiltersIn = Field(description="Those that the question was asked with.")
    collections: list[str] = Field(default=[], description="Those that the question named.")
    group: str = Field(description="Neighbours with the same group are answers side by side; empty: one by itself.")
    answer: AnswerOut
    thumb: SavedThumbOut | None = Field(default=None, description="The last one given on it; null: none was.")

    @classmethod
    def of(cls, one: SavedTurn) -> SavedTurnOut:
        """As the wire has it."""
        return cls.model_validate(one.as_dict())


class WholeConversationOut(BaseModel):
    """A saved conversation with its answers, oldest first."""

    id: str
    title: str
    created: Time
    updated: Time | None
    saved: list[SavedTurnOut]
    removed: list[str] | None = Field(
        default=[],
        description="Documents that its answers cite and that are not here any more: deleted, replaced by a newer "
        "version, or in a collection that the key may no longer read. Their quotes stay. null: it could not be told.",
    )


@router.post(_PATH, status_code=201, response_model=ConversationOut, responses=ERRORS, summary="Save a conversation")
async def create(body: ConversationIn, request: Request) -> ConversationOut:
    """An empty one. Its id as `conversation_id` of POST /v1/ask saves the answers in it.

    409 when the key has as many as are kept (CONVERSATIONS_PER_KEY).
    """
    title = _title(body)
    return ConversationOut.of(
        await while_there(request, gateway_of(request).conversations.create(key_of(request), title))
    )


@router.get(_PATH, response_model=ConversationsOut, responses=ERRORS, summary="List conversations")
async def listed(
    request: Request,
    query: Annotated[
        str, Query(description="Only those that have every word of it in title, questions or answers.")
    ] = "",
    page_size: PageSize = DEFAULT_PAGE_SIZE,
    page_token: PageToken = "",
) -> ConversationsOut:
    """Those of the caller's key, the last one talked in first."""
    check_length(query, "query", MOST_SEARCHED)
    before = decode_position(page_token)
    found = await while_there(request, gateway_of(request).conversations.find(key_of(request), query))
    rest = [one for one in found if before is None or _position(one) < before]
    page = rest[:page_size]
    return ConversationsOut(
        conversations=[ConversationOut.of(one) for one in page],
        next_page_token=encode_position(_position(page[-1])) if len(rest) > page_size else None,
    )


@router.get(_PATH + "/{conversation_id}", response_model=WholeConversationOut, responses=ERRORS, summary="Open one")
async def whole(conversation_id: Id, request: Request) -> WholeConversationOut:
    """With every question and answer, citations and verdicts as they were given."""
    head, turns = await while_there(request, gateway_of(request).conversations.get(key_of(request), conversation_id))
    return await while_there(request, _whole(gateway_of(request), head, turns))


@router.patch(_PATH + "/{conversation_id}", response_model=ConversationOut, responses=ERRORS, summary="Rename one")
async def rename(conversation_id: Id, body: ConversationIn, request: Request) -> ConversationOut:
    """Gives it another title."""
    title = _title(body)
    store = gateway_of(request).conversations
    return ConversationOut.of(await while_there(request, store.rename(key_of(request), conversation_id, title)))


@router.delete(
    _PATH + "/{conversation_id}",
    status_code=204,
    response_class=Response,
    responses=ERRORS,
    summary="Delete a conversation",
)
async def delete(conversation_id: Id, request: Request) -> Response:
    """Forgets it with all its answers."""
    await while_there(request, gateway_of(request).conversations.delete(key_of(request), conversation_id))
    return Response(status_code=204)


_FILES: dict[str, Any] = {
    MEDIA_TYPES[name]: {"schema": {"type": "string", "format": "binary"}} for name in ("xlsx", "docx", "pdf")
}
_EXPORTED: dict[int | str, dict[str, Any]] = {
    200: {"description": "The conversation as a file.", "content": {"application/json": {}, **MARKDOWN, **_FILES}},
    **ERRORS,
}


@router.get(
    _PATH + "/{conversation_id}/export", response_class=Response, responses=_EXPORTED, summary="Export a conversation"
)
async def export(
    conversation_id: Id,
    request: Request,
    wanted: Annotated[
        AnswerFormat | None,
        Query(alias="format", description="Left out: JSON, everything that is saved of it. Else every answer in turn."),
    ] = None,
) -> Response:
    """All its questions and answers as a file; 400 for one without answers."""
    head, turns = await while_there(request, gateway_of(request).conversations.get(key_of(request), conversation_id))
    name = f"conversation-{head.created[:10]}"
    out = await while_there(request, _whole(gateway_of(request), head, turns))
    if wanted is None:
        return _file(out.model_dump_json().encode(), "application/json", f"{name}.json")
    if not turns:
        raise InvalidInput("The conversation has no answers yet; ask a question in it first.")
    link = place_link(base_url(request))
    pairs = [(turn.question, turn.answer.model_dump()) for turn in out.saved]
    data = await while_there(request, export_conversation(head.title, pairs, link, wanted))
    return _file(data, MEDIA_TYPES[wanted], f"{name}.{_ENDINGS.get(wanted, wanted)}")


async def _whole(gateway: Gateway, head: Conversation, turns: list[SavedTurn]) -> WholeConversationOut:
    removed: list[str] | None
    try:
        removed = await _removed(gateway, turns)
    except QueleaError:  # the answers can be read all the same
        removed = None
    return WholeConversationOut(
        id=head.id,
        title=head.title,
        created=head.created,
        updated=head.updated or None,
        saved=[SavedTurnOut.of(one) for one in turns],
        removed=removed,
    )


async def _removed(gateway: Gateway, turns: Sequence[SavedTurn]) -> list[str]:
    """Those of the documents which the answers cite that the caller does not see any more."""
    cited = sorted({one for turn in turns for one in documents_of(turn.answer)})
    there: set[str] = set()
    for start in range(0, len(cited), MAX_PAGE_SIZE):
        filters = Filters(document_ids=tuple(cited[start : start + MAX_PAGE_SIZE]))
        found = await gateway.retriever.documents(page_size=MAX_PAGE_SIZE, page_token="", filters=filters)
        there.update(one.id for one in found.documents)
    return [one for one in cited if one not in there]


def _file(data: bytes, media_type: str, name: str) -> Response:
    return Response(data, media_type=media_type, headers={"Content-Disposition": f'attachment; filename="{name}"'})


def _title(body: ConversationIn) -> str:
    check_length(body.title, "title", MOST_TITLE)
    title = " ".join(body.title.split())
    if not title:
        raise InvalidInput("title is empty; send, for example, the first question.", details={"field": "title"})
    return title


def _position(one: Conversation) -> Position:
    return datetime.fromisoformat(one.touched).timestamp(), one.id
