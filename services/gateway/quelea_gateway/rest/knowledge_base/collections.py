"""Collections: parts of a tenant's knowledge base, on which keys have rights."""

from __future__ import annotations

from typing import Annotated, Literal

from fastapi import APIRouter, Path, Request
from pydantic import BaseModel, ConfigDict, Field
from quelea.search.v1 import search_pb2
from quelea_kit.paging import DEFAULT_PAGE_SIZE, page_of

from quelea_gateway.core.callers.access import Principal, Right
from quelea_gateway.rest.error_schemas import ERRORS
from quelea_gateway.rest.fields import CollectionName, ListOut, PageSize, PageToken, Time
from quelea_gateway.rest.knowledge_base.jobs import iso
from quelea_gateway.rest.state import gateway_of, principal_of
from quelea_gateway.rest.transport.streams import while_there
from quelea_gateway.rights import check_manage

router = APIRouter(tags=["documents"])
_PATH = "/v1/collections"


class CollectionIn(BaseModel):
    """A new collection."""

    model_config = ConfigDict(extra="forbid")

    name: CollectionName = Field(description="Lower-case letters, digits and hyphens, at most 40.")
    title: str = Field(default="", max_length=200, description="What people call it.")


class CollectionOut(BaseModel):
    """A collection, and what the caller may do with it."""

    name: str
    title: str
    created: Time | None = Field(description="null of `default`, which is always there.")
    right: Literal["read", "write", "manage"] = Field(description="The caller's highest.")

    @classmethod
    def of(cls, one: search_pb2.Collection, principal: Principal) -> CollectionOut:
        """From the wire's."""
        right = principal.right_on(one.name) or Right.READ
        return cls(name=one.name, title=one.title, created=iso(one.created), right=right.word)


class CollectionsOut(ListOut):
    """By name."""

    collections: list[CollectionOut]


class CollectionDeletedOut(BaseModel):
    """What was removed."""

    name: str
    documents: int


@router.get(_PATH, response_model=CollectionsOut, responses=ERRORS, summary="List collections")
async def listed(
    request: Request, page_size: PageSize = DEFAULT_PAGE_SIZE, page_token: PageToken = ""
) -> CollectionsOut:
    """Those that the key may read."""
    found = await while_there(request, gateway_of(request).search.collections())
    page, token = page_of(found, lambda one: one.name, page_size, page_token)
    shown = [CollectionOut.of(one, principal_of(request)) for one in page]
    return CollectionsOut(collections=shown, next_page_token=token or None)


@router.post(_PATH, status_code=201, response_model=CollectionOut, responses=ERRORS, summary="Make a collection")
async def make(body: CollectionIn, request: Request) -> CollectionOut:
    """The key needs the right to manage collections of this name."""
    principal = principal_of(request)
    check_manage(principal, body.name)
    made = await while_there(request, gateway_of(request).search.create_collection(body.name, body.title))
    return CollectionOut.of(made, principal)


@router.delete(_PATH + "/{name}", response_model=CollectionDeletedOut, responses=ERRORS, summary="Delete a collection")
async def delete(name: Annotated[str, Path(max_length=100)], request: Request) -> CollectionDeletedOut:
    """With every document in it. The key needs the right to manage it."""
    principal_of(request).require(Right.MANAGE, name)
    documents = await while_there(request, gateway_of(request).search.delete_collection(name))
    return CollectionDeletedOut(name=name, documents=documents)
