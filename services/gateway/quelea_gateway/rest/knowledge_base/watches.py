"""Watched companies: their new filings come by themselves."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Path, Request
from pydantic import BaseModel, ConfigDict, Field
from quelea.search.v1 import search_pb2
from quelea_kit.paging import DEFAULT_PAGE_SIZE, page_of
from quelea_kit.reach import DEFAULT_COLLECTION

from quelea_gateway.core.callers.access import Right
from quelea_gateway.rest.error_schemas import ERRORS
from quelea_gateway.rest.fields import Collection, ListOut, PageSize, PageToken, Time
from quelea_gateway.rest.knowledge_base.fetch import Company, FetchedOut, Forms, Years
from quelea_gateway.rest.knowledge_base.jobs import iso
from quelea_gateway.rest.state import gateway_of, principal_of, write_in
from quelea_gateway.rest.transport.streams import while_there

router = APIRouter(tags=["documents"])


class WatchIn(BaseModel):
    """Which filings of a company are to come."""

    model_config = ConfigDict(extra="forbid")

    company: Company
    forms: Forms = []
    years: Years = 1
    collection: Collection = ""


class WatchOut(BaseModel):
    """A company, and how the last look for new filings went."""

    id: str
    source: str
    company: str
    ticker: str
    forms: list[str]
    added: Time | None
    looked: Time | None
    due: Time | None = Field(description="When it is looked at again.")
    error: str | None = Field(description="What went wrong at the last look.")
    new: int = Field(description="Documents that the last look with any has queued.")
    new_at: Time | None
    collection: str

    @classmethod
    def of(cls, watch: search_pb2.Watch) -> WatchOut:
        """From the wire's."""
        return cls(
            id=watch.id,
            source=watch.source,
            company=watch.company,
            ticker=watch.ticker,
            forms=list(watch.forms),
            added=iso(watch.added),
            looked=iso(watch.looked),
            due=iso(watch.due),
            error=watch.error or None,
            new=watch.new,
            new_at=iso(watch.new_at),
            collection=watch.collection or DEFAULT_COLLECTION,
        )


class WatchedOut(BaseModel):
    """A watch that is there from now on, and what was fetched at once."""

    watch: WatchOut
    fetch: FetchedOut | None = Field(description="null when nothing was filed in these years.")


class WatchesOut(ListOut):
    """By name of the company."""

    watches: list[WatchOut]


class WatchRemovedOut(BaseModel):
    """A watch that is no more; the documents stay."""

    id: str


@router.post("/v1/watches", status_code=202, response_model=WatchedOut, responses=ERRORS, summary="Watch a company")
async def add(body: WatchIn, request: Request) -> WatchedOut:
    """Fetches a company's filings as POST /v1/fetch does, and from now on its new ones within a day."""
    await write_in(request, body.collection)
    wanted = search_pb2.FetchFilingsRequest(
        company=body.company, forms=body.forms, years=body.years, collection=body.collection
    )
    made = await while_there(request, gateway_of(request).search.watch_company(wanted))
    fetched = FetchedOut.of(made.fetched) if made.HasField("fetched") else None
    return WatchedOut(watch=WatchOut.of(made.watch), fetch=fetched)


@router.get("/v1/watches", response_model=WatchesOut, responses=ERRORS, summary="List watched companies")
async def watches(request: Request, page_size: PageSize = DEFAULT_PAGE_SIZE, page_token: PageToken = "") -> WatchesOut:
    """By name of the company."""
    found = await gateway_of(request).search.watches()
    page, token = page_of(found, lambda one: f"{one.company}\n{one.id}", page_size, page_token)
    return WatchesOut(watches=[WatchOut.of(one) for one in page], next_page_token=token or None)


@router.delete(
    "/v1/watches/{watch_id}", response_model=WatchRemovedOut, responses=ERRORS, summary="Watch a company no more"
)
async def remove(watch_id: Annotated[str, Path(max_length=64)], request: Request) -> WatchRemovedOut:
    """The documents that it has brought stay."""
    search, principal = gateway_of(request).search, principal_of(request)
    for watch in await search.watches():
        if watch.id == watch_id:
            principal.require(Right.WRITE, watch.collection or DEFAULT_COLLECTION)
    await search.remove_watch(watch_id)
    return WatchRemovedOut(id=watch_id)
