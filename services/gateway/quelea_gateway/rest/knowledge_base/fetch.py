"""POST /v1/fetch: a company's filings come from EDGAR or cninfo, by jobs like uploads."""

from __future__ import annotations

import uuid
from collections.abc import AsyncIterator
from typing import Annotated, Literal

from fastapi import APIRouter, Path, Request, Response
from fastapi.responses import StreamingResponse
from pydantic import BaseModel, ConfigDict, Field
from quelea.search.v1 import search_pb2
from quelea_kit.errors import NotFound
from quelea_kit.reach import is_bound

from quelea_gateway.rest.agent.bundles import door_of
from quelea_gateway.rest.error_schemas import ERRORS
from quelea_gateway.rest.fields import Collection
from quelea_gateway.rest.knowledge_base.jobs import JobOut
from quelea_gateway.rest.state import gateway_of, principal_of, write_in
from quelea_gateway.rest.transport.streams import while_there

router = APIRouter(tags=["documents"])
_FILE = "application/octet-stream"
_RUN = r"^fetch-[0-9a-f]{1,64}$"


Company = Annotated[
    str,
    Field(
        min_length=1,
        max_length=200,
        description="A ticker, a name, a short name in Chinese (简称), the code of an A share, or a CIK.",
    ),
]
Forms = Annotated[
    list[Annotated[str, Field(min_length=1, max_length=40)]],
    Field(
        max_length=20,
        description="Of EDGAR: 10-K, 10-Q, 8-K (with its EX-99 exhibits), 20-F, …; of cninfo: 年报, 半年报, 一季报, "
        "三季报. Left out: 10-K and 10-Q, or 年报.",
    ),
]
Years = Annotated[int, Field(ge=0, le=20, description="Filed within so many years; 0: the deployment's default.")]


class FetchIn(BaseModel):
    """What to fetch."""

    model_config = ConfigDict(extra="forbid")

    company: Company
    forms: Forms = []
    years: Years = 0
    bundle_ids: list[Annotated[str, Field(min_length=1, max_length=64)]] = Field(
        default=[],
        max_length=20,
        description="Recordings to replay instead of asking the source; for administrators' keys.",
    )
    collection: Collection = ""


class FilingOut(BaseModel):
    """One document of a filing."""

    id: str = Field(description="Number at its source: edgar:0001065280-25-000044; a filing's documents share it.")
    form: str
    title: str
    url: str
    filed: str
    period_end: str
    state: Literal["stored", "queued"] = Field(description="stored: it is here, and nothing was done.")
    document_id: str | None
    job: JobOut | None = Field(description="What brings it in; null where it is stored.")

    @classmethod
    def of(cls, filing: search_pb2.Filing) -> FilingOut:
        """From the wire's."""
        return cls(
            id=filing.id,
            form=filing.form,
            title=filing.title,
            url=filing.url,
            filed=filing.filed,
            period_end=filing.period_end,
            state="queued" if filing.HasField("job") else "stored",
            document_id=filing.document_id or None,
            job=JobOut.of(filing.job) if filing.HasField("job") else None,
        )


class FetchedOut(BaseModel):
    """What the company has filed, newest first, and what becomes of it."""

    run_id: str = Field(description="GET /v1/fetch/{run_id}/bundle gives its recording.")
    source: str
    company: str
    ticker: str
    filed_from: str
    filed_to: str
    filings: list[FilingOut]
    left_out: int = Field(description="Older documents beyond the deployment's limit.")

    @classmethod
    def of(cls, found: search_pb2.FetchFilingsResponse) -> FetchedOut:
        """From the wire's."""
        return cls(
            run_id=found.run_id,
            source=found.source,
            company=found.company,
            ticker=found.ticker,
            filed_from=found.filed_from,
            filed_to=found.filed_to,
            filings=[FilingOut.of(filing) for filing in found.filings],
            left_out=found.left_out,
        )


@router.post("/v1/fetch", status_code=202, response_model=FetchedOut, responses=ERRORS, summary="Fetch filings")
async def fetch(body: FetchIn, request: Request) -> FetchedOut:
    """Looks up what a company has filed and queues each document that is not stored; nothing is fetched twice.

    404 with suggestions for an unknown company, and for nothing filed in these years; 409 where this deployment fetches
    nothing, or has no contact for the SEC.
    """
    if body.bundle_ids:
        principal_of(request).require_administrator()
    await write_in(request, body.collection)
    wanted = search_pb2.FetchFilingsRequest(
        company=body.company,
        forms=body.forms,
        years=body.years,
        bundle_ids=body.bundle_ids,
        collection=body.collection,
    )
    found = await while_there(request, gateway_of(request).search.fetch_filings(wanted))
    return FetchedOut.of(found)


@router.get(
    "/v1/fetch/{run_id}/bundle",
    response_class=Response,
    responses={200: {"content": {_FILE: {"schema": {"type": "string", "format": "binary"}}}}, **ERRORS},
    summary="Recording of a fetch",
)
async def bundle(run_id: Annotated[str, Path(pattern=_RUN)], request: Request) -> Response:
    """All calls of a fetch with their bodies, for a replay elsewhere; complete when its jobs have ended."""
    door = door_of(request)
    asked = run_id
    if not is_bound(principal_of(request).tenant, run_id.removeprefix("fetch-")):
        asked = f"fetch-{uuid.uuid4().hex}"  # another tenant's is as one that is not there, and takes as long
    pieces = door.bundle(asked)
    try:
        first = await while_there(request, anext(pieces, b""))
    except NotFound as error:
        error.message = error.message.replace(asked, run_id)
        raise

    async def whole() -> AsyncIterator[bytes]:
        yield first
        async for piece in pieces:
            yield piece

    return StreamingResponse(whole(), media_type=_FILE)
