"""API keys over REST: listed, added, rotated, revoked; for administrators. A secret is in the answer that makes it."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from pathlib import Path as FilePath
from typing import Annotated, Literal, TypeVar

from fastapi import APIRouter, Path, Request, Response
from pydantic import BaseModel, ConfigDict, Field
from quelea_kit.errors import Conflict, NotFound
from quelea_kit.paging import DEFAULT_PAGE_SIZE, page_of
from quelea_kit.reach import DEFAULT_TENANT

from quelea_gateway import keys as core
from quelea_gateway.core.callers import audit
from quelea_gateway.rest.error_schemas import ERRORS
from quelea_gateway.rest.fields import ListOut, PageSize, PageToken, Time
from quelea_gateway.rest.state import administrator_of, gateway_of

router = APIRouter(tags=["keys"])

T = TypeVar("T")
Rights = dict[str, Literal["read", "write", "manage"]]
KeyId = Annotated[str, Path(max_length=64, description="As GET /v1/keys has it.")]
_PATH = "/v1/keys"


class KeyIn(BaseModel):
    """POST /v1/keys."""

    model_config = ConfigDict(extra="forbid")

    name: str = Field(min_length=1, max_length=64, description="1 to 64 printable characters.")
    tenant: str = Field(default=DEFAULT_TENANT, min_length=1, max_length=64)
    rights: Rights | None = Field(
        default=None, max_length=200, description='Collection, or "*", to a right; null: every right of the tenant.'
    )
    administrator: bool = Field(default=False, description="Whether it may administer: keys, prompts, usage.")
    days: int = Field(default=0, ge=0, le=3650, description="After which it opens nothing; 0: never.")


class RotateIn(BaseModel):
    """POST /v1/keys/{key_id}/rotate."""

    model_config = ConfigDict(extra="forbid")

    overlap_hours: float = Field(default=24.0, ge=0, le=2160, description="How long the old secret opens as well.")


class KeyOut(BaseModel):
    """A key; never its secret."""

    id: str = Field(description="Stays when it is rotated.")
    name: str
    tenant: str
    rights: Rights
    administrator: bool
    created: Time = Field(description="Of its secret.")
    expires: Time | None
    expired: bool
    rotating_until: Time | None = Field(description="Until when the secret before opens as well.")
    last_used: Time | None = Field(description="To the minute.")
    own: bool = Field(description="Whether this call was made with it.")


class MadeKeyOut(KeyOut):
    """A key with its secret."""

    secret: str = Field(description="Shown this once: only a hash of it is stored.")


class KeysOut(ListOut):
    """Keys, by tenant and name."""

    required: bool = Field(description="Whether calls need a key.")
    keys: list[KeyOut]


def _out(key: core.Key, used: dict[str, str], request: Request) -> dict[str, object]:
    told = {name: value if value != "" else None for name, value in core.shown(key, used).items()}
    return {**told, "own": gateway_of(request).access.required and administrator_of(request).subject == key.name}


def _file(request: Request) -> FilePath:
    return FilePath(gateway_of(request).settings.keys_file)


async def _find(request: Request, key_id: str) -> core.Key:
    for key in await asyncio.to_thread(core.read, _file(request)):
        if key.id == key_id:
            return key
    raise NotFound(f"There is no key with the id {key_id!r}.")


async def _change(work: Callable[[], T]) -> T:
    try:
        return await asyncio.to_thread(work)
    except OSError as error:
        raise Conflict(
            f"The gateway cannot write its key file ({error.strerror or error}); change keys where that file is made."
        ) from error


@router.get(_PATH, response_model=KeysOut, responses=ERRORS, summary="List the keys")
async def listed(request: Request, page_size: PageSize = DEFAULT_PAGE_SIZE, page_token: PageToken = "") -> KeysOut:
    """By tenant and name; without their secrets, which nobody has. Only for administrators."""
    administrator_of(request)
    file = _file(request)
    found = await asyncio.to_thread(core.read, file)
    used = await asyncio.to_thread(core.last_used, file)
    ordered = sorted(found, key=lambda key: (key.tenant, key.name))
    page, next_page_token = page_of(ordered, lambda key: f"{key.tenant} {key.name}", page_size, page_token)
    return KeysOut(
        required=gateway_of(request).access.required,
        keys=[KeyOut.model_validate(_out(key, used, request)) for key in page],
        next_page_token=next_page_token or None,
    )


@router.post(_PATH, status_code=201, response_model=MadeKeyOut, responses=ERRORS, summary="Add a key")
async def add(body: KeyIn, request: Request) -> MadeKeyOut:
    """The answer has its secret, once. Only for administrators."""
    administrator_of(request)
    file = _file(request)
    secret = await _change(
        lambda: core.create(
            file,
            body.name,
            tenant=body.tenant,
            rights=body.rights,
            administrator=body.administrator,
            days=body.days,
        )
    )
    return await _made(request, body.name, secret)


@router.post(_PATH + "/{key_id}/rotate", response_model=MadeKeyOut, responses=ERRORS, summary="Rotate a key")
async def rotate(key_id: KeyId, body: RotateIn, request: Request) -> MadeKeyOut:
    """A new secret; name, id and rights stay. The old one opens for the overlap. Only for administrators."""
    administrator_of(request)
    key = await _find(request, key_id)
    file = _file(request)
    secret = await _change(lambda: core.rotate(file, key.name, overlap_hours=body.overlap_hours))
    return await _made(request, key.name, secret)


@router.delete(_PATH + "/{key_id}", status_code=204, response_class=Response, responses=ERRORS, summary="Revoke a key")
async def revoke(key_id: KeyId, request: Request) -> Response:
    """It opens nothing from now on. 409 for the key of this call. Only for administrators."""
    principal = administrator_of(request)
    key = await _find(request, key_id)
    if gateway_of(request).access.required and key.name == principal.subject:
        raise Conflict("This call was made with that key; revoke it with another one.")
    file = _file(request)
    await _change(lambda: core.revoke(file, key.name))
    audit.note("keys", key.id)
    return Response(status_code=204)


async def _made(request: Request, name: str, secret: str) -> MadeKeyOut:
    found = await asyncio.to_thread(core.read, _file(request))
    key = next((one for one in found if one.name == name), None)
    if key is None:
        raise Conflict(f"The key {name!r} was revoked meanwhile.")
    audit.note("keys", key.id)
    return MadeKeyOut.model_validate({**_out(key, {}, request), "secret": secret})
