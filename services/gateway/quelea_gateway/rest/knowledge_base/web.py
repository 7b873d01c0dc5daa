"""Pages of the web: what waits in quarantine, what was kept and why; approve, reject, roll back."""

from __future__ import annotations

import re
from datetime import UTC, date, datetime, time, timedelta
from typing import Annotated, Any, Literal

from fastapi import APIRouter, Query, Request
from google.protobuf.timestamp_pb2 import Timestamp
from pydantic import BaseModel, ConfigDict, Field
from quelea.search.v1 import search_pb2
from quelea_kit.errors import InvalidInput
from quelea_kit.paging import DEFAULT_PAGE_SIZE

from quelea_gateway.core.callers.access import Right
from quelea_gateway.rest.error_schemas import ERRORS, ErrorOut
from quelea_gateway.rest.fields import ListOut, PageSize, PageToken, Time
from quelea_gateway.rest.knowledge_base.jobs import iso
from quelea_gateway.rest.state import gateway_of, principal_of
from quelea_gateway.rest.transport.streams import while_there

router = APIRouter(tags=["web"])

State = Literal["pending", "kept", "rejected", "vanished"]
_STATES: dict[State, search_pb2.WebPageState.ValueType] = {
    "pending": search_pb2.WEB_PAGE_STATE_PENDING,
    "kept": search_pb2.WEB_PAGE_STATE_KEPT,
    "rejected": search_pb2.WEB_PAGE_STATE_REJECTED,
    "vanished": search_pb2.WEB_PAGE_STATE_VANISHED,
}
_NAMES: dict[int, State] = {number: name for name, number in _STATES.items()}
_ERRORS: dict[int | str, dict[str, Any]] = {
    **ERRORS,
    415: {"model": ErrorOut, "description": "Web search is not available in this deployment."},
}

_MOMENT = r"^(\d{4}-\d{2}-\d{2}([Tt]\d{2}:\d{2}:\d{2}(\.\d{1,6})?([Zz]|[+-]\d{2}:\d{2})?)?)?$"
_ABOUT_MOMENT = "A day, YYYY-MM-DD in UTC, or a moment, RFC 3339."
Moment = Annotated[str, Field(pattern=_MOMENT, max_length=40, description=_ABOUT_MOMENT)]
Url = Annotated[str, Field(min_length=1, max_length=2000)]
Host = Annotated[str, Field(min_length=1, max_length=300)]
_EARLIEST = datetime(1970, 1, 1, tzinfo=UTC)


class WebPageOut(BaseModel):
    """A page of the web and how it came in."""

    url: str
    host: str
    title: str
    state: State
    document_id: str | None
    queries: list[str] = Field(description="The questions for which it was useful, oldest first.")
    provider: str
    score: float
    published: str
    published_source: str = Field(description="page, url, text or provider: where the date is from.")
    fetched: Time | None
    expires: Time | None = Field(description="When it is read again.")
    added: Time | None
    reason: str = Field(description="Why it is in its state.")
    kind: str

    @classmethod
    def of(cls, record: search_pb2.WebPageRecord) -> WebPageOut:
        """From the wire's."""
        return cls(
            url=record.canonical_url,
            host=record.host,
            title=record.title,
            state=_NAMES.get(record.state, "pending"),
            document_id=record.document_id or None,
            queries=list(record.queries),
            provider=record.provider,
            score=record.score,
            published=record.published,
            published_source=record.published_source,
            fetched=iso(record.fetched),
            expires=iso(record.expires),
            added=iso(record.added),
            reason=record.reason,
            kind=record.kind,
        )


class WebPagesOut(ListOut):
    """Newest first."""

    pages: list[WebPageOut]
    total: int = Field(description="Of all pages of the list.")


class WebPagesIn(BaseModel):
    """Which pages: all given fields must hold, and at least one must be given."""

    model_config = ConfigDict(extra="forbid")

    urls: list[Url] = Field(default=[], max_length=1000)
    hosts: list[Host] = Field(default=[], max_length=200)
    states: list[State] = Field(default=[], max_length=10)
    added_from: Moment = ""
    added_to: Moment = ""


class StartedJobOut(BaseModel):
    """A job that the decision started."""

    id: str


class DecidedOut(BaseModel):
    """The pages as they are now, and the jobs that bring approved ones in."""

    pages: list[WebPageOut]
    jobs: list[StartedJobOut]


def moment(given: str, field: str, *, end: bool = False) -> Timestamp | None:
    """A day or a moment on the wire; None for none. A day ends with its last microsecond when `end` is set.

    Raises:
        InvalidInput: there is no such day or time.
    """
    if not given:
        return None
    try:
        if len(given) == len("2000-01-01"):
            day = datetime.combine(date.fromisoformat(given), time(), UTC)
            when = day + timedelta(days=1, microseconds=-1) if end else day
        else:
            when = datetime.fromisoformat(re.sub("[Zz]$", "+00:00", given).replace("t", "T"))
            when = when if when.tzinfo else when.replace(tzinfo=UTC)
        stamp = Timestamp()
        stamp.FromDatetime(max(when.astimezone(UTC), _EARLIEST))
    except (ValueError, OverflowError) as error:
        raise InvalidInput(
            f"{field} must be YYYY-MM-DD or an RFC 3339 time, got {given!r}.", details={"field": field}
        ) from error
    return stamp


def filter_of(body: WebPagesIn) -> search_pb2.WebPageFilter:
    """As the wire has it."""
    return search_pb2.WebPageFilter(
        urls=body.urls,
        hosts=body.hosts,
        states=[_STATES[state] for state in body.states],
        added_from=moment(body.added_from, "added_from"),
        added_to=moment(body.added_to, "added_to", end=True),
    )


@router.get(
    "/v1/web/pages",
    response_model=WebPagesOut,
    responses=_ERRORS,
    summary="List web pages",
)
async def pages(
    request: Request,
    state: Annotated[list[State], Query(max_length=10)] = [],  # noqa: B006  # FastAPI copies it
    host: Annotated[list[Host], Query(max_length=200)] = [],  # noqa: B006  # FastAPI copies it
    url: Annotated[list[Url], Query(max_length=200)] = [],  # noqa: B006  # FastAPI copies it
    added_from: Moment = "",
    added_to: Moment = "",
    page_size: PageSize = DEFAULT_PAGE_SIZE,
    page_token: PageToken = "",
) -> WebPagesOut:
    """What waits for approval, what was kept, rejected or has vanished; repeat a filter to allow several values."""
    principal_of(request).require(Right.MANAGE)
    wanted = WebPagesIn.model_construct(urls=url, hosts=host, states=state, added_from=added_from, added_to=added_to)
    found = await gateway_of(request).search.web_pages(
        search_pb2.ListWebPagesRequest(filter=filter_of(wanted), page_size=page_size, page_token=page_token)
    )
    shown = [WebPageOut.of(record) for record in found.pages]
    return WebPagesOut(pages=shown, total=max(found.total, len(shown)), next_page_token=found.next_page_token or None)


async def _decide(request: Request, body: WebPagesIn, decision: search_pb2.WebDecision.ValueType) -> DecidedOut:
    principal_of(request).require(Right.MANAGE)
    if not (body.urls or body.hosts or body.states or body.added_from or body.added_to):
        raise InvalidInput(
            "Choose pages with at least one of urls, hosts, states, added_from and added_to.", details={"field": "urls"}
        )
    wanted = search_pb2.DecideWebPagesRequest(filter=filter_of(body), decision=decision)
    done = await while_there(request, gateway_of(request).search.decide_web_pages(wanted))
    return DecidedOut(
        pages=[WebPageOut.of(record) for record in done.pages], jobs=[StartedJobOut(id=one) for one in done.job_ids]
    )


@router.post("/v1/web/pages/approve", response_model=DecidedOut, responses=_ERRORS, summary="Approve web pages")
async def approve(body: WebPagesIn, request: Request) -> DecidedOut:
    """They enter the knowledge base; `jobs` says how far they are."""
    return await _decide(request, body, search_pb2.WEB_DECISION_APPROVE)


@router.post("/v1/web/pages/reject", response_model=DecidedOut, responses=_ERRORS, summary="Reject web pages")
async def reject(body: WebPagesIn, request: Request) -> DecidedOut:
    """They leave the knowledge base, and are not used for answers any more."""
    return await _decide(request, body, search_pb2.WEB_DECISION_REJECT)


@router.post("/v1/web/pages/roll-back", response_model=DecidedOut, responses=_ERRORS, summary="Roll web pages back")
async def roll_back(body: WebPagesIn, request: Request) -> DecidedOut:
    """They leave the knowledge base, as if they had never been found."""
    return await _decide(request, body, search_pb2.WEB_DECISION_ROLL_BACK)
