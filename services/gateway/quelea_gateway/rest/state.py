"""Where a request finds the gateway."""

from __future__ import annotations

from collections.abc import MutableMapping, Sequence
from typing import Annotated, Any, cast

from fastapi import Query, Request
from quelea_kit.reach import enter
from starlette.requests import HTTPConnection

from quelea_gateway.core.callers.access import Principal
from quelea_gateway.gateway import Gateway
from quelea_gateway.rest.fields import CollectionName
from quelea_gateway.rights import readable, writable


def gateway_of(request: Request) -> Gateway:
    """The gateway that the app was built on."""
    return cast("Gateway", request.app.state.gateway)


def key_of(request: Request) -> str:
    """The name of the caller's key, as the middleware admitted it."""
    return str(getattr(request.state, "key", ""))


def principal_of(request: Request) -> Principal:
    """Who calls, as the middleware admitted him."""
    return cast("Principal", request.state.caller.principal)


def administrator_of(request: Request) -> Principal:
    """Who calls, an administrator. Raises PermissionDenied for anybody else."""
    principal = principal_of(request)
    principal.require_administrator()
    return principal


async def read_in(request: Request, collections: Sequence[str]) -> None:
    """From here on the request sees the named collections only; all that its caller may read when none is named.

    Raises NotFound for one that is not there, or that he may not read.
    """
    if collections:
        enter(await readable(gateway_of(request).search, principal_of(request), collections))


async def write_in(request: Request, collection: str = "") -> None:
    """From here on the request writes to one collection, and sees no other.

    Raises NotFound as `read_in` does, and PermissionDenied where the caller may only read it.
    """
    enter(await writable(gateway_of(request).search, principal_of(request), collection))


async def in_collections(
    request: Request,
    collection: Annotated[
        list[CollectionName], Query(description="Only these; all that the key may read when left out.")
    ] = [],  # noqa: B006  # FastAPI copies it
) -> None:
    """Dependency of routes that list what documents say."""
    await read_in(request, collection)


async def only_administrators(request: Request) -> None:
    """Dependency of routes over what belongs to no tenant. Raises PermissionDenied."""
    administrator_of(request)


def base_url(request: Request) -> str:
    """The address under which callers reach the gateway, without a slash at the end."""
    return base_url_of(gateway_of(request), request.scope)


def base_url_of(gateway: Gateway, scope: MutableMapping[str, Any]) -> str:
    """The same, of a request that has no route yet."""
    return (gateway.settings.public_url or str(HTTPConnection(scope).base_url)).rstrip("/")
