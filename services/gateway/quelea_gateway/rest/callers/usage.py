"""GET /v1/usage: who used how much, by key and day; for administrators."""

from __future__ import annotations

from dataclasses import asdict
from datetime import UTC, date, datetime, timedelta
from typing import Annotated, Any, Literal

from fastapi import APIRouter, Query, Request, Response
from pydantic import BaseModel, Field
from quelea_kit.errors import InvalidInput
from quelea_kit.paging import DEFAULT_PAGE_SIZE, page_of

from quelea_gateway.core.callers.usage import FIELDS, Row, Usage, tally
from quelea_gateway.rest.error_schemas import ERRORS
from quelea_gateway.rest.fields import Day, ListOut, PageSize, PageToken
from quelea_gateway.rest.state import administrator_of, gateway_of
from quelea_gateway.rest.statements.facts import csv_response
from quelea_gateway.rest.transport.streams import while_there

router = APIRouter(tags=["operation"])

_USUAL_DAYS = 30
_MOST_DAYS = 4000


class UsedOut(BaseModel):
    """What was used."""

    questions: int = Field(description="Asked, whether or not they could be answered.")
    tokens_read: int = Field(description="By the language model, as its endpoint counts them; answers and runs.")
    tokens_written: int
    runs: int = Field(description="Runs of the agent that have ended.")
    uploads: int = Field(description="Files and addresses handed in.")
    refusals: int = Field(description="Calls turned away: an invalid value, a missing right, a limit.")


class UsageRowOut(UsedOut):
    """What was used by a key on a day."""

    day: Day = Field(description="In UTC; empty where rows are by key.")
    tenant: str = Field(description="Empty where rows are by day.")
    key: str = Field(description="The key's name, or whom a token was for; empty where rows are by day.")

    @classmethod
    def of(cls, row: Row) -> UsageRowOut:
        """As the wire has it."""
        return cls(day=row.day, tenant=row.tenant, key=row.key, **asdict(row.usage))


class UsageListOut(ListOut):
    """Usage between two days, by day, tenant and key."""

    day_from: Day
    day_to: Day
    usage: list[UsageRowOut]
    all: UsedOut = Field(description="Of all rows of all pages together.")


_CONTENT: dict[int | str, dict[str, Any]] = {
    200: {"description": "The rows; as CSV when asked for.", "content": {"text/csv": {"schema": {"type": "string"}}}}
}


@router.get("/v1/usage", response_model=UsageListOut, responses={**_CONTENT, **ERRORS}, summary="Usage by key and day")
async def usage(
    request: Request,
    day_from: Annotated[Day, Query(alias="from", description="Empty: 30 days up to `to`.")] = "",
    day_to: Annotated[Day, Query(alias="to", description="Empty: today (UTC).")] = "",
    by: Annotated[Literal["", "key", "day"], Query(description="Sum up per key or per day; empty: neither.")] = "",
    key: Annotated[list[str] | None, Query(max_length=100, description="Only keys of these names.")] = None,
    output: Annotated[Literal["json", "csv"], Query(alias="format", description="csv has all rows.")] = "json",
    page_size: PageSize = DEFAULT_PAGE_SIZE,
    page_token: PageToken = "",
) -> Response | UsageListOut:
    """Counted by all gateways that share the store; a few seconds may be missing of another one. For administrators."""
    administrator_of(request)
    last = date.fromisoformat(day_to) if day_to else datetime.now(UTC).date()
    first = date.fromisoformat(day_from) if day_from else last - timedelta(days=min(_USUAL_DAYS, last.toordinal()) - 1)
    if first > last:
        raise InvalidInput(f"from ({first}) is after to ({last}).", details={"field": "from"})
    if (last - first).days > _MOST_DAYS:
        raise InvalidInput(f"At most {_MOST_DAYS:,} days can be asked for at once.", details={"field": "from"})
    rows = tally(await while_there(request, gateway_of(request).usage.read(first, last)), by, key or ())
    if output == "csv":
        head = ["day", "tenant", "key", *FIELDS]
        return csv_response([head, *([row.day, row.tenant, row.key, *_numbers(row.usage)] for row in rows)])
    page, next_page_token = page_of(rows, lambda row: f"{row.day} {row.tenant} {row.key}", page_size, page_token)
    return UsageListOut(
        day_from=first.isoformat(),
        day_to=last.isoformat(),
        usage=[UsageRowOut.of(row) for row in page],
        all=UsedOut(**asdict(sum((row.usage for row in rows), Usage()))),
        next_page_token=next_page_token or None,
    )


def _numbers(usage: Usage) -> list[str]:
    return [str(getattr(usage, name)) for name in FIELDS]
