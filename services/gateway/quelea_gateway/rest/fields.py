"""Fields and parameters that routes share: texts, days and times, pages of lists; unknown parameters are refused."""

from __future__ import annotations

from datetime import date
from typing import Annotated, Any

from fastapi import Query, Request
from pydantic import AfterValidator, BaseModel, BeforeValidator, Field
from quelea_kit.errors import InvalidInput
from quelea_kit.paging import MAX_PAGE_SIZE
from quelea_kit.reach import MOST_COLLECTIONS

PageSize = Annotated[int, Query(ge=1, le=MAX_PAGE_SIZE, description="At most this many items.")]
PageToken = Annotated[
    str, Query(max_length=1000, description="`next_page_token` of the page before; empty for the first page.")
]
Time = Annotated[str, Field(json_schema_extra={"format": "date-time"})]
"""A point in time, RFC 3339 in UTC."""


def _check_day(text: str) -> str:
    if text:
        date.fromisoformat(text)  # the pattern takes 2023-99-99 too
    return text


Day = Annotated[str, Field(pattern=r"^(\d{4}-\d{2}-\d{2})?$"), AfterValidator(_check_day)]
"""A day, YYYY-MM-DD, or empty."""


def _as_list(value: Any) -> Any:
    return [value] if isinstance(value, str) else value


Short = Annotated[str, Field(max_length=300)]
Many = Annotated[list[Short], BeforeValidator(_as_list), Field(max_length=200)]

CollectionName = Annotated[str, Field(min_length=1, max_length=40)]
"""The name of a collection."""

Collections = Annotated[
    list[CollectionName],
    Field(max_length=MOST_COLLECTIONS, description="Only these; all that the key may read when left out."),
]
Collection = Annotated[
    str, Field(max_length=40, description="Where it goes; `default` when left out. The key needs the right to write.")
]

_RENAMED = {"limit": "page_size", "k": "page_size"}


class ListOut(BaseModel):
    """A page of a list."""

    next_page_token: str | None = Field(description="Send it as `page_token` for the next page; null on the last.")


async def check_query(request: Request) -> None:
    """Refuse query parameters that the route does not have: a misspelt filter would otherwise list everything."""
    route = request.scope["route"].dependant
    parts = (route, *route.dependencies)
    names = [parameter.alias for part in parts for parameter in part.query_params]
    for name in request.query_params:
        if name in names:
            continue
        renamed = _RENAMED.get(name, "")
        if renamed in names:
            message = f"{name} is now {renamed}"
        elif names:
            message = f"no such parameter; use {', '.join(names)}"
        else:
            message = "this address takes no query parameters"
        raise InvalidInput(f"query.{name[:100]}: {message}.", details={"field": name[:100]})
