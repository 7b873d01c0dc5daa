"""Where a request finds the gateway."""

from __future__ import annotations

from typing import cast

from fastapi import Request

from quelea_gateway.access import Caller
from quelea_gateway.core.access import Principal
from quelea_gateway.gateway import Gateway


def gateway_of(request: Request) -> Gateway:
    """The gateway that the app was built on."""
    return cast("Gateway", request.app.state.gateway)


def key_of(request: Request) -> str:
    """The name of the caller's key, as the middleware admitted it."""
    return str(getattr(request.state, "key", ""))


def principal_of(request: Request) -> Principal:
    """Who calls, as the middleware admitted him."""
    caller: Caller = request.state.caller
    return caller.principal


def administrator_of(request: Request) -> Principal:
    """Who calls, an administrator. Raises PermissionDenied for anybody else."""
    principal = principal_of(request)
    principal.require_administrator()
    return principal


def base_url(request: Request) -> str:
    """The address under which callers reach the gateway, without a slash at the end."""
    return (gateway_of(request).settings.public_url or str(request.base_url)).rstrip("/")
