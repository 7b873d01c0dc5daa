"""Bundles of recorded market data: brought in, listed. Runs replay them; a run's own is at its `/bundle`."""

from __future__ import annotations

from fastapi import APIRouter, Depends, Request
from pydantic import BaseModel, Field
from quelea_kit.errors import Conflict, InvalidInput
from quelea_kit.paging import DEFAULT_PAGE_SIZE, page_of

from quelea_gateway.adapters.services.door import DoorClient
from quelea_gateway.rest.error_schemas import ERRORS
from quelea_gateway.rest.fields import ListOut, PageSize, PageToken
from quelea_gateway.rest.state import gateway_of, only_administrators
from quelea_gateway.rest.transport.streams import while_there

router = APIRouter(tags=["agent"], dependencies=[Depends(only_administrators)])

PATH = "/v1/agent/bundles"
_MEDIA_TYPE = "application/octet-stream"
_BODY = {
    "requestBody": {"required": True, "content": {_MEDIA_TYPE: {"schema": {"type": "string", "format": "binary"}}}}
}


class BundleImportedOut(BaseModel):
    """A bundle that was taken in."""

    id: str = Field(description="Give it as one of `bundle_ids` of a run.")
    calls: int


class BundleOut(BundleImportedOut):
    """A bundle that runs can replay."""

    run_id: str = Field(description="The run that it was recorded from.")
    bytes: int
    first_fetched: str = Field(description="RFC 3339; empty where it has no calls.")
    last_fetched: str = Field(description="RFC 3339; empty where it has no calls.")


class BundleListOut(ListOut):
    """Bundles."""

    bundles: list[BundleOut]


def door_of(request: Request) -> DoorClient:
    """The market-data door. Raises Conflict where there is none."""
    door = gateway_of(request).analyst.door
    if door is None:
        raise Conflict("This deployment has no market-data door; start it with `quelea up --agent` or `--fetch`.")
    return door


@router.post(
    PATH,
    status_code=201,
    response_model=BundleImportedOut,
    responses=ERRORS,
    openapi_extra=_BODY,
    summary="Import recorded market data",
)
async def import_bundle(request: Request) -> BundleImportedOut:
    """The body is a bundle's file, of a run's `/bundle` or of `python -m quelea_search.door.samples`.

    Every call in it is checked against its hash; the same bundle again changes nothing.
    """
    if request.headers.get("content-type", _MEDIA_TYPE).partition(";")[0] != _MEDIA_TYPE:
        raise InvalidInput(f"Send the bundle itself as the body, with Content-Type {_MEDIA_TYPE}.")
    bundle_id, calls = await door_of(request).import_bundle(request.stream())
    return BundleImportedOut(id=bundle_id, calls=calls)


@router.get(PATH, response_model=BundleListOut, responses=ERRORS, summary="List recorded market data")
async def list_bundles(
    request: Request, page_size: PageSize = DEFAULT_PAGE_SIZE, page_token: PageToken = ""
) -> BundleListOut:
    """What runs can replay, by id."""
    found = sorted(await while_there(request, door_of(request).bundles()), key=lambda one: one.id)
    page, token = page_of(found, lambda one: one.id, page_size, page_token)
    return BundleListOut(
        bundles=[
            BundleOut(
                id=one.id,
                calls=one.calls,
                run_id=one.run_id,
                bytes=one.bytes,
                first_fetched=getattr(one, "from"),
                last_fetched=one.to,
            )
            for one in page
        ],
        next_page_token=token or None,
    )
